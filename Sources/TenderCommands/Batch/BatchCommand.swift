internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Action {
  static let batch = Command(
    .local(.writes),
    """
    batch: run many commands from a file
    Runs one command a line. A line is a JSON object with "command", "reference", and the long
    option names as keys, with _ for -. Commands are transact, confirm, cancel, refund, tokenize,
    payment-status and mandate-status. Repeated options are lists or objects. An "instrument"
    object is allowed and never shown. Each line can name its provider. Options of the line come
    before the options here.

    Every result is a record with its line; the last one is a batch_summary. Exit 0: every line
    exited 0. 14: some did not. 9: one is unknown. 130 or 143: a signal ended it. 8: --deadline
    ended it. A line that cannot be read is an error record in its place. The same command with
    --resume continues. Finished lines are printed with "replayed": true and never paid again.

    After Ctrl-C, another signal or --deadline, no further line starts. The lines under way have 3 s
    to finish, and are stopped then. A sale that waits for its card is cancelled at once.

    With --check nothing is sent. It reads each line and prints the reason for a refusal, such as
    missing credentials or a read-only profile. It finds a reference of two different payments. It
    also finds an unknown reference to confirm, cancel or refund. A payment that an earlier line makes
    is known. The summary has "checked": true, and a report names each case "check of line N".

    A --sim-fault of a line that strikes nothing is a warning, also in the report: such a line tests
    nothing.

    --csv FILE reads a CSV file instead (RFC 4180, UTF-8): a header, then one line for each row. A
    column has the name of its key, such as amount, refund_reference or metadata.table. --map
    OPTION=COLUMN names another column. An unknown column and a row without an end are refused
    before the first row runs. Of a pipe, the rows before such a row are run. --map ignore=COLUMN
    leaves a column out. An empty cell is no value, and an empty row is left out. A refund, cancel or
    confirm with an empty amount is refused: no amount means all that is left. Without a column
    command each row is a transact. Results and errors have the number of the row as their line; the
    header is row 1. A CSV file has no instruments.

    A value that looks like a card number is refused. A member or column id with the same value says
    that it is none. --id VALUE says so for every line. id may be a list, or several columns. --map
    id=COLUMN says so of a column that is also something else.

    With --jobs many lines run at once. Lines that wait for the disk share one sync.

    Several runners may share a file. With --shard 3/10 each takes a share of the lines, by their
    reference. Without it each takes every line, and leaves lines of other runners for the end.
    Each reference is charged once, if all use one journal.

    A refund with "amount" needs a "refund_reference". Live lines need --env live and --yes here.
    $ tender batch payments.jsonl # every line of a file
    $ tender batch payments.jsonl --resume # go on after an interruption
    $ tender batch --csv orders.csv --map amount=Total,reference=Order --map ignore=Note # a file
    from a spreadsheet
    $ tender batch payments.jsonl --shard 3/10 # the third of ten runners that share a file
    $ tender batch smoke.jsonl --junit report.xml --ordered # a smoke test, with "expect" in its
    lines
    """,
    operands: [.init("FILE", optional: true, completion: .files)],
    options: [
      Keys.csv, Keys.map, Keys.check, Keys.jobs, Keys.rate, Keys.shard, Keys.resume, Keys.ordered,
      Keys.stopOnError, Keys.junit,
    ] + Catalogue.simulation,
    exits: [.partial, .pending, .unknown, .state, .refused, .interrupted, .terminated, .hungUp],
    // Each of its lines may name files, addresses and readers.
    bounds: .anyProfile,
    csv: RecordCSV.payments
  ).performed(by: BatchCommand.run)
}

/// `batch`: one command on each line, several at once, with a record for each result.
struct BatchCommand: CommandWork {
  let composition: Composition

