internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderModule
internal import TenderOutput
internal import TenderSystem
internal import TenderWire

/// `batch`: one command a line, several at once, every result in a record of its own.
struct BatchCommand {
  let composition: Composition

  private var invocation: Invocation { composition.invocation }
  private var output: Output { composition.output }

  /// What a thread is given: a line, or why it is none.
  private struct Job: Sendable {
    let content: Result<BatchLine, Fault>
    let line: Int

    var reference: String? {
      if case .success(let line) = content { line.reference } else { nil }
    }

    var keys: [String] { if case .success(let line) = content { line.keys } else { [] } }
  }

  /// What a line came to.
  struct Answer: Sendable {
    var records: [Record]
    var exit: Int32
    var milliseconds: Int
    var line: Int
    /// For people; nil where it must not be shown.
    var reference: String?
    /// What other lines about the same references wait for.
    var keys: Set<String> = []
    /// Whether it was one that writes.
    var writes = false
    /// Whether nothing of the batch can go on: a journal that cannot be used.
    var isFatal = false
  }

  /// What the batch's own options make of every line.
  private struct Plan: Sendable {
    var defaults: [(name: String, value: String)] = []
    /// Whether the batch itself was allowed to move real money.
    var isLiveAllowed = false
  }

  func run() throws(Fault) -> Int32 {
    guard let path = invocation.operands.first else {
      throw Fault(
        .usage,
        code: "bad_operand",
        "batch needs a file, or - for standard input",
        hint: "such as: tender batch payments.jsonl"
      )
    }
    let jobs = try number("jobs", 1...64) ?? 4
    let rate = try number("rate", 1...100_000)
    let plan = try plan()
    let signals = composition.signals
    let source = try BatchSource(path) { signals.wish != nil }
    let report = try invocation["junit"].map { report throws(Fault) in
      try JUnitFile(report, input: path, state: try composition.settings.stateFolder().text)
    }
    composition.signals.finishUnderWay()
    let shared = Shared(
      providers: composition.providers,
      plan: plan,
      signals: composition.signals,
      common: CommonParts(),
      reader: Turn()
    )
    guard
      let workers = Workers<Job, Answer>(count: jobs, makeWork: { Self.worker(shared) })
    else { throw Fault(.internal, code: "internal", "no thread can be started") }
    // Whatever has to be erased is, before the last word is said.
    defer { workers.finish() }
    output.keepsState = true
    var run = Run(composition: composition, report: report, source: source)
    // Lines about one reference come one after the other, as they stand.
    var underWay: [String: Int] = [:]
    let inOrder = invocation.has("ordered")
    func take() throws(Fault) {
      let answer = inOrder ? workers.take() : workers.takeAny()
      for key in answer.keys { underWay[key] = underWay[key].flatMap { $0 > 1 ? $0 - 1 : nil } }
      try run.take(answer)
    }
    func takeReady() throws(Fault) {
      while workers.open > 0, workers.isReady(inOrder: inOrder) { try take() }
    }
    let start = composition.clock.uptime
    var number = 0
    do throws(Fault) {
      while !mustStop(run),
        let text: Result<String, Fault> = try source.next(idle: { () throws(Fault) in
          // Whoever writes the lines may take long: what is there is shown first.
          while workers.open > 0 { try take() }
        })
      {
        number += 1
        if case .success(let text) = text, text.isBlank { continue }
        if let rate { try pace(start, run.submitted, rate, takeReady) }
        if stopsOnError {
          // No line waits behind another that may fail.
          while workers.open >= jobs { try take() }
          try takeReady()
        }
        if mustStop(run) {
          run.isStopped = true
          break
        }
        let job = Job(content: line(text, plan), line: number)
        let keys = Set(job.keys)
        while keys.contains(where: { underWay[$0] != nil }) { try take() }
        for key in keys { underWay[key] = 1 }
        workers.submit(job)
        run.submitted += 1
        while workers.open >= jobs * 4 { try take() }
        try takeReady()
      }
      if mustStop(run) { run.isStopped = true }
      while workers.open > 0 { try take() }
    } catch {
      // What is under way ends, and is said, before the batch does.
      while workers.open > 0 { try? take() }
      guard error.kind == .usage || error.kind == .state else { throw error }
      run.isStopped = true
      run.problem = error
    }
    return try run.end(milliseconds: composition.clock.uptime - start)
  }

