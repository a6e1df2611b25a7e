import CLibraries
private import Platform
import TenderEngine
import TenderModel

/// A connected stream of bytes, TLS included, by libcurl's `CURLOPT_CONNECT_ONLY`.
final class CurlStream: ConnectedStream {
  private let handle: CurlHandle
  private let host: String
  private let interruption: any Interruption
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// Connects.
  ///
  /// Throws `not_sent` if it cannot.
  init(
    _ address: WebAddress,
    _ settings: TransportSettings,
    by deadline: Deadline
  ) throws(Fault) {
    handle = try CurlHandle(settings)
    host = address.authority
    interruption = settings.interruption
    try interruption.check()
    try handle.prepare(address, settings, deadline: deadline)
    handle.set(CURLOPT_CONNECT_ONLY, 1)
    handle.set(CURLOPT_HTTPPROXYTUNNEL, 1)
    // By ALPN, libcurl could agree on HTTP/2, which has no upgrade.
    handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    let code = handle.perform(posting: nil)
    guard code == CURLE_OK else {
      var fault = handle.fault(code, host: host)
      if fault.kind == .providerError {
        fault = Fault(.notSent, code: "unreachable", fault.message)
      }
      throw fault
    }
  }

  func send(_ bytes: [UInt8], _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
    var rest = bytes[...]
    do throws(Fault) {
      while !rest.isEmpty {
        let (code, count) = handle.send(rest)
        rest.removeFirst(count)
        if code == CURLE_AGAIN {
          try wait(for: POLLOUT, by: deadline)
        } else if code != CURLE_OK {
          throw rest.count == bytes.count
            ? .closed("the connection to \(host) is closed") : .broken("the connection to \(host)")
        }
      }
    } catch {
      if rest.count == bytes.count { permit?.giveBack() }
      throw error
    }
  }

  func receive(by deadline: Deadline) throws(Fault) -> [UInt8] {
    while true {
      // A server that never stops sending must not delay the deadline, or a stop.
      try check(deadline)
      if let bytes = try receiveNow() { return bytes }
      try wait(for: POLLIN, by: deadline)
    }
  }

  func receiveNow() throws(Fault) -> [UInt8]? {
    let (code, count) = handle.receive(into: &buffer)
    switch code {
    case CURLE_OK: return Array(buffer.prefix(count))
    case CURLE_AGAIN: return nil
    default: throw .broken("the connection to \(host)")
    }
  }

  /// Whether the server has neither sent anything nor closed the connection.
  fileprivate var isOpen: Bool {
    do throws(Fault) { return try receiveNow() == nil } catch { return false }
  }

  private func wait(for events: Int32, by deadline: Deadline) throws(Fault) {
    try check(deadline)
    let left = min(max(deadline.remaining, 0), 60_000)
    _ = interruption.wait(for: handle.socket, events, milliseconds: left)
    try check(nil)
  }

  /// Throws at the deadline, or if a stop was requested.
  private func check(_ deadline: Deadline?) throws(Fault) {
    if let deadline, deadline.remaining <= 0 {
      throw Fault(
        .providerError,
        code: "no_answer",
        "no answer from \(host) within the time for one request"
      )
    }
    if let kind = interruption.kind {
      throw .stopped(by: kind, underWay: "a request was under way")
    }
  }
}

/// A stream that another thread connects.
final class StreamAhead: @unchecked Sendable {
  // Unchecked: `lock` passes the stream from the thread that connects it to the thread that uses it.
  private let lock = ThreadLock()
  private let ended: ThreadCondition
  private var result: Result<CurlStream, Fault>?
  private var isRunning = true
  private let address: WebAddress

  init(_ address: WebAddress, _ settings: TransportSettings, by deadline: Deadline) {
    self.address = address
    ended = ThreadCondition(of: lock)
    let hasBegun = DetachedThread.begin { [self] in
      do throws(Fault) {
        end(.success(try CurlStream(address, settings, by: deadline)))
      } catch {
        end(.failure(error))
      }
    }
    if !hasBegun { isRunning = false }
  }

  private func end(_ made: Result<CurlStream, Fault>) {
    lock.locked {
      (result, isRunning) = (made, false)
      ended.wakeOne()
    }
  }

  /// Waits for the stream, which has a deadline. Returns nil if it was closed meanwhile, or goes elsewhere.
  func take(for address: WebAddress) throws(Fault) -> CurlStream? {
    guard address.authority == self.address.authority,
      address.isEncrypted == self.address.isEncrypted
    else { return nil }
    lock.take()
    defer { lock.end() }
    while isRunning { ended.wait() }
    guard let stream = try result?.get(), stream.isOpen else { return nil }
    return stream
  }
}

extension Fault {
  /// The fault of a connection that was closed before anything was sent.
  static func closed(_ message: String) -> Fault {
    Fault(.notSent, code: "connection_closed", cause: .connectionClosed, message)
  }

  /// The fault of a connection that broke. Sent bytes may have arrived.
  static func broken(_ connection: String) -> Fault {
    Fault(
      .providerError,
      code: "connection_closed",
      cause: .connectionClosed,
      "\(connection) broke"
    )
  }
}
