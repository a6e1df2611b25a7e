import Foundation
private import Synchronization
package import TenderEngine
package import TenderModel

/// An exchange that lies once. One of its answers is changed, is another payment's, or comes without its
/// effect.
package final class OneLie: HTTPExchange {
  private enum Way: CaseIterable {
    case member, status, statusAlone, cut, earlier, another, others
  }

  private struct State {
    var random: Seeded
    /// The number of true answers before the lie.
    var left: Int
    var earlier: [(question: String, response: HTTPResponse)] = []
    var hasLied = false
    /// The number of answers after the lie.
    var later = 0
  }

  private let inner: any HTTPExchange
  private let lie: @Sendable (_ body: [UInt8], _ random: inout Seeded) -> [UInt8]
  /// The answers to the same command for another payment, in order.
  private let others: [HTTPResponse]
  private let state: Mutex<State>

  /// Lies in one of its first answers. The seed chooses the answer and the lie.
  package init(
    _ inner: any HTTPExchange,
    seed: Int,
    among answers: Int,
    others: [HTTPResponse],
    lie: @escaping @Sendable (_ body: [UInt8], _ random: inout Seeded) -> [UInt8]
  ) {
    self.inner = inner
    self.lie = lie
    self.others = others
    var random = Seeded(seed)
    let left = random.below(answers)
    state = Mutex(State(random: random, left: left))
  }

  /// Never lies, and records its answers.
  package init(truly inner: any HTTPExchange) {
    self.inner = inner
    lie = { body, _ in body }
    others = []
    state = Mutex(State(random: Seeded(0), left: .max))
  }

  /// Its true answers, in order.
  package var answers: [HTTPResponse] { state.withLock { $0.earlier.map(\.response) } }

  /// Whether it has lied, and how many true answers came after that.
  package var told: (hasLied: Bool, later: Int) { state.withLock { ($0.hasLied, $0.later) } }

  package func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let question = request.url + String(decoding: request.body, as: UTF8.self)
    let place = state.withLock { $0.earlier.count }
    let way: Way? = state.withLock { state in
      state.left -= 1
      if state.hasLied { state.later += 1 }
      guard state.left == -1 else { return nil }
      state.hasLied = true
      return Way.allCases[state.random.below(Way.allCases.count)]
    }
    guard let way else {
      let response = try inner.send(request, permit, by: deadline)
      state.withLock { $0.earlier.append((question, response)) }
      return response
    }
    if way == .statusAlone {
      // The request is not executed.
      try permit?.use()
      return HTTPResponse(status: next(500) + 100, body: Array("{}".utf8))
    }
    if way == .others, place < others.count {
      try permit?.use()
      return others[place]
    }
    var response = try inner.send(request, permit, by: deadline)
    switch way {
    case .status: response.status = next(500) + 100
    case .cut: response.body = Array(response.body.prefix(next(max(1, response.body.count))))
    case .earlier, .another:
      let known = state.withLock { $0.earlier }
      let isSame = way == .earlier
      if let old = known.last(where: { ($0.question == question) == isSame }) {
        return old.response
      }
      fallthrough
    case .member, .statusAlone, .others:
      let body = response.body
      response.body = state.withLock { lie(body, &$0.random) }
    }
    return response
  }

  private func next(_ limit: Int) -> Int { state.withLock { $0.random.below(limit) } }
}

/// The results of single lies, one command each.
package struct LieTable {
  /// The result of one lie.
  package struct Row: Sendable {
    package var command: String
    /// Whether the lie decided the command: no other answer came after it.
    package var isEvidence = false
    package var exit: Int32 = 0
    /// The problems.
    package var problems: [String] = []

    package init(command: String) { self.command = command }
  }

  /// Tells as many lies as `TENDER_LIES` requests, and prints a table of their results.
  ///
  /// The seed is `TENDER_KILL_SEED`. A command that needed fewer answers is left out. Returns the problems.
  package static func judge(
    _ name: String,
    usually usual: Int,
    _ run: (_ seed: Int) throws -> Row?
  ) throws -> [String] {
    let environment = ProcessInfo.processInfo.environment
    let cases = environment["TENDER_LIES"].flatMap { Int($0) } ?? usual
    let first =
      environment["TENDER_KILL_SEED"].flatMap { Int($0) }
      // A new seed if many lies are told.
      ?? (environment["TENDER_LIES"] == nil ? 319_969 : Int.random(in: 1..<1_000_000))
    var rows: [String: [Row]] = [:]
    var problems: [String] = []
    var seed = first
    while rows.values.reduce(0, { $0 + $1.count }) < cases, seed < first + 20 * cases {
      defer { seed += 1 }
      guard let row = try run(seed) else { continue }
      rows[row.command, default: []].append(row)
      problems += row.problems.map { "\(name), \(row.command), seed \(seed): \($0)" }
    }
    for (command, rows) in rows.sorted(by: { $0.key < $1.key }) {
      let evidence = rows.count(where: \.isEvidence)
      let unknown = rows.count { $0.exit == 9 }
      print(
        "\(name), \(command): \(rows.count) lies, \(evidence) evidence, \(rows.count - evidence) observations, "
          + "\(unknown) times unknown, \(rows.flatMap(\.problems).count) contradictions (seeds from \(first))"
      )
    }
    for problem in problems { print(problem) }
    return problems
  }
}