  private func line(_ text: Result<String, Fault>, _ plan: Plan) -> Result<BatchLine, Fault> {
    do throws(Fault) {
      return .success(
        try BatchLine(
          try text.get(),
          defaults: plan.defaults,
          composition.catalogue
        )
      )
    } catch {
      return .failure(error)
    }
  }

  private func mustStop(_ run: Run) -> Bool {
    if composition.signals.wish != nil || output.isBroken || run.isFatal { return true }
    return stopsOnError && run.failed > 0
  }

  private var stopsOnError: Bool { invocation.has("stop-on-error") }

  /// Waits until the next line may begin: so many a second, from the start on.
  private func pace(
    _ start: Int,
    _ submitted: Int,
    _ rate: Int,
    _ meanwhile: () throws(Fault) -> Void
  ) throws(Fault) {
    let due = start + submitted * 1000 / rate
    while composition.signals.wish == nil {
      let left = due - composition.clock.uptime
      guard left > 0 else { return }
      try composition.clock.pause(milliseconds: min(left, 50))
      try meanwhile()
    }
  }

  private func number(_ name: String, _ range: ClosedRange<Int>) throws(Fault) -> Int? {
    guard let text = invocation[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw .badValue(
        "--" + name,
        text,
        hint: "a whole number from \(range.lowerBound) to \(range.upperBound)"
      )
    }
    return number
  }

  private func plan() throws(Fault) -> Plan {
    var plan = Plan()
    for name in [
      "provider", "profile", "env", "timeout", "config", "state-dir", "trace", "device",
      "signature-matches", "sim-scenario", "sim-fault", "sim-seed", "sim-clock",
    ] {
      if let value = invocation[name] { plan.defaults.append((name, value)) }
    }
    if invocation["env"] == "live" {
      try WriteCommands(composition: composition).approve(.live, "run the whole batch")
      plan.isLiveAllowed = true
    }
    return plan
  }

  /// What all threads share: nothing that changes but what has a lock.
  private struct Shared: Sendable {
    let providers: Providers
    let plan: Plan
    let signals: Signals
    let common: CommonParts
    let reader: Turn
  }

  /// What one thread runs its lines with: open files, connections, and a memory for one line's
  /// secrets.
  private static func worker(_ shared: Shared) -> Workers<Job, Answer>.Work {
    let parts = SharedParts(common: shared.common, reader: shared.reader, isBatch: true)
    var count = 0
    let redactor = Redactor()
    let clock = SystemClock(interruption: NoInterruption())
    func perform(_ job: Job) -> Answer {
      let start = clock.uptime
      redactor.forget()
      var answer = run(job, shared, parts, redactor)
      count += 1
      // What must be gone for good is, after so many lines at most, and whenever there are no more.
      if count % 16 == 0 { parts.finishErasing() }
      answer.milliseconds = clock.uptime - start
      answer.keys = Set(job.keys)
      if case .success(let line) = job.content {
        answer.writes = line.words.first?.hasSuffix("-status") == false
      }
      return answer
    }
    return .init(perform: perform, rest: parts.finishErasing)
  }

  private static func run(
    _ job: Job,
    _ shared: Shared,
    _ parts: SharedParts,
    _ redactor: Redactor
  ) -> Answer {
    var place = WriteCommands.Asked()
    var command = "batch"
    var collected: [Record] = []
    let reference = job.reference
    do throws(Fault) {
      let line: BatchLine
      switch job.content {
      case .success(let content): line = content
      case .failure(let fault): throw fault
      }
      var words = line.words
      if shared.plan.isLiveAllowed { words.insert("--yes", at: 1) }
      guard case .run(let invocation) = try Parser(shared.providers.catalogue).parse(words) else {
        throw Fault(.internal, code: "internal", "a line that is no command")
      }
      command = invocation.command.name
      let composition = try Composition(
        shared.providers,
        invocation,
        Environment(),
        redactor,
        shared.signals,
        sharing: parts,
        instrument: line.instrument
      )
      if invocation["env"] == "live", !shared.plan.isLiveAllowed { throw .liveNotOnBatch }
      composition.output.collect = { collected.append($0) }
      let exit =
        command.hasSuffix("-status")
        ? try LookUpCommands(composition: composition).run(&place)
        : try WriteCommands(composition: composition).run(&place)
      for index in collected.indices { collected[index].fields["line"] = .integer(job.line) }
      return Answer(
        records: collected,
        exit: exit,
        milliseconds: 0,
        line: job.line,
        reference: reference
      )
    } catch {
      let now = SystemClock(interruption: NoInterruption()).now
      let isCard = error.cause == .cardNumberInArgument
      let name = isCard ? nil : place.reference ?? reference
      var shown = redactor.redact(isCard ? .cardInLine : error)
      shown.message = redactor.redact(shown.message, foreign: true)
      let record = Records(command: command, now: now).record(
        shown,
        provider: place.provider,
        env: place.env,
        reference: name,
        line: job.line
      )
      return Answer(
        records: [record],
        exit: error.exitStatus,
        milliseconds: 0,
        line: job.line,
        reference: name,
        isFatal: error.kind == .state && error.effect == .none
      )
    }
  }
}

