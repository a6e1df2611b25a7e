internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSystem

extension Action {
  static let journalImport = Command(
    .local(.writes),
    """
    journal import: copy payments from another journal
    Reads the lines of tender journal export from a file or standard input. It copies them into
    the journal in use. Payments that the journal has already are not changed, so the same import
    can be repeated. A payment whose reference the journal has with other content is reported and
    left out (14). So is a line with a card number, or with values that no journal writes.

    Preparations of held payments are not exported: confirm or cancel those with the old journal
    first.
    $ tender journal import journal.jsonl # copy an export
    """,
    operands: [.init("FILE", optional: true, completion: .files)],
    exits: [.partial, .state]
  ).performed(by: JournalCommands.takeOver)

  static let journalMigrate = Command(
    .local(.reads),
    """
    journal migrate: make or upgrade the tables of a shared journal
    Makes the tables of the PostgreSQL journal, or upgrades them to this version, in one
    transaction. Run it as their owner. If they are missing, older or newer, every other command
    exits 16. It changes nothing on this machine. A journal in a file is upgraded by each command
    that writes.
    $ tender journal migrate # once for each database, and after an upgrade
    """,
    exits: [.state, .refused]
  ).performed(by: JournalCommands.migrate)

  static let journalGrants = Command(
    .local(.nothing),
    """
    journal grants: print the least rights on a shared journal
    Prints the SQL that gives a runner, a support reader and an auditor the least rights on a
    PostgreSQL journal. It asks no server and changes nothing.
    $ tender journal grants # for psql, as the owner of the tables
    """
  ).performed(by: JournalCommands.grants)

  static let journalPrune = Command(
    .local(.changes),
    """
    journal prune: delete old payments
    Deletes payments last changed before TIME, with their operations and history. It does
    not delete payments that are not final or have an unknown operation. It does not delete
    mandates that can still be revoked. A deleted reference stays used: the same command exits 6
    (reference_pruned). The journal keeps a keyed hash of the reference. Use journal export first.

    Live payments need --env live and --yes, or a typed yes. So does a TIME within the last 24
    hours. A TIME in the future exits 2.
    $ tender journal prune --before 2026-01-01 --dry-run # how many would be deleted
    $ tender journal prune --before 2026-01-01 # delete older payments
    """,
    options: [Keys.before, Keys.dryRun],
    exits: [.state, .refused]
  ).performed(by: JournalCommands.prune)

  static let journalVerify = Command(
    .local(.reads),
    """
    journal verify: check that the journal is whole
    Reads the whole journal. It computes the status and amounts of each payment again, and the chain of the
    history. It compares all with the mark beside the state folder. Damage, missing rows, a copy or an older
    state exit 16, with a record for each.

    If a journal is a copy or incomplete, every command that can move money exits 16. Put the
    newest journal back, or run tender journal accept.
    $ tender journal verify # is anything damaged or missing?
    """,
    exits: [.state]
  ).performed(by: JournalCommands.verify)

  static let journalBackup = Command(
    .local(.reads),
    """
    journal backup: copy the journal while it is in use
    Writes a consistent copy into a new file that only its owner can read. A copy of journal.db
    alone lacks the data in journal.db-wal. To restore it, put it in place of journal.db and
    remove journal.db-wal and journal.db-shm. The copy is marked as one: it refuses requests that
    can move money (16) until tender journal accept. The key of held payments (journal.key) is not in
    it: on another machine they can be looked up, not confirmed.
    $ tender journal backup journal-copy.db # a copy for the night
    """,
    operands: [.init("FILE", completion: .newFiles)],
    exits: [.state]
  ).performed(by: JournalCommands.backUp)
}

/// Commands that check, move and shrink a journal.
extension JournalCommands {
  func verify() throws(Fault) -> Int32 {
    try checkExists()
    let problems = try composition.journal().verify()
    let whole =
      composition.settings.journal() == nil
      ? "every payment, the history and the mark agree" : "every payment and its history agree"
    show(problems.isEmpty ? [("ok", whole)] : problems.map { ("fail", $0) })
    return output.exit(problems.isEmpty ? 0 : Fault.Kind.state.exitStatus)
  }

