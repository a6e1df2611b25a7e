package import TenderModel

/// What `tender cancel` gives back, as it was asked for.
package struct RefundRequest: Sendable {
  /// Nil for all that is left.
  package var amount: Money?
  /// The operator's own name for it (`--refund-reference`): the same one is the same refund.
  package var name: Reference?
  /// What the payer's statement says; nil for something made of the payment's reference.
  package var statement: String?

  /// A refund, in full where no amount is given.
  package init(amount: Money?, name: Reference?, statement: String? = nil) {
    self.amount = amount
    self.name = name
    self.statement = statement
  }

  /// Whether this asks for a refund that was asked for before: the same name and amount.
  func isSame(as refund: Refund) -> Bool {
    refund.name == name?.text && amount.map { $0.minorUnits == refund.amount } ?? refund.isRest
  }
}

/// One of several refunds of a payment, decided.
package struct RefundOrder: Sendable {
  /// Refunds of one payment are numbered from 1.
  package var number: Int
  /// In minor units of the payment's currency.
  package var amount: Int
  /// Whether no amount was named: all that is left.
  package var isRest: Bool
  package var key: String
  package var request: RefundRequest
}

/// A refund among those of a payment: its own members, and those of the provider.
///
/// Members: `attempt` (its number) or `reference` (of the attempt that made it), `amount` in minor
/// units, `rest`, `key`, `refund_reference`, `status`, and what the provider says of it.
package struct Refund: Sendable, Hashable {
  package var members: JSONObject

  /// A refund as journal or provider has it.
  package init(_ members: JSONObject) { self.members = members }

  /// A refund that is about to be sent.
  package init(_ order: RefundOrder) {
    members = [
      "attempt": .integer(order.number), "amount": .integer(order.amount),
      "rest": .bool(order.isRest), "key": .string(order.key),
    ]
    members["refund_reference"] = (order.request.name?.text).map(JSON.string)
  }

  /// The refund that a preparation is for; nil for any other.
  package init?(prepared members: JSONObject?) {
    guard let members, members["key"] != nil, members["amount"] != nil else { return nil }
    self.init(members)
  }

  /// Its preparation, with what only its sending needs.
  package func prepared(_ name: String, _ value: JSON) -> JSON {
    var members = members
    members[name] = value
    return .object(members)
  }

  /// A refund that an attempt of its own makes.
  package init(by reference: Reference, amount: Money) {
    members = [
      "reference": .string(reference.text), "amount": .integer(amount.minorUnits),
      "status": .string(Status.unknown.rawValue),
    ]
  }

  package var number: Int? { members["attempt"]?.boundedNumber }

  /// In minor units; 0 where it is not said.
  package var amount: Int {
    get { members["amount"]?.boundedNumber ?? 0 }
    set { members["amount"] = .integer(newValue) }
  }

  /// Whether no amount was named: all that was left.
  package var isRest: Bool { members["rest"] == true }

  package var key: String? { members.text("key") }

  /// The operator's own name for it.
  package var name: String? { members.text("refund_reference") }

  /// The attempt that made it, where refunds are attempts of their own.
  package var reference: Reference? { members.text("reference").map(Reference.init(stored:)) }

  /// In the provider's words.
  package var status: String? {
    get { members.text("status") }
    set { members["status"] = newValue.map(JSON.string) }
  }

  /// The refund without what only its sending needed.
  package func without(_ names: String...) -> Refund {
    var left = self
    for name in names { left.members[name] = nil }
    return left
  }

  /// The provider's members, and the operator's name for it.
  package var shown: JSONObject {
    JSONObject(
      members.members.filter { !["attempt", "rest", "key", "amount"].contains($0.key) }
    )
  }
}

/// What undid a payment, or parts of it.
package enum Reversal: Sendable, Hashable {
  /// It was let go of before capture: nothing was charged.
  case released
  /// It was undone as a whole, in the provider's words.
  case whole(JSONObject)
  /// Parts were given back, in the order in which they were asked for.
  case parts([Refund])

  /// Reads what the journal has.
  package init(_ members: JSONObject) {
    if members == [:] {
      self = .released
    } else if let refunds = members["refunds"]?.array, members.members.count == 1 {
      self = .parts(refunds.compactMap(\.object).map(Refund.init))
    } else {
      self = .whole(members)
    }
  }

  /// The members as journal and records have them.
  package var members: JSONObject {
    switch self {
    case .released: [:]
    case .whole(let members): members
    case .parts(let refunds): ["refunds": .array(refunds.map { .object($0.members) })]
    }
  }
}