  func run() throws(Fault) -> Int32 {
    // The report of an earlier run says nothing about this one.
    if let report = invocation[Keys.junit] { try JUnitFile.remove(report) }
    let csv = invocation[Keys.csv]
    guard let path = csv ?? invocation.operands.first else {
      throw .badOperand(
        "batch needs a file, or - for standard input",
        hint: "such as: tender batch payments.jsonl"
      )
    }
    if csv != nil, !invocation.operands.isEmpty {
      throw .exclusive("--csv and FILE")
    }
    if csv == nil, invocation.has(Keys.map) {
      throw .badOptions("--map needs --csv", hint: "add --csv FILE, or leave it out")
    }
    let jobs = jobs(try invocation.value(Keys.jobs) ?? 4)
    let rate = try invocation.value(Keys.rate)
    let isLive = try invocation.value(Keys.env) == .live
    if isLive, !invocation.has(Keys.check) {
      try composition.approve(.live, "run the whole batch")
    }
    // From here on a signal ends the run in order, and its report.
    composition.signals.finishUnderWay()
    let report = try junit(jobs)
    do throws(Fault) {
      return try run(path, isTable: csv != nil, isLive: isLive, jobs, rate, report)
    } catch {
      if let report, !report.isFinished {
        report.add(error)
        _ = report.finish()
      }
      throw error
    }
  }

  private func run(
    _ path: String,
    isTable: Bool,
    isLive: Bool,
    _ jobs: Int,
    _ rate: Int?,
    _ report: JUnitFile?
  ) throws(Fault) -> Int32 {
    let checks = invocation.has(Keys.check)
    let signals = composition.signals
    let source = try BatchSource(path) { signals.wish != nil }
    let vocabulary = BatchVocabulary(invocation, composition.catalogue, isLiveAllowed: isLive)
    do throws(Fault) {
      if isTable { try source.readHeader(invocation.all(Keys.map), vocabulary) }
    } catch {
      // A table whose reading was stopped looks like one without an end.
      throw signals.wish.map { .stopped(by: $0, underWay: "nothing was run") } ?? error
    }
    let worker = BatchWorker(
      providers: composition.providers,
      signals: signals,
      config: composition.settings.config,
      isLiveAllowed: isLive,
      readOnlyProfile: composition.settings.readOnlyProfile,
      containment: composition.containment,
      checks: checks,
      standing: try invocation.value(Keys.simClock)?.standing,
      isOrdered: invocation.has(Keys.ordered),
      resumes: invocation.has(Keys.resume)
    )
    guard let workers = Workers(count: jobs, makeWork: worker.work) else {
      throw Fault(.internal, code: "internal", "no thread can be started")
    }
    // All threads end before the final message.
    defer { workers.finish() }
    output.keepsState = true
    let start = composition.clock.uptime
    var run = Run(
      composition: composition,
      source: source,
      workers: workers,
      vocabulary: vocabulary,
      schedule: BatchSchedule(jobs: jobs, stopsOnError: invocation.has(Keys.stopOnError)),
      tally: BatchTally(composition: composition, report: report, source: source, start: start),
      inOrder: invocation.has(Keys.ordered),
      seen: checks ? SeenPayments() : nil,
      shard: try invocation.value(Keys.shard),
      // For that long, a process that is gone may still have the lock of a reference.
      patience: 2 * (try composition.settings.timeout()) + 10_000,
      number: source.row
    )
    try run.all(atMost: rate)
    let took = worker.standing == nil ? composition.clock.uptime - start : 0
    return try run.tally.end(milliseconds: took)
  }

  private func junit(_ jobs: Int) throws(Fault) -> JUnitFile? {
    try invocation[Keys.junit].map { report throws(Fault) in
      try JUnitFile(
        report,
        start: Timestamp.text(composition.clock.now),
        checks: invocation.has(Keys.check),
        properties: properties(jobs)
      )
    }
  }

  /// The largest number of files and connections that one line has open.
  private static let filesOfLine = 24

  /// Returns the number of parallel lines: the requested one, or fewer if the limit of open files requires
  /// it.
  private func jobs(_ wanted: Int) -> Int {
    let limit = ProcessGuard.files(wanted: 64 + wanted * Self.filesOfLine)
    let most = max(1, (limit - 64) / Self.filesOfLine)
    guard wanted > most else { return wanted }
    output.warn("\(most) lines at once, not \(wanted): only \(limit) files may be open (ulimit -n)")
    return most
  }

