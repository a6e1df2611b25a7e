internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

/// The provider and env of a command, and its payment.
struct Target {
  let module: any ProviderModule
  let env: Env
  /// The payment in the journal; nil if the journal does not have it.
  var payment: Payment?
}

/// Connects the rooms for one run. It takes settings and makes an engine.
final class Composition: Session {
  let providers: Providers
  let settings: Settings
  let output: Output
  let redactor: Redactor
  let signals: Signals
  let worldClock: SimulatedClock
  /// The clock outside of the simulated world: the machine's, unless `--sim-clock` sets it.
  let ownClock: any Clock
  /// The ways of the last engine to its provider; nil before there is one.
  private(set) var wires: Wires?

  /// The clock of the run. A wait for a provider in this process takes no time.
  var clock: any Clock { wires?.clock ?? ownClock }
  let simulatorOptions: SimulatorOptions
  /// Collects facts about hosts; nil unless they are needed.
  var reach: Reach?
  /// The shapes of answers; nil if nothing compares them.
  var shapes: Shapes?
  /// The parts that several runs of one thread share.
  let shared: SharedParts
  let instrument: [UInt8]?
  /// The number of a batch's line; nil for a single command.
  private let batchLine: Int?
  var isLine: Bool { batchLine != nil }
  /// Facts for `batch --check`; nil if the command is executed.
  let check: Check?
  /// Opens the bank's pages, if the user requested that.
  let browser: Browser?
  /// The command of the user's that this one runs; nil if it runs none.
  let command: UserCommand?
  let containment: Containment
  /// One engine for each provider and env, so that many look-ups share a connection and an open ledger.
  private var engines: [(provider: ProviderName, env: Env, engine: Engine)] = []

  /// The subject of the run, for events and for the record of a later fault.
  var subject = RecordSubject() {
    didSet { if subject.reference != oldValue.reference { announced = nil } }
  }
  private var announced: String?
  /// The simulated world of this run. All its parts share one seed. A fault that occurs once occurs in one of
  /// them.
  private var ownSimulator: InProcessSimulator?
  /// The journal and the usual target, found once. A command that looks up many payments needs them for each.
  private var known: (any Journal)?
  var usual: Target?
  /// The numbers of providers and envs that have a reference, for references that were checked.
  var places: [String: Int] = [:]
  /// Whether the journal is read as a list. Then it must not be asked about one payment.
  var isListing = false

  init(
    _ providers: Providers,
    _ settings: Settings,
    _ redactor: Redactor,
    _ signals: Signals,
    sharing shared: SharedParts = SharedParts(),
    instrument: [UInt8]? = nil,
    batchLine: Int? = nil,
    check: Check? = nil,
    browser: Browser? = nil,
    command: UserCommand? = nil,
    containment: Containment = .none
  ) throws(Fault) {
    self.providers = providers
    self.browser = browser
    self.command = command
    self.containment = containment
    self.shared = shared
    self.instrument = instrument
    self.batchLine = batchLine
    self.check = check
    self.signals = signals
    self.settings = settings
    self.redactor = redactor
    try settings.checkTyped { redactor.learn($0) }
    output = try Output(settings, redactor) { signals.wish }
    for id in settings.invocation.exemptIDs { redactor.exempt(id) }
    simulatorOptions = try Self.simulatorOptions(settings.invocation, providers.simulated)
    let machine = SystemClock(interruption: signals.atPauses)
    worldClock = shared.clock(simulatorOptions.clock, beside: machine)
    // The world's commands show its times, and nothing else.
    let isOfWorld = settings.invocation.command.bounds == .world
    ownClock = simulatorOptions.clock?.standing == nil && !isOfWorld ? machine : worldClock
    output.now = { [weak self] in self?.clock.now ?? machine.now }
  }

  /// Returns the clock of an env's payments: that of the simulated world, or the machine's.
  func clock(of env: Env) throws(Fault) -> any Clock {
    guard env == .simulator, !environment.isRedirected, try hasWorld else { return clock }
    // The world's file says how far its clock is ahead.
    _ = try simulator()
    return worldClock
  }

  /// Whether the requests of the last engine leave this process.
  var goesOutside: Bool { wires?.isOutside == true }

  /// Returns the name of the port at which this process waits for the payer of a provider; nil if it does not.
  func listener(of module: any ProviderModule) -> String? {
    guard goesOutside else { return nil }
    for case .listener(let port) in module.resources(settings) { return "port \(port)" }
    return nil
  }

  var catalogue: Catalogue { providers.catalogue }

  var records: Records {
    Records(
      command: invocation.command.name,
      now: clock.now,
      worldNow: { [unowned self] in worldNow },
      modules: providers.modules,
      writes: { [unowned self] in text($0, $1) }
    )
  }

