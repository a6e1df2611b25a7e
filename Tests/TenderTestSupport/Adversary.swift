private import Synchronization
package import TenderEngine
package import TenderModel

/// An exchange with all faults of a network and a provider. Answers are lost before or after the effect.
/// Effects come late and twice. Look-ups are behind, fail, or are about another payment.
///
/// A seed decides its faults. It is between an adapter and a provider with books.
package final class Adversary: HTTPExchange {
  /// The further faults of the exchange.
  package enum Manner: String, CaseIterable, Sendable {
    case plain, lying, lagging
    /// Lagging for longer than any wait.
    case behind

    /// The time by which its look-ups lag, in milliseconds; nil if they do not.
    package var lag: Int? {
      switch self {
      case .plain, .lying: nil
      case .lagging: 15 * 60_000
      case .behind: 60 * 60_000
      }
    }
  }

  /// The possible effect of a request.
  package enum Kind: Sendable {
    /// It moves money or makes something. `isKeyed`: the provider recognizes a repetition by its key.
    case effect(isKeyed: Bool)
    case read
    /// Neither: a request for a token.
    case other
  }

  private struct Late {
    let due: Int
    let request: HTTPRequest
  }

  private struct State {
    var random: Seeded
    var late: [Late] = []
    /// The answers to each question, with their times.
    var answers: [String: [(at: Int, response: HTTPResponse)]] = [:]
    /// The questions, to be asked again before a change. A look-up that lags returns these answers.
    var questions: [String: HTTPRequest] = [:]
    var isCalm = false
    var troubles = 0
  }

  private let inner: any HTTPExchange
  private let clock: any Clock
  private let classify: @Sendable (HTTPRequest) -> Kind
  /// The time after which a missing entry does not exist, in milliseconds. Effects are late by at most half
  /// of it, and look-ups are behind by at most the other half.
  private let window: Int
  /// Whether effects may be late.
  private let isLate: Bool
  /// Changes an answer into a lie; nil for none.
  private let lie: (@Sendable (_ body: [UInt8], _ random: inout Seeded) -> [UInt8])?
  /// The time by which half of the look-ups are behind, in milliseconds; nil if they do not lag.
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

  /// Makes no further errors.
  package func calm() { state.withLock { $0.isCalm = true } }

  /// The number of its errors.
  package var troubles: Int { state.withLock { $0.troubles } }

  /// A number below `limit`.
  package func next(_ limit: Int) -> Int { state.withLock { $0.random.below(limit) } }

  /// Delivers the late effects whose time has come; all of them with `everything`.
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
    // The permit is used up here, because the provider may see the request late, or twice.
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
      // The state at that time before, or the oldest later one.
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
      // The answer itself names its payment.
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
    code: "connection_broken",
    "the connection broke"
  )
}