/// What a batch has come to so far.
private struct Run {
  let composition: Composition
  let report: JUnitFile?
  let source: BatchSource
  var submitted = 0
  var ok = 0
  var failed = 0
  var unknown = 0
  var replayed = 0
  var statuses: [String: Int] = [:]
  var isStopped = false
  var isFatal = false
  private var hasWritten = false
  /// Why no more lines could be read.
  var problem: Fault?
  private var shownAt = 0

  init(composition: Composition, report: JUnitFile?, source: BatchSource) {
    self.composition = composition
    self.report = report
    self.source = source
  }

  private var output: Output { composition.output }

  mutating func take(_ answer: BatchCommand.Answer) throws(Fault) {
    if answer.exit == 0 { ok += 1 } else { failed += 1 }
    if answer.exit == Fault.Kind.unknown.exitStatus { unknown += 1 }
    isFatal = isFatal || answer.isFatal
    for record in answer.records {
      if record.fields["replayed"] == true { replayed += 1 }
      let status = record.fields.text("status") ?? (record.kind == .error ? "error" : nil)
      if let status { statuses[status, default: 0] += 1 }
      output.stream(record)
    }
    hasWritten = hasWritten || answer.writes
    report?.add(answer)
    let now = composition.clock.uptime
    // Ten times a second is as often as anybody looks.
    if now - shownAt >= 100 {
      shownAt = now
      output.showState(progress)
    }
  }

  private var progress: String {
    let counts = "\(ok + failed) done, \(failed) failed, \(unknown) unknown"
    guard let fraction = source.fraction else { return counts }
    let filled = Int(fraction * 20)
    return "[" + String(repeating: "#", count: filled)
      + String(repeating: ".", count: 20 - filled) + "] \(Int(fraction * 100)) %  \(counts)"
  }

  /// The summary, and the exit status of the whole.
  func end(milliseconds: Int) throws(Fault) -> Int32 {
    output.keepsState = false
    output.clearState()
    if let failure = report?.finish() { output.warn("\(failure.message); \(failure.hint ?? "")") }
    if let problem, ok + failed == 0 { throw problem }
    let wish = composition.signals.wish
    var fields: JSONObject = [
      "lines": .integer(ok + failed), "ok": .integer(ok), "failed": .integer(failed),
      "unknown": .integer(unknown), "replayed": .integer(replayed),
    ]
    fields["statuses"] = .object(
      JSONObject(
        statuses.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: .integer($0.value)) }
      )
    )
    fields["stopped"] = .bool(isStopped)
    fields["milliseconds"] = .integer(milliseconds)
    output.show(composition.records.record(.batchSummary, fields))
    if isStopped, problem == nil {
      output.tell("stopped: the same command with --resume goes on")
    }
    if unknown > 0 { return Fault.Kind.unknown.exitStatus }
    if let problem { output.warn("\(problem.message); the lines before it were run") }
    if isFatal { return Fault.Kind.state.exitStatus }
    if let wish { return wish.exitStatus }
    let exit = failed > 0 || isStopped ? Fault.Kind.partial.exitStatus : 0
    // Whose records nobody reads has done its work all the same.
    return hasWritten ? exit : output.exit(exit)
  }
}

extension Fault {
  fileprivate static var cardInLine: Fault {
    Fault(
      .usage,
      code: "card_number_on_command_line",
      "the line has something that looks like a card number outside of an instrument; it was not "
        + "sent, logged or stored",
      hint: "a card goes into \"instrument\""
    )
  }

  fileprivate static var liveNotOnBatch: Fault {
    Fault(
      .refused,
      code: "live_not_named",
      "a live line needs --env live and --yes on batch itself",
      hint: "add them to tender batch"
    )
  }
}
