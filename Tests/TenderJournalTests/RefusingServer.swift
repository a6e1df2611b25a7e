import Foundation
import Synchronization
import TenderTestSupport

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A server with PostgreSQL's protocol that refuses every login (PostgreSQL's manual, "Message Formats":
/// ErrorResponse).
final class RefusingServer: Sendable {
  private let listener: LocalListener
  private let answer: [UInt8]
  private let count = Atomic(0)

  /// Listens on a free port.
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
    listener = try LocalListener()
    Thread { [self] in serve() }.start()
  }

  var port: Int { listener.port }

  /// The number of refused logins.
  var visits: Int { count.load(ordering: .relaxed) }

  /// Stops it.
  func stop() { listener.stop() }

  private func serve() {
    while true {
      let client = listener.accept()
      guard client >= 0 else { return }
      count.add(1, ordering: .relaxed)
      var asked = [UInt8](repeating: 0, count: 1024)
      _ = unsafe read(client, &asked, asked.count)
      _ = unsafe write(client, answer, answer.count)
      close(client)
    }
  }
}
