internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Action {
  private static let lookingUp: [any OptionKey] =
    [
      Keys.wait, Keys.interval, Keys.expect, Keys.events, Keys.allFields, Keys.jobs,
      Keys.rate,
    ]
    + Catalogue.simulation
  private static let ofLookUps: [Fault.Kind] = [
    .declined, .auth, .notFound, .conflict, .rejected, .unknown, .notSent, .providerError,
    .cancelled, .expired, .partial, .unsupported, .state, .unexpected, .partPaid, .interrupted,
    .terminated, .hungUp,
  ]

  static let paymentStatus = Command(
    .looksUp(.payment),
    """
    payment-status: look payments up
    Looks payments up at the provider by receipt number or reference, and prints status, fees,
    refunds, dispute and failure reasons. It sends nothing that can move money. The journal
    records the answer about a payment that it has. The receipt number of an earlier attempt shows
    that attempt. Payments that only the journal has are printed
    with "source": "journal". Without --wait and --expect the exit is 0 for every status that was
    found, unknown too.
    $ tender payment-status A2 # look one payment up
    $ printf '%s\\n' A1 A2 | tender payment-status - --json # several, from standard input
    $ printf '%s\\n' A1 A2 | tender payment-status - --jobs 64 --json # many, at a provider that
    is far away
    """,
    operands: [.init("ID", orID: true, repeats: true)],
    options: lookingUp,
    exits: ofLookUps,
    csv: RecordCSV.payments
  ).performed(by: LookUpCommands.run)

  static let mandateStatus = Command(
    .looksUp(.mandate),
    """
    mandate-status: look mandates up
    Looks mandates up at a provider that has them, by id or by a reference in the journal. The
    journal records the answer. At other providers it exits 15.
    $ tender mandate-status M1 # look one mandate up
    """,
    operands: [.init("ID", orID: true, repeats: true)],
    options: lookingUp,
    exits: ofLookUps
  ).performed(by: LookUpCommands.run)
}

/// `payment-status` and `mandate-status`.
struct LookUpCommands: CommandWork {
  let composition: Composition

  func run() throws(Fault) -> Int32 { try expecting(work) }

  private func work(_ expectation: Expectation) throws(Fault) -> Int32 {
    let wait = try WaitOptions(invocation, from: composition.clock.uptime)
    let operands = invocation.operands
    try WaitOptions.checkInterval(invocation)
    guard !operands.isEmpty else {
      throw .badOperand(
        "\(invocation.command.name) needs an id or a reference",
        hint: "such as: tender \(invocation.command.name) ORDER-1042, or - for standard input"
      )
    }
    if let option = invocation.given(among: [Keys.jobs, Keys.rate]).first,
      wait != nil || invocation.has(Keys.events) || operands.count == 1 && operands[0] != "-"
    {
      throw .badOptions(
        "--\(option.name) is for several ids, without --wait and --events",
        hint: "leave it out, or give several ids, or - for standard input"
      )
    }
    if operands.count == 1, operands[0] != "-" {
      composition.subject.reference = operands[0]
      let report = try look(operands[0], wait)
      let (shown, exit) = expectation.judge(report, records)
      composition.show(shown)
      return output.exit(exit)
    }
    return try several(operands, Asked(wait: wait, expectation: expectation))
  }

  /// The options of each of several look-ups.
  private struct Asked: Sendable {
    let wait: WaitOptions?
    let expectation: Expectation
  }

  /// One of several look-ups: its handle and its line.
  private struct Job: Sendable {
    let handle: String
    let line: Int
    /// Whether it passed the card-number guard, or came by `--id`.
    let isVouchedFor: Bool
    /// Whether its line is no text.
    var isGarbled = false
  }

  private struct Answer: Sendable {
    var record: Record
    var fault: Fault?
    var exit: Int32 = 0
  }