  /// Throws `usage` if a named state folder does not exist. A mistyped folder must not look like one without
  /// payments.
  func checkFolder() throws(Fault) {
    let folder = try composition.settings.stateFolder()
    if folder.origin != .default, !Environment.isFolder(folder.text) { try checkExists() }
  }

  /// Throws `usage` if the state folder has no journal. A wrong `--state-dir` must not look like a whole
  /// journal.
  func checkExists() throws(Fault) {
    guard try !composition.hasJournalFile else { return }
    throw .badFile(
      "there is no journal in \(try composition.settings.stateFolder().text)",
      hint: "name its folder with --state-dir, or its server with TENDER_JOURNAL"
    )
  }

  private func show(_ checks: [(outcome: String, detail: String)]) {
    let shown = checks.map { records.check("journal", $0.detail, outcome: $0.outcome) }
    output.show(shown, columns: ["name", "outcome", "detail"])
  }

  func backUp() throws(Fault) -> Int32 {
    guard let path = invocation.operands.first, invocation.operands.count == 1 else {
      throw .badOperand(
        "journal backup needs one file name",
        hint: "such as: tender journal backup journal-2026-11-21.db"
      )
    }
    try checkExists()
    let journal = try composition.journal()
    try journal.checkWhole()
    composition.signals.hold()
    try journal.backUp(to: path)
    output.tell("the journal is written to \(path)")
    return 0
  }

  func prune() throws(Fault) -> Int32 {
    guard let before = try time(Keys.before)?.lowerBound else {
      throw .missingOption(
        "journal prune needs --before",
        hint: "such as --before 2026-01-01: payments last changed before that day are deleted"
      )
    }
    guard before <= composition.clock.now else {
      throw .usage(
        "bad_value",
        "--before \(Timestamp.text(Timestamp.clamped(before))) is in the future; nothing was deleted",
        "such as --before 2026-01-01: payments last changed before that day are deleted"
      )
    }
    try checkExists()
    var filter = try filter()
    filter.unneededBefore = before
    let journal = try composition.journal()
    func tell(_ count: Int, _ what: String) {
      output.tell("\(count) \(count == 1 ? "payment" : "payments") \(what)")
    }
    if invocation.has(Keys.dryRun) {
      tell(try journal.count(filter, upTo: .max), "would be deleted")
      return 0
    }
    try composition.refuseReadOnly()
    let recent = composition.clock.now - 24 * 60 * 60_000
    if before > recent {
      var older = filter
      older.unneededBefore = recent
      let count = try journal.count(filter, upTo: .max) - (try journal.count(older, upTo: .max))
      if count > 0 {
        try composition.confirm(
          "delete \(count) payments of the last 24 hours",
          "deleting payments of the last 24 hours",
          code: "prune_not_confirmed"
        )
      }
    }
    if filter.env == nil || filter.env == .live {
      var live = filter
      live.env = .live
      let count = try journal.count(live, upTo: .max)
      if count > 0 { try composition.approve(.live, "delete \(count) payments") }
    }
    composition.signals.hold()
    tell(try journal.prune(filter), "deleted")
    return 0
  }

  func migrate() throws(Fault) -> Int32 {
    try composition.refuseReadOnly()
    guard let address = composition.settings.journal()?.text else {
      _ = try composition.journal()
      show([("ok", "the journal is a file of this machine: each command brings it up to date")])
      return output.exit(0)
    }
    let folder = try composition.settings.stateFolder().text
    composition.signals.hold()
    let journal = try composition.sharedJournal(
      address,
      folder,
      isReading: false,
      usesFiles: false
    )
    show([("ok", try journal.migrate())])
    return output.exit(0)
  }

  func grants() throws(Fault) -> Int32 {
    output.put(SharedSchema.grants)
    return output.exit(0)
  }

