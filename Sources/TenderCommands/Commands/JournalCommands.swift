internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderModule
internal import TenderSystem
internal import TenderWire

/// `find`, and every command of `journal`.
struct JournalCommands {
  let composition: Composition

  var invocation: Invocation { composition.invocation }
  var output: Output { composition.output }

  func run(_ subject: inout RecordSubject) throws(Fault) -> Int32 {
    guard invocation.command.words.count > 1 else { return try whole(try find()) }
    return switch invocation.command.words[1] {
    case "list": try whole(try list())
    case "show": try whole(try show(&subject))
    case "export": try whole(try export())
    case "prune": try prune()
    case "verify": try verify()
    case "backup": try backUp()
    case "settle": try settle(&subject)
    case "migrate": try migrate()
    case "grants": try grants()
    case "import": try takeOver()
    default: try resume(&subject)
    }
  }

  /// The exit of what was printed, unless the journal has forgotten something: then that is said last.
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

  private func settle(_ subject: inout RecordSubject) throws(Fault) -> Int32 {
    guard let reason = invocation[Keys.reason], !reason.isEmpty, let word = invocation[Keys.outcome]
    else {
      throw .missingOption(
        "journal settle needs --as and --reason",
        hint: "the reason goes into the history: how it was found out, and who says so"
      )
    }
    let writes = WriteCommands(composition: composition)
    try writes.refuseReadOnly()
    composition.signals.hold()
    if invocation.has(Keys.all) {
      guard word == "restored", invocation.operands.isEmpty else {
        throw .badOptions(
          "--all goes with --as restored, and without a reference",
          hint: "a single attempt: tender journal settle REF --as STATUS --reason TEXT"
        )
      }
      try writes.confirm("take the journal as it is for whole", "settling", code: "not_confirmed")
      try composition.journal().settleLoss(reason: reason, at: composition.clock.now)
      output.tell("the journal counts as whole from here on")
      return 0
    }
    guard let status = Status(rawValue: word) else {
      throw .badOptions(
        "--as restored goes with --all",
        hint: "a single attempt is settled as succeeded, declined, cancelled, refunded or failed"
      )
    }
    let handle = try invocation.handle()
    subject.reference = handle
    let target = try composition.target(of: handle)
    subject.take(target)
    guard let found = target.attempt else { throw .unknownHandle(handle) }
    let question = WriteCommands.priced("settle \(handle) as \(word)", found)
    if target.env == .live {
      try writes.approve(target.env, question)
    } else {
      try writes.confirm(question, "settling", code: "not_confirmed")
    }
    let prepared = found.preparation.flatMap { JSONReader.read($0.text)?.object }
    let settled = try composition.journal().settle(
      found,
      as: status,
      reason: reason,
      refund: Refund(prepared: prepared)?.without("body", "key", "before"),
      composition.clock,
      composition.signals
    )
    let history = try composition.journal().history(of: settled)
    output.show(composition.records.record(settled, history: history))
    return output.exit(0)
  }

  private static let countLimit = 10_000