  private func answer(_ job: Job, _ asked: Asked) -> Answer {
    defer { composition.subject = RecordSubject() }
    do throws(Fault) {
      guard !job.isGarbled else {
        throw .badOperand(
          "the line is no text",
          hint: "write it as UTF-8, or as UTF-16 with a mark"
        )
      }
      if !job.isVouchedFor { try CardNumberGuard.check(id: job.handle) }
      let report = try look(job.handle, asked.wait)
      composition.warn(of: report)
      let (shown, exit) = asked.expectation.judge(report, records)
      var record = records.record(shown)
      record.fields["line"] = .integer(job.line)
      return Answer(record: record, exit: exit)
    } catch {
      let record = records.record(
        error,
        RecordSubject(provider: composition.subject.provider, env: composition.subject.env),
        id: error.cause == .cardNumberInInput ? nil : job.handle,
        line: job.line
      )
      if asked.expectation.isMet(by: error, record) { return Answer(record: record) }
      return Answer(record: record, fault: error)
    }
  }

  /// Looks up several payments. A fault is printed in its place, and makes the exit 14.
  ///
  /// A single id from standard input has its usual exit. So the first answer waits for a second one.
  private func several(_ operands: [String], _ asked: Asked) throws(Fault) -> Int32 {
    var shown = Answers(output: output)
    let workers = try workers(asked)
    let jobs = try invocation.value(Keys.jobs) ?? Self.jobs
    let rate = try invocation.value(Keys.rate)
    let start = composition.clock.uptime
    var begun = 0
    defer { workers?.close() }
    /// Shows the answers so far, in order; false if the reader is gone.
    func takeReady() throws(Fault) -> Bool {
      while let workers, workers.open > 0, workers.isReady(inOrder: true) {
        guard try shown.take(workers.take()) else { return false }
      }
      return true
    }
    /// Looks up one payment, or passes it to a thread and shows ready answers. It never gets far ahead of the
    /// answers.
    func handle(_ job: Job) throws(Fault) -> Bool {
      if let rate {
        // With a rate, each answer is shown when it comes.
        let due = start + begun * 1000 / rate
        while composition.signals.wish == nil, due > composition.clock.uptime {
          guard try takeReady() else { return false }
          try composition.clock.pause(milliseconds: min(due - composition.clock.uptime, 50))
        }
      }
      begun += 1
      guard let workers else { return try shown.take(answer(job, asked)) }
      workers.submit(job)
      guard try takeReady() else { return false }
      // The answers come in order, so more requests may run than the threads can answer at once.
      return workers.open < max(64, 2 * jobs) ? true : try shown.take(workers.take())
    }
    func drain() throws(Fault) {
      while let workers, workers.open > 0 {
        guard try shown.take(workers.take()) else { break }
      }
    }
    try read(operands, handle, idle: drain)
    try drain()
    if shown.count == 0 {
      try asked.expectation.checkNone()
      output.note("standard input has no ids: nothing was looked up")
    }
    return try shown.end()
  }

  /// The answers of several look-ups, each shown in its place, and the exit status.
  private struct Answers {
    let output: Output
    var rows: [Record] = []
    /// The first answer, until there is a second. A single one is shown like a usual look-up.
    var first: Answer?
    var count = 0
    var hasFault = false
    var worst: Int32 = 0

    mutating func put(_ record: Record) {
      if output.isTable { rows.append(LookUpCommands.row(record)) } else { output.show(record) }
    }

    /// Returns false if the reader is gone.
    ///
    /// Throws a fault that ends all look-ups.
    mutating func take(_ answer: Answer) throws(Fault) -> Bool {
      if let fault = answer.fault {
        if fault.kind.isStop || fault.kind == .state { throw fault }
        hasFault = true
      }
      worst = max(worst, answer.exit)
      count += 1
      if count == 1 {
        first = answer
        return true
      }
      if let earlier = first {
        put(earlier.record)
        first = nil
      }
      put(answer.record)
      return !output.isBroken
    }

