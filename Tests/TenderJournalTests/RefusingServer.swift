import Foundation
import Synchronization

#if canImport(Darwin)
private import Darwin
private func takeConnection(_ listener: Int32) -> Int32 { Darwin.accept(listener, nil, nil) }
#else
private import Glibc
private func takeConnection(_ listener: Int32) -> Int32 { Glibc.accept(listener, nil, nil) }
#endif

/// A server of PostgreSQL's protocol that lets nobody in (PostgreSQL's manual, "Message Formats": ErrorResponse).
final class RefusingServer: Sendable {
  private let listener: Int32
  let port: Int
  private let answer: [UInt8]
  private let count = Atomic(0)

  /// Listens on a port of its own.
  init(code: String, text: String) throws {
    var fields: [UInt8] = []
    for (name, value) in [
      ("S", "FATAL"), ("V", "FATAL"), ("C", code), ("M", text), ("F", "auth.c"), ("L", "326"),
      ("R", "auth_failed"),
    ] { fields += Array((name + value).utf8) + [0] }
    fields.append(0)
    let size = UInt32(fields.count + 4)
    answer =
      [UInt8(ascii: "E")] + (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
      + fields
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isReady = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(descriptor, pointer, length) == 0 && listen(descriptor, 8) == 0
          && getsockname(descriptor, pointer, &length) == 0
      }
    }
    guard isReady else { throw CocoaError(.fileNoSuchFile) }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread { [self] in serve() }.start()
  }

  /// How many asked to be let in.
  var visits: Int { count.load(ordering: .relaxed) }

  /// Ends it.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private func serve() {
    while true {
      let client = takeConnection(listener)
      guard client >= 0 else { return }
      count.add(1, ordering: .relaxed)
      var asked = [UInt8](repeating: 0, count: 1024)
      _ = unsafe read(client, &asked, asked.count)
      _ = unsafe write(client, answer, answer.count)
      close(client)
    }
  }
}