  /// Goes through what a filter lets through: every one as JSON lines, in a table the latest 50
  /// unless all are wanted.
  ///
  /// Says how many there are where it leaves some out, unless they are gone through once more; gives how many
  /// it showed.
  private func eachShown(
    _ filter: AttemptFilter,
    isLast: Bool = true,
    _ body: (Attempt) -> Void
  ) throws(Fault) -> Int {
    let limit = invocation.has(Keys.all) || !output.isTable ? Int.max : 50
    let journal = try composition.journal()
    var shown = 0
    var isCut = false
    try journal.each(filter) { attempt in
      isCut = shown == limit
      if isCut { return false }
      shown += 1
      body(attempt)
      return !output.isBroken
    }
    if isCut, isLast {
      // Counting a million takes longer than finding fifty.
      let count = try journal.count(filter, upTo: Self.countLimit + 1)
      let total = count > Self.countLimit ? "more than \(Self.countLimit)" : String(count)
      output.note("the latest \(limit) of \(total); --all shows all")
    }
    return shown
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
        filter.members.append((option.name.replacing("-", with: "_"), value))
      }
    }
    if invocation.has(Keys.online) { return try FindOnline(composition: composition).run(filter) }
    let offline: [any OptionKey] = [Keys.simScenario, Keys.simFault, Keys.simSeed]
    if let option = invocation.given(among: offline).first {
      throw .badOptions(
        "--\(option.name) goes with --online: the journal alone asks nobody",
        hint: "add --online, or leave it out"
      )
    }
    let journal = try composition.journal()
    var problem: Fault?
    let count = try eachShown(filter) { attempt in
      var latest: Attempt?
      do throws(Fault) {
        latest = try journal.latest(
          attempt.key
        )
      } catch {
        problem = error
      }
      let isLatest = latest?.number ?? attempt.number <= attempt.number
      let verdict = composition.records.verdict(attempt, isLatest: isLatest)
      if output.isTable {
        output.put(output.redactor.redact(verdict.lines.joined(separator: "\n")) + "\n")
      } else {
        output.show(composition.records.record(attempt, verdict: verdict))
      }
    }
    if let problem { throw problem }
    if count == 0 { output.note("no attempt in the journal is like that") }
    return output.exit(0)
  }

  private func list() throws(Fault) -> Int32 {
    let filter = try filter()
    guard output.isTable else {
      _ = try eachShown(filter) { output.show(composition.records.record($0)) }
      return output.exit(0)
    }
    var count = 0
    var isLast = false
    try output.showRows(
      columns: [
        "created_at", "reference", "attempt", "status", "amount", "provider", "last_four", "env",
        "id", "note",
      ],
      spare: ["env", "attempt", "last_four", "id"],
      dear: ["created_at", "provider"]
    ) { (body: (Record) -> Void) throws(Fault) in
      count = try eachShown(filter, isLast: isLast) { attempt in
        body(LookUpCommands.row(composition.records.record(attempt)))
      }
      isLast = true
    }
    if count == 0 { output.note("no attempts") }
    return output.exit(0)
  }

  private func show(_ subject: inout RecordSubject) throws(Fault) -> Int32 {
    let handle = try invocation.handle()
    subject.reference = handle
    let journal = try composition.journal()
    let found = try journal.attempts(matching: handle, filter: try filter())
    guard !found.isEmpty else { throw .unknownHandle(handle) }
    if invocation.has(Keys.receipt) { return try showReceipts(found, handle) }
    for attempt in found {
      composition.show(attempt, try journal.history(of: attempt))
      if output.isTable, attempt.row != found.last?.row { output.put("\n") }
    }
    return output.exit(0)
  }

  /// The receipts of a reference's attempts as text, the newest first.
  private func showReceipts(_ attempts: [Attempt], _ handle: String) throws(Fault) -> Int32 {
    let texts = attempts.compactMap { attempt in
      (try? composition.module(attempt.provider.text))?.receipt(of: attempt, composition.settings)
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
      try journal.each(filter) { attempt in
        do throws(Fault) {
          let history = try journal.history(of: attempt)
          show(composition.records.record(attempt, history: history, stored: true))
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

  private func resume(_ subject: inout RecordSubject) throws(Fault) -> Int32 {
    let journal = try composition.journal()
    composition.signals.hold()
    guard invocation.has(Keys.all) else {
      let handle = try invocation.handle()
      subject.reference = handle
      let target = try composition.target(of: handle)
      subject.take(target)
      guard let attempt = target.attempt else { throw .unknownHandle(handle) }
      return finish(try resume(attempt))
    }
    guard invocation.operands.isEmpty else {
      throw .badOperand(
        "--all and a reference exclude each other",
        hint: "give one of them"
      )
    }
    var filter = try filter()
    filter.statuses = [.unknown]
    var unknown: [Attempt] = []
    try journal.each(filter) { attempt in
      unknown.append(attempt)
      return true
    }
    if unknown.isEmpty { output.note("no attempt is unknown") }
    var worst: Int32 = 0
    var isAnyUnknown = false
    for attempt in unknown {
      do throws(Fault) {
        worst = max(worst, finish(try resume(attempt)))
      } catch {
        if error.kind == .interrupted || error.kind == .terminated { throw error }
        output.show(composition.records.record(error, RecordSubject(attempt)))
        worst = max(worst, Fault.Kind.partial.exitStatus)
        isAnyUnknown = isAnyUnknown || error.effect == .unknown
      }
    }
    // What is unknown is said before what failed.
    return isAnyUnknown ? Fault.Kind.unknown.exitStatus : worst
  }

  private func resume(_ attempt: Attempt) throws(Fault) -> Report {
    composition.reference = attempt.reference.text
    if attempt.phase == .sent {
      // Finding out may send again what was lost.
      let writes = WriteCommands(composition: composition)
      try writes.refuseReadOnly()
      try writes.approve(attempt.env, "find out what became of \(attempt.reference)")
      composition.signals.hold()
    }
    let engine = try composition.engine(
      Target(module: composition.module(attempt.provider.text), env: attempt.env),
      needing: .lookUp
    )
    return try engine.resume(attempt)
  }

  private func finish(_ report: Report) -> Int32 {
    composition.show(report)
    return report.fault.map { $0.isOutcome ? 0 : $0.exitStatus } ?? 0
  }
}
