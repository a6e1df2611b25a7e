import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import TrueLayer

/// Answers requests from a list, in order, and refuses any other request.
final class StubHTTP: HTTPExchange {
  /// An expected request, and its answer.
  struct Step: Sendable {
    var method: String
    var path: String
    var answer: Answer

    enum Answer: Sendable {
      case json(Int, String)
      case bytes(Int, [UInt8], [String: String])
      case lost
      case unreachable
    }

    init(_ method: String, _ path: String, _ status: Int, _ body: String) {
      self.method = method
      self.path = path
      answer = .json(status, body)
    }

    init(_ method: String, _ path: String, _ answer: Answer) {
      self.method = method
      self.path = path
      self.answer = answer
    }
  }

  private struct State {
    var steps: [Step]
    var requests: [HTTPRequest] = []
    var permitted: [Bool] = []
  }

  private let state: Mutex<State>

  init(_ steps: [Step]) { state = Mutex(State(steps: steps)) }

  /// The sent requests, in order.
  var requests: [HTTPRequest] { state.withLock(\.requests) }

  /// Whether each of them had a permit.
  var permitted: [Bool] { state.withLock(\.permitted) }

  /// The number of unused answers.
  var left: Int { state.withLock(\.steps.count) }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    try permit?.use()
    let step = state.withLock { state -> Step? in
      state.requests.append(request)
      state.permitted.append(permit != nil)
      guard let next = state.steps.first, request.method.rawValue == next.method,
        request.url.hasSuffix(next.path)
      else { return nil }
      return state.steps.removeFirst()
    }
    switch step?.answer {
    case .json(let status, let text): return HTTPResponse(status: status, body: Array(text.utf8))
    case .bytes(let status, let body, let fields):
      return HTTPResponse(status: status, body: body, fields: fields)
    case .lost:
      throw Fault(.providerError, code: "no_answer", "no answer")
    case .unreachable:
      permit?.giveBack()
      throw Fault(.notSent, code: "unreachable", "cannot reach it")
    case nil:
      throw Fault(
        .internal,
        code: "internal",
        "unexpected: \(request.method.rawValue) \(request.url)"
      )
    }
  }
}

/// A guide without answers. It records the questions and texts.
final class SilentGuide: FlowGuide {
  private let shown = Mutex<[String]>([])
  /// Called with each question and each shown text.
  let heard = Mutex<@Sendable (String) -> Void>({ _ in })
  private let values: [String: String]

  init(_ values: [String: String] = [:]) { self.values = values }

  var addresses: [String] { shown.withLock { $0 } }

  func choose(_ subject: String, among choices: [Choice]) throws(Fault) -> String? {
    heard.withLock { $0("choose") }
    return nil
  }

  func given(_ inputs: [FormInput]) throws(Fault) -> [String: String] {
    values.filter { value in inputs.contains { $0.id == value.key } }
  }

  func ask(_ input: FormInput) throws(Fault) -> String? { nil }

  func show(_ address: String, isAwaited: Bool) throws(Fault) {
    heard.withLock { $0("show") }
    shown.withLock { $0.append(address) }
  }

  func note(_ text: String) {}
}
