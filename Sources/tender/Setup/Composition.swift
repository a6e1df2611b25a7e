internal import PayTheory
internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem
internal import TenderTransport
internal import TenderWire
internal import Toro
internal import TrueLayer

/// Puts the rooms together for one run: settings in, an engine out.
final class Composition {
  let invocation: Invocation
  let environment: Environment
  let settings: Settings
  let output: Output
  let redactor: Redactor
  let signals: Signals
  let clock: any Clock
  let simulatorOptions: SimulatorOptions
  /// What several runs of one thread share.
  let shared: SharedParts
  /// An instrument that came with a line of a batch.
  let instrument: [UInt8]?
  /// Who opens the bank's pages, where the user wants that.
  let browser: Browser?
  /// What the kernel keeps this process from.
  let containment: Containment
  /// One for each place, so that many look-ups share a connection and an open ledger.
  private var engines: [Place: Engine] = [:]

  private struct Place: Hashable {
    let provider: String
    let env: Env
    let need: Need
  }

  /// What is being worked on, for events.
  var reference: String? {
    didSet { if reference != oldValue { announced = nil } }
  }
  /// The state that was shown last.
  private var announced: String?
  /// Whether anything is sent to others than the simulator in this process.
  private var goesOutside = false

  init(
    _ invocation: Invocation,
    _ environment: Environment,
    _ redactor: Redactor,
    _ signals: Signals,
    sharing shared: SharedParts = SharedParts(),
    instrument: [UInt8]? = nil,
    settings known: Settings? = nil,
    browser: Browser? = nil,
    containment: Containment = .none
  ) throws(Fault) {
    self.browser = browser
    self.containment = containment
    self.shared = shared
    self.instrument = instrument
    self.invocation = invocation
    self.signals = signals
    self.environment = environment
    self.redactor = redactor
    if let known { settings = known } else { settings = try Settings(invocation, environment) }
    output = try Output(invocation, settings, environment, redactor)
    output.patience = Console.Patience { signals.wish != nil }
    for id in invocation.exemptIDs { redactor.exempt(id) }
    simulatorOptions = try Self.simulatorOptions(invocation)
    let machine = SystemClock(interruption: signals)
    clock =
      simulatorOptions.clock.map { StandingClock(at: $0, beside: machine) } ?? machine
  }

  var records: Records { Records(command: invocation.command.name, now: clock.now) }

  /// The journal, opened on first use in a folder that is made where it is not there.
  ///
  /// For what writes nothing (a dry run, a look-up) an empty one where there is none yet.
  func journal() throws(Fault) -> any Journal {
    let folder = try settings.stateFolder().text
    if let known = shared.journals[folder] { return known }
    let isReading =
      invocation.has("dry-run")
      || [
        "payment-status", "mandate-status", "journal list", "journal show", "journal export",
        "journal verify",
      ]
      .contains(invocation.command.name)
    if isReading, !SQLiteJournal.isExpected(in: folder) { return EmptyJournal() }
    try shared.useFolder(folder)
    let journal = try SQLiteJournal(
      folder: folder,
      redactor: redactor,
      defersErasing: shared.isBatch,
      isMarked: true
    )
    shared.journals[folder] = journal
    return journal
  }

  /// Where a command runs when the journal has no say: option, environment, profile, default.
  func target() throws(Fault) -> (provider: String, env: Env) {
    let env = try settings.env().flatMap { Env(rawValue: $0.text) } ?? .simulator
    if let provider = try settings.provider() { return (provider.text, env) }
    guard env == .simulator else {
      throw Fault(
        .usage,
        code: "missing_option",
        "--env \(env.rawValue) needs a provider",
        hint: "add --provider paytheory, toro or truelayer, or set TENDER_PROVIDER"
      )
    }
    return (PayTheoryProvider.name.text, env)
  }

