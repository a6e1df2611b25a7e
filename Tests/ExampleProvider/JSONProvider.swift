import TenderEngine
import TenderModel

/// A provider that speaks JSON over HTTPS: one request for each operation, one answer.
///
/// An adapter gives the requests and the meaning of the answers. This file and the engine record, send and
/// look up, and decide the effect of a failure. No provider of the program speaks so; a new one may take this
/// file.
protocol JSONProvider: Provider {
  var client: JSONClient { get }
  /// Returns the request of an operation. The adapter puts the operation's key in its place.
  func request(_ operation: Operation, of payment: Payment) throws(Fault) -> JSONRequest
  /// Returns the request that finds an operation with a lost answer, by its key or id; nil if none can.
  func question(_ operation: Operation, of payment: Payment) -> JSONRequest?
  /// Returns the request that finds a payment by the provider's id or by the merchant's reference; nil if
  /// none can.
  func question(_ query: LookUp) -> JSONRequest?
  /// Returns the outcome that an answer has for an operation, or for a payment without one; nil if it has
  /// none.
  func outcome(_ answer: JSONObject, for operation: Operation?) -> Outcome?
}

/// A request in JSON.
struct JSONRequest: Sendable {
  var method: HTTPMethod
  /// The path after the base address, with its query.
  var path: String
  var body: JSON?
  /// The value of the client's key header; nil if the key is elsewhere, or none is sent.
  var key: String?

  init(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil, key: String? = nil) {
    self.method = method
    self.path = path
    self.body = body
    self.key = key
  }
}

/// Sends requests in JSON, and reads which failures are refusals.
struct JSONClient: Sendable {
  /// Scheme, host and port.
  var base: String
  var http: any HTTPExchange
  var clock: any Clock
  /// The time limit of each request, in milliseconds.
  var timeout: Int
  var credentials: [HTTPRequest.Field]
  var keyHeader = "Idempotency-Key"
  /// The statuses by which the provider, by its documents, refuses a request without executing it.
  var refusals: Set<Int> = [400, 401, 403, 404, 405, 409, 415, 422, 429]

  /// Sends a request. Returns the answer's object; nil for a status 404 of a question.
  ///
  /// Throws a documented refusal with its proof. The engine decides the effect of any other fault.
  func send(_ request: JSONRequest, _ permit: SendPermit? = nil) throws(Fault) -> JSONObject? {
    var fields = credentials + [HTTPRequest.Field("Accept", "application/json")]
    if request.body != nil { fields.append(HTTPRequest.Field("Content-Type", "application/json")) }
    if let key = request.key { fields.append(HTTPRequest.Field(keyHeader, key)) }
    let answer = try http.send(
      HTTPRequest(
        method: request.method,
        url: base + request.path,
        fields: fields,
        body: request.body.map { Array(JSONWriter.text($0).utf8) } ?? []
      ),
      permit,
      by: Deadline(in: timeout, on: clock)
    )
    if permit == nil, answer.status == 404 { return nil }
    if (200..<300).contains(answer.status), let object = JSONReader.read(answer.body)?.object {
      return object
    }
    // A refused question proves nothing about a payment.
    let isAuth = answer.status == 401 || answer.status == 403
    let isRefusal = refusals.contains(answer.status) && (permit != nil || isAuth)
    let fault = Fault(
      isAuth ? .auth : isRefusal ? .rejected : .providerError,
      code: isRefusal ? "request_refused" : "unreadable_answer",
      "the provider answered \(answer.status)",
      hint: isRefusal ? "nothing was done; change the request" : "try again later"
    )
    .retried(after: answer.retryAfter(clock.now))
    throw isRefusal ? fault.proven : fault
  }
}

extension JSONProvider {
  func check(_ order: Placed) throws(Fault) {
    guard traits.kinds.contains(order.operation) else {
      throw .unsupportedOperation(
        name,
        "\(order.operation.rawValue.replacing("_", with: " ")) operations"
      )
    }
  }

  func preview(_ order: Placed) throws(Fault) -> JSONObject {
    ["provider": .string(name.text), "url": .string(client.base)]
  }

  func perform(_ order: OrderOf<Placed>?, _ progress: Progress) throws(Fault) -> Outcome {
    let operation = progress.operation
    let request = try request(operation, of: progress.payment)
    if !operation.isUnknown { try progress.willSend() }
    let answer = try client.send(request, try progress.permit())
    guard let outcome = answer.flatMap({ outcome($0, for: operation) }) else {
      throw Fault(.providerError, code: "unreadable_answer", "the answer cannot be read")
    }
    return outcome
  }

  func look(_ progress: Progress) throws(Fault) -> Finding {
    let operation = progress.operation
    guard let question = question(operation, of: progress.payment) else { return .cannotLook }
    guard let answer = try client.send(question) else { return .absent }
    return outcome(answer, for: operation).map(Finding.happened) ?? .absent
  }

  func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    guard let question = question(query), let answer = try client.send(question) else { return nil }
    guard let outcome = outcome(answer, for: nil) else {
      throw Fault(.providerError, code: "unreadable_answer", "the answer cannot be read")
    }
    return outcome
  }
}