  /// Copies payments from the lines of an export.
  func takeOver() throws(Fault) -> Int32 {
    let path = invocation.operands.first ?? "-"
    try composition.refuseReadOnly()
    // A payment of 5,000 refunds has such a line.
    let source = try BatchSource(
      path,
      named: invocation.command.name,
      of: "payment",
      limit: 4 << 20
    ) { composition.signals.wish != nil }
    let journal = try composition.journal()
    try journal.checkWhole()
    composition.signals.hold()
    var (taken, there, failed, line, held) = (0, 0, 0, 0, 0)
    while let text = try source.next(idle: { () throws(Fault) in }) {
      line += 1
      do throws(Fault) {
        let text = try text.get()
        if text.isBlank { continue }
        guard let record = JSONReader.read(text, duplicates: .refused)?.object else {
          throw .notExported(line)
        }
        guard let stored = record["stored"]?.object, let payment = PaymentRow.payment(of: stored)
        else { throw record["schema"] == 1 ? .exportedBefore(line) : .notExported(line) }
        let history = Self.history(of: record)
        try check(payment, record, line)
        if try journal.take(payment, history) {
          taken += 1
          if payment.state.isHeld { held += 1 }
        } else {
          there += 1
        }
      } catch {
        if error.kind == .state, error.cause != .changedMeanwhile { throw error }
        failed += 1
        output.show(records.record(error, line: line))
      }
      if composition.signals.wish != nil { break }
    }
    let words =
      "\(taken) \(taken == 1 ? "payment" : "payments") copied, \(there) there already"
      + (failed == 0 ? "" : ", \(failed) not copied")
    if let kind = composition.signals.wish { throw .stopped(by: kind, underWay: words) }
    show([(failed == 0 ? "ok" : "fail", words)])
    if held > 0 {
      output.note(
        "\(held) of them are held: their preparations stay in the journal that they come from"
      )
    }
    return output.exit(failed == 0 ? 0 : Fault.Kind.partial.exitStatus)
  }

  /// Throws if a payment of an export has a secret, values that no journal can hold, or other amounts than its
  /// operations. Nothing is stored then.
  private func check(_ payment: Payment, _ record: JSONObject, _ line: Int) throws(Fault) {
    let redactor = Redactor()
    let isSecret = { (member: JSONObject.Member) in
      redactor.redact(member.value) != member.value || redactor.redact(member.key) != member.key
    }
    if let member = record.members.first(where: isSecret) {
      let name = redactor.redact(member.key)
      throw .impossible(line, "its \(name) has something that looks like a card number or a token")
    }
    if let flaw = PaymentRow.flaw(payment) { throw .impossible(line, flaw) }
    let printed = records.entry(payment).fields
    for name in Self.compared {
      // With --fields, an export lacks some.
      guard let said = record[name], said != printed[name] else { continue }
      throw .impossible(line, "its \(name) is not that of its stored operations")
    }
  }

  /// The members of an export that follow from its stored payment.
  private static let compared = [
    "captured_amount", "released_amount", "voided_amount", "refunded_amount", "refunding_amount",
    "returned_amount", "amount", "requested_amount", "currency", "status", "reference", "provider",
    "env",
  ]

  private static func history(of record: JSONObject) -> [HistoryEntry] {
    (record["history"]?.array ?? []).compactMap { entry in
      guard let at = entry["at"]?.text.flatMap(Timestamp.read) else { return nil }
      var line = HistoryEntry(at: at, note: entry["note"]?.text ?? "", by: entry["by"]?.text)
      line.operation = entry["operation"]?.text ?? ""
      line.state = entry["state"]?.text ?? ""
      line.amount = entry["amount"]?.boundedNumber
      line.status = entry["status"]?.text ?? ""
      return line
    }
  }
}

extension Fault {
  fileprivate static func impossible(_ line: Int, _ flaw: String) -> Fault {
    .usage(
      "bad_import",
      "line \(line) is not a payment of a journal: \(flaw)",
      "the line was not stored; export that journal again: tender journal export"
    )
  }

  fileprivate static func exportedBefore(_ line: Int) -> Fault {
    .usage(
      "bad_import",
      "line \(line) was exported by a version before the first release; it cannot be imported",
      "finish its payment with the program that exported it. Here, its reference is not known, and would be "
        + "charged again"
    )
  }

  fileprivate static func notExported(_ line: Int) -> Fault {
    .usage(
      "bad_import",
      "line \(line) is not a payment that tender journal export printed",
      "such as: tender journal export | TENDER_JOURNAL=postgres://… tender journal import"
    )
  }
}
