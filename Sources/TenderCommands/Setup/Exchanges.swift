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
    let status: Int
    let milliseconds: Int
    /// The seconds by which this machine's clock is ahead; nil if the answer has no date.
    let skew: Int?
  }

  private let answers = Mutex<[Answer]>([])

  /// With a larger difference, signatures, tokens and certificates fail.
  static let tolerance = 60

  func note(_ answer: Answer) { answers.withLock { $0.append(answer) } }

  /// Returns the facts since the last call.
  func take() -> [Answer] {
    answers.withLock { answers in
      defer { answers = [] }
      return answers
    }
  }
}

/// An exchange over the network that records hosts and times.
struct WatchedHTTP: HTTPExchange {
  let inner: any HTTPExchange
  let reach: Reach
  let clock: any Clock

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let start = clock.uptime
    let answer = try inner.send(request, permit, by: deadline)
    let host = request.url.split(separator: "/", omittingEmptySubsequences: false).prefix(3)
    let date = answer.fields["date"].flatMap { Timestamp.httpDate($0) }
    reach.note(
      Reach.Answer(
        host: host.joined(separator: "/"),
        status: answer.status,
        milliseconds: clock.uptime - start,
        skew: date.map { (clock.now - $0) / 1000 }
      )
    )
    return answer
  }
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
