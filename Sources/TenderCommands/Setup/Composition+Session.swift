internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

/// The parts of the program that a provider's module may use.
extension Composition {
  /// The root certificates: those of `TENDER_CA_FILE`, else the system's.
  ///
  /// The system's file has well over a hundred, and reading all takes longer than a request. The system's
  /// folder has each in a separate file.
  private var roots: TransportSettings.Roots {
    if let path = environment["TENDER_CA_FILE"] {
      return Environment.isFolder(path) ? .folder(path) : .file(path)
    }
    let folder = "/etc/ssl/certs"
    return Environment.holdsHashes(folder) ? .folder(folder) : .builtIn
  }

  /// The settings of connections to the receivers of events. A request is sent once, and a signal does not end it.
  var eventTransport: TransportSettings {
    var transport = TransportSettings(
      clock: SystemClock(interruption: NeverInterrupted()),
      randomness: SystemRandomness(),
      interruption: NeverInterrupted(),
      userAgent: "tender/\(Catalogue.version)"
    )
    transport.roots = roots
    transport.returns = 0
    return transport
  }

  private func transport(_ clock: any Clock) -> TransportSettings {
    var transport = TransportSettings(
      clock: clock,
      randomness: SystemRandomness(),
      interruption: signals,
      userAgent: "tender/\(Catalogue.version)"
    )
    transport.roots = roots
    if !simulatorOptions.isEmpty {
      transport.extraFields = [
        HTTPRequest.Field(SimulatorOptions.headerName, simulatorOptions.headerValue)
      ]
    }
    return transport
  }

  func wires(outside isOutside: Bool) throws(Fault) -> Wires {
    let clock = isOutside ? ownClock : worldClock
    let exchanges = try exchanges(outside: isOutside, clock)
    return Wires(
      isOutside: isOutside,
      exchanges: exchanges,
      clock: clock,
      randomness: try randomness(for: "client"),
      signals: signals,
      redactor: redactor,
      readers: { [unowned self] areSimulated, base throws(Fault) in
        if isDryRun { return Unreachable() }
        if areSimulated { return SimulatedDevices(try simulator()) }
        let devices = Devices(interruption: signals.atTheTill)
        guard !simulatorOptions.isEmpty, let base else { return devices }
        return ForetoldDevices(inner: devices, http: exchanges.http, base: base)
      },
      redirects: { [worldClock, signals] address in
        guard LoopbackRedirects.isOwn(address) else { return nil }
        return isOutside
          ? LoopbackRedirects(interruption: signals) : SimulatedPayer(clock: worldClock)
      }
    )
  }

  /// Returns the transport of requests: the simulator in this process, or the network. It is traced if requested. A
  /// dry run has neither.
  private func exchanges(outside isOutside: Bool, _ clock: any Clock) throws(Fault) -> Exchanges {
    if isDryRun { return (Unreachable(), Unreachable()) }
    var (http, sockets) = isOutside ? try network(clock) : (try simulator(), try simulator())
    if isOutside, let wait = try invocation.value(Keys.wait) {
      http = HurriedHTTP(inner: http, clock: clock, milliseconds: wait)
    }
    if isOutside, let reach {
      http = ObservedHTTP(inner: http, clock: clock) { reach.observe($0, clock) }
    }
    var observers: [Observer] = []
    if let path = invocation[Keys.trace] {
      observers.append(try Trace(path: path, clock: clock, signals.atTheBank).observe)
    }
    if let shapes { observers.append(shapes.observe) }
    for observe in observers {
      http = ObservedHTTP(inner: http, clock: clock, observe: observe)
      sockets = ObservedSockets(inner: sockets, observe: observe)
    }
    return (http, sockets)
  }

  /// Returns the network, which several runs share.
  private func network(_ clock: any Clock) throws(Fault) -> Exchanges {
    if let fault = simulatorOptions.unreachable { throw .onlyInProcess(fault) }
    let file = environment["TENDER_CA_FILE"]
    let name = simulatorOptions.headerValue + "|" + (file ?? "")
    if let known = shared.networks[name] { return known }
    if let file, !Environment.exists(file) {
      throw .badFile(
        "TENDER_CA_FILE: cannot read \(file.quotedForMessage)",
        hint: "check the path and its permissions"
      )
    }
    let transport = transport(clock)
    let made: Exchanges = (CurlHTTP(transport), WebSocketClient(transport))
    shared.networks[name] = made
    return made
  }

  func watch() throws(Fault) -> (@Sendable (JSONObject) -> Void)? {
    guard !isDryRun, let path = invocation[Keys.trace] else { return nil }
    let trace = try Trace(path: path, clock: clock, signals.atTheBank)
    return { trace.write($0) }
  }

  func simulated(_ provider: ProviderName) -> JSONObject {
    providers.simulated.first { $0.name == provider }?.section ?? [:]
  }

  func isServed(port: UInt16) -> Bool { ServedPorts(settings).holds(port) }

  func shared<Part: AnyObject & Sendable>(_ make: () -> Part) -> Part { shared.common.part(make) }

  func terminal() -> Terminal? {
    guard !settings.asksNobody, let terminal = Terminal() else { return nil }
    output.clearState()
    return terminal
  }

  func tell(_ text: String) { output.tell(text) }

  func note(_ text: String) { output.note(text) }

  func show(address: String) {
    if !output.isQuiet {
      if output.isTable {
        output.say(output.redactor.redact(address) + "\n")
      } else {
        tell(address)
      }
    }
    if Console.isTerminal(2), output.isTable, !output.isQuiet,
      let code = QRCode.text(
        for: address,
        width: Console.terminalWidth ?? 80,
        isColoured: Output.isColoured(invocation[Keys.color], environment, descriptor: 2)
      )
    {
      output.say(code)
    }
    if invocation.has(Keys.open), browser?.open(address) != true {
      output.warn("no browser could be opened")
    }
  }
}
