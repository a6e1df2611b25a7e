internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

/// The provider and env of a command, and the payment that it is about.
struct Target {
  let module: any ProviderModule
  let env: Env
  /// The payment as the journal has it; nil for one that it does not know.
  var payment: Payment?
}

/// Puts the rooms together for one run: settings in, an engine out.
final class Composition: Session {
  let providers: Providers
  let settings: Settings
  let output: Output
  let redactor: Redactor
  let signals: Signals
  /// The clock of the simulated world.
  let worldClock: SimulatedClock
  /// The clock of everything outside of the simulated world: the machine's, save under `--sim-clock`.
  let ownClock: any Clock
  /// Whether the provider that was asked last is in this process.
  var isInProcess = false

  /// The clock of an engine and its provider: nothing waits for a provider in this process.
  var clock: any Clock { isInProcess ? worldClock : ownClock }
  let simulatorOptions: SimulatorOptions
  /// What is learned about hosts on the way; nil where nobody asks.
  var reach: Reach?
  /// What several runs of one thread share.
  let shared: SharedParts
  /// An instrument that came with a line of a batch.
  let instrument: [UInt8]?
  /// Which line of a batch this is; nil for a command of its own.
  private let batchLine: Int?
  var isLine: Bool { batchLine != nil }
  /// What `batch --check` knows; nil where the command is run.
  let check: Check?
  /// Who opens the bank's pages, where the user wants that.
  let browser: Browser?
  /// What the kernel keeps this process from.
  let containment: Containment
  /// One for each place, so that many look-ups share a connection and an open ledger.
  private var engines: [(provider: ProviderName, env: Env, engine: Engine)] = []

