internal import Synchronization
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator

/// Facts about the hosts that `doctor` asks, collected from their answers.
final class Reach: Sendable {
  /// Facts about a host's last answer.
  struct Answer: Sendable {
    /// Scheme, host and port.
    let host: String
    let milliseconds: Int
    /// The seconds by which this machine's clock is ahead; nil if the answer has no date.
    let skew: Int?
  }

  private let answers = Mutex<[Answer]>([])

  /// With a larger difference, signatures, tokens and certificates fail.
  static let tolerance = 60

  /// Returns the facts since the last call.
  func take() -> [Answer] {
    answers.withLock { answers in
      defer { answers = [] }
      return answers
    }
  }

  /// Records the host and the time of an answer.
  func observe(_ step: ExchangeStep, _ clock: any Clock) {
    guard case .answered(let request, let answer, let milliseconds) = step else { return }
    let host = request.url.split(separator: "/", omittingEmptySubsequences: false).prefix(3)
    let date = answer.fields["date"].flatMap { Timestamp.httpDate($0) }
    let noted = Answer(
      host: host.joined(separator: "/"),
      milliseconds: milliseconds,
      skew: date.map { (clock.now - $0) / 1000 }
    )
    answers.withLock { $0.append(noted) }
  }
}

/// One step of an exchange, for its observers.
enum ExchangeStep {
  case asks(HTTPRequest, isEffecting: Bool)
  case answered(HTTPRequest, HTTPResponse, milliseconds: Int)
  case opens(String)
  case sends(String)
  case received(SocketMessage)
  /// The request is nil on a socket.
  case failed(HTTPRequest?, Fault)
}

typealias Observer = @Sendable (ExchangeStep) -> Void

/// Limits each request that only reads to the time of `--wait`.
struct HurriedHTTP: HTTPExchange {
  let inner: any HTTPExchange
  let clock: any Clock
  let milliseconds: Int

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let isLate = permit == nil && deadline.remaining > milliseconds
    let limit = isLate ? Deadline(in: milliseconds, on: clock) : deadline
    return try inner.send(request, permit, by: limit)
  }
}

struct ObservedHTTP: HTTPExchange {
  let inner: any HTTPExchange
  let clock: any Clock
  let observe: Observer

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    observe(.asks(request, isEffecting: permit != nil))
    let start = clock.uptime
    do throws(Fault) {
      let answer = try inner.send(request, permit, by: deadline)
      observe(.answered(request, answer, milliseconds: clock.uptime - start))
      return answer
    } catch {
      observe(.failed(request, error))
      throw error
    }
  }
}

struct ObservedSockets: SocketExchange {
  let inner: any SocketExchange
  let observe: Observer

  func connectAhead(to url: String, by deadline: Deadline) {
    inner.connectAhead(to: url, by: deadline)
  }

  func open(
    url: String,
    fields: [HTTPRequest.Field],
    by deadline: Deadline
  ) throws(Fault) -> any MessageSocket {
    observe(.opens(url))
    return try ObservedSocket.watching(observe) { () throws(Fault) in
      ObservedSocket(try inner.open(url: url, fields: fields, by: deadline), observe)
    }
  }
}

private final class ObservedSocket: MessageSocket {
  private let inner: any MessageSocket
  private let observe: Observer

  init(_ inner: any MessageSocket, _ observe: @escaping Observer) {
    (self.inner, self.observe) = (inner, observe)
  }

  static func watching<Result>(
    _ observe: Observer,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    do throws(Fault) {
      return try body()
    } catch {
      observe(.failed(nil, error))
      throw error
    }
  }

  func send(_ text: String, _ permit: SendPermit?, by deadline: Deadline) throws(Fault) {
    observe(.sends(text))
    try Self.watching(observe) { () throws(Fault) in
      try inner.send(text, permit, by: deadline)
    }
  }

  func receive(by deadline: Deadline) throws(Fault) -> SocketMessage {
    let message = try Self.watching(observe) { () throws(Fault) in try inner.receive(by: deadline) }
    observe(.received(message))
    return message
  }

  func close(waiting: Bool) { inner.close(waiting: waiting) }
}

/// A served reader that is told its next customer beforehand.
struct ForetoldDevices: DeviceExchange {
  let inner: any DeviceExchange
  let http: any HTTPExchange
  let base: String

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    // Another server than ours does not have this path. That must not stop the sale.
    _ = try? http.send(
      HTTPRequest(method: .post, url: base + NextCustomer.path),
      by: deadline
    )
    return try inner.open(address, by: deadline)
  }
}
