internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// `find`, and every command of `journal`.
struct JournalCommands {
  /// The second words of `journal`.
  enum Word: String, CaseIterable {
    case list, show, resume, export, `import`, migrate, grants, prune, verify, backup, resolve
    case accept
  }

  let composition: Composition

  var invocation: Invocation { composition.invocation }
  var output: Output { composition.output }

  func run(_ subject: inout RecordSubject) throws(Fault) -> Int32 {
    let words = invocation.command.words
    guard words.count > 1 else { return try whole(try find()) }
    guard let word = Word(rawValue: words[1]) else {
      throw Fault(.internal, code: "internal", "no such command: \(invocation.command.name)")
    }
    return switch word {
    case .list: try whole(try list())
    case .show: try whole(try show(&subject))
    case .resume: try resume(&subject)
    case .export: try whole(try export())
    case .import: try takeOver()
    case .migrate: try migrate()
    case .grants: try grants()
    case .prune: try prune()
    case .verify: try verify()
    case .backup: try backUp()
    case .resolve: try resolve(&subject)
    case .accept: try accept()
    }
  }

  /// The exit of what was printed, unless the journal is incomplete: then that is said last.
  private func whole(_ exit: Int32) throws(Fault) -> Int32 {
    try composition.journal().checkWhole()
    return exit
  }

  private func verify() throws(Fault) -> Int32 {
    let journal = try composition.journal()
    let problems = try journal.verify()
    var rows: [Record] = []
    func add(_ outcome: String, _ detail: String) {
      let record = composition.records.record(
        .check,
        ["name": "journal", "outcome": .string(outcome), "detail": .string(detail)]
      )
      if output.isTable { rows.append(record) } else { output.show(record) }
    }
    for problem in problems { add("fail", problem) }
    if problems.isEmpty {
      add(
        "ok",
        composition.settings.journal() == nil
          ? "every row, the history and the mark agree" : "every row and its history agree"
      )
    }
    if output.isTable { output.show(rows, columns: ["name", "outcome", "detail"]) }
    return output.exit(problems.isEmpty ? 0 : Fault.Kind.state.exitStatus)
  }

  private func backUp() throws(Fault) -> Int32 {
    guard let path = invocation.operands.first, invocation.operands.count == 1 else {
      throw .badOperand(
        "journal backup needs one file name",
        hint: "such as: tender journal backup journal-2026-11-21.db"
      )
    }
    let journal = try composition.journal()
    try journal.checkWhole()
    composition.signals.hold()
    try journal.backUp(to: path)
    output.tell("the journal is written to \(path)")
    return 0
  }

  private static let countLimit = 10_000

  /// Goes through what a filter lets through: every one as JSON lines, in a table the latest 50
  /// unless all are wanted.
  ///
  /// Gives how many it showed, and whether it left some out.
  private func eachShown(
    _ filter: PaymentFilter,
    _ body: (Payment) -> Void
  ) throws(Fault) -> (count: Int, isCut: Bool) {
    let limit = invocation.has(Keys.all) || !output.isTable ? Int.max : Self.rowLimit
    var shown = 0
    var isCut = false
    try composition.journal().each(filter) { payment in
      isCut = shown == limit
      if isCut { return false }
      shown += 1
      body(payment)
      return !output.isBroken
    }
    return (shown, isCut)
  }

  private static let rowLimit = 50

  /// Says how many there are where some were left out.
  private func tellOfTheRest(_ filter: PaymentFilter) throws(Fault) {
    // Counting a million takes longer than finding fifty.
    let count = try composition.journal().count(filter, upTo: Self.countLimit + 1)
    let total = count > Self.countLimit ? "more than \(Self.countLimit)" : String(count)
    output.note("the latest \(Self.rowLimit) of \(total); --all shows all")
  }

