private import Platform
package import TenderEngine
package import TenderModel

/// Devices by address: `tcp://HOST:PORT`, `tty:PATH`, and on Linux `bluetooth:ADDRESS[/CHANNEL]`.
package struct Devices: DeviceExchange {
  private let interruption: any Interruption

  package init(interruption: any Interruption) { self.interruption = interruption }

  package func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    guard let address = DeviceAddress(address) else { throw .noAddress(address) }
    let descriptor: Int32
    switch address {
    case .network(let host, let port):
      descriptor = try connectNetwork(host, port, by: deadline)
    case .terminal(let path): descriptor = try Self.openTerminal(path)
    case .bluetooth(let bytes, let channel):
      descriptor = try connectBluetooth(bytes, channel, by: deadline)
    }
    return DeviceStream(descriptor, interruption: interruption)
  }

  private func connectNetwork(
    _ host: String,
    _ port: UInt16,
    by deadline: Deadline
  ) throws(Fault) -> Int32 {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Sockets.stream
    var found: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(host, String(port), &hints, &found)
    guard status == 0, let first = unsafe found else {
      throw .unreachable("\(host): \(unsafe String(cString: gai_strerror(status)))")
    }
    defer { unsafe freeaddrinfo(first) }
    var why = "no address"
    var next: UnsafeMutablePointer<addrinfo>? = unsafe first
    while let entry = unsafe next {
      unsafe next = entry.pointee.ai_next
      let descriptor = unsafe socket(entry.pointee.ai_family, entry.pointee.ai_socktype, 0)
      guard descriptor >= 0 else { continue }
      Sockets.prepare(descriptor)
      var yes: Int32 = 1
      _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
      let result = unsafe connect(descriptor, entry.pointee.ai_addr, entry.pointee.ai_addrlen)
      guard let problem = finish(descriptor, result, by: deadline) else { return descriptor }
      why = problem
      close(descriptor)
    }
    throw .unreachable("\(host):\(port): \(why)")
  }

  /// Waits until a connection is open. Returns the problem if it cannot be opened.
  private func finish(_ descriptor: Int32, _ result: Int32, by deadline: Deadline) -> String? {
    if result == 0 { return nil }
    guard errno == EINPROGRESS else { return Sockets.problem(errno) }
    while deadline.remaining > 0 {
      let left = min(deadline.remaining, 60_000)
      let ready = interruption.wait(for: descriptor, POLLOUT, milliseconds: left)
      if interruption.kind != nil { return "stopped" }
      guard ready != 0 else { continue }
      var problem: Int32 = 0
      var size = socklen_t(4)
      _ = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &size)
      return problem == 0 ? nil : Sockets.problem(problem)
    }
    return "no answer in time"
  }

  /// Opens a serial line without any translation of bytes. USB readers ignore the speed.
  private static func openTerminal(_ path: String) throws(Fault) -> Int32 {
    let descriptor = unsafe Platform.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw errno == EBUSY ? .inUse(path) : .unreachable("\(path): \(Sockets.problem(errno))")
    }
    do throws(Fault) {
      guard Self.takeForOneself(descriptor) else { throw .inUse(path) }
      var settings = termios()
      guard unsafe tcgetattr(descriptor, &settings) == 0 else {
        throw .unreachable("\(path) is no serial line")
      }
      unsafe cfmakeraw(&settings)
      settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
      _ = unsafe cfsetspeed(&settings, speed_t(B115200))
      guard unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0 else {
        throw .unreachable("\(path): \(Sockets.problem(errno))")
      }
    } catch {
      close(descriptor)
      throw error
    }
    _ = tcflush(descriptor, TCIOFLUSH)
    Sockets.prepare(descriptor)
    return descriptor
  }

  /// Reserves a serial line: a lock excludes processes of this program, also of the superuser. TIOCEXCL
  /// excludes all others.
  ///
  /// Returns false if another process has it. Both end with the descriptor.
  private static func takeForOneself(_ descriptor: Int32) -> Bool {
    var region = flock()
    #if canImport(Darwin)
    let command: Int32 = 90
    #else
    let command: Int32 = 37
    #endif
    // F_OFD_SETLK, over the whole device.
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    guard unsafe fcntl(descriptor, command, &region) == 0 else {
      return errno != EAGAIN && errno != EACCES
    }
    _ = ioctl(descriptor, UInt(TIOCEXCL))
    return true
  }

  /// The socket address of RFCOMM, the serial port profile. The layout is that of Linux
  /// (include/net/bluetooth/rfcomm.h), because its header may not be installed.
  private struct BluetoothAddress {
    var family: UInt16 = 31
    var address: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0, 0)
    var channel: UInt8 = 1
    var padding: UInt8 = 0
  }

  private func connectBluetooth(
    _ address: [UInt8],
    _ channel: UInt8,
    by deadline: Deadline
  ) throws(Fault) -> Int32 {
    #if canImport(Darwin)
    throw Fault(
      .unsupported,
      code: "bluetooth_unsupported",
      "Bluetooth readers are for Linux alone",
      hint: "connect it by USB (tty:PATH) or network (tcp://HOST:PORT)"
    )
    #else
    // AF_BLUETOOTH, SOCK_STREAM, BTPROTO_RFCOMM.
    let descriptor = socket(31, Sockets.stream, 3)
    guard descriptor >= 0 else { throw .unreachable("Bluetooth: \(Sockets.problem(errno))") }
    Sockets.prepare(descriptor)
    var place = BluetoothAddress()
    // The byte order is the reverse of the written form.
    place.address = (address[5], address[4], address[3], address[2], address[1], address[0])
    place.channel = channel
    let size = socklen_t(MemoryLayout<BluetoothAddress>.size)
    let result = unsafe withUnsafePointer(to: &place) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        unsafe connect(descriptor, raw, size)
      }
    }
    if let problem = finish(descriptor, result, by: deadline) {
      close(descriptor)
      throw .unreachable("Bluetooth: \(problem)")
    }
    return descriptor
    #endif
  }
}

