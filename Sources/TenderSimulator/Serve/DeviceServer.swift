private import Platform
private import Synchronization
internal import TenderEngine
package import TenderModel
private import TenderSystem

/// A simulated device on a TCP port of 127.0.0.1, like card readers on a network.
@safe
package final class DeviceServer: @unchecked Sendable {
  // Unchecked: the descriptor is set before its thread starts.
  private let world: SimulatorWorld
  private var listener: Int32 = -1
  private let isStopping = Atomic(false)
  /// The options of the next customer, from a request.
  private let next: NextCustomer

  package init(_ world: SimulatorWorld, _ next: NextCustomer) {
    self.world = world
    self.next = next
  }

  /// Starts listening. Returns the port, which is `port` unless that is 0.
  ///
  /// Throws `usage` if the port is taken.
  package func start(port: UInt16) throws(Fault) -> UInt16 {
    listener = socket(AF_INET, Sockets.stream, 0)
    var yes: Int32 = 1
    _ = unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        unsafe bind(listener, raw, size) == 0 && listen(listener, 8) == 0
          && getsockname(listener, raw, &size) == 0
      }
    }
    guard listener >= 0, isBound else {
      throw .usage(
        "port_busy",
        "cannot listen on 127.0.0.1:\(port)",
        "choose another --port, or leave it out for a free one"
      )
    }
    DetachedThread.begin { [self] in accept() }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Stops listening and ends every connection.
  package func stop() { isStopping.store(true, ordering: .relaxed) }

  private var shouldStop: Bool { isStopping.load(ordering: .relaxed) }

  private func accept() {
    while !shouldStop {
      var polled = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&polled, 1, 100) > 0 else { continue }
      let descriptor = Platform.accept(listener, nil, nil)
      guard descriptor >= 0 else { continue }
      // Packets are small, and the host waits for each.
      var yes: Int32 = 1
      _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
      DetachedThread.begin { [self] in serve(descriptor) }
    }
    close(listener)
  }

  /// Serves the connection of one host.
  private func serve(_ descriptor: Int32) {
    defer { close(descriptor) }
    var world = world
    if let options = next.take() { world.options = options }
    world.clock = SimulatedClock(world.options.clock, beside: world.clock)
    guard let simulator = try? InProcessSimulator(world, playsPayer: false),
      let reader = try? simulator.device()
    else { return }
    let connection = ServedConnection(descriptor: descriptor)
    guard react(reader.greet(), connection) else { return }
    _ = connection.read({ shouldStop }, { react(reader.receive($0), connection) })
  }

  private func react(_ reactions: [DeviceReaction], _ connection: ServedConnection) -> Bool {
    reactions.allSatisfy { reaction in
      guard case .send(let bytes) = reaction else { return false }
      return connection.write(bytes)
    }
  }
}

/// The options of the next customer at a served reader. A reader's protocol has no place for them, so they
/// come by HTTP before.
package final class NextCustomer: Sendable {
  private let options = Mutex<SimulatorOptions?>(nil)

  /// The path for these options. They are in the header that every request may have.
  package static let path = SimulatorServer.prefix + "reader"

  package init() {}

  /// Sets the options of the next customer.
  package func set(_ options: SimulatorOptions) { self.options.withLock { $0 = options } }

  /// Returns the options of the next customer; nil without any.
  ///
  /// They are used once.
  package func take() -> SimulatorOptions? {
    options.withLock { options in
      defer { options = nil }
      return options
    }
  }
}
