import TenderCommandLine
import TenderEngine
import TenderModel

/// The order of `transact`.
struct ExampleOrder: PlacedOrder {
  let reference: Reference
  let amount: Money
  let isHold: Bool

  var makes: Payment.Kind { .payment }
  var operation: Operation.Kind { isHold ? .authorize : .charge }
  var total: Int? { amount.minorUnits }
  var currency: Currency? { amount.currency }
  var question: String { priced("charge", amount) }

  /// The members that must match in two equal orders.
  var content: JSONObject {
    [
      "command": "transact", "amount": .integer(amount.minorUnits),
      "currency": .string(amount.currency.code),
    ]
  }
}

/// The adapter (PROTOCOL.md).
struct ExampleProvider: JSONProvider {
  typealias Placed = ExampleOrder

  static let name = ProviderName("example")
  let client: JSONClient

  var name: ProviderName { Self.name }
  var merchant: String { "example-merchant" }
  static var nothingHeld: JSONObject { ["state": "none"] }
  static let traits = Traits(kinds: [.charge, .authorize, .capture, .void]) { traits in
    traits.takesKeys = true
    traits.refundsByVoid = true
    // A repeated capture or void has no further effect.
    traits.recovery = { _, _ in .sameKey() }
  }

  func isID(_ handle: String) -> Bool { handle.hasPrefix("ex-") }

  func check(_ draft: Operation, of payment: Payment) throws(Fault) {
    guard draft.kind != .capture || draft.amount == payment.state.authorized else {
      throw .unsupportedOperation(name, "capture of a part")
    }
  }

  func request(_ operation: Operation, of payment: Payment) throws(Fault) -> JSONRequest {
    let place = "/example/payments/\(payment.attempt?.id ?? "")"
    switch operation.kind {
    case .capture: return JSONRequest(.post, place + "/capture")
    case .void: return JSONRequest(.post, place + "/void")
    default:
      let body: JSON = [
        "key": .string(operation.key ?? ""), "reference": .string(payment.reference.text),
        "amount": .integer(operation.amount ?? 0),
        "currency": .string(payment.currency?.code ?? ""),
        "hold": .bool(operation.kind == .authorize),
      ]
      return JSONRequest(.post, "/example/payments", body)
    }
  }

  func question(_ operation: Operation, of payment: Payment) -> JSONRequest? {
    if operation.isAttempt {
      return operation.key.map { JSONRequest(.get, "/example/payments?key=\($0)") }
    }
    return payment.attempt?.id.map { JSONRequest(.get, "/example/payments/\($0)") }
  }

  func question(_ query: LookUp) -> JSONRequest? {
    query.id.map { JSONRequest(.get, "/example/payments/\($0)") }
  }

  func outcome(_ answer: JSONObject, for operation: Operation?) -> Outcome? {
    let status: Status =
      switch answer.text("state") {
      case "held": .requiresConfirmation
      case "paid": .succeeded
      case "void": .cancelled
      default: .declined
      }
    // The request of this operation has not been executed.
    if operation?.kind == .capture, status != .succeeded { return nil }
    if operation?.kind == .void, status != .cancelled { return nil }
    var outcome = Outcome(
      status: status,
      id: answer.text("id"),
      amount: answer["amount"]?.wholeNumber,
      currency: answer.text("currency").flatMap(Currency.init(code:)),
      result: ["payment": .object(answer)],
      fault: status == .declined
        ? Fault(.declined, code: "declined", "the payment was refused") : nil
    )
    outcome.reference = answer.text("reference").map(Reference.init(stored:))
    return outcome
  }
}
