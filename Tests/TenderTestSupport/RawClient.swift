#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A TCP connection to this machine that sends any text, and has a limit for each wait.
package final class RawClient {
  private let descriptor: Int32
  /// Whether the server has reset the connection.
  package private(set) var isReset = false

  /// Connects to a port of 127.0.0.1; nil if the port is closed.
  package init?(port: Int) {
    #if canImport(Darwin)
    descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    let status = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        unsafe connect(descriptor, raw, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Sends a text; false if the server is gone.
  @discardableResult package func say(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var place = 0
    while place < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        #if canImport(Darwin)
        unsafe send(descriptor, buffer.baseAddress?.advanced(by: place), bytes.count - place, 0)
        #else
        unsafe send(
          descriptor,
          buffer.baseAddress?.advanced(by: place),
          bytes.count - place,
          Int32(MSG_NOSIGNAL)
        )
        #endif
      }
      guard count > 0 else { return false }
      place += count
    }
    return true
  }

  /// Returns the received text until it contains `text`, the server ends, or the time is over.
  package func hear(until text: String, milliseconds: Int32 = 10_000) -> String {
    var said = ""
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !said.contains(text) {
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&polled, 1, milliseconds) > 0 else { break }
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      isReset = count < 0 && errno == ECONNRESET
      guard count > 0 else { break }
      said += String(decoding: buffer.prefix(count), as: UTF8.self)
    }
    return said
  }
}

/// Closed ports of this machine.
package enum FreePort {
  /// A port that the kernel has just assigned (port 0), and that is free again.
  package static func next() throws -> Int {
    #if canImport(Darwin)
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        let status = unsafe bind(descriptor, raw, length)
        return unsafe status == 0 ? getsockname(descriptor, raw, &length) : status
      }
    }
    guard status == 0 else { throw NoFreePort() }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private struct NoFreePort: Error {}
}
