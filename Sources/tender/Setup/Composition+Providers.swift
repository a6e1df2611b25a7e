internal import PayTheory
internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem
internal import TenderTransport
internal import Toro
internal import TrueLayer

/// Each provider's adapter, with what it works with.
extension Composition {
  func payTheory(_ env: Env, need: Need) throws(Fault) -> PayTheoryContext {
    let setup = PayTheorySetup(settings: settings, env: env, redactor: redactor)
    var configuration = try setup.configuration()
    configuration.timeZone = environment.timeZoneName
    configuration.timeout = try settings.timeout()
    let bases = try setup.bases(for: need)
    configuration.tokenBase = bases.token
    configuration.socketBase = bases.socket
    configuration.graphQLBase = bases.graphQL
    configuration.isRedirected = bases.isSet
    if invocation.has("dry-run") {
      return PayTheoryContext(
        configuration: configuration,
        http: Unreachable(),
        sockets: Unreachable(),
        clock: clock,
        randomness: SystemRandomness(),
        redactor: redactor
      )
    }
    let exchanges = try exchanges(inProcess: env == .simulator && !bases.isSet)
    return PayTheoryContext(
      configuration: configuration,
      http: exchanges.http,
      sockets: exchanges.sockets,
      clock: clock,
      randomness: try clientRandomness(),
      redactor: redactor
    )
  }

  func trueLayer(_ env: Env) throws(Fault) -> TrueLayerContext {
    let setup = TrueLayerSetup(
      invocation: invocation,
      settings: settings,
      env: env,
      redactor: redactor
    )
    let configuration = try setup.configuration()
    let isInProcess = env == .simulator && configuration.apiBase == nil
    var redirects: (any RedirectListener)?
    if LoopbackRedirects.isOwn(configuration.redirectURL) {
      redirects =
        isInProcess ? SimulatedPayer(clock: clock) : LoopbackRedirects(interruption: signals)
    }
    return TrueLayerContext(
      configuration: configuration,
      options: try setup.options(),
      http: invocation.has("dry-run")
        ? Unreachable() : try exchanges(inProcess: isInProcess).http,
      redirects: redirects,
      guide: BankGuide(self, env, hasPayer: !isInProcess),
      clock: clock,
      randomness: try clientRandomness(),
      interruption: signals,
      redactor: redactor,
      tokens: shared.tokens
    )
  }

  /// Toro, with a reader and a gateway of which each is in this process or elsewhere.
  func toro(_ env: Env) throws(Fault) -> ToroProvider {
    let setup = ToroSetup(invocation: invocation, settings: settings, env: env, redactor: redactor)
    let configuration = try setup.configuration()
    let options = try setup.options()
    let isInProcess = env == .simulator && configuration.gatewayBase == nil
    if let warning = setup.warning { output.note(warning) }
    let hasOwnReader = configuration.device == ToroSetup.simulatedDevice
    if hasOwnReader, env != .simulator { throw .simulatedReader(env) }
    if !settings.mayRedirect(env), let port = DeviceAddress(configuration.device)?.loopbackPort,
      ServedPorts(settings).holds(port)
    {
      throw .servedReader(configuration.device)
    }
    var http: any HTTPExchange = Unreachable()
    var devices: any DeviceExchange = Unreachable()
    var watch: (@Sendable (JSONObject) -> Void)?
    if !invocation.has("dry-run") {
      let trace = try invocation["trace"].map { path throws(Fault) in
        try Trace(path: path, clock: clock)
      }
      if let trace { watch = { trace.write($0) } }
      // One world for both: a fault that strikes once strikes one of them.
      let simulator =
        isInProcess || hasOwnReader ? try simulator() : nil
      if isInProcess, let simulator {
        http = simulator
        if let trace { http = TracedHTTP(inner: simulator, trace: trace) }
      } else {
        http = try exchanges(inProcess: false).http
      }
      if hasOwnReader, let simulator {
        devices = SimulatedDevices(simulator)
      } else {
        devices = Devices(interruption: signals.atTheTill)
        if !simulatorOptions.isEmpty, let base = configuration.gatewayBase {
          devices = ForetoldDevices(inner: devices, http: http, base: base)
        }
      }
    }
    return ToroProvider(
      ToroContext(
        configuration: configuration,
        options: options,
        http: http,
        devices: devices,
        attendant: Till(
          composition: self,
          isSimulated: env == .simulator,
          refuses: simulatorOptions.scenario == "card:signature_refused"
        ),
        clock: clock,
        randomness: try clientRandomness(),
        interruption: signals.atTheTill,
        redactor: redactor,
        watch: watch,
        reserve: hasOwnReader || invocation.has("dry-run") ? nil : try reservation()
      )
    )
  }

  /// A lock on a reader, kept beside those on references: whoever shares a journal shares it.
  private func reservation() throws(Fault) -> ToroContext.Reservation {
    let journal = try journal()
    let clock = clock
    let interruption = signals
    return { address throws(Fault) in
      try journal.lock(
        env: .simulator,
        provider: ToroProvider.name,
        // No reference has a control character.
        reference: "\u{1}" + address,
        by: Deadline(in: 0, on: clock),
        interruption: interruption
      )
    }
  }
}