  /// Whether there is a journal, or one that a mark expects.
  var hasJournalFile: Bool {
    get throws(Fault) {
      if settings.journal() != nil { return true }
      let folder = try settings.stateFolder().text
      return SQLiteJournal.isExpected(in: folder, markFolder: settings.markFolder())
    }
  }

  /// Whether the state folder has a simulated world.
  var hasWorld: Bool {
    get throws(Fault) { Environment.exists(try settings.stateFolder().text + "/simulator.db") }
  }

  /// The time of the simulated world in this process; nil if there is none, or a served one is used.
  private var worldNow: Int? {
    guard let ahead = worldAhead else { return nil }
    worldClock.startAhead(by: ahead)
    return worldClock.now
  }

  /// The time that the world is ahead, read once.
  private lazy var worldAhead: Int? = {
    guard !environment.isRedirected, (try? hasWorld) == true else { return nil }
    return try? Ledger(path: settings.stateFolder().text + "/simulator.db").ahead()
  }()

  /// Whether no payment can be found: there is no journal, and the provider in this process has no world. A
  /// mistyped folder is not made then.
  var isBlank: Bool {
    get throws(Fault) {
      if try hasJournalFile { return false }
      if goesOut { return false }
      return try !hasWorld
    }
  }

  /// Whether this is a look-up without journal and simulated world. It makes neither.
  private var isBlankLookUp: Bool {
    get throws(Fault) {
      guard case .looksUp = invocation.command.work, check == nil else { return false }
      return try isBlank
    }
  }

  var hasJournal: Bool { known != nil }

  /// Returns the journal. It is opened on first use, and its folder is created if it is missing.
  ///
  /// A command that writes nothing (a dry run, a look-up) gets an empty journal if there is none.
  func journal() throws(Fault) -> any Journal {
    if let known { return known }
    let folder = try settings.stateFolder().text
    let address = settings.journal()?.text
    let isReading =
      switch invocation.command.work {
      case .looksUp, .local(.reads): true
      case .changes: if isDryRun { true } else { try isBlank }
      case .local(.changes): if isDryRun { true } else { try !hasJournalFile }
      case .makes, .local: isDryRun
      }
    // The leases depend on this line's time limit for requests. A look-up needs no server that accepts
    // writes.
    let place = try journalPlace + (address != nil && isReading ? " reading" : "")
    let found: any Journal
    if let open = shared.journals[place] {
      found = open
    } else if let address {
      found = try sharedJournal(address, folder, isReading: isReading)
    } else if isReading, SQLiteJournal.isVacant(folder, markFolder: settings.markFolder()) {
      known = EmptyJournal()
      return EmptyJournal()
    } else {
      // Without the journal's address, a reference that the fleet has paid would look new.
      guard isReading || !SharedJournal.wasUsed(in: folder) else { throw .elsewhere(folder) }
      try useFolder(folder)
      try shared.useMarks(settings.markFolder(), environment)
      let isNew = !Environment.exists(folder + "/journal.db")
      let journal = try SQLiteJournal(
        folder: folder,
        redactor: redactor,
        sharesWork: shared.batch != nil,
        isMarked: true,
        markFolder: settings.markFolder(),
        by: Environment.userAndMachine
      )
      if isNew, let problem = journal.markProblem {
        output.warn("a loss of the journal will not be noticed: \(problem)")
      }
      found = journal
    }
    (known, shared.journals[place]) = (found, found)
    return found
  }

  /// The key of a journal that lines can share.
  var journalPlace: String {
    get throws(Fault) {
      guard let address = settings.journal()?.text else { return try settings.stateFolder().text }
      return try "\(address) \(settings.timeout())"
    }
  }

  /// Returns a provider's module by its name.
  ///
  /// Throws `unsupported` for a provider that this version does not have. An old journal may name it.
  func module(_ name: String) throws(Fault) -> any ProviderModule {
    guard let module = providers.modules.first(where: { $0.name.text == name }) else {
      throw Fault(
        .unsupported,
        code: "provider_unsupported",
        "this version does not speak to \(name)",
        hint: "see: tender providers"
      )
    }
    return module
  }

  /// Throws `usage` for a scenario or fault of another provider, because it would have no effect.
  func checkSimulation(of name: ProviderName) throws(Fault) {
    func check(
      _ key: Key<String>,
      _ isKnown: (String, any SimulatedProvider) -> Bool
    ) throws(Fault) {
      guard !invocation.inherited.contains(key.option.name),
        let own = providers.simulated.first(where: { $0.name == name })
      else { return }
      for text in invocation.all(key) where !isKnown(text, own) {
        let others = providers.simulated.filter { isKnown(text, $0) }.map(\.name.text)
        throw .badOptions(
          "--\(key.option.name) \(text) cannot be used with \(name.text)",
          hint: "it is for --provider \(others.joined(separator: " or "))"
        )
      }
    }
    try check(Keys.simScenario) { text, one in one.scenarios.contains { $0.name == text } }
    try check(Keys.simFault) { text, one in (try? PlannedFault(text, among: [one])) != nil }
  }

