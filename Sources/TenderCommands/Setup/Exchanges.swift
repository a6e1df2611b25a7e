internal import Synchronization
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator

/// What `doctor` learns on the way about the hosts that it asks.
final class Reach: Sendable {
  /// What a host's last answer was like.
  struct Answer: Sendable {
    /// Scheme, host and port.
    let host: String
    let status: Int
    /// How long it took.
    let milliseconds: Int
    /// How far this machine's clock is ahead, in seconds; nil where the answer has no date.
    let skew: Int?
  }

  private let answers = Mutex<[Answer]>([])

  /// A clock that is further off makes signatures, tokens and certificates fail.
  static let tolerance = 60

  func note(_ answer: Answer) { answers.withLock { $0.append(answer) } }

  /// What was learned since the last time.
  func take() -> [Answer] {
    answers.withLock { answers in
      defer { answers = [] }
      return answers
    }
  }
}

/// An exchange over the network whose hosts and times are noted.
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

/// A served reader that is told beforehand what its next customer will be like.
struct ForetoldDevices: DeviceExchange {
  let inner: any DeviceExchange
  let http: any HTTPExchange
  let base: String

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    // Another server than ours does not know the path, which is no reason to stop.
    _ = try? http.send(
      HTTPRequest(method: .post, url: base + NextCustomer.path),
      by: deadline
    )
    return try inner.open(address, by: deadline)
  }
}
