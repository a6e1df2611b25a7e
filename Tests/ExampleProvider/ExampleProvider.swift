import TenderEngine
import TenderModel
import TenderWire

/// The adapter (PROTOCOL.md).
struct ExampleProvider: Provider, PaymentFlow {
  static let name = ProviderName("example")
  let key: String
  let base: String
  let http: any HTTPExchange
  let clock: any Clock
  let timeout: Int

  var name: ProviderName { Self.name }
  var merchant: String { "example-merchant" }
  var nothingHeld: JSONObject { ["state": "none"] }
  var holdOption: String { "--hold" }

  func isID(_ handle: String) -> Bool { handle.hasPrefix("ex-") }

  func checkReady(for need: Need) throws(Fault) {}

  func check(_ order: PaymentOrder) throws(Fault) {}

  func preview(_ order: PaymentOrder) throws(Fault) -> JSONObject {
    ["method": "POST", "url": .string(base + "/example/payments")]
  }

  func transact(_ order: PaymentOrder, _ progress: Progress) throws(Fault) -> Outcome {
    let way = order.stopsAtConfirmation ? "hold" : "take"
    try progress.prepare(.plain(way), id: nil, sendingNext: true)
    return try create(progress.attempt, progress)
  }

  private func create(_ attempt: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    let body: JSON = [
      "key": .string(attempt.idempotencyKey), "reference": .string(attempt.reference.text),
      "amount": .integer(attempt.amount ?? 0), "currency": .string(attempt.currency?.code ?? ""),
      "hold": .bool(attempt.preparation?.plain == "hold"),
    ]
    try progress.willSend()
    return try outcome(send(.post, "/example/payments", body))
  }

  func confirm(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try progress.willSend()
    return try outcome(send(.post, "/example/payments/\(held.id ?? "")/capture"))
  }

  func release(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try progress.willSend()
    return try outcome(send(.post, "/example/payments/\(held.id ?? "")/void"))
  }

  func reverse(_ captured: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try release(captured, progress)
  }

  func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    guard let id = query.id else { return nil }
    let answer = try send(.get, "/example/payments/\(id)")
    return answer.status == 404 ? nil : try outcome(answer)
  }

  func findOut(
    _ attempt: Attempt,
    _ progress: Progress,
    mayRepeat: Bool
  ) throws(Fault) -> Finding {
    switch attempt.operation {
    case .confirm where mayRepeat: return .doneNow(try confirm(attempt, progress))
    case .cancel: return .doneNow(try release(attempt, progress))
    case .confirm, .transact, .tokenize: break
    }
    let answer = try send(.get, "/example/payments?key=\(attempt.idempotencyKey)")
    guard answer.status == 404 else { return .happened(try outcome(answer)) }
    return mayRepeat ? .doneNow(try create(attempt, progress)) : .didNotHappen
  }

  private func send(
    _ method: HTTPMethod,
    _ path: String,
    _ body: JSON? = nil
  ) throws(Fault) -> HTTPResponse {
    try http.send(
      HTTPRequest(
        method: method,
        url: base + path,
        fields: [HTTPRequest.Field("X-Example-Key", key, isSecret: true)],
        body: body.map { Array(JSONWriter.text($0).utf8) } ?? [],
        isEffecting: method == .post
      ),
      by: Deadline(in: timeout, on: clock)
    )
  }

  private func outcome(_ answer: HTTPResponse) throws(Fault) -> Outcome {
    guard answer.status == 200, let payment = JSONReader.read(answer.body)?.object,
      let id = payment.text("id"), let state = payment.text("state")
    else {
      throw Fault(
        .unknown,
        effect: .unknown,
        code: "outcome_unknown",
        "the answer \(answer.status) says nothing of the payment"
      )
    }
    let status: Status =
      switch state {
      case "held": .requiresConfirmation
      case "paid": .succeeded
      case "void": .cancelled
      default: .declined
      }
    return Outcome(
      status: status,
      id: id,
      amount: payment["amount"]?.wholeNumber,
      currency: payment.text("currency").flatMap(Currency.init(code:)),
      result: ["payment": .object(payment)],
      fault: status == .declined
        ? Fault(.declined, code: "declined", "the payment was refused") : nil
    )
  }
}
