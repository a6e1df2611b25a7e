import Foundation

#if canImport(Darwin)
private import Darwin
private func takeConnection(_ listener: Int32) -> Int32 { Darwin.accept(listener, nil, nil) }
private let systemConnect = Darwin.connect
#else
private import Glibc
private func takeConnection(_ listener: Int32) -> Int32 { Glibc.accept(listener, nil, nil) }
private let systemConnect = unsafe Glibc.connect
#endif

/// A free port of this machine with its connections.
package struct LocalListener: Sendable {
  private let descriptor: Int32
  package let port: Int

  /// Listens on a port that the kernel chooses.
  package init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let made = descriptor
    let isReady = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(made, pointer, size) == 0 && listen(made, 64) == 0
          && getsockname(made, pointer, &size) == 0
      }
    }
    guard isReady else { throw CocoaError(.fileNoSuchFile) }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  /// Listens at the path of a Unix socket; an abstract one begins with "@".
  package init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    port = 0
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    if path.hasPrefix("@") { bytes[0] = 0 }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let made = descriptor
    let isReady = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(made, pointer, size) == 0 && listen(made, 64) == 0
      }
    }
    guard isReady else { throw CocoaError(.fileNoSuchFile) }
  }

  /// The next connection; negative after a stop.
  package func accept() -> Int32 { takeConnection(descriptor) }

  /// Accepts no more connections.
  package func stop() {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// A connection to a port of this machine; nil if the port is closed.
  package static func connect(_ port: Int) -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = address(port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isThere = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe systemConnect(descriptor, pointer, size) == 0
      }
    }
    if isThere { return descriptor }
    close(descriptor)
    return nil
  }

  /// A port of this machine.
  static func address(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}