/// System calls that devices, their simulation and the listener for payers share.
package enum Sockets {
  /// The type of a TCP socket, which has another type on each system.
  package static var stream: Int32 {
    #if canImport(Darwin)
    SOCK_STREAM
    #else
    Int32(SOCK_STREAM.rawValue)
    #endif
  }

  /// Makes a descriptor non-blocking, and closed in started programs. A thread waits by `poll`.
  static func prepare(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    #if canImport(Darwin)
    var yes: Int32 = 1
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, 4)
    #endif
  }

  static func problem(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}

private final class DeviceStream: ByteStream {
  private let descriptor: Int32
  private let interruption: any Interruption
  private var isClosed = false

  init(_ descriptor: Int32, interruption: any Interruption) {
    self.descriptor = descriptor
    self.interruption = interruption
  }

  deinit { if !isClosed { Environment.close(descriptor) } }

  func send(_ bytes: [UInt8]) throws(Fault) {
    var rest = bytes[...]
    var patience = 5
    while !rest.isEmpty {
      // The process ignores SIGPIPE, so a broken link is an ordinary error.
      let count = unsafe rest.withUnsafeBytes { raw in
        unsafe write(descriptor, raw.baseAddress, raw.count)
      }
      if count > 0 {
        rest.removeFirst(count)
        continue
      }
      guard errno == EAGAIN || errno == EINTR, patience > 0 else {
        throw Fault(.device, code: "device_disconnected", "the link to the device broke")
      }
      patience -= 1
      _ = NeverInterrupted().wait(for: descriptor, POLLOUT, milliseconds: 1000)
    }
  }

  func receive(milliseconds: Int) throws(Fault) -> StreamEvent {
    // A signal from before must not end every wait at once.
    let signals: any Interruption = interruption.kind == nil ? interruption : NeverInterrupted()
    guard signals.wait(for: descriptor, POLLIN, milliseconds: min(milliseconds, 60_000)) != 0
    else { return .nothing }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let size = unsafe read(descriptor, &buffer, buffer.count)
    if size > 0 { return .bytes(Array(buffer.prefix(size))) }
    if size < 0, errno == EAGAIN || errno == EINTR { return .nothing }
    return .ended
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    Environment.close(descriptor)
  }
}

extension Fault {
  fileprivate static func unreachable(_ why: String) -> Fault {
    Fault(.device, code: "device_connection_failed", why)
  }

  fileprivate static func inUse(_ path: String) -> Fault {
    Fault(
      .device,
      code: "device_in_use",
      cause: .deviceInUse,
      "\(path) is in use by another process"
    )
  }

  fileprivate static func noAddress(_ text: String) -> Fault {
    .usage(
      "bad_value",
      "\(text.quotedForMessage) is no address of a device",
      "such as tcp://127.0.0.1:6543, tty:/dev/ttyACM0 or bluetooth:00:11:22:33:44:55"
    )
  }
}
