internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Runs the lines of a batch. Each thread creates its work from the shared parts.
struct BatchWorker: Sendable {
  /// A thread's job: a line, or the fault of an invalid one.
  struct Job: Sendable {
    let content: Result<BatchLine, Fault>
    let line: Int
    /// The header of a CSV file; nil if the lines are JSON.
    var table: BatchTable?
    /// Facts from earlier lines about its reference, for a check.
    var earlier: SeenPayments.Earlier?
    /// The other payments that it names and that earlier lines make or change, for a check.
    var written: Set<String> = []

    /// The reference in an invalid line, if nothing in it looks like a card number.
    var name: String?

    var reference: String? { (try? content.get())?.reference ?? name }

    var keys: Set<String> { (try? content.get())?.keys ?? [] }
  }

  struct Answer: Sendable {
    var records: [Record] = []
    var exit: Int32 = 0
    var milliseconds = 0
    var line: Int
    /// The reference to show; nil if it must not be shown.
    var reference: String?
    var expects = false
    /// The faults of the line that struck nothing, each with a sentence.
    var unusedFaults: [(fault: String, sentence: String)] = []
    /// The references that other lines wait for.
    var keys: Set<String> = []
    var writes = false
    /// Whether the batch cannot continue, because the journal cannot be used.
    var isFatal = false
    /// Whether another process holds its reference.
    var isBusy = false
    /// Whether it was not started, because a stop came while it waited.
    var isLeft = false
  }

  let providers: Providers
  let signals: Signals
  /// The configuration file, read once for all lines.
  let config: ConfigFile
  /// Whether the batch itself was allowed to move real money.
  let isLiveAllowed: Bool
  /// The batch's profile, if it is read-only.
  let readOnlyProfile: String?
  let containment: Containment
  /// Whether each line is only checked.
  let checks: Bool
  /// The fixed time of the simulated clock; nil for the machine's.
  let standing: Int?
  /// Whether the lines must run in their order.
  let isOrdered: Bool
  /// Whether the batch continues an earlier one, so that finished lines are replayed.
  let resumes: Bool
  let common = CommonParts()
  /// Resources that one line uses at a time.
  let turns = Turns()

  /// Creates the work of one thread: open files, connections, and memory for one line's secrets.
  func work() -> (Job) -> Answer {
    let parts = SharedParts(common: common, batch: self)
    let redactor = Redactor()
    let signals = signals.forOtherThread()
    let clock = SystemClock(interruption: NeverInterrupted())
    func perform(_ job: Job) -> Answer {
      if signals.wish != nil {
        return Answer(line: job.line, reference: job.reference, keys: job.keys, isLeft: true)
      }
      let start = clock.uptime
      redactor.forget()
      var unusedFaults: [(fault: String, sentence: String)] = []
      var answer = run(job, parts, redactor, signals, &unusedFaults)
      answer.unusedFaults = unusedFaults
      answer.milliseconds = standing == nil ? clock.uptime - start : 0
      answer.keys = job.keys
      answer.writes = (try? job.content.get())?.writes ?? false
      return answer
    }
    return perform
  }

  private func run(
    _ job: Job,
    _ parts: SharedParts,
    _ redactor: Redactor,
    _ signals: Signals,
    _ unusedFaults: inout [(fault: String, sentence: String)]
  ) -> Answer {
    var subject = RecordSubject()
    var command = "batch"
    var collected: [Record] = []
    do throws(Fault) {
      let line = try job.content.get()
      var invocation = try line.invocation.get()
      // If the batch is read-only, no line may write, with any profile.
      if let readOnlyProfile, line.writes { throw .readOnly(readOnlyProfile) }
      // In a check, nothing is sent and nothing is written, for any command.
      if checks {
        invocation = invocation.adding(Keys.dryRun.option)
        if case .makes(let provider?) = job.earlier {
          invocation = invocation.adding(Keys.provider.option, provider)
        }
      }
      command = invocation.command.name
      let settings = try Settings(invocation, Environment(), providers.modules, config: config)
      if line.writes { try containment.check(settings) }
      let composition = try Composition(
        providers,
        settings,
        redactor,
        signals,
        sharing: parts,
        instrument: line.instrument,
        batchLine: job.line,
        check: checks ? Composition.Check(earlier: job.earlier, written: job.written) : nil,
        containment: containment
      )
      defer {
        subject = composition.subject
        unusedFaults = checks ? [] : composition.unusedFaults
        parts.keepTime()
      }
      if try invocation.value(Keys.env) == .live, !isLiveAllowed { throw .liveNotOnBatch }
      composition.output.collect = { collected.append($0) }
      var exit: Int32 = 0
      if checks {
        collected = [try LineCheck(composition: composition).run()]
      } else {
        do throws(Fault) {
          exit = try Action.run(composition)
        } catch {
          throw composition.written(error.atDeadline(signals))
        }
      }
      for index in collected.indices { collected[index].fields["line"] = .integer(job.line) }
      let expects = !checks && invocation.has(Keys.expect)
      return Answer(
        records: collected,
        exit: exit,
        line: job.line,
        reference: line.reference,
        expects: expects
      )
    } catch {
      let fault = job.table?.place(error, row: job.line) ?? error
      return answer(to: job, fault, command, subject, redactor)
    }
  }

  private func answer(
    to job: Job,
    _ fault: Fault,
    _ command: String,
    _ subject: RecordSubject,
    _ redactor: Redactor
  ) -> Answer {
    let isCard = fault.cause == .cardNumberInArgument
    var subject = subject
    subject.reference = isCard ? nil : subject.reference ?? job.reference
    var shown = redactor.redact(isCard ? .cardInLine(isRow: job.table != nil) : fault)
    shown.message = redactor.redact(shown.message, foreign: true)
    if fault.cause == .aboveLimit {
      shown.hint =
        "check the amount. A batch asks nothing: run the line's command by itself at a terminal"
    }
    let now = standing ?? SystemClock(interruption: NeverInterrupted()).now
    let record = Records(command: command, now: now).record(shown, subject, line: job.line)
    return Answer(
      records: [record],
      exit: fault.exitStatus,
      line: job.line,
      reference: subject.reference,
      expects: (try? job.content.get().invocation.get())?.has(Keys.expect) ?? false,
      isFatal: fault.kind == .state && fault.effect == .none && fault.cause != .changedMeanwhile,
      isBusy: fault.cause == .inProgress || fault.cause == .leaseLost && fault.effect == .none
    )
  }
}

extension Fault {
  fileprivate static func cardInLine(isRow: Bool) -> Fault {
    let place = isRow ? "a column named id" : "the member \"id\""
    return Fault(
      .usage,
      code: "card_number_on_command_line",
      cause: .cardNumberInArgument,
      "the line has something that looks like a card number outside of an instrument; it was not "
        + "sent, logged or stored",
      hint: "a card goes into \"instrument\"; for an id that only looks like one, write the same "
        + "value into \(place) too"
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
