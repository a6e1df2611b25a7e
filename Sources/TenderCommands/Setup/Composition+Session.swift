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

  private var transport: TransportSettings {
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

  func exchangesAhead() throws(Fault) -> (most: Int, make: @Sendable () -> Exchanges)? {
    // A simulated or traced line has a separate transport.
    guard let jobs = shared.batch?.jobs, jobs > 1, !isDryRun, simulatorOptions.isEmpty,
      invocation[Keys.trace] == nil
    else { return nil }
    let transport = transport
    return (min(3 * jobs, 256), { (CurlHTTP(transport), WebSocketClient(transport)) })
  }

  /// Returns the transport of requests: the simulator in this process, or the network. It is traced if
  /// requested.
  func exchanges(inProcess: Bool) throws(Fault) -> Exchanges {
    isInProcess = inProcess
    if isDryRun { return (Unreachable(), Unreachable()) }
    var http: any HTTPExchange
    var sockets: any SocketExchange
    let name = simulatorOptions.headerValue + "|" + (environment["TENDER_CA_FILE"] ?? "")
    if !inProcess {
      goesOutside = true
      if let fault = simulatorOptions.unreachable { throw .onlyInProcess(fault) }
    }
    if inProcess {
      let simulator = try simulator()
      http = simulator
      sockets = simulator
    } else if let known = shared.networks[name] {
      (http, sockets) = known
    } else {
      if let path = environment["TENDER_CA_FILE"], !Environment.exists(path) {
        throw .badFile(
          "TENDER_CA_FILE: cannot read \(path.quotedForMessage)",
          hint: "check the path and its permissions"
        )
      }
      let transport = transport
      http = CurlHTTP(transport)
      sockets = WebSocketClient(transport)
      shared.networks[name] = (http, sockets)
    }
    if !inProcess, let wait = try invocation.value(Keys.wait) {
      http = HurriedHTTP(inner: http, clock: clock, milliseconds: wait)
    }
    if !inProcess, let reach {
      http = ObservedHTTP(inner: http, clock: clock) { [clock] in reach.observe($0, clock) }
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

  func devices(simulated: Bool, base: String?) throws(Fault) -> any DeviceExchange {
    isAtTill = true
    if isDryRun { return Unreachable() }
    if simulated { return SimulatedDevices(try simulator()) }
    let devices = Devices(interruption: signals.atTheTill)
    guard !simulatorOptions.isEmpty, let base else { return devices }
    return ForetoldDevices(inner: devices, http: try exchanges(inProcess: false).http, base: base)
  }

  func watch() throws(Fault) -> (@Sendable (JSONObject) -> Void)? {
    guard !isDryRun, let path = invocation[Keys.trace] else { return nil }
    let trace = try Trace(path: path, clock: clock, signals.atTheBank)
    return { trace.write($0) }
  }

  func redirects(to address: String, simulated: Bool) -> (any RedirectListener)? {
    guard LoopbackRedirects.isOwn(address) else { return nil }
    if !simulated { listener = address }
    return simulated ? SimulatedPayer(clock: worldClock) : LoopbackRedirects(interruption: signals)
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
