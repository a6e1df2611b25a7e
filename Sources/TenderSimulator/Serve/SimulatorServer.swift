private import CLibraries
private import Platform
private import Synchronization
package import TenderEngine
package import TenderModel
private import TenderSystem

/// The simulated providers over real HTTP and WebSocket on 127.0.0.1, by libmicrohttpd.
@safe
package final class SimulatorServer: @unchecked Sendable {
  // Unchecked: state that threads share is immutable or atomic.
  /// The number of connections above which the oldest idle one is ended.
  private static let mostConnections = 600

  private var world: SimulatorWorld
  private var daemon: OpaquePointer?
  private var connections: OpaquePointer?
  private let isStopping = Atomic(false)
  /// The end of a pipe that has an end of file once the server stops, and the other end.
  private(set) var alarm: Int32 = -1
  private var alarmSource: Int32 = -1
  /// A pipe that gets a byte when the queue may have an earlier change.
  private var bell: [Int32] = [-1, -1]
  /// The sets of keys that events are signed with, by their paths. Used in turn.
  private var keySets: [String: [UInt8]] = [:]
  private var sender: EventSender?
  let nextCustomer: NextCustomer
  /// The number of payments to keep; nil for all.
  private let retained: Int?
  private var handled = 0
  /// The one open ledger. An open ledger for each client would take hundreds of kilobytes each, and they would
  /// wait for each other in the file.
  private var ledger: Ledger?
  private let turn = Mutex(())
  /// Taken by the request that loads a world. Many of them at once would need gigabytes.
  private let loading = ThreadLock()

  /// Creates a server for a world. Its connections share the ledger, and use it in turn.
  package init(
    _ world: SimulatorWorld,
    _ nextCustomer: NextCustomer = NextCustomer(),
    retaining retained: Int? = nil
  ) {
    self.world = world
    self.nextCustomer = nextCustomer
    self.retained = retained
  }

  /// Starts listening. Returns the port, which is `port` unless that is 0.
  ///
  /// Throws `usage` if the port is taken, and `internal` without the library.
  package func start(port: UInt16) throws(Fault) -> UInt16 {
    try unsafe Libraries.need(tender_httpd_open())
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .state("state_unusable", "no pipe", "try again") }
    (alarm, alarmSource) = (ends[0], ends[1])
    try prepareClock()
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe connections = tender_httpd_connections_new(Self.mostConnections)
    guard let connections = unsafe connections,
      let started = unsafe tender_httpd_start(
        port,
        Self.handle,
        Self.complete,
        context,
        connections
      )
    else {
      throw .usage(
        "port_busy",
        "cannot listen on 127.0.0.1:\(port)",
        "choose another --port, or leave it out for a free one"
      )
    }
    unsafe daemon = started
    DetachedThread.begin { [self] in runClock() }
    return unsafe tender_httpd_port(started)
  }

  /// The longest sleep of the clock's thread, in milliseconds. Other processes can change the world too.
  private static let longestSleep = 2000

  /// Opens what the clock's thread needs. A fixed clock is moved only by the advances from now on.
  private func prepareClock() throws(Fault) {
    guard unsafe pipe(&bell) == 0 else { throw .state("state_unusable", "no pipe", "try again") }
    for end in bell { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    guard world.options.clock?.standing != nil else { return }
    world.aheadBefore = try inTurn { () throws(Fault) in try open().ahead() }
  }

  /// Makes the changes of the queue when they are due, until the server stops.
  private func runClock() {
    while !shouldStop {
      let wait = try? inWorld { simulator throws(Fault) in
        try simulator.catchUp(isOfRequest: false)
      }
      var polled = [alarm, bell[0]].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let sleep = max(1, min(wait.flatMap { $0 } ?? .max, Self.longestSleep))
      _ = unsafe poll(&polled, 2, Int32(sleep))
      var rung = [UInt8](repeating: 0, count: 64)
      _ = unsafe read(bell[0], &rung, rung.count)
    }
  }

  deinit { for end in bell where end >= 0 { close(end) } }

  /// Wakes the clock's thread, which looks at the queue again.
  private func ringBell() {
    var one: UInt8 = 1
    _ = unsafe write(bell[1], &one, 1)
  }

  /// Returns the ledger, which is opened once.
  private func open() throws(Fault) -> Ledger {
    if let ledger { return ledger }
    let opened = try Ledger(path: world.ledgerPath, for: .server)
    ledger = opened
    return opened
  }

  /// The server's clock. It moves with the advances of its world, also where it stands otherwise.
  private func clock() -> SimulatedClock { SimulatedClock(beside: world.clock) }

  /// Ends every connection and stops listening.
  package func stop() {
    isStopping.store(true, ordering: .relaxed)
    close(alarmSource)
    alarmSource = -1
    if let daemon = unsafe daemon { unsafe tender_httpd_stop(daemon) }
    unsafe daemon = nil
    unsafe tender_httpd_connections_free(connections)
    unsafe connections = nil
  }

  var shouldStop: Bool { isStopping.load(ordering: .relaxed) }

  /// Runs `body` while no other connection uses the ledger.
  func inTurn<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    var result: Result?
    try turn.withLock { _ throws(Fault) in result = try body() }
    guard let result else { throw .state("state_unusable", "the ledger had no turn", "try again") }
    return result
  }

  /// Runs `body` in turn with the world of this server, without a request.
  func inWorld<Result>(
    _ body: (InProcessSimulator) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    try inTurn { () throws(Fault) in try body(simulator([:], isControl: true)) }
  }

  /// Sends the events of the world to addresses from now on. `base` is the address of this server. Each address has a
  /// connection that `http` makes.
  ///
  /// Returns the address of the keys of their signatures; nil if no provider signs. Throws `internal` without libcrypto.
  package func send(
    to addresses: [EventAddress],
    from base: String,
    http: @escaping @Sendable () -> any HTTPExchange
  ) throws(Fault) -> String? {
    var signers: [String: any EventSigner] = [:]
    for provider in world.providers {
      signers[provider.name.text] = try provider.signer(at: base, world.randomness)
    }
    let sets = signers.values.map { $0.keySet }
    try inTurn { () throws(Fault) in for set in sets { keySets[set.path] = set.body } }
    let sender = EventSender(addresses, world, signers, http: http)
    try sender.start(self)
    self.sender = sender
    return sets.first.map { base + $0.path }
  }

  /// Waits until the events of now were tried once.
  ///
  /// `isStopped` ends the wait.
  package func finishSending(_ isStopped: () -> Bool) { sender?.finish(isStopped) }

  /// Handles a request or a message in turn. After each tenth of the payments to keep, older ones are deleted.
  ///
  /// A request makes one payment at most, so that at most a tenth more is kept.
  func handle<Result>(
    _ simulator: InProcessSimulator,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    try inTurn { () throws(Fault) in
      let result = try body()
      if let ledger, ledger.hasNewChanges {
        ledger.hasNewChanges = false
        ringBell()
      }
      handled += 1
      if let retained, handled % max(1, retained / 10) == 0 {
        try simulator.forget(butLatest: retained)
      }
      return result
    }
  }

  /// Returns a simulator for one request or socket, with the options of its header.
  ///
  /// `isControl`: it only shows or moves the world, so the ids of later requests do not depend on it.
  func simulator(
    _ fields: [String: String],
    isControl: Bool = false
  ) throws(Fault) -> InProcessSimulator {
    var world = world
    world.clock = clock()
    if let value = fields[SimulatorOptions.headerName.lowercased()] {
      world.options = try SimulatorOptions(headerValue: value, among: world.providers)
      if let time = world.options.clock {
        world.clock = SimulatedClock(time, beside: self.world.clock)
        world.hasOwnClock = true
      }
    }
    if isControl { world.options.seedLabel = "control" }
    return try InProcessSimulator(world, playsPayer: false, open())
  }

  /// A request that has not arrived completely.
  private final class Incoming {
    var request: SimulatedRequest
    var isTooLarge = false
    /// Whether it has the lock of loads, until it is completed on the same thread.
    var isLoading = false
    /// The simulator that a fault may have used before the request arrived completely.
    var simulator: InProcessSimulator?

    init(_ request: SimulatedRequest) { self.request = request }
  }

  private static let bodyLimit = 4 << 20
  /// The most bytes of a saved world that is loaded over HTTP.
  private static let worldLimit = 64 << 20

  private static let handle: MHD_AccessHandlerCallback = {
    context,
    connection,
    url,
    method,
    _,
    upload,
    uploadCount,
    state in
    guard let context = unsafe context, let connection = unsafe connection,
      let url = unsafe url, let method = unsafe method, let state = unsafe state,
      let uploadCount = unsafe uploadCount
    else { return tender_httpd_no() }
    let server = unsafe Unmanaged<SimulatorServer>.fromOpaque(context).takeUnretainedValue()
    guard let known = unsafe state.pointee else {
      let incoming = Incoming(
        SimulatedRequest(
          method: unsafe String(cString: method),
          path: unsafe String(cString: url),
          query: unsafe SimulatorServer.query(connection),
          fields: unsafe SimulatorServer.pairs(
            connection,
            tender_httpd_each_header,
            combines: true
          ),
          body: []
        )
      )
      unsafe state.pointee = Unmanaged.passRetained(incoming).toOpaque()
      if let refusal = SimulatorServer.refusal(of: incoming.request) {
        return unsafe SimulatorServer.answer(connection, refusal)
      }
      if incoming.request.path == prefix + "load" {
        server.loading.take()
        incoming.isLoading = true
      }
      return unsafe server.interrupt(incoming, by: "reset-before", connection)
    }
    let incoming = unsafe Unmanaged<Incoming>.fromOpaque(known).takeUnretainedValue()
    if unsafe uploadCount.pointee > 0 {
      let count = unsafe uploadCount.pointee
      unsafe uploadCount.pointee = 0
      let isWorld = incoming.request.path == prefix + "load"
      if incoming.request.body.count + count > (isWorld ? worldLimit : bodyLimit) {
        incoming.isTooLarge = true
      } else if let upload = unsafe upload {
        unsafe incoming.request.body.append(
          contentsOf: UnsafeRawBufferPointer(start: upload, count: count)
        )
      }
      return unsafe server.interrupt(incoming, by: "reset-amid", connection)
    }
    if incoming.isTooLarge {
      return unsafe SimulatorServer.answer(connection, HTTPResponse(status: 413))
    }
    return unsafe server.respond(to: incoming, on: connection)
  }

  private static let complete: MHD_RequestCompletedCallback = { context, _, state, _ in
    guard let context = unsafe context, let state = unsafe state, let known = unsafe state.pointee
    else { return }
    let incoming = unsafe Unmanaged<Incoming>.fromOpaque(known).takeRetainedValue()
    unsafe state.pointee = nil
    guard incoming.isLoading else { return }
    incoming.request.body = []
    unsafe Unmanaged<SimulatorServer>.fromOpaque(context).takeUnretainedValue().loading.end()
  }

  /// Returns the refusal of a request by its first line and header fields, before its body is read; nil if they are
  /// right.
  private static func refusal(of request: SimulatedRequest) -> HTTPResponse? {
    guard isOwn(request) else { return HTTPResponse(status: 421) }
    // With two lengths, the end of the body could be read as another request (RFC 9112, section 6.3).
    guard request.fields["content-length"]?.contains(",") != true else {
      return HTTPResponse(status: 400, fields: ["connection": "close"])
    }
    guard request.path.hasPrefix(prefix) else { return nil }
    // A page of another site must not steer the simulator through its visitor's browser.
    guard request.fields["origin"].map({ WebAddress($0 + "/")?.isLoopback == true }) ?? true else {
      return HTTPResponse(status: 403)
    }
    guard let method = controls[String(request.path.dropFirst(prefix.count))] else {
      return HTTPResponse(status: 404)
    }
    return request.method == method ? nil : HTTPResponse(status: 405, fields: ["allow": method])
  }

  /// Whether a request names this machine. A page in a browser may have directed its host name to this address
  /// (DNS rebinding).
  private static func isOwn(_ request: SimulatedRequest) -> Bool {
    request.fields["host"].flatMap { WebAddress("http://\($0)/") }?.isLoopback == true
  }

  /// Resets the connection of a request that has not arrived completely, if a fault of this name strikes.
  private func interrupt(
    _ incoming: Incoming,
    by name: String,
    _ connection: OpaquePointer
  ) -> MHD_Result {
    let fields = incoming.request.fields
    let options = fields[SimulatorOptions.headerName.lowercased()] ?? world.options.headerValue
    guard options.contains(":" + name) else { return tender_httpd_yes() }
    // A wrong header is answered when the request has arrived.
    let reaction = try? inTurn { () throws(Fault) in
      if incoming.simulator == nil { incoming.simulator = try simulator(fields) }
      return try incoming.simulator?.interrupt(incoming.request, by: name)
    }
    guard let reaction = reaction ?? nil else { return tender_httpd_yes() }
    return unsafe answer(connection, reaction)
  }

  private func respond(to incoming: Incoming, on connection: OpaquePointer) -> MHD_Result {
    let request = incoming.request
    unsafe tender_httpd_set_busy(connections, connection, 1)
    defer {
      // An upgraded connection is busy until it ends.
      if request.fields["upgrade"] == nil {
        unsafe tender_httpd_set_busy(connections, connection, 0)
      }
    }
    do throws(Fault) {
      let isControl = request.path.hasPrefix(Self.prefix)
      let simulator = try inTurn { () throws(Fault) in
        if let known = incoming.simulator { return known }
        return try self.simulator(request.fields, isControl: isControl)
      }
      if request.method == "GET",
        let set = try inTurn({ () throws(Fault) in keySets[request.path] })
      {
        return unsafe Self.answer(connection, HTTPResponse(status: 200, body: set))
      }
      if isControl {
        let shown = try inTurn { () throws(Fault) in try control(request, simulator) }
        return unsafe Self.answer(connection, shown)
      }
      if request.fields["upgrade"]?.lowercased() == "websocket" {
        return try unsafe upgrade(request, simulator, on: connection)
      }
      let reaction = try handle(simulator) { () throws(Fault) in try simulator.handle(request) }
      guard let reaction else {
        return unsafe Self.answer(connection, HTTPResponse(status: 404))
      }
      return unsafe answer(connection, reaction)
    } catch {
      let text = error.message + (error.hint.map { "; " + $0 } ?? "") + "\n"
      return unsafe Self.answer(
        connection,
        HTTPResponse(
          status: error.kind == .usage ? 400 : 500,
          body: Array(text.utf8),
          fields: ["content-type": "text/plain"]
        )
      )
    }
  }

  private func upgrade(
    _ request: SimulatedRequest,
    _ simulator: InProcessSimulator,
    on connection: OpaquePointer
  ) throws(Fault) -> MHD_Result {
    guard let key = request.fields["sec-websocket-key"],
      request.fields["sec-websocket-version"] == "13",
      let accept = try? WebSocketHandshake.accept(for: key)
    else { return unsafe Self.answer(connection, HTTPResponse(status: 400)) }
    let reaction = try inTurn { () throws(Fault) in
      try simulator.upgrade(path: request.path, query: request.query)
    }
    switch reaction {
    case .unreachable: return tender_httpd_no()
    case .refuse(let status):
      return unsafe Self.answer(connection, HTTPResponse(status: status))
    case .accept(let session):
      let served = ServedSocket(session, simulator, server: self)
      let context = unsafe Unmanaged.passRetained(served).toOpaque()
      guard let response = unsafe tender_httpd_upgrade(Self.takeOver, context) else {
        unsafe Unmanaged<ServedSocket>.fromOpaque(context).release()
        return tender_httpd_no()
      }
      defer { unsafe tender_httpd_destroy(response) }
      _ = unsafe tender_httpd_add_header(response, "Upgrade", "websocket")
      _ = unsafe tender_httpd_add_header(response, "Sec-WebSocket-Accept", accept)
      return unsafe tender_httpd_queue(connection, 101, response)
    }
  }

  /// The library passes on the socket, on the thread of its connection.
  private static let takeOver: MHD_UpgradeHandler = {
    context,
    _,
    _,
    extra,
    extraCount,
    descriptor,
    handle in
    guard let context = unsafe context, let handle = unsafe handle else { return }
    let served = unsafe Unmanaged<ServedSocket>.fromOpaque(context).takeRetainedValue()
    var first: [UInt8] = []
    if let extra = unsafe extra, extraCount > 0 {
      unsafe first.append(contentsOf: UnsafeRawBufferPointer(start: extra, count: extraCount))
    }
    unsafe served.run(descriptor: descriptor, first: first, handle: handle)
  }

  /// Answers with the reaction of a fault.
  private func answer(_ connection: OpaquePointer, _ reaction: HTTPReaction) -> MHD_Result {
    pause(upTo: reaction.end == .silence ? 300_000 : reaction.delay)
    guard let response = reaction.response else {
      if reaction.end == .reset { unsafe tender_httpd_reset(connection) }
      return tender_httpd_no()
    }
    guard reaction.end != .whole || reaction.rate != nil else {
      return unsafe Self.answer(connection, response)
    }
    // The library can only write whole answers.
    let client = ServedConnection(descriptor: unsafe tender_httpd_socket(connection))
    var head = "HTTP/1.1 \(response.status) -\r\nContent-Length: \(response.body.count)\r\n"
    for (name, value) in response.fields { head += "\(name): \(value)\r\n" }
    guard client.write(Array((head + "Connection: close\r\n\r\n").utf8)) else {
      return tender_httpd_no()
    }
    var rest = response.body[...]
    if let kept = reaction.kept { rest = rest.prefix(kept) }
    let rate = reaction.rate ?? .max
    while !rest.isEmpty, !shouldStop {
      // Ten pieces a second.
      let piece = rest.prefix(max(1, rate / 10))
      guard client.write(Array(piece)) else { break }
      rest.removeFirst(piece.count)
      if reaction.rate != nil { pause(upTo: piece.count * 1000 / rate) }
    }
    return tender_httpd_no()
  }

  private static func answer(_ connection: OpaquePointer, _ response: HTTPResponse) -> MHD_Result {
    var body = response.body
    let made = unsafe body.withUnsafeMutableBytes { bytes in
      unsafe tender_httpd_response(bytes.count, bytes.baseAddress)
    }
    guard let made = unsafe made else { return tender_httpd_no() }
    defer { unsafe tender_httpd_destroy(made) }
    var fields = response.fields
    if fields["content-type"] == nil { fields["content-type"] = "application/json" }
    for (name, value) in fields { _ = unsafe tender_httpd_add_header(made, name, value) }
    return unsafe tender_httpd_queue(connection, UInt32(response.status), made)
  }

  /// Waits until the time is over or the server stops. It blocks no other connection.
  func pause(upTo milliseconds: Int) {
    var left = milliseconds
    while left > 0, !shouldStop {
      _ = poll(nil, 0, Int32(min(left, 100)))
      left -= 100
    }
  }

  private static func query(_ connection: OpaquePointer) -> String {
    // The library has decoded the values. They are encoded again, as in process.
    unsafe pairs(connection, tender_httpd_each_argument, combines: false)
      .map { "\(QueryText.encode($0.key))=\(QueryText.encode($0.value))" }
      .joined(separator: "&")
  }

  private final class Pairs {
    var values: [String: String] = [:]
    /// Whether values of one name are combined (RFC 9110, section 5.3). Else the last one counts.
    let combines: Bool

    init(combines: Bool) { self.combines = combines }
  }

  private static func pairs(
    _ connection: OpaquePointer,
    _ each: (OpaquePointer?, MHD_KeyValueIterator?, UnsafeMutableRawPointer?) -> Int32,
    combines: Bool
  ) -> [String: String] {
    let found = Pairs(combines: combines)
    let context = unsafe Unmanaged.passUnretained(found).toOpaque()
    _ = unsafe each(
      connection,
      { context, _, key, value in
        guard let context = unsafe context, let key = unsafe key else { return tender_httpd_yes() }
        let found = unsafe Unmanaged<Pairs>.fromOpaque(context).takeUnretainedValue()
        let name = unsafe String(cString: key).lowercased()
        let value = unsafe value.map { unsafe String(cString: $0) } ?? ""
        let known = found.combines ? found.values[name] : nil
        found.values[name] = known.map { $0 == value ? value : "\($0), \(value)" } ?? value
        return tender_httpd_yes()
      },
      context
    )
    return withExtendedLifetime(found) { found.values }
  }
}
