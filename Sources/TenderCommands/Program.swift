private import Platform
internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// One run of the program, from arguments to exit status.
package struct Program {
  /// Runs a command line, and returns its exit status.
  ///
  /// `garbled` is the number of the first argument that is not UTF-8, counted from 1; nil if all are.
  package static func run(
    _ arguments: [String],
    garbled: Int?,
    providers: @autoclosure () -> Providers = Providers()
  ) -> Int32 {
    // Scripts ask for the version at their start, where every millisecond counts.
    if arguments == ["--version"] { return put("tender \(Catalogue.version)\n") }
    let providers = providers()
    let catalogue = providers.catalogue
    let environment = Environment()
    if arguments.first == Completions.command {
      let command = CompleteCommand(providers: providers, environment: environment)
      return command.run(Array(arguments.dropFirst()))
    }
    let redactor = Redactor()
    var machineReadable = !wantsTable(arguments, environment)
    var subject = RecordSubject()
    var command = "tender"
    var reads = false
    var now = 0
    var patience: Console.Patience?
    var hasBegun = false
    do throws(Fault) {
      if let garbled { throw .garbled(garbled, arguments[garbled - 1]) }
      switch try Parser(catalogue).parse(arguments) {
      case .help(let words, let invocation):
        // Help must work with an unreadable configuration.
        let provider = try? Settings(invocation, environment, providers.modules).provider()
        let help = HelpText(catalogue, for: provider?.text)
        // Only a program that asks for them gets records. Help in a pipe is read by a person.
        if let format = invocation.format, format.hasPrefix("json") {
          let time = SystemClock(interruption: NeverInterrupted()).now
          let records = Records(command: "help", now: time)
          let lines = try help.records(for: words).map { kind, fields in
            RecordLine.text(records.record(kind, fields)) + "\n"
          }
          return put(lines.joined(), isJSON: true)
        }
        let text = try help.text(for: words)
        return Pager.show(text, environment) ? 0 : put(text)
      case .version(let invocation):
        if let output = invocation?[Keys.output], ["raw", "csv"].contains(output) {
          throw .badOptions(
            "tender version has no --output \(output)",
            hint: "use --output jsonl"
          )
        }
        return version(invocation, environment)
      case .run(let invocation):
        command = invocation.command.name
        reads = invocation.command.work.reads
        if invocation.command.runsProgram {
          machineReadable = !Output.isTable(of: invocation, environment)
        }
        try Libraries.begin()
        try checkDescriptor(invocation)
        let composition = try compose(
          providers,
          invocation,
          environment,
          redactor,
          machineReadable: machineReadable
        )
        defer {
          (now, subject) = (composition.clock.now, composition.subject)
          patience = composition.output.patience
          composition.shared.keepTime()
        }
        let limit = try invocation.value(Keys.deadline)
        hasBegun = true
        return try work(composition, within: limit)
      }
    } catch {
      // A batch that is refused here cannot write its report.
      if !hasBegun { JUnitFile.removeStale(namedIn: arguments) }
      if now == 0 { now = SystemClock(interruption: NeverInterrupted()).now }
      let record = Records(command: command, now: now).record(error, subject)
      Output.fail(
        error,
        record: record,
        isTable: !machineReadable,
        reads: reads,
        redactor: redactor,
        environment: environment,
        patience
      )
      return error.exitStatus
    }
  }

  /// Runs a command.
  ///
  /// If its time limit stopped it, the exit status shows that. A fault about a missing payment names the
  /// searched journal, since its folder may be wrong.
  private static func work(
    _ composition: Composition,
    within limit: Int?
  ) throws(Fault) -> Int32 {
    let signals = composition.signals
    if let limit { signals.expire(after: limit) }
    defer {
      for (_, sentence) in composition.unusedFaults { composition.output.warn(sentence) }
    }
    do throws(Fault) {
      let exit = try Action.run(composition)
      let isStopped = exit == Fault.Kind.interrupted.exitStatus && signals.hasExpired
      return isStopped ? Fault.Kind.pending.exitStatus : exit
    } catch {
      var fault = error.atDeadline(signals)
      if fault.kind == .notFound, fault.result == nil || fault.cause == .nothingHeld,
        composition.hasJournal,
        let place = try? composition.journalWords(), !fault.message.contains(place)
      {
        fault.hint = (fault.hint.map { $0 + "; " } ?? "") + "searched \(place)"
      }
      throw composition.written(fault)
    }
  }

  /// Throws `usage` if an option names a descriptor that is not open.
  ///
  /// It runs before this program opens any descriptor.
  private static func checkDescriptor(_ invocation: Invocation) throws(Fault) {
    guard let number = try invocation.value(Keys.instrumentDescriptor),
      !ProcessGuard.isOpen(number)
    else { return }
    throw .badValue(
      "--instrument-fd",
      String(number),
      hint: "an open descriptor, such as 3 with 3< FILE"
    )
  }

  /// Prepares a run: settings, restrictions of the process, signals.
  private static func compose(
    _ providers: Providers,
    _ invocation: Invocation,
    _ environment: Environment,
    _ redactor: Redactor,
    machineReadable: Bool
  ) throws(Fault) -> Composition {
    // The order matters, and all come before any thread. The restrictions of this process must not apply to
    // these helpers. This one sets the state folder.
    let command =
      invocation.command.runsProgram ? try UserCommand(invocation.operands, environment) : nil
    let settings = try Settings(invocation, environment, providers.modules)
    try checkNewFiles(settings)
    settings.startPrograms()
    let browser = invocation.has(Keys.open) ? Browser(environment) : nil
    if mayGoOut(invocation, environment) { CurlHTTP.openAhead() }
    let containment = Containment.begin(settings)
    if invocation.mayPay { try containment.check(settings) }
    let signals = Signals { kind in
      // Nothing with an effect is under way, so this ends at once, even if a call blocks.
      let fault = Fault.stopped(by: kind, underWay: "nothing was under way")
      let time = SystemClock(interruption: NeverInterrupted()).now
      Output.fail(
        fault,
        record: Records(command: invocation.command.name, now: time).record(fault),
        isTable: !machineReadable,
        reads: invocation.command.work.reads,
        redactor: redactor,
        environment: Environment(),
        Console.Patience { true }
      )
      // `exit` would run handlers while the other thread works.
      _exit(fault.exitStatus)
    }
    return try Composition(
      providers,
      settings,
      redactor,
      signals,
      browser: browser,
      command: command,
      containment: containment
    )
  }

  /// Throws `usage` if a new file would replace one of a journal's, or one that the command reads, or has the
  /// name that stands for standard output elsewhere.
  private static func checkNewFiles(_ settings: Settings) throws(Fault) {
    let invocation = settings.invocation
    let (options, operand) = (invocation.command.options, invocation.command.operands.first)
    func named(_ kind: Option.Completion) -> [(name: String, path: String)] {
      let given = options.filter { $0.completion == kind }.flatMap { option in
        (invocation.values[option.name] ?? []).map { ("--" + option.name, $0) }
      }
      guard operand?.completion == kind else { return given }
      return given + invocation.operands.map { (invocation.command.name, $0) }
    }
    let state = (try? settings.stateFolder())?.text
    let read = [settings.config.path] + named(.files).map(\.path)
    for (name, path) in named(.newFiles) {
      guard path != "-" else { throw .noFileName(name) }
      let isState = state.map { Environment.isInside(path, $0) } ?? false
      let isJournals = isState || Environment.isBeside(path, "journal.db")
      guard isJournals || read.contains(where: { Environment.isSameFile(path, $0) }) else {
        continue
      }
      throw .badFile(
        "\(name): \(path.quotedForMessage) is "
          + (isJournals ? "in a state folder" : "a file that this command reads"),
        hint: "choose another file"
      )
    }
  }

  /// Whether options and variables alone show that the network will be used.
  private static func mayGoOut(_ invocation: Invocation, _ environment: Environment) -> Bool {
    guard !invocation.command.work.isLocal, !invocation.has(Keys.dryRun) else { return false }
    if let env = invocation.text(Keys.env) ?? environment["TENDER_ENV"],
      env != Env.simulator.rawValue
    {
      return true
    }
    return environment.isRedirected
  }

  /// Prints text and nothing else. Returns 16, with a reason, if the text was lost, and 141 if its reader is
  /// gone.
  static func put(_ text: String, isJSON: Bool = false) -> Int32 {
    guard !Console.write(text, to: 1) else { return 0 }
    guard errno != EPIPE else { return 141 }
    let why = "standard output cannot be written: \(unsafe String(cString: strerror(errno)))"
    let now = SystemClock(interruption: NeverInterrupted()).now
    let note = Records(command: "tender", now: now)
      .record(.note, ["level": "warning", "text": .string(why)])
    Console.write(isJSON ? RecordLine.text(note) + "\n" : "tender: \(why)\n", to: 2)
    return Fault.Kind.state.exitStatus
  }

  /// Prints the version. With --verbose it also prints the commit, the compiler and the libraries.
  private static func version(_ invocation: Invocation?, _ environment: Environment) -> Int32 {
    let build = invocation?.has(Keys.verbose) == true ? Libraries.build : nil
    let fields: JSONObject = [
      "version": .string(Catalogue.version),
      "commit": build.flatMap { $0.commit.isEmpty ? nil : .string($0.commit) },
      "compiler": build.flatMap { $0.compiler.isEmpty ? nil : .string($0.compiler) },
      "libraries": build.map { _ in .object(Libraries.versions()) },
    ]
    guard let invocation, !Output.isTable(option: invocation.format, environment) else {
      var lines = ["tender \(Catalogue.version)"]
      for name in ["commit", "compiler"] {
        lines += fields.text(name).map { ["\(name) \($0)"] } ?? []
      }
      lines += fields["libraries"]?.object?.members.map { "\($0.key) \($0.value.text ?? "")" } ?? []
      return put(lines.joined(separator: "\n") + "\n")
    }
    let now = SystemClock(interruption: NeverInterrupted()).now
    let record = Records(command: "version", now: now).record(.version, fields)
    return put(RecordLine.text(record) + "\n", isJSON: true)
  }

  /// Whether to print tables before the arguments are parsed. Even a usage error is a JSON line if JSON was
  /// requested.
  private static func wantsTable(_ arguments: [String], _ environment: Environment) -> Bool {
    var option: String?
    for (index, argument) in arguments.enumerated() {
      if argument == "--" { break }
      if argument == "--json" { return false }
      for name in ["--output=", "-o="] where argument.hasPrefix(name) {
        option = String(argument.dropFirst(name.count))
      }
      if argument == "--output" || argument == "-o", index + 1 < arguments.count {
        option = arguments[index + 1]
      }
    }
    return Output.isTable(option: option, environment)
  }
}

extension Invocation {
  /// Whether it can move money: payments, and commands that finish them.
  fileprivate var mayPay: Bool {
    command.work.writes || command.bounds == .anyProfile || has(Keys.finish)
  }
}

extension Fault {
  /// Returns the fault of a command that its time limit stopped, and no signal.
  func atDeadline(_ signals: Signals) -> Fault {
    guard kind == .interrupted, signals.hasExpired else { return self }
    var fault = Fault.stopped(
      by: .pending,
      effect: effect,
      underWay: effect == .none ? "nothing is under way" : "a request was under way"
    )
    if effect == .unknown { (fault.hint, fault.next) = (hint ?? fault.hint, next) }
    return fault
  }

  fileprivate static func garbled(_ number: Int, _ argument: String) -> Fault {
    .usage(
      "bad_value",
      "argument \(number) is not UTF-8: \(argument.quotedForMessage)",
      "write it in UTF-8, as a terminal with LC_ALL=C.UTF-8 does"
    )
  }

  fileprivate static func noFileName(_ name: String) -> Fault {
    .badFile("\(name): '-' is not a file", hint: "name a file; ./- is one with this name")
  }
}
