import Foundation
private import Synchronization

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A proxy in front of a PostgreSQL server. It ends a connection at one of a client's questions.
///
/// A question is the data that a client sends before it waits. The first one of a connection, which opens it,
/// does not count.
package final class Cutter: Sendable {
  /// The point of the cut.
  package enum Stroke: Sendable, Hashable {
    /// The question never arrives.
    case before(Int)
    /// It is answered, and the answer never arrives.
    case after(Int)
    /// From that question on, the server cannot be reached, though it may still execute requests. `answers`:
    /// that question still arrives there.
    case dark(Int, answers: Bool)
    /// No cut.
    case none
  }

  private let listener: LocalListener
  private let server: Int
  private let stroke: Stroke
  private let count = Atomic(0)
  private let isDark = Atomic(false)
  private let isOver = Atomic(false)

  /// Listens on a free port for a server's port on this machine.
  package init(before server: Int, _ stroke: Stroke = .none) throws {
    self.server = server
    self.stroke = stroke
    listener = try LocalListener()
    Thread { [self] in accept() }.start()
  }

  package var port: Int { listener.port }

  /// The number of questions so far.
  package var questions: Int { count.load(ordering: .relaxed) }

  /// Stops the proxy.
  package func stop() {
    isOver.store(true, ordering: .relaxed)
    listener.stop()
  }

  private func accept() {
    while !isOver.load(ordering: .relaxed) {
      let client = listener.accept()
      guard client >= 0 else { return }
      Thread { [self] in serve(client) }.start()
    }
  }

  private func serve(_ client: Int32) {
    defer { close(client) }
    guard !isDark.load(ordering: .relaxed) else { return }
    guard let other = LocalListener.connect(server) else { return }
    defer { close(other) }
    var withholds = false
    while true {
      var polled = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&polled, 2, 10_000) > 0 else { return }
      if polled[1].revents != 0 {
        guard let bytes = read(other) else { return }
        // The answer has arrived, so the server executed the request.
        if withholds { return }
        guard write(bytes, client) else { return }
      }
      if polled[0].revents != 0 {
        guard let bytes = read(client) else { return }
        // The message that opens a connection has no type, but a length that begins with 0. X closes the
        // connection (PostgreSQL's manual, "Message Formats").
        if let type = bytes.first, type != 0, type != UInt8(ascii: "X") {
          switch strike(count.add(1, ordering: .relaxed).newValue) {
          case .passes: break
          case .cuts: return
          case .withholds: withholds = true
          }
        }
        guard write(bytes, other) else { return }
      }
    }
  }

  private enum Verdict { case passes, cuts, withholds }

  private func strike(_ number: Int) -> Verdict {
    switch stroke {
    case .before(number): return .cuts
    case .after(number): return .withholds
    case .dark(let at, let answers) where number >= at:
      isDark.store(true, ordering: .relaxed)
      return answers && number == at ? .withholds : .cuts
    default: return .passes
    }
  }

  private func read(_ descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }

  private func write(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
