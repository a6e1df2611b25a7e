package import TenderModel

/// What is known of a payment, whoever says it: the journal, a provider's answer, a report.
package struct PaymentFacts: Sendable, Hashable {
  /// The provider's own id: a receipt number, a payment method.
  package var id: String?
  /// What the payer pays, in minor units: an answer may leave its currency to the order.
  package var amount: Int?
  /// What was asked for, in minor units, where that is not what the payer pays.
  package var requestedAmount: Int?
  package var currency: Currency?
  package var lastFour: String?
  package var brand: String?

  package init(
    id: String? = nil,
    amount: Int? = nil,
    requestedAmount: Int? = nil,
    currency: Currency? = nil,
    lastFour: String? = nil,
    brand: String? = nil
  ) {
    self.id = id
    self.amount = amount
    self.requestedAmount = requestedAmount
    self.currency = currency
    self.lastFour = lastFour
    self.brand = brand
  }

  /// What the payer pays; nil where amount or currency is not known.
  package var money: Money? {
    guard let amount, let currency else { return nil }
    return Money(minorUnits: amount, currency: currency)
  }

  /// An amount of this payment in words: with its currency, or as bare minor units where that is not
  /// known.
  package func text(ofMinorUnits amount: Int) -> String {
    guard let currency else { return "\(amount) in minor units" }
    return Money(minorUnits: amount, currency: currency).text
  }

  /// Takes over what newer facts say; what they leave out stays.
  package mutating func take(_ newer: PaymentFacts) {
    id = newer.id ?? id
    amount = newer.amount ?? amount
    requestedAmount = newer.requestedAmount ?? requestedAmount
    currency = newer.currency ?? currency
    lastFour = newer.lastFour ?? lastFour
    brand = newer.brand ?? brand
  }
}

/// What knows a payment: its facts are its own members too.
///
/// Written out: a key path for each use would cost a command a tenth of a millisecond.
package protocol HasFacts { var facts: PaymentFacts { get set } }

extension HasFacts {
  /// See `PaymentFacts.id`.
  package var id: String? {
    get { facts.id }
    set { facts.id = newValue }
  }
  /// See `PaymentFacts.amount`.
  package var amount: Int? {
    get { facts.amount }
    set { facts.amount = newValue }
  }
  /// See `PaymentFacts.requestedAmount`.
  package var requestedAmount: Int? {
    get { facts.requestedAmount }
    set { facts.requestedAmount = newValue }
  }
  /// See `PaymentFacts.currency`.
  package var currency: Currency? {
    get { facts.currency }
    set { facts.currency = newValue }
  }
  /// See `PaymentFacts.lastFour`.
  package var lastFour: String? {
    get { facts.lastFour }
    set { facts.lastFour = newValue }
  }
  /// See `PaymentFacts.brand`.
  package var brand: String? {
    get { facts.brand }
    set { facts.brand = newValue }
  }
}

/// What the payer has to do, as `next_action` shows it (contract, section 3).
package struct PayerAction: Sendable, Hashable {
  package let type: String
  /// What goes with it: an address, choices, questions.
  package let members: JSONObject
  /// Whether its members are asked for anew each time: the journal keeps its type alone.
  package let isAskedAnew: Bool

  /// An action of a type, such as `redirect` with its `url`.
  package init(_ type: String, _ members: JSONObject = [:], isAskedAnew: Bool = false) {
    self.type = type
    self.members = members
    self.isAskedAnew = isAskedAnew
  }

  /// What the journal keeps of it.
  package var kept: PayerAction { isAskedAnew ? PayerAction(type) : self }

  /// Reads what a record or the journal has; nil for what has no type.
  package init?(_ json: JSON) {
    guard var members = json.object, let type = members.text("type") else { return nil }
    members["type"] = nil
    self.init(type, members)
  }

  /// What goes with it under a name.
  package subscript(_ name: String) -> JSON? { members[name] }

  /// The action as a record shows it.
  package var json: JSON {
    .object(JSONObject([.init(key: "type", value: .string(type))] + members.members))
  }
}