  /// Returns the engine for a provider and env, over the network or with the simulator in this process. The
  /// caller has checked the options for that provider.
  func engine(_ target: Target) throws(Fault) -> Engine {
    let (module, env) = (target.module, target.env)
    let known = engines.first { $0.provider == module.name && $0.env == env }
    if let known { return known.engine }
    try checkSimulation(of: module.name)
    if instrument != nil, !module.takesInstruments {
      let others = providers.modules.filter(\.takesInstruments).map(\.name.text)
      throw .badOptions(
        "an instrument cannot be used with \(module.name.text)",
        hint: "it is for --provider \(others.joined(separator: " or "))"
      )
    }
    if env != .simulator, !simulatorOptions.isEmpty {
      throw .badOptions(
        "--sim options cannot be used with --env \(env.rawValue)",
        hint: "use --env simulator, also with the addresses of tender simulator serve"
      )
    }
    let handle = subject.reference ?? ""
    if case .changes = invocation.command.work, check == nil, try isBlank {
      throw .unknownHandle(handle)
    }
    // The module reads files that options name. A missing one leaves no journal behind.
    let (adapter, wires) = try connected(module, env)
    self.wires = wires
    // An id is the provider's, and may exist without a payment here.
    if try isBlankLookUp, !adapter.isID(handle) {
      throw .unknownHandle(handle, invocation.command.kind ?? .payment)
    }
    let journal = try journal()
    if env != .simulator, let fault = shared.laxFolder { throw fault }
    let warns = invocation.command.work.writes && !isDryRun && !isLine
    if wires.isOutside {
      journal.reachesOutside(env)
    } else if warns, let loss = try? journal.loss(), !loss.isRefused {
      // Then only the simulator in this process can be used.
      output.warn(loss.fault.message)
    }
    // A line of a batch that finds another process with its reference is postponed. If the lines must run in
    // order, it waits as long as a dead process may hold its lease.
    let timeout = try settings.timeout()
    let engine = Engine(
      env: env,
      provider: adapter,
      journal: journal,
      clock: wires.clock,
      interruption: signals,
      patience: shared.batch.map { $0.isOrdered ? 2 * timeout + 2000 : 0 } ?? timeout,
      approveTakeover: { [unowned self] payment throws(Fault) in try approveTakeover(of: payment) },
      lateWindow: wires.isOutside ? try settings.lateWindow(env) : 0,
      remembersIDs: wires.isOutside,
      digest: SystemRandomness.digest,
      announce: { [unowned self, isAtTill = adapter.traits.isAtReader] in
        announce($0, module.name.text, env, isAtTill: isAtTill)
      }
    )
    engines.append((module.name, env, engine))
    return engine
  }

  private func connected(
    _ module: some ProviderModule,
    _ env: Env
  ) throws(Fault) -> (any Provider, Wires) {
    try module.connected(self, env)
  }

  /// Shows a state to a watching user: a record with --events, a line with --verbose. A sale at a reader
  /// shows it on one changing line of the terminal.
  ///
  /// Each state is shown once, until another state comes.
  func announce(
    _ state: String,
    _ provider: String,
    _ env: Env,
    next: PayerAction? = nil,
    isAtTill: Bool = false
  ) {
    guard state != announced else { return }
    announced = state
    if output.isVerbose {
      output.note("\(state)")
    } else if isAtTill {
      output.showState(state)
    }
    guard invocation.has(Keys.events) else { return }
    let fields: JSONObject = [
      "provider": .string(provider), "env": .string(env.rawValue),
      "reference": subject.reference?.json, "state": .string(state), "next_action": next?.json,
    ]
    output.show(event: records.record(.event, fields), within: try? settings.timeout())
  }

  /// Shows the awaited event and the remaining time on one line of the terminal, which changes each second.
  func waits(for what: @autoclosure () -> String, left: Int) {
    guard !output.isVerbose, Console.isTerminal(2) else { return }
    output.showWaiting(what(), seconds: (left + 999) / 1000)
  }

  /// Runs `body` while no other line of the batch uses the named resource.
  func inTurn(
    for name: String?,
    _ body: () throws(Fault) -> Report
  ) throws(Fault) -> Report {
    guard let name, let turns = shared.batch?.turns else { return try body() }
    return try turns.perform(with: name, body)
  }