  /// Where a command on a reference or id runs: options, else the journal, else as `target`.
  ///
  /// Throws `conflict` where the journal knows several and the options do not choose.
  func target(of handle: String) throws(Fault) -> (provider: String, env: Env, attempt: Attempt?) {
    var filter = AttemptFilter()
    filter.env = invocation["env"].flatMap(Env.init(rawValue:))
    filter.provider = invocation["provider"].map(ProviderName.init)
    let found = try journal().attempts(matching: handle, filter: filter)
    guard let newest = found.first else {
      let target = try target()
      return (target.provider, target.env, nil)
    }
    let places = Set(found.map { "\($0.provider.text) on \($0.env.rawValue)" })
    guard places.count == 1 else {
      throw Fault(
        .conflict,
        code: "ambiguous_reference",
        "\(handle.quotedForMessage) is known to \(places.sorted().joined(separator: " and "))",
        hint: "choose with --provider and --env"
      )
    }
    return (newest.provider.text, newest.env, newest)
  }

  /// The engine for a provider and env, over the network or the simulator in this process.
  func engine(
    _ provider: String,
    _ env: Env,
    needing need: Need
  ) throws(Fault) -> Engine {
    let place = Place(provider: provider, env: env, need: need)
    if let known = engines[place] { return known }
    try invocation.checkOptions(for: provider)
    if instrument != nil, provider != PayTheoryProvider.name.text {
      throw Fault(
        .usage,
        code: "bad_options",
        "an instrument does not go with \(provider)",
        hint: "it is for --provider paytheory"
      )
    }
    if env != .simulator, !simulatorOptions.isEmpty {
      throw Fault(
        .usage,
        code: "bad_options",
        "--sim options do not go with --env \(env.rawValue)",
        hint: "they steer the simulator alone"
      )
    }
    let journal = try journal()
    let adapter: any Provider =
      switch provider {
      case PayTheoryProvider.name.text: PayTheoryProvider(try payTheory(env, need: need))
      case ToroProvider.name.text: try toro(env)
      case TrueLayerProvider.name.text: TrueLayerProvider(try trueLayer(env))
      default: throw .notSpoken(provider)
      }
    if goesOutside { journal.reachesOutside() }
    let engine = Engine(
      env: env,
      provider: adapter,
      journal: journal,
      clock: clock,
      interruption: signals,
      patience: try settings.timeout(),
      lateWindow: goesOutside ? try settings.lateWindow(env) : 0,
      digest: SystemRandomness.digest,
      announce: { [unowned self] state in announce(state, provider, env) }
    )
    engines[place] = engine
    return engine
  }

  /// Shows a state to whoever watches: a record with --events, a line with --verbose, and of a sale
  /// at a reader one line of a terminal that changes.
  ///
  /// Each state is shown when it begins, and not again until another has begun.
  func announce(_ state: String, _ provider: String, _ env: Env, next: JSON? = nil) {
    guard state != announced else { return }
    announced = state
    if output.isVerbose {
      output.note("\(state)")
    } else if provider == ToroProvider.name.text {
      output.showState(state)
    }
    guard invocation.has("events") else { return }
    var fields: JSONObject = ["provider": .string(provider), "env": .string(env.rawValue)]
    fields["reference"] = reference.map(JSON.string)
    fields["state"] = .string(state)
    fields["next_action"] = next
    output.show(event: records.record(.event, fields), within: try? settings.timeout())
  }

