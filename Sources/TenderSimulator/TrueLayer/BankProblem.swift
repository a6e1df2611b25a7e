import TenderEngine
import TenderModel

/// An answer that says no: problem details by kind (TrueLayer/README, 6.1).
struct BankProblem: Error {
  let status: Int
  let name: String
  let title: String
  let detail: String
  var errors: JSONObject = [:]

  static func invalid(_ name: String, _ text: String) -> BankProblem {
    BankProblem(
      status: 400,
      name: "invalid-parameters",
      title: "Invalid Parameters",
      detail: "The request body was invalid.",
      errors: [name: [.string(text)]]
    )
  }

  static let state = BankProblem(
    status: 400,
    name: "invalid-state",
    title: "Invalid State",
    detail: "Status of the payment does not allow this action to be executed."
  )
  static let noToken = BankProblem(
    status: 401,
    name: "unauthenticated",
    title: "Unauthenticated",
    detail: "A Bearer token must be provided in the Authorization header."
  )
  static let badSignature = BankProblem(
    status: 401,
    name: "unauthenticated",
    title: "Unauthenticated",
    detail: "Invalid request signature."
  )
  static let forbidden = BankProblem(
    status: 403,
    name: "forbidden",
    title: "Forbidden",
    detail: "The token used for Authorization is not authorized to perform the request."
  )
  static let notFound = BankProblem(
    status: 404,
    name: "not-found",
    title: "Not Found",
    detail: "Resource could not be found."
  )
  /// Not documented, since the documented methods are the only ones.
  static let method = BankProblem(
    status: 405,
    name: "method-not-allowed",
    title: "Method Not Allowed",
    detail: "This path has other methods."
  )
  static let keyReuse = BankProblem(
    status: 422,
    name: "idempotency-key-reuse",
    title: "Idempotency-Key Reuse",
    detail: "The Idempotency-Key value has already been used for a different request."
  )

  /// The problem that a fault of the simulator wants.
  static func forced(_ status: Int) -> BankProblem {
    switch status {
    case 401: noToken
    case 403: forbidden
    case 404: notFound
    case 409:
      BankProblem(
        status: 409,
        name: "concurrency-conflict",
        title: "Concurrency Conflict",
        detail: "The resource is already used by another request."
      )
    case 422: keyReuse
    case 429:
      BankProblem(
        status: 429,
        name: "rate-limit-exceeded",
        title: "Rate Limit Exceeded",
        detail: "Too many API requests have been received within the allowed time frame."
      )
    case 502:
      BankProblem(
        status: 502,
        name: "provider-error",
        title: "Provider Error",
        detail: "Provider is temporarily unavailable, please retry."
      )
    default:
      BankProblem(
        status: status,
        name: "unknown-error",
        title: "Unknown Error",
        detail: "An error occurred. Please contact customer support."
      )
    }
  }

  /// The answer with a trace id.
  func answer(traceID: String) -> HTTPResponse {
    var body: JSONObject = [
      "type": .string("https://docs.truelayer.com/docs/error-types#\(name)"),
      "title": .string(title), "status": .integer(status), "trace_id": .string(traceID),
      "detail": .string(detail),
    ]
    if !errors.members.isEmpty { body["errors"] = .object(errors) }
    return HTTPResponse(
      status: status,
      body: Array(JSONWriter.text(.object(body)).utf8),
      fields: [
        "content-type": "application/problem+json; charset=UTF-8", "tl-trace-id": traceID,
      ]
    )
  }
}