  /// The randomness of this process, from the seed if there is one.
  func randomness(for use: String) throws(Fault) -> any Randomness {
    try simulatorOptions.seed.map { seed throws(Fault) in
      SeededRandomness(seed: seed, label: "\(use)/\(try seedLabel())")
    } ?? SystemRandomness()
  }

  /// The text that is mixed with a seed, so that each payment gets different ids. It is the number of
  /// attempts. In a batch, it is the line and the history of its reference. These do not depend on the order
  /// of the lines. It makes no journal.
  private func seedLabel() throws(Fault) -> String {
    let isNew = known == nil ? try !hasJournalFile : false
    guard let batchLine else { return isNew ? "0" : String(try journal().extent().attempts) }
    let reference = invocation.text(Keys.reference) ?? invocation.operands.first ?? ""
    var past = 0
    if isNew { return "line \(batchLine)/\(reference)/\(past)" }
    for payment in try journal().payments(matching: reference, filter: PaymentFilter()) {
      past += try journal().history(of: payment).count
    }
    return "line \(batchLine)/\(reference)/\(past)"
  }

  /// Whether options and environment require the network.
  var goesOut: Bool {
    if let env = try? target().env, env != .simulator { return true }
    return environment.isRedirected
  }

  /// Returns the reference of a new payment: the typed one, else a new one, from the seed if there is one.
  ///
  /// A new one has 18 characters, the shortest length of a provider's field for it.
  func reference() throws(Fault) -> Reference {
    if let given = try invocation.value(Keys.reference) { return given }
    let alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
    let day = Timestamp.text(clock.now).prefix(10).replacing("-", with: "")
    let text = try randomness(for: "reference").text(7, from: alphabet)
    return try Reference("T-\(day)-" + text)
  }

  private static func simulatorOptions(
    _ invocation: Invocation,
    _ simulated: [any SimulatedProvider]
  ) throws(Fault) -> SimulatorOptions {
    var options = SimulatorOptions()
    if let name = invocation[Keys.simScenario] { try options.set(scenario: name, among: simulated) }
    for text in invocation.all(Keys.simFault) { try options.set(fault: text, among: simulated) }
    if !options.faults.isEmpty {
      options.payment = invocation.text(Keys.reference) ?? invocation.operands.first
    }
    options.seed = try invocation.value(Keys.simSeed)
    options.clock = try invocation.value(Keys.simClock)
    return options
  }

  /// Returns the simulator of this process. With counted faults, each run gets a new one.
  func simulator() throws(Fault) -> InProcessSimulator {
    if let ownSimulator { return ownSimulator }
    var world = try servedWorld()
    world.isOfBatch = shared.batch != nil
    if batchLine != nil { world.options.seedLabel = try seedLabel() }
    let name = world.ledgerPath + "|" + simulatorOptions.headerValue
    if simulatorOptions.faults.isEmpty, simulatorOptions.seed == nil || batchLine == nil,
      let known = shared.simulators[name]
    {
      return known
    }
    let made = try InProcessSimulator(world)
    ownSimulator = made
    shared.simulators[name] = made
    return made
  }

  /// The faults that have struck nothing, each with a sentence. A test that asks for them tests nothing.
  var unusedFaults: [(fault: String, sentence: String)] {
    (ownSimulator?.unusedFaults ?? []).map { text, isSpent in
      let why =
        isSpent
        ? "earlier requests used up its count; tender simulator reset forgets the counts"
        : "no request matched it, or it spared them"
      return (text, "--sim-fault \(text) did not strike: \(why)")
    }
  }

  /// Creates and checks the state folder, once.
  func useFolder(_ folder: String) throws(Fault) {
    let command = invocation.command
    // The journal's upkeep concerns every payment, unless the environment is named.
    let isAboutAll = command.work == .local(.changes) && command.bounds == .journal
    let env = try settings.env()?.text ?? (isAboutAll ? "" : Env.simulator.rawValue)
    let isSimulated = env == Env.simulator.rawValue
    try shared.useFolder(folder, environment, isSimulated: isSimulated, output.warn)
  }

  /// Returns the world that `simulator serve` offers.
  func servedWorld() throws(Fault) -> SimulatorWorld {
    let folder = try settings.stateFolder().text
    let isEmpty = try isBlankLookUp
    // The file beside a new world must be checked first.
    if settings.journal() == nil, try hasJournalFile { _ = try journal() }
    if !isEmpty { try useFolder(folder) }
    return SimulatorWorld(
      ledgerPath: isEmpty ? ":memory:" : folder + "/simulator.db",
      clock: worldClock,
      randomness: SystemRandomness(),
      options: simulatorOptions,
      providers: providers.simulated
    )
  }
}
