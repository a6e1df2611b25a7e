internal import Synchronization
internal import TenderEngine
internal import TenderModel

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