  private func find() throws(Fault) -> Int32 {
    var filter = try filter()
    filter.handle = invocation.operands.first
    filter.customer = invocation[Keys.customer]
    filter.traceID = invocation[Keys.traceID]
    filter.failure = invocation[Keys.failure]
    filter.failureCodes = composition.records.codes(thatSay: invocation[Keys.failure])
    for pair in invocation.all(Keys.metadata) {
      let (name, value) = try OptionReader.split(pair, option: "--metadata")
      filter.metadata.append((name, value))
    }
    if let provider = filter.provider { try invocation.checkOptions(for: provider) }
    // What a provider adds to this command are members of its orders.
    for module in composition.catalogue.modules {
      let keys = module.uses.filter { $0.command == "find" }.flatMap(\.options)
      for option in invocation.given(among: keys) {
        guard let value = invocation.text(option) else { continue }
        filter.members.append((option.member, value))
      }
    }
    if invocation.has(Keys.online) { return try FindOnline(composition: composition).run(filter) }
    let offline: [any OptionKey] = [Keys.simScenario, Keys.simFault, Keys.simSeed]
    if let option = invocation.given(among: offline).first {
      throw .badOptions(
        "--\(option.name) goes with --online: the journal needs no provider",
        hint: "add --online, or leave it out"
      )
    }
    let shown = try eachShown(filter) { payment in
      let verdict = composition.records.verdict(payment)
      if output.isTable {
        output.put(output.redactor.redact(verdict.lines.joined(separator: "\n")) + "\n")
      } else {
        output.show(composition.records.entry(payment, verdict: verdict))
      }
    }
    if shown.isCut { try tellOfTheRest(filter) }
    if shown.count == 0 { output.note("no matching payments") }
    return output.exit(0)
  }

  private func list() throws(Fault) -> Int32 {
    let filter = try filter()
    guard output.isTable else {
      _ = try eachShown(filter) { output.show(composition.records.entry($0)) }
      return output.exit(0)
    }
    var shown = (count: 0, isCut: false)
    try output.showRows(
      columns: [
        "created_at", "reference", "status", "amount", "refunded_amount", "provider", "last_four",
        "env", "id", "note",
      ],
      spare: ["env", "last_four", "id", "refunded_amount"],
      dear: ["created_at", "provider"]
    ) { (body: (Record) -> Void) throws(Fault) in
      shown = try eachShown(filter) { payment in
        body(LookUpCommands.row(composition.records.entry(payment)))
      }
    }
    if shown.isCut { try tellOfTheRest(filter) }
    if shown.count == 0 { output.note("no payments") }
    return output.exit(0)
  }

  private func show(_ subject: inout RecordSubject) throws(Fault) -> Int32 {
    let handle = try invocation.handle()
    subject.reference = handle
    let journal = try composition.journal()
    let found = try journal.payments(matching: handle, filter: try filter())
    guard !found.isEmpty else { throw .unknownHandle(handle) }
    if invocation.has(Keys.receipt) { return try showReceipts(found, handle) }
    for payment in found {
      composition.show(payment, try journal.history(of: payment))
      if output.isTable, payment.row != found.last?.row { output.put("\n") }
    }
    return output.exit(0)
  }

  /// The receipts of payments as text, the newest first.
  private func showReceipts(_ payments: [Payment], _ handle: String) throws(Fault) -> Int32 {
    let texts = payments.compactMap { payment in
      (try? composition.module(payment.provider.text))?.receipt(of: payment, composition.settings)
    }
    guard !texts.isEmpty else {
      throw Fault(
        .notFound,
        code: "no_receipt",
        "\(handle.quotedForMessage) has no receipt",
        hint: "card-present sales have one, once a card was read"
      )
    }
    output.put(output.redactor.redact(texts.joined(separator: "\n")))
    return output.exit(0)
  }

  private func export() throws(Fault) -> Int32 {
    let journal = try composition.journal()
    var problem: Fault?
    let filter = try filter()
    try output.showLines { (show: (Record) -> Void) throws(Fault) in
      try journal.each(filter) { payment in
        do throws(Fault) {
          let history = try journal.history(of: payment)
          show(composition.records.entry(payment, history: history, isExport: true))
          return !output.isBroken
        } catch {
          problem = error
          return false
        }
      }
    }
    if let problem { throw problem }
    return output.exit(0)
  }
}