    /// Shows the remaining answers. Returns the exit status.
    mutating func end() throws(Fault) -> Int32 {
      if let only = first {
        if let fault = only.fault { throw fault }
        put(only.record)
        return output.exit(worst)
      }
      if output.isTable {
        let isPart = rows.contains { $0.fields["requested_amount"] != nil }
        output.show(
          rows,
          columns: [
            "line", "created_at", "reference", "id", "status", "provider_status", "amount",
          ] + (isPart ? ["requested_amount"] : []) + [
            "refunded_amount", "provider", "env", "note",
          ],
          spare: ["line", "env", "provider", "provider_status", "created_at", "id"],
          dear: ["refunded_amount"]
        )
      }
      return output.exit(hasFault ? Fault.Kind.partial.exitStatus : worst)
    }
  }

  /// Passes operands and lines of standard input to `handle`, until it returns false.
  private func read(
    _ operands: [String],
    _ handle: (Job) throws(Fault) -> Bool,
    idle: () throws(Fault) -> Void
  ) throws(Fault) {
    var line = 0
    for operand in operands {
      guard operand == "-" else {
        line += 1
        guard try handle(Job(handle: operand, line: line, isVouchedFor: true)) else { return }
        continue
      }
      let lines = LineReader(descriptor: 0)
      while let text = try lines.next(idle: idle) {
        if text.isBlank { continue }
        line += 1
        let job = Job(
          handle: text.trimmed(),
          line: line,
          isVouchedFor: false,
          isGarbled: lines.isGarbled
        )
        guard try handle(job) else { return }
      }
    }
  }

  /// The default number of parallel look-ups.
  private static let jobs = 16

  /// Returns threads for look-ups over a network, each with a separate connection. Nil if sequential look-ups
  /// are as good, or must be shown in order.
  private func workers(_ asked: Asked) throws(Fault) -> Workers<Job, Answer>? {
    guard asked.wait == nil, !invocation.has(Keys.events), composition.goesOut else { return nil }
    let providers = composition.providers
    let invocation = invocation
    let redactor = composition.redactor
    let signals = composition.signals
    let jobs = try invocation.value(Keys.jobs) ?? Self.jobs
    let common = CommonParts()
    return Workers(count: jobs) {
      // Each thread has a separate journal, connection and tokens. Only thread-safe parts are shared.
      let parts = SharedParts(common: common)
      do throws(Fault) {
        let composition = try Composition(
          providers,
          Settings(invocation, Environment(), providers.modules),
          redactor,
          signals,
          sharing: parts
        )
        let commands = LookUpCommands(composition: composition)
        return { job in commands.answer(job, asked) }
      } catch {
        let record = Records(command: invocation.command.name, now: 0).record(error)
        let answer = Answer(record: record, fault: error)
        return { _ in answer }
      }
    }
  }

  private func look(_ handle: String, _ wait: WaitOptions?) throws(Fault) -> Report {
    let target = try composition.target(of: handle)
    let payment = target.payment
    composition.subject.take(target)
    composition.subject.reference = payment?.reference.text ?? handle
    let kind = invocation.command.kind ?? .payment
    guard kind == .payment || target.module.takes(invocation.command) else {
      let having = composition.providers.modules.filter { $0.takes(invocation.command) }
      throw Fault(
        .unsupported,
        code: "mandates_unsupported",
        "\(target.module.name.text) has no mandates",
        hint:
          "--provider \(having.map(\.name.text).joined(separator: " or ")) has; see: tender providers"
      )
    }
    try invocation.checkOptions(for: target.module.name)
    let engine = try composition.engine(target)
    let report = try engine.lookUp(handle, known: payment, kind: kind)
    guard let wait else { return report }
    let waited = try wait.apply(to: report, engine, composition).waitingForMerchant
    return waited.ended(acceptsPart: invocation.has(Keys.allowPartial) || waited.acceptedPart)
  }

  /// A row in the table of several payments, with the error's message if there is one.
  static func row(_ record: Record) -> Record {
    var row = record
    let error = record.fields["error"]
    row.fields["status"] = record.fields["status"] ?? error?["code"]
    row.fields["note"] = record.fields["explanation"] ?? error?["explanation"] ?? error?["message"]
    return row
  }
}
