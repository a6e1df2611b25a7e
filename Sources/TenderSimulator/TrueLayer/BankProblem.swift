import TenderEngine
import TenderModel

/// A refusal as problem details, by kind (TrueLayer/README, 6.1).
struct BankProblem: Error {
  private let status: Int
  private let name: String
  private let title: String
  private let detail: String
  private var errors: JSONObject = [:]

  /// The kinds: status, name, title and detail.
  ///
  /// 405 is not documented. It is for methods other than the documented ones.
  private static let kinds = """
    400; invalid-parameters; Invalid Parameters; The request body was invalid.
    400; invalid-state; Invalid State; Status of the payment does not allow this action to be executed.
    401; unauthenticated; Unauthenticated; A Bearer token must be provided in the Authorization header.
    403; forbidden; Forbidden; The token used for Authorization is not authorized to perform the request.
    404; not-found; Not Found; Resource could not be found.
    405; method-not-allowed; Method Not Allowed; This path has other methods.
    409; concurrency-conflict; Concurrency Conflict; The resource is already used by another request.
    409; idempotency-key-concurrency-conflict; Idempotency-Key Concurrency Conflict; \
    The Idempotency-Key value is being used for a concurrent request.
    422; idempotency-key-reuse; Idempotency-Key Reuse; \
    The Idempotency-Key value has already been used for a different request.
    429; rate-limit-exceeded; Rate Limit Exceeded; \
    Too many API requests have been received within the allowed time frame.
    502; provider-error; Provider Error; Provider is temporarily unavailable, please retry.
    500; unknown-error; Unknown Error; An error occurred. Please contact customer support.
    """.split(separator: "\n").map { $0.split(separator: "; ").map(String.init) }

  private init(_ kind: [String], status: Int? = nil, detail: String? = nil) {
    self.status = status ?? Int(kind[0]) ?? 500
    name = kind[1]
    title = kind[2]
    self.detail = detail ?? kind[3]
  }

  static func invalid(_ name: String, _ text: String) -> BankProblem {
    var problem = BankProblem(kinds[0])
    problem.errors = [name: [.string(text)]]
    return problem
  }

  static let state = BankProblem(kinds[1])
  static let noToken = of(401)
  static let badSignature = BankProblem(kinds[2], detail: "Invalid request signature.")
  static let forbidden = of(403)
  static let notFound = of(404)
  static let method = of(405)
  static let keyReuse = of(422)
  static let keyAtWork = BankProblem(kinds[7])

  /// Returns the problem of a status, for a fault of the simulator.
  static func of(_ status: Int) -> BankProblem {
    let known = kinds.first { $0[0] == String(status) }
    return BankProblem(known ?? kinds[kinds.count - 1], status: status)
  }

  func answer(traceID: String) -> HTTPResponse {
    let body: JSON = [
      "type": "https://docs.truelayer.com/docs/error-types#\(name)".json, "title": title.json,
      "status": status.json, "trace_id": traceID.json, "detail": detail.json,
      "errors": errors.members.isEmpty ? nil : errors.json,
    ]
    return HTTPResponse(
      status: status,
      body: Array(JSONWriter.text(body).utf8),
      fields: ["content-type": "application/problem+json; charset=UTF-8", "tl-trace-id": traceID]
    )
  }
}

extension Optional {
  /// Throws `not-found` if there is no value.
  func found() throws(BankProblem) -> Wrapped {
    guard let self else { throw .notFound }
    return self
  }
}
