import Foundation
import Synchronization
import TenderTestSupport

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// One connection of a hostile peer. It ends with its case.
final class Wire: Sendable {
  private let descriptor: Int32
  private let isOver: @Sendable () -> Bool

  init(_ descriptor: Int32, isOver: @escaping @Sendable () -> Bool) {
    self.descriptor = descriptor
    self.isOver = isOver
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  /// Waits until the client has sent bytes or can receive some, or for some milliseconds; false if it is gone
  /// or the case is over.
  private func wait(_ events: Int32, _ milliseconds: Int) -> Bool {
    var left = milliseconds
    while left > 0, !isOver() {
      var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      let count = unsafe poll(&polled, 1, Int32(min(left, 50)))
      if count > 0 { return polled.revents & Int16(POLLERR) == 0 }
      left -= 50
    }
    return !isOver()
  }

  /// Sends all bytes; false if the client no longer accepts them.
  @discardableResult func say(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard wait(POLLOUT, .max) else { return false }
      let count = unsafe rest.withUnsafeBytes { raw in
        // For sockets and terminals.
        let sent = unsafe send(descriptor, raw.baseAddress, raw.count, Int32(MSG_NOSIGNAL))
        return unsafe sent < 0 && errno == ENOTSOCK
          ? write(descriptor, raw.baseAddress, raw.count) : sent
      }
      if count < 0, errno != EAGAIN, errno != EINTR { return false }
      rest = rest.dropFirst(max(0, count))
    }
    return true
  }

  @discardableResult func say(_ text: String) -> Bool { say(Array(text.utf8)) }

  /// Sends the same bytes for ever, as fast as they are accepted.
  func flood(_ bytes: [UInt8]) {
    let many = Array(repeatElement(bytes, count: max(1, 65_536 / bytes.count)).joined())
    while say(many) {}
  }

  func flood(_ text: String) { flood(Array(text.utf8)) }

  /// Sends the same bytes for ever, at an interval in milliseconds.
  func drip(_ bytes: [UInt8], every milliseconds: Int = 1000) {
    while say(bytes) { guard hush(milliseconds) else { return } }
  }

  func drip(_ text: String, every milliseconds: Int = 1000) {
    drip(Array(text.utf8), every: milliseconds)
  }

  /// Reads, and sends nothing for a time; false if the client is gone.
  @discardableResult func hush(_ milliseconds: Int = .max) -> Bool {
    let end = ContinuousClock.now + .milliseconds(min(milliseconds, 60_000))
    while ContinuousClock.now < end, !isOver() {
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if unsafe poll(&polled, 1, 20) > 0, hear() == nil { return false }
    }
    return !isOver()
  }

  /// Returns the next bytes of the client; nil if it is gone.
  func hear() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while wait(POLLIN, .max) {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count > 0 { return Array(buffer.prefix(count)) }
      if count == 0 || errno != EAGAIN && errno != EINTR { return nil }
    }
    return nil
  }
}

/// A peer that is correct up to a question, and then does something else.
///
/// Until then it passes all bytes to a correct peer. A question is the text that a client sends before it
/// waits. Question 0 is the connection.
final class HostilePeer: Sendable {
  typealias Act = @Sendable (Wire) -> Void

  private let listener: LocalListener
  private let honest: Int?
  private let question: Int
  private let act: Act
  private let count = Atomic(0)
  private let over = Atomic(false)
  private let begun = DispatchSemaphore(value: 0)

  /// Listens on a free port, or at the path of a Unix socket.
  init(
    before honest: Int? = nil,
    at question: Int,
    path: String? = nil,
    _ act: @escaping Act
  ) throws {
    let listener = try path.map { try LocalListener(path: $0) } ?? LocalListener()
    self.listener = listener
    self.honest = honest
    self.question = question
    self.act = act
    Thread.detachNewThread { [self] in
      while true {
        let descriptor = listener.accept()
        guard descriptor >= 0 else { return }
        Thread.detachNewThread { [self] in serve(descriptor) }
      }
    }
  }

  var port: Int { listener.port }

  /// Waits until it acts.
  func awaitAct(_ milliseconds: Int) -> Bool {
    begun.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
  }

  func stop() {
    over.store(true, ordering: .sequentiallyConsistent)
    listener.stop()
  }

  private func wire(_ descriptor: Int32) -> Wire {
    Wire(descriptor) { [self] in over.load(ordering: .sequentiallyConsistent) }
  }

  /// Acts on a connection. If this peer connects, it uses a separate thread.
  func perform(on descriptor: Int32) {
    begun.signal()
    act(wire(descriptor))
  }

  /// Connects to a port of this machine some times, as soon as it is open, and acts on each connection.
  func call(_ port: Int, times: Int) {
    Thread.detachNewThread { [self] in
      while !over.load(ordering: .sequentiallyConsistent) {
        guard let first = LocalListener.connect(port) else {
          usleep(10_000)
          continue
        }
        let all =
          [first]
          + (1..<max(times, 2)).prefix(times - 1).compactMap { _ in LocalListener.connect(port) }
        for descriptor in all {
          Thread.detachNewThread { [self] in
            perform(on: descriptor)
            close(descriptor)
          }
        }
        return
      }
    }
  }

  private func serve(_ client: Int32) {
    defer { close(client) }
    guard question > 0 else { return perform(on: client) }
    let other = honest.flatMap { LocalListener.connect($0) }
    defer { if let other { close(other) } }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !over.load(ordering: .sequentiallyConsistent) {
      var polled = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: other ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      guard unsafe poll(&polled, 2, 50) > 0 else { continue }
      if let other, polled[1].revents != 0 {
        let size = unsafe recv(other, &buffer, buffer.count, 0)
        guard size > 0, wire(client).say(Array(buffer.prefix(size))) else { return }
      }
      if polled[0].revents != 0 {
        let size = unsafe recv(client, &buffer, buffer.count, 0)
        guard size > 0 else {
          if size < 0, errno == EAGAIN { continue }
          return
        }
        let number = count.add(1, ordering: .sequentiallyConsistent).newValue
        if number >= question { return perform(on: client) }
        if let other { guard wire(other).say(Array(buffer.prefix(size))) else { return } }
      }
    }
  }
}
