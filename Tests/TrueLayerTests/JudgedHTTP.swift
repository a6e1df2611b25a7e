import TenderEngine
import TenderModel
import TenderTestSupport

/// An HTTP exchange that checks every request and answer against TrueLayer's published schema.
final class JudgedHTTP: HTTPExchange, @unchecked Sendable {
  // Unchecked: one test asks it, one request after the other.
  private let inner: any HTTPExchange
  private let judge: Judge
  /// The violations, by request.
  private(set) var problems: [String] = []
  /// The checked operations, with their counts.
  private(set) var operations: [String: Int] = [:]

  static func judge() throws -> Judge {
    try Judge("openapi.py", Project.path("Tests/TrueLayerTests/Schema/payments-api-v3.json"))
  }

  init(_ inner: any HTTPExchange, _ judge: Judge) {
    self.inner = inner
    self.judge = judge
  }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let response = try inner.send(request, permit, by: deadline)
    let path = WebAddress(request.url)?.target ?? ""
    // The authorization server has another document. An answer that a fault made unreadable has no schema.
    let isReadable = response.body.isEmpty || JSONReader.read(response.body) != nil
    guard path.hasPrefix("/v3"), isReadable else { return response }
    func field(_ name: String) -> String? { request.fields.first { $0.name == name }?.value }
    let isOwnToken = field("Tl-Signature") != nil || request.method == .get
    let question: JSONObject = [
      "method": .string(request.method.rawValue),
      "path": .string(String(path.prefix { $0 != "?" })),
      "key": .bool(field("Idempotency-Key") != nil), "checks_request": true,
      "signature": isOwnToken ? true : .null,
      "request": .string(String(decoding: request.body, as: UTF8.self)),
      "status": .integer(response.status),
      "response": .string(String(decoding: response.body, as: UTF8.self)),
      "trace_id": response.fields["tl-trace-id"].map(JSON.string) ?? .null,
    ]
    let verdict = (try? judge.ask(question)) ?? [:]
    operations[verdict.text("operation") ?? "none", default: 0] += 1
    for problem in verdict["problems"]?.array ?? ["no verdict"] {
      problems.append(
        "\(request.method.rawValue) \(path) \(response.status): \(problem.text ?? "")"
      )
    }
    return response
  }
}