  /// What the run is about, for events and for the record of a fault that comes later.
  var subject = RecordSubject() {
    didSet { if subject.reference != oldValue.reference { announced = nil } }
  }
  /// The state that was shown last.
  private var announced: String?
  /// Whether a card reader takes part, whose states people follow.
  var isAtTill = false
  /// The address at which this process listens for the payer; nil where it does not.
  var listener: String?
  /// The simulated world of this run: a fault that strikes once strikes one part of it, and all parts draw
  /// from one seed.
  private var ownSimulator: InProcessSimulator?
  /// What was found out once: a command that looks many payments up asks for each of them.
  private var known: (any Journal)?
  var usual: Target?
  /// Whether several payments have a reference, for those that were asked about.
  var isShared: [String: Bool] = [:]
  /// Whether anything is sent to others than the simulator in this process.
  var goesOutside = false

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
    containment: Containment = .none
  ) throws(Fault) {
    self.providers = providers
    self.browser = browser
    self.containment = containment
    self.shared = shared
    self.instrument = instrument
    self.batchLine = batchLine
    self.check = check
    self.signals = signals
    self.settings = settings
    self.redactor = redactor
    output = try Output(settings, redactor)
    output.patience = Console.Patience { signals.wish != nil }
    for id in settings.invocation.exemptIDs { redactor.exempt(id) }
    simulatorOptions = try Self.simulatorOptions(settings.invocation, providers.simulated)
    let machine = SystemClock(interruption: signals)
    worldClock = shared.clock(simulatorOptions.clock, beside: machine)
    ownClock = simulatorOptions.clock?.standing == nil ? machine : worldClock
    output.now = { [weak self] in self?.clock.now ?? machine.now }
  }

  var catalogue: Catalogue { providers.catalogue }

  var records: Records {
    Records(
      command: invocation.command.name,
      now: clock.now,
      modules: providers.modules,
      completes: { [unowned self] in completed($0, for: $1) }
    )
  }

  /// The journal, opened on first use in a folder that is made where it is not there.
  ///
  /// For what writes nothing (a dry run, a look-up) an empty one where there is none yet.
  func journal() throws(Fault) -> any Journal {
    if let known { return known }
    let found = try openJournal()
    known = found
    return found
  }

  /// Whether the journal was opened in this run.
  var hasJournal: Bool { known != nil }

  private func openJournal() throws(Fault) -> any Journal {
    let folder = try settings.stateFolder().text
    let address = settings.journal()?.text
    let isReading =
      switch invocation.command.work {
      case .looksUp, .local(.reads): true
      case .makes, .changes, .local: isDryRun
      }
    // Its leases are as long as this line's requests may take, and what looks up needs no server that writes.
    let place = try journalPlace + (address != nil && isReading ? " reading" : "")
    if let known = shared.journals[place] { return known }
    if let address {
      let journal = try sharedJournal(address, folder, isReading: isReading)
      shared.journals[place] = journal
      return journal
    }
    // Without its address a reference that the fleet has paid would look new.
    guard isReading || !SharedJournal.wasUsed(in: folder) else { throw .elsewhere(folder) }
    let markFolder = settings.markFolder()
    if isReading, !SQLiteJournal.isExpected(in: folder, markFolder: markFolder) {
      return EmptyJournal()
    }
    try shared.useFolder(folder, home: environment["HOME"])
    let isNew = !Environment.exists(folder + "/journal.db")
    let journal = try SQLiteJournal(
      folder: folder,
      redactor: redactor,
      sharesWork: shared.isBatch,
      isMarked: true,
      markFolder: markFolder,
      by: Environment.userAndMachine
    )
    if isNew, let problem = journal.markProblem {
      output.warn("a loss of the journal will not be noticed: \(problem)")
    }
    shared.journals[place] = journal
    return journal
  }

  /// What lines must have in common to share a journal.
  var journalPlace: String {
    get throws(Fault) {
      guard let address = settings.journal()?.text else { return try settings.stateFolder().text }
      return try "\(address) \(settings.timeout())"
    }
  }

  /// A provider's module by its name.
  ///
  /// Throws `unsupported` for one that this version does not speak to: an old journal may name it.
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

  /// Throws `usage` for a scenario or fault that another provider alone has: it would change nothing.
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
          "--\(key.option.name) \(text) does not go with \(name.text)",
          hint: "it is for --provider \(others.joined(separator: " or "))"
        )
      }
    }
    try check(Keys.simScenario) { text, one in one.scenarios.contains { $0.name == text } }
    try check(Keys.simFault) { text, one in (try? PlannedFault(text, among: [one])) != nil }
  }

  /// The engine for a provider and env, over the network or the simulator in this process.
  func engine(_ target: Target) throws(Fault) -> Engine {
    let (module, env) = (target.module, target.env)
    let known = engines.first { $0.provider == module.name && $0.env == env }
    if let known { return known.engine }
    try invocation.checkOptions(for: module.name)
    try checkSimulation(of: module.name)
    if instrument != nil, !module.takesInstruments {
      let others = providers.modules.filter(\.takesInstruments).map(\.name.text)
      throw .badOptions(
        "an instrument does not go with \(module.name.text)",
        hint: "it is for --provider \(others.joined(separator: " or "))"
      )
    }
    if env != .simulator, !simulatorOptions.isEmpty {
      throw .badOptions(
        "--sim options do not go with --env \(env.rawValue)",
        hint: "they steer the simulator alone"
      )
    }
    let journal = try journal()
    let adapter = try module.make(self, env)
    if goesOutside { journal.reachesOutside() } else { warnOfCopy(journal) }
    let engine = Engine(
      env: env,
      provider: adapter,
      journal: journal,
      clock: clock,
      interruption: signals,
      patience: try patience(),
      approveTakeover: { [unowned self] payment throws(Fault) in try approveTakeover(of: payment) },
      lateWindow: goesOutside ? try settings.lateWindow(env) : 0,
      remembersIDs: goesOutside,
      digest: SystemRandomness.digest,
      announce: { [unowned self] in announce($0, module.name.text, env) }
    )
    engines.append((module.name, env, engine))
    return engine
  }

  /// Warns that the journal is a copy, with which only the simulator in this process goes on.
  private func warnOfCopy(_ journal: any Journal) {
    let warns = invocation.command.work.writes && !isDryRun && !isLine
    if warns, let copy = journal.copyWarning { output.warn(copy.message) }
  }

  /// How long another process is waited for that has the same reference, in milliseconds.
  ///
  /// A line of a batch is left for its end instead, unless the lines are wanted in order: then it waits for as
  /// long as a process that is gone may have been lent the reference.
  private func patience() throws(Fault) -> Int {
    let timeout = try settings.timeout()
    guard shared.isBatch else { return timeout }
    return shared.isOrdered ? 2 * timeout + 2000 : 0
  }

  /// Shows a state to whoever watches: a record with --events, a line with --verbose, and of a sale
  /// at a reader one line of a terminal that changes.
  ///
  /// Each state is shown when it begins, and not again until another has begun.
  func announce(_ state: String, _ provider: String, _ env: Env, next: PayerAction? = nil) {
    guard state != announced else { return }
    announced = state
    if output.isVerbose {
      output.note("\(state)")
    } else if isAtTill {
      output.showState(state)
    }
    guard invocation.has(Keys.events) else { return }
    var fields: JSONObject = ["provider": .string(provider), "env": .string(env.rawValue)]
    fields["reference"] = subject.reference.map(JSON.string)
    fields["state"] = .string(state)
    fields["next_action"] = next?.json
    output.show(event: records.record(.event, fields), within: try? settings.timeout())
  }

  /// Shows what is awaited and how long on one line of a terminal that changes each second.
  func waits(for what: String, left: Int) {
    guard output.isTable, !output.isVerbose, Console.isTerminal(2) else { return }
    output.showWaiting(what, seconds: (left + 999) / 1000)
  }

  /// Runs `body` while no other line of the batch has what is named.
  func inTurn(
    for name: String?,
    _ body: () throws(Fault) -> Report
  ) throws(Fault) -> Report {
    guard let name, let turns = shared.turns else { return try body() }
    return try turns.perform(with: name, body)
  }

  /// The randomness of this side: from the seed where there is one.
  func randomness() throws(Fault) -> any Randomness { try randomness(for: "client") }

  private func randomness(for use: String) throws(Fault) -> any Randomness {
    try simulatorOptions.seed.map { seed throws(Fault) in
      SeededRandomness(seed: seed, label: "\(use)/\(try seedLabel())")
    } ?? SystemRandomness()
  }

  /// What a seed is mixed with, so that a later payment does not get the ids of an earlier one: how many
  /// attempts there are, and in a batch the line with all that its reference has been through, which is
  /// the same however the lines take turns.
  private func seedLabel() throws(Fault) -> String {
    guard let batchLine else { return String(try journal().count()) }
    let reference = invocation.text(Keys.reference) ?? invocation.operands.first ?? ""
    var past = 0
    for payment in try journal().payments(matching: reference, filter: PaymentFilter()) {
      past += try journal().history(of: payment).count
    }
    return "line \(batchLine)/\(reference)/\(past)"
  }

  /// Whether the network is used, as far as options and environment say.
  var goesOut: Bool {
    if let env = try? target().env, env != .simulator { return true }
    return environment.isRedirected
  }

  func reference(or known: String?) throws(Fault) -> Reference {
    let reference: Reference
    if let given = try invocation.value(Keys.reference) {
      reference = given
    } else if let known {
      reference = try Reference(known)
    } else {
      reference = try newReference()
    }
    subject.reference = reference.text
    return reference
  }

  /// A new reference: from the seed where there is one.
  ///
  /// 18 characters: the shortest field that a provider has for it.
  private func newReference() throws(Fault) -> Reference {
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

  /// The simulator of this process; one whose faults are counted is made anew for each run.
  func simulator() throws(Fault) -> InProcessSimulator {
    if let ownSimulator { return ownSimulator }
    var world = try servedWorld()
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

  /// The world that `simulator serve` offers.
  func servedWorld() throws(Fault) -> SimulatorWorld {
    let folder = try settings.stateFolder().text
    // Before a new world: the file beside it must have been looked at.
    if settings.journal() == nil,
      SQLiteJournal.isExpected(in: folder, markFolder: settings.markFolder())
    {
      _ = try journal()
    }
    try shared.useFolder(folder, home: environment["HOME"])
    return SimulatorWorld(
      ledgerPath: folder + "/simulator.db",
      clock: worldClock,
      randomness: SystemRandomness(),
      options: simulatorOptions,
      providers: providers.simulated
    )
  }
}