  /// The settings of the run for the report, so that it can be repeated.
  private func properties(_ jobs: Int) -> [(name: String, value: String)] {
    let options = [Keys.simSeed.option, Keys.simClock.option, Keys.env.option, Keys.profile.option]
    let given = options.compactMap { option in invocation.text(option).map { (option.name, $0) } }
    return [("tender", Catalogue.version), ("jobs", String(jobs))] + given
  }

  /// One run. The schedule starts lines, and answers are counted and shown when they come.
  private struct Run {
    let composition: Composition
    let source: BatchSource
    let workers: Workers<BatchWorker.Job, BatchWorker.Answer>
    let vocabulary: BatchVocabulary
    var schedule: BatchSchedule
    var tally: BatchTally
    let inOrder: Bool
    /// The payments of a check; nil if the lines are executed.
    var seen: SeenPayments?
    /// The executed share of the lines; nil for all.
    let shard: Shard?
    /// The longest wait for lines whose references other processes hold, in milliseconds.
    let patience: Int
    /// Lines whose references other processes held. They run at the end.
    var busy: [Int: BatchWorker.Job] = [:]
    /// The references of the postponed lines. Later lines about them are postponed too.
    var busyKeys: Set<String> = []
    /// Running lines that may be postponed to the end, by line number.
    var open: [Int: BatchWorker.Job] = [:]
    /// The number of the last line read. In a CSV file it is the row, and the header is the first row.
    var number = 0
    /// Lines that were not started, with their references, for the report.
    var left: [(line: Int, reference: String?)] = []

    /// Runs every line, at most `rate` a second.
    mutating func all(atMost rate: Int?) throws(Fault) {
      do throws(Fault) {
        try begin(rate)
        try countLeft()
        try takeAll()
        try takeUpBusy()
        for (line, reference) in left.sorted(by: { $0.line < $1.line }) {
          tally.report?.skip(line, reference)
        }
        if tally.isStopped, tally.left == 0 {
          tally.report?.skipRest(source.table == nil ? "lines" : "rows")
        }
      } catch {
        // The running lines end, and are shown, before the batch ends.
        while workers.open > 0 { try? take() }
        guard error.kind == .usage || error.kind == .state else { throw error }
        tally.isStopped = true
        tally.problem = error
      }
    }

    private mutating func begin(_ rate: Int?) throws(Fault) {
      let start = composition.clock.uptime
      while !mustStop, let text = try next() {
        number += 1
        if case .success(let text) = text, text.isBlank { continue }
        if let rate { try pace(start, rate) }
        let (content, earlier, written) = line(text, number)
        if let shard, let line = try? content.get(), !shard.holds(line.reference) { continue }
        var job = BatchWorker.Job(content: content, line: number, table: source.table)
        (job.earlier, job.written) = (earlier, written)
        if case .failure = content, case .success(let text) = text {
          job.name =
            composition.output.redactor.redact(text) == text ? BatchLine.name(in: text) : nil
        }
        try takeReady()
        guard try submit(job) else { return }
        tally.begun += 1
        tally.report?.begins(number)
        try takeReady()
      }
    }

    /// Submits a line once it may start; false if a stop prevents it.
    ///
    /// Before the deadline, a line is postponed to the end if another process holds its reference.
    private mutating func submit(
      _ job: BatchWorker.Job,
      until deadline: Deadline? = nil
    ) throws(Fault) -> Bool {
      let keys = job.keys
      while schedule.mustWait(for: keys), !mustStop { try take() }
      guard !mustStop else {
        leave(job.line, job.reference)
        return false
      }
      let mayBeLeft = (deadline.map { $0.remaining > 0 } ?? true) && busy.count < Self.mostBusy
      if mayBeLeft, !busyKeys.isDisjoint(with: keys) {
        postpone(job)
        return true
      }
      schedule.begin(keys)
      if mayBeLeft, !inOrder { open[job.line] = job }
      workers.submit(job)
      return true
    }

