private import Synchronization
package import TenderEngine
package import TenderModel

/// Another side that behaves as badly as a network and a provider may: answers are lost before or after
/// the effect, effects come late and twice, look-ups are behind, fail, or tell of another payment.
///
/// What it does follows from its seed. It stands between an adapter and a provider that keeps books.
package final class Adversary: HTTPExchange {
  /// In what it is worse than a network is.
  package enum Manner: String, CaseIterable, Sendable {
    case plain, lying, lagging
    /// Lagging for longer than anything that is waited for.
    case behind

    /// For how long its look-ups lag, in milliseconds; nil where they do not.
    package var lag: Int? {
      switch self {
      case .plain, .lying: nil
      case .lagging: 15 * 60_000
      case .behind: 60 * 60_000
      }
    }
  }

  /// What a request can do.
  package enum Kind: Sendable {
    /// It moves or makes something; `isKeyed` says that the provider knows a repetition by its key.
    case effect(isKeyed: Bool)
    case read
    /// Neither: a token.
    case other
  }

  private struct Late {
    let due: Int
    let request: HTTPRequest
  }

  private struct State {
    var random: Seeded
    var late: [Late] = []
    /// What was answered to which question, and when.
    var answers: [String: [(at: Int, response: HTTPResponse)]] = [:]
    /// The questions, to be asked again before something changes: their answers are what a look-up that lags says.
    var questions: [String: HTTPRequest] = [:]
    var isCalm = false
    var troubles = 0
  }

  private let inner: any HTTPExchange
  private let clock: any Clock
  private let classify: @Sendable (HTTPRequest) -> Kind
  /// No effect comes later than half of this, and no look-up is further behind than the other half, in
  /// milliseconds: after all of it, what is not seen is not there.
  private let window: Int
  /// Whether effects may be late at all.
  private let isLate: Bool
  /// What an answer becomes where a lie is told; nil where none is.
  private let lie: (@Sendable (_ body: [UInt8], _ random: inout Seeded) -> [UInt8])?
  /// For how long, in milliseconds, half of the look-ups say what was so before; nil where they do not lag.
  private let lag: Int?
  private let state: Mutex<State>

  package init(
    _ inner: any HTTPExchange,
    _ clock: any Clock,
    seed: Int,
    window: Int,
    isLate: Bool = true,
    lie: (@Sendable (_ body: [UInt8], _ random: inout Seeded) -> [UInt8])? = nil,
    lag: Int? = nil,
    classify: @escaping @Sendable (HTTPRequest) -> Kind
  ) {
    self.inner = inner
    self.clock = clock
    self.window = window
    self.isLate = isLate
    self.lie = lie
    self.lag = lag
    self.classify = classify
    state = Mutex(State(random: Seeded(seed)))
  }

  /// Behaves well from here on.
  package func calm() { state.withLock { $0.isCalm = true } }

  /// How often it has misbehaved.
  package var troubles: Int { state.withLock { $0.troubles } }

  /// A number below `limit`.
  package func next(_ limit: Int) -> Int { state.withLock { $0.random.below(limit) } }

  /// Lets what is late arrive, as far as its time has come; all of it where `everything`.
  package func deliver(everything: Bool = false) {
    let now = clock.now
    let due = state.withLock { state in
      let due = state.late.filter { everything || $0.due <= now }
      state.late.removeAll { everything || $0.due <= now }
      return due
    }
    for late in due { _ = try? inner.send(late.request, by: Deadline(in: 30_000, on: clock)) }
  }

  private func trouble() { state.withLock { $0.troubles += 1 } }

  package func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    // Used up here: the other side may see the request late, or twice.
    try permit?.use()
    deliver()
    let dice = state.withLock({ $0.isCalm }) ? 0 : next(10)
    switch classify(request) {
    case .other: return try inner.send(request, by: deadline)
    case .effect(let isKeyed): return lied(about: try effect(request, deadline, dice, isKeyed))
    case .read: return lied(about: try read(request, deadline, dice))
    }
  }

  private func lied(about response: HTTPResponse) -> HTTPResponse {
    guard let lie, !state.withLock({ $0.isCalm }), next(2) == 0 else { return response }
    trouble()
    var response = response
    let codes = [200, 202, 204, 206, 301, 304, 500, 502, 503, 599]
    if next(8) == 0 { response.status = codes[next(codes.count)] }
    let body = response.body
    response.body = state.withLock { lie(body, &$0.random) }
    return response
  }

  private func effect(
    _ request: HTTPRequest,
    _ deadline: Deadline,
    _ dice: Int,
    _ isKeyed: Bool
  ) throws(Fault) -> HTTPResponse {
    if lag != nil { try askAgain(deadline) }
    if dice > 4 { trouble() }
    switch dice {
    case 5:
      _ = try inner.send(request, by: deadline)
      throw Self.lost
    case 6:
      _ = try inner.send(request, by: deadline)
      return HTTPResponse(status: 500, body: Array("{}".utf8))
    case 7: throw Self.lost
    case 8 where isLate:
      let due = clock.now + next(window / 2)
      state.withLock { $0.late.append(Late(due: due, request: request)) }
      throw Self.lost
    case 9 where isKeyed:
      _ = try inner.send(request, by: deadline)
      return try inner.send(request, by: deadline)
    default: return try inner.send(request, by: deadline)
    }
  }

  private func askAgain(_ deadline: Deadline) throws(Fault) {
    for (question, request) in state.withLock({ $0.questions }).sorted(by: { $0.key < $1.key }) {
      let response = try inner.send(request, by: deadline)
      let now = clock.now
      state.withLock { $0.answers[question, default: []].append((now, response)) }
    }
  }

  private func read(
    _ request: HTTPRequest,
    _ deadline: Deadline,
    _ dice: Int
  ) throws(Fault) -> HTTPResponse {
    let question = request.url + String(decoding: request.body, as: UTF8.self)
    state.withLock { $0.questions[question] = request }
    if let lag, !state.withLock({ $0.isCalm }), next(2) == 0 {
      // As it was when so much time had not passed yet, or longest ago of what is younger.
      let known = state.withLock { $0.answers[question] ?? [] }
      if let old = known.first(where: { $0.at >= clock.now - lag }) {
        trouble()
        return old.response
      }
    }
    let oldest = clock.now - window / 2
    if dice > 6 { trouble() }
    switch dice {
    case 7:
      let old = state.withLock { $0.answers[question]?.first { $0.at >= oldest } }
      if let old { return old.response }
    case 8: throw Self.lost
    case 9:
      // Whose this is, it says itself.
      let other = state.withLock { state in
        state.answers.first { $0.key != question }?.value.last { $0.at >= oldest }
      }
      if let other { return other.response }
    default: break
    }
    let response = try inner.send(request, by: deadline)
    let now = clock.now
    state.withLock { $0.answers[question, default: []].append((now, response)) }
    return response
  }

  private static let lost = Fault(
    .providerError,
    effect: .unknown,
    code: "connection_broken",
    "the connection broke"
  )
}