  /// Only one sale at a time has the reader.
  func withReader<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    shared.reader?.take()
    defer { shared.reader?.give() }
    return try body()
  }

  /// The randomness of this side: from the seed where there is one.
  func clientRandomness() throws(Fault) -> any Randomness {
    try simulatorOptions.seed.map { seed throws(Fault) in
      SeededRandomness(seed: seed, label: "client/\(try journal().count())")
    } ?? SystemRandomness()
  }

  /// What carries requests: the simulator in this process, or the network; traced where asked.
  func exchanges(
    inProcess: Bool
  ) throws(Fault) -> (http: any HTTPExchange, sockets: any SocketExchange) {
    var http: any HTTPExchange
    var sockets: any SocketExchange
    let name = simulatorOptions.headerValue + "|" + (environment["TENDER_CA_FILE"] ?? "")
    if !inProcess { goesOutside = true }
    if inProcess {
      let simulator = try simulator()
      http = simulator
      sockets = simulator
    } else if let known = shared.networks[name] {
      (http, sockets) = known
    } else {
      if let path = environment["TENDER_CA_FILE"], !Environment.exists(path) {
        throw Fault(
          .usage,
          code: "bad_file",
          "TENDER_CA_FILE: cannot read \(path.quotedForMessage)",
          hint: "check the path and its permissions"
        )
      }
      var transport = TransportSettings(
        certificates: environment["TENDER_CA_FILE"],
        clock: clock,
        randomness: SystemRandomness(),
        interruption: signals,
        userAgent: "tender/\(Catalogue.version)"
      )
      if !simulatorOptions.isEmpty {
        transport.extraFields = [
          HTTPRequest.Field(SimulatorOptions.headerName, simulatorOptions.headerValue)
        ]
      }
      http = CurlHTTP(transport)
      sockets = WebSocketClient(transport)
      shared.networks[name] = (http, sockets)
    }
    if let path = invocation["trace"] {
      let trace = try Trace(path: path, clock: clock)
      http = TracedHTTP(inner: http, trace: trace)
      sockets = TracedSockets(inner: sockets, trace: trace)
    }
    return (http, sockets)
  }

  /// Whether the network is used, as far as options and environment say.
  var goesOut: Bool {
    if let env = try? target().env, env != .simulator { return true }
    return ["TENDER_TRUELAYER_API_URL", "TENDER_PAYTHEORY_GRAPHQL_URL"]
      .contains { environment[$0] != nil }
  }

  /// A new reference, where the user gave none: from the seed where there is one.
  func newReference() throws(Fault) -> String {
    let alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
    let day = Timestamp.text(clock.now).prefix(10).replacing("-", with: "")
    let randomness: any Randomness =
      try simulatorOptions.seed.map { seed throws(Fault) in
        SeededRandomness(seed: seed, label: "reference/\(try journal().count())")
      } ?? SystemRandomness()
    return "T-\(day)-" + randomness.text(8, from: alphabet)
  }

  private static func simulatorOptions(_ invocation: Invocation) throws(Fault) -> SimulatorOptions {
    var options = SimulatorOptions()
    if let name = invocation["sim-scenario"] { try options.set(scenario: name) }
    if let text = invocation["sim-fault"] { try options.set(fault: text) }
    if let text = invocation["sim-seed"] {
      guard let seed = Int(text) else {
        throw .badValue("--sim-seed", text, hint: "a whole number, such as 7")
      }
      options.seed = seed
    }
    if let text = invocation["sim-clock"] {
      guard let time = Timestamp.read(text) else {
        throw .badValue("--sim-clock", text, hint: "RFC 3339, such as 2026-01-01T00:00:00Z")
      }
      options.clock = time
    }
    return options
  }

  /// The simulator of this process; one whose faults are counted is made anew.
  func simulator() throws(Fault) -> InProcessSimulator {
    let world = try servedWorld()
    let name = world.ledgerPath + "|" + simulatorOptions.headerValue
    if simulatorOptions.fault == nil, let known = shared.simulators[name] { return known }
    let made = try InProcessSimulator(world)
    shared.simulators[name] = made
    return made
  }

  /// The world that `simulator serve` offers.
  func servedWorld() throws(Fault) -> SimulatorWorld {
    let folder = try settings.stateFolder().text
    if SQLiteJournal.isExpected(in: folder) { _ = try journal() }  // Before a new world.
    try shared.useFolder(folder)
    return SimulatorWorld(
      ledgerPath: folder + "/simulator.db",
      clock: clock,
      randomness: SystemRandomness(),
      options: simulatorOptions
    )
  }
}

extension Fault {
  /// A value that an option cannot take.
  static func badValue(_ option: String, _ text: String, hint: String) -> Fault {
    Fault(
      .usage,
      code: "bad_value",
      "\(option) cannot be \(text.quotedForMessage)",
      hint: hint
    )
  }

  /// A provider of the vocabulary that this version has no adapter for.
  static func notSpoken(_ provider: String) -> Fault {
    Fault(
      .unsupported,
      code: "provider_unsupported",
      "this version does not speak to \(provider)",
      hint: "see: tender providers"
    )
  }
}
