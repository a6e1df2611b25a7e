private import CLibraries
private import Synchronization
import TenderEngine
package import TenderModel
private import TenderSystem

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The simulated providers over real HTTP and WebSocket on 127.0.0.1, by libmicrohttpd.
@safe
package final class SimulatorServer: @unchecked Sendable {
  // Unchecked: what is shared between threads is immutable or atomic.
  /// How many connections there are at once, before the oldest idle one is ended.
  private static let mostConnections = 600

  private let world: SimulatorWorld
  private var daemon: OpaquePointer?
  private var connections: OpaquePointer?
  private let isStopping = Atomic(false)
  private let nextCustomer: NextCustomer

  /// Prepares a server for a world; each connection opens the ledger for itself.
  package init(_ world: SimulatorWorld, _ nextCustomer: NextCustomer = NextCustomer()) {
    self.world = world
    self.nextCustomer = nextCustomer
  }

  /// Starts listening; gives the port, which is `port` unless that is 0.
  ///
  /// Throws `usage` where the port is taken, `internal` where the library is not there.
  package func start(port: UInt16) throws(Fault) -> UInt16 {
    if let problem = unsafe tender_httpd_open() {
      throw Fault(.internal, code: "library_missing", unsafe String(cString: problem))
    }
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
    return unsafe tender_httpd_port(started)
  }

  /// Ends every connection and stops listening.
  package func stop() {
    isStopping.store(true, ordering: .relaxed)
    if let daemon = unsafe daemon { unsafe tender_httpd_stop(daemon) }
    unsafe daemon = nil
    unsafe tender_httpd_connections_free(connections)
    unsafe connections = nil
  }

  var shouldStop: Bool { isStopping.load(ordering: .relaxed) }

  /// A simulator for one request or socket, as its header wants it.
  func simulator(_ fields: [String: String]) throws(Fault) -> InProcessSimulator {
    var world = world
    if let value = fields[SimulatorOptions.headerName.lowercased()] {
      world.options = SimulatorOptions(headerValue: value, among: world.providers)
      if let time = world.options.clock {
        world.clock = StandingClock(at: time, beside: world.clock)
      }
    }
    return try InProcessSimulator(world, playsPayer: false)
  }

  /// One request on its way in.
  private final class Incoming {
    var body: [UInt8] = []
    var isTooLarge = false
  }

  private static let bodyLimit = 4 << 20

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
      unsafe state.pointee = Unmanaged.passRetained(Incoming()).toOpaque()
      return tender_httpd_yes()
    }
    let incoming = unsafe Unmanaged<Incoming>.fromOpaque(known).takeUnretainedValue()
    if unsafe uploadCount.pointee > 0 {
      let count = unsafe uploadCount.pointee
      unsafe uploadCount.pointee = 0
      if incoming.body.count + count > bodyLimit {
        incoming.isTooLarge = true
      } else if let upload = unsafe upload {
        unsafe incoming.body.append(
          contentsOf: UnsafeRawBufferPointer(start: upload, count: count)
        )
      }
      return tender_httpd_yes()
    }
    let request = SimulatedRequest(
      method: unsafe String(cString: method),
      path: unsafe String(cString: url),
      query: unsafe SimulatorServer.query(connection),
      fields: unsafe SimulatorServer.pairs(connection, tender_httpd_each_header),
      body: incoming.body
    )
    if incoming.isTooLarge {
      return unsafe SimulatorServer.answer(connection, HTTPResponse(status: 413))
    }
    return unsafe server.respond(to: request, on: connection)
  }

  private static let complete: MHD_RequestCompletedCallback = { _, _, state, _ in
    guard let state = unsafe state, let known = unsafe state.pointee else { return }
    unsafe Unmanaged<Incoming>.fromOpaque(known).release()
    unsafe state.pointee = nil
  }

  private func respond(to request: SimulatedRequest, on connection: OpaquePointer) -> MHD_Result {
    // A page in a browser may have made its own name lead here (DNS rebinding).
    guard request.fields["host"].flatMap({ WebAddress("http://\($0)/") })?.isLoopback == true else {
      return unsafe Self.answer(connection, HTTPResponse(status: 421))
    }
    unsafe tender_httpd_set_busy(connections, connection, 1)
    defer {
      // A connection that was upgraded is at work until it ends.
      if request.fields["upgrade"] == nil {
        unsafe tender_httpd_set_busy(connections, connection, 0)
      }
    }
    do throws(Fault) {
      let simulator = try simulator(request.fields)
      if request.path == NextCustomer.path {
        nextCustomer.set(simulator.world.options)
        return unsafe Self.answer(connection, HTTPResponse(status: 204))
      }
      if request.fields["upgrade"]?.lowercased() == "websocket" {
        return unsafe upgrade(request, simulator, on: connection)
      }
      switch try simulator.handle(request) {
      case .answer(let response): return unsafe Self.answer(connection, response)
      case .slowly(let milliseconds, let response):
        pause(upTo: milliseconds)
        return unsafe Self.answer(connection, response)
      case .silence:
        pause(upTo: 300_000)
        return tender_httpd_no()
      case .drop: return tender_httpd_no()
      case nil: return unsafe Self.answer(connection, HTTPResponse(status: 404))
      }
    } catch {
      return unsafe Self.answer(
        connection,
        HTTPResponse(status: 500, body: Array(error.message.utf8))
      )
    }
  }

  private func upgrade(
    _ request: SimulatedRequest,
    _ simulator: InProcessSimulator,
    on connection: OpaquePointer
  ) -> MHD_Result {
    guard let key = request.fields["sec-websocket-key"],
      request.fields["sec-websocket-version"] == "13",
      let accept = try? WebSocketHandshake.accept(for: key)
    else { return unsafe Self.answer(connection, HTTPResponse(status: 400)) }
    switch simulator.upgrade(path: request.path, query: request.query) {
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

  /// The library hands over the socket, on the thread that it gives each connection.
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

  /// Waits without holding anything up, until told to stop.
  func pause(upTo milliseconds: Int) {
    var left = milliseconds
    while left > 0, !shouldStop {
      _ = poll(nil, 0, Int32(min(left, 100)))
      left -= 100
    }
  }

  private static func query(_ connection: OpaquePointer) -> String {
    unsafe pairs(connection, tender_httpd_each_argument).map { "\($0.key)=\($0.value)" }
      .joined(separator: "&")
  }

  private final class Pairs {
    var values: [String: String] = [:]
  }

  private static func pairs(
    _ connection: OpaquePointer,
    _ each: (OpaquePointer?, MHD_KeyValueIterator?, UnsafeMutableRawPointer?) -> Int32
  ) -> [String: String] {
    let found = Pairs()
    let context = unsafe Unmanaged.passUnretained(found).toOpaque()
    _ = unsafe each(
      connection,
      { context, _, key, value in
        guard let context = unsafe context, let key = unsafe key else { return tender_httpd_yes() }
        let found = unsafe Unmanaged<Pairs>.fromOpaque(context).takeUnretainedValue()
        let name = unsafe String(cString: key)
        found.values[name.lowercased()] = unsafe value.map { unsafe String(cString: $0) } ?? ""
        return tender_httpd_yes()
      },
      context
    )
    return withExtendedLifetime(found) { found.values }
  }
}
