import TenderEngine
import TenderModel

/// Short ways to write payments in tests.
extension Payment {
  static let testKey = ReferenceKey(
    env: .simulator,
    provider: ProviderName("p"),
    reference: Reference(stored: "A")
  )

  /// Returns a payment with these operations, in order.
  static func of(
    _ operations: Operation...,
    kind: Kind = .payment,
    seen: [Observation] = []
  ) -> Payment {
    var payment = Payment(key: testKey, kind: kind, merchant: "m", at: 0)
    payment.currency = Currency(code: "USD")
    for operation in operations { payment.append(operation) }
    for observation in seen { payment.add(observation) }
    return payment
  }
}

extension Operation {
  /// Returns an operation in a state. An attempt's order has its amount without the fee.
  static func of(
    _ kind: Kind,
    _ amount: Int?,
    _ state: State,
    approved: Int? = nil,
    id: String? = nil,
    name: String? = nil,
    fault: Fault.Kind? = nil,
    fee: Int = 0,
    link: String? = nil
  ) -> Operation {
    var operation = Operation(kind, amount: amount, at: 0)
    operation.state = state
    operation.approved = approved
    operation.id = id
    operation.name = name
    operation.fault = fault.map { Fault($0, code: "code", "message") }
    operation.link = link.map(Reference.init(stored:))
    return operation
  }

  /// Returns the operation as an attempt, with the content of an order.
  func asAttempt(fee: Int = 0) -> Operation {
    var operation = self
    operation.content = ["command": "transact"]
    operation.content["amount"] = amount.map { .integer($0 &- fee) }
    return operation
  }

  static func charge(_ amount: Int?, _ state: State, fee: Int = 0) -> Operation {
    of(.charge, amount, state, id: "pt-1").asAttempt(fee: fee)
  }

  /// Returns a hold.
  static func authorize(_ amount: Int?, _ state: State) -> Operation {
    of(.authorize, amount, state, id: "pt-1").asAttempt()
  }

  static func refund(_ amount: Int, _ state: State, link: String? = nil) -> Operation {
    of(.refund, amount, state, link: link)
  }

  static func void(_ amount: Int?, _ state: State, id: String? = nil) -> Operation {
    of(.void, amount, state, id: id)
  }

  static func capture(_ amount: Int, _ state: State) -> Operation { of(.capture, amount, state) }
}

extension Operation.State {
  /// A sent request whose answer was lost.
  static let lost = sent(at: 0, moment: nil)
  /// A hold.
  static let held = waiting(nil)
  static let redirect = waiting(PayerAction("redirect", ["url": "https://bank.example/"]))

  /// One state of each name. `waiting` is for the payer.
  static let all: [Operation.State] = [
    .prepared, .lost, .redirect, .processing, .succeeded, .declined, .cancelled, .expired, .failed,
    .returned,
  ]
}

extension Observation {
  /// Returns a look-up with the sum of the payment's refunds. `elsewhere` is the part that this journal did
  /// not refund.
  static func refunded(
    _ sum: Int,
    elsewhere: Int? = nil,
    of operation: Int = 1,
    at time: Int = 1
  ) -> Observation {
    var seen = Observation(.lookup, at: time, operation: operation, state: .succeeded)
    seen.refunded = sum
    seen.elsewhere = elsewhere
    return seen
  }
}