    /// The largest number of postponed lines. Each is held in memory.
    private static let mostBusy = 10_000

    private mutating func postpone(_ job: BatchWorker.Job) {
      busy[job.line] = job
      busyKeys.formUnion(job.keys)
    }

    /// Runs the postponed lines again, until the other processes have released their references.
    private mutating func takeUpBusy() throws(Fault) {
      let deadline = Deadline(in: patience, on: composition.clock)
      var pause = 50
      while !busy.isEmpty, !mustStop {
        try? composition.clock.pause(milliseconds: pause)
        pause = min(1000, pause * 2)
        let round = busy.sorted { $0.key < $1.key }
        (busy, busyKeys) = ([:], [])
        // After the deadline, a line with a reference that is still held ends with that fault.
        for (_, job) in round { _ = try submit(job, until: deadline) }
        try takeAll()
      }
      for (line, job) in busy {
        tally.begun -= 1
        leave(line, job.reference)
      }
      tally.isStopped = tally.isStopped || !busy.isEmpty
    }

    /// Records a line that will not start.
    private mutating func leave(_ line: Int, _ reference: String?) {
      tally.left += 1
      if tally.report != nil { left.append((line, reference)) }
    }

    /// Counts the lines that a stop leaves unread. In a pipe, their number is unknown.
    private mutating func countLeft() throws(Fault) {
      guard mustStop || source.isCut else { return }
      if schedule.isStopped || composition.signals.wish != nil, source.isFile {
        while let text = try source.next(idle: { () throws(Fault) in }) {
          number += 1
          if case .success(let text) = text, text.isBlank { continue }
          // Only the report needs names. Counting millions of lines alone is fast.
          let name = tally.report == nil ? nil : (try? line(text, number).content.get())?.reference
          leave(number, name)
        }
        tally.isStopped = tally.left > 0
      } else {
        tally.left = 0
        tally.isStopped = true
      }
    }

    /// Returns the next line. The wait for it may be long, so finished answers are shown first.
    private mutating func next() throws(Fault) -> Result<String, Fault>? {
      try source.next(idle: { () throws(Fault) in try takeAll() })
    }

    private mutating func line(
      _ text: Result<String, Fault>,
      _ number: Int
    ) -> (
      content: Result<BatchLine, Fault>, earlier: SeenPayments.Earlier?, written: Set<String>
    ) {
      do throws(Fault) {
        let line = try BatchLine(try text.get(), vocabulary)
        let written = seen?.written(line) ?? []
        return (.success(line), try seen?.add(line, number), written)
      } catch {
        return (.failure(error), nil, [])
      }
    }

    private var mustStop: Bool {
      composition.signals.wish != nil || composition.output.isBroken || tally.isFatal
        || schedule.isStopped
    }

    private mutating func takeAll() throws(Fault) { while workers.open > 0 { try take() } }

    private mutating func takeReady() throws(Fault) {
      while workers.open > 0, workers.isReady(inOrder: inOrder) { try take() }
    }

    private mutating func take() throws(Fault) {
      let answer = inOrder ? workers.take() : workers.takeAny()
      let again = open.removeValue(forKey: answer.line)
      schedule.end(answer.keys, failed: answer.exit != 0 && !answer.isBusy)
      if answer.isBusy, let again {
        return postpone(again)
      }
      guard !answer.isLeft else {
        tally.begun -= 1
        tally.isStopped = true
        tally.report?.leaves(answer.line)
        return leave(answer.line, answer.reference)
      }
      try tally.take(answer)
    }

    /// Waits until the next line may start, at the given rate from the beginning.
    private mutating func pace(_ start: Int, _ rate: Int) throws(Fault) {
      let due = start + schedule.begun * 1000 / rate
      while composition.signals.wish == nil {
        let left = due - composition.clock.uptime
        guard left > 0 else { return }
        // A signal or the deadline ends the pause, and then this loop.
        try? composition.clock.pause(milliseconds: min(left, 50))
        try takeReady()
      }
    }
  }
}
