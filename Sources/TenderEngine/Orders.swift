package import TenderModel

/// Who pays the provider's fee, in the words of the option and of the record.
package enum FeeMode: String, Sendable, CaseIterable {
  case merchant = "merchant_fee"
  /// The payer, on top of the amount.
  case service = "service_fee"
}

/// What `transact` asks for.
package struct PaymentOrder: PlacedOrder {
  package var reference: Reference
  package var amount: Money
  package var fee: Money?
  package var feeMode = FeeMode.merchant
  package var instrument: Instrument?
  /// A stored method's id, charged instead of an instrument.
  package var storedMethod: String?
  /// Whether to stop where the provider waits for a confirmation.
  package var stopsAtConfirmation = false
  package var payor: JSONObject = [:]
  package var payorID: String?
  package var metadata: JSONObject = [:]
  /// What options add to the content by their own names, to be found by: texts.
  package var stored: JSONObject = [:]
  package var paymentParameters: String?
  package var sendsReceipt = false
  package var receiptDescription: String?

  package init(reference: Reference, amount: Money) {
    self.reference = reference
    self.amount = amount
  }

  var makes: Payment.Kind { .payment }
  var operation: Operation.Kind { stopsAtConfirmation ? .authorize : .charge }
  var total: Int? { amount.minorUnits + (fee?.minorUnits ?? 0) }
  var currency: Currency? { amount.currency }
  var card: Instrument? { instrument }
  var question: String { priced("charge", amount) }

  /// What makes two orders the same: never card data, flow choices or output.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "transact", "amount": .integer(amount.minorUnits),
      "currency": .string(amount.currency.code), "fee_mode": .string(feeMode.rawValue),
    ]
    content["fee"] = fee.map { .integer($0.minorUnits) }
    content["method"] = .string(storedMethod == nil ? instrument?.method.rawValue ?? "" : "token")
    content["token"] = storedMethod.map(JSON.string)
    content.add(payor: payor, id: payorID, metadata: metadata)
    content[Operation.holder] = instrument?.holder
    for member in stored.members { content[member.key] = member.value }
    return content
  }
}

/// What `tokenize` asks for.
package struct TokenOrder: PlacedOrder {
  package var reference: Reference
  package var instrument: Instrument
  package var payor: JSONObject = [:]
  package var payorID: String?
  package var metadata: JSONObject = [:]

  package init(reference: Reference, instrument: Instrument) {
    self.reference = reference
    self.instrument = instrument
  }

  var makes: Payment.Kind { .storedMethod }
  var operation: Operation.Kind { .store }
  var total: Int? { nil }
  var currency: Currency? { nil }
  var card: Instrument? { instrument }
  var question: String { "store a payment method under reference \(reference.text)" }

  /// What makes two orders the same: never card data.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "tokenize", "method": .string(instrument.method.rawValue),
    ]
    content.add(payor: payor, id: payorID, metadata: metadata)
    content[Operation.holder] = instrument.holder
    return content
  }
}

extension Instrument {
  /// The name of its holder, and nothing else of it; nil where none was given.
  fileprivate var holder: JSON? {
    let name =
      switch self {
      case .card(let card): card.name
      case .bankAccount(let account): account.name
      case .cash(let payer): payer.name
      }
    return name.map { ["name": .string($0)] }
  }
}

extension JSONObject {
  /// Adds who pays, and what the merchant says of it.
  fileprivate mutating func add(payor: JSONObject, id: String?, metadata: JSONObject) {
    if !payor.members.isEmpty { self["payor"] = .object(payor.sorted) }
    self["payor_id"] = id.map(JSON.string)
    if !metadata.members.isEmpty { self["metadata"] = .object(metadata.sorted) }
  }
}

/// What a command asks of a provider.
package enum Order: Sendable {
  case payment(PaymentOrder)
  case token(TokenOrder)
  case sale(SaleOrder)
  case authorization(AuthorizationOrder)
  /// Captures a hold, or continues a payment that waits for its payer; the amount is a part of the hold.
  case capture(Money?)
  /// Releases a hold, or undoes a capture, whichever the payment is.
  case cancel(RefundRequest = RefundRequest())
  case refund(RefundRequest)

  /// What is recorded of it; nil for what changes an earlier order's payment.
  var placed: (any PlacedOrder)? {
    switch self {
    case .payment(let order): order
    case .token(let order): order
    case .sale(let order): order
    case .authorization(let order): order
    case .capture, .cancel, .refund: nil
    }
  }

  /// The refund of a `refund`, or of a `cancel` after capture; nil for any other order.
  var reversal: RefundRequest? {
    switch self {
    case .cancel(let request), .refund(let request): request
    case .payment, .token, .sale, .authorization, .capture: nil
    }
  }

  /// The reference that it is made under; nil for what changes an earlier order's payment.
  package var reference: Reference? { placed?.reference }

  /// The question before it; nil for what changes an earlier order's payment.
  package var question: String? { placed?.question }

  /// The kind of operation that it is.
  package var kind: Operation.Kind {
    switch self {
    case .capture: .capture
    case .cancel: .void
    default: placed?.operation ?? .refund
    }
  }
}

/// What the engine has to know of an order that begins a payment, whatever it is for.
protocol PlacedOrder: Sendable {
  /// The reference that it is made under.
  var reference: Reference { get }
  var makes: Payment.Kind { get }
  var operation: Operation.Kind { get }
  /// In minor units.
  var total: Int? { get }
  var currency: Currency? { get }
  /// What two orders under one reference must have the same.
  var content: JSONObject { get }
  /// The card or account that it brings.
  var card: Instrument? { get }
  /// What a person is asked to say yes to.
  var question: String { get }
  /// The payment that a refund at a reader is of.
  var link: Reference? { get }
}

extension PlacedOrder {
  var card: Instrument? { nil }

  var link: Reference? { nil }

  /// The operation that it is, before it is recorded.
  func draft(at time: Int) -> Operation {
    var draft = Operation(operation, amount: total, at: time)
    draft.link = link
    draft.content = content
    return draft
  }

  /// What it says about the payment as a whole: nothing that was said of an earlier attempt's card stays.
  func describe(_ payment: inout Payment) {
    (payment.kind, payment.currency) = (makes, currency)
    (payment.lastFour, payment.brand) = (card?.lastFour, nil)
  }

  func priced(_ verb: String, _ amount: Money) -> String {
    "\(verb) \(amount.text) under reference \(reference.text)"
  }
}

/// What `refund`, or a `cancel` after capture, asks for.
package struct RefundRequest: Sendable {
  /// Nil for all that is left.
  package var amount: Money?
  /// The operator's own name for it (`--refund-reference`): the same one is the same refund.
  package var name: Reference?
  /// What the payer's statement says; nil for something made of the payment's reference.
  package var statement: String?
  /// Why, for the provider's record; nil for nothing in particular.
  package var reason: String?
  /// Whether a person has agreed to a second refund without a name.
  package var isFurtherApproved = false

  /// A refund, of all that is left where no amount is given.
  package init(
    amount: Money? = nil,
    name: Reference? = nil,
    statement: String? = nil,
    reason: String? = nil
  ) {
    self.amount = amount
    self.name = name
    self.statement = statement
    self.reason = reason
  }

  /// Whether this asks for a refund that was recorded before: the same name and amount.
  func isSame(as refund: Operation) -> Bool {
    refund.name == name?.text
      && (amount.map { $0.minorUnits == refund.amount && !refund.isRest } ?? refund.isRest)
  }
}

/// What `transact` asks of a reader.
package struct SaleOrder: PlacedOrder {
  package var reference: Reference
  /// What the payer pays before the reader's gratuity menu: `gratuity` is in it.
  package var amount: Money
  package var isRefund = false
  /// In minor units.
  package var gratuity: Int?
  /// The percentages of the reader's gratuity menu; empty for none.
  package var gratuityMenu: [Int] = []
  /// Whether the authorization captures as well.
  package var captures = true
  /// The receipt of what is refunded, in its documented fields.
  package var original: JSONObject?
  /// The reference of what is refunded, where the journal knows it.
  package var originalReference: Reference?
  package var additional: JSONObject = [:]

  package init(reference: Reference, amount: Money) {
    self.reference = reference
    self.amount = amount
  }

  var makes: Payment.Kind { .payment }
  var operation: Operation.Kind { isRefund ? .refund : captures ? .charge : .authorize }
  var total: Int? { amount.minorUnits }
  var currency: Currency? { amount.currency }
  var link: Reference? { isRefund ? originalReference : nil }
  var question: String { priced(isRefund ? "refund" : "charge", amount) }

  /// What makes two orders the same: never what happens at the reader.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "transact", "type": isRefund ? "refund" : "purchase",
      "amount": .integer(amount.minorUnits), "currency": .string(amount.currency.code),
    ]
    content["gratuity"] = gratuity.map(JSON.integer)
    content["original"] = (originalReference?.text ?? original?.text("saleReferenceId")).map(
      JSON.string
    )
    if !additional.members.isEmpty { content["additional"] = .object(additional.sorted) }
    return content
  }
}

/// What `transact` asks of a provider whose payers authorize at their bank.
package struct AuthorizationOrder: PlacedOrder {
  package var reference: Reference
  package var kind: Payment.Kind
  /// The provider's id of something that exists already.
  package var existingID: String?
  package var amount: Money?
  package var currency: Currency?
  /// What makes two orders the same: never choices of the flow.
  package var content: JSONObject
  /// The body that makes it, where it does not exist yet: the same bytes for every repetition.
  package var creation: [UInt8] = []

  package init(reference: Reference, kind: Payment.Kind, content: JSONObject) {
    self.reference = reference
    self.kind = kind
    self.content = content
  }

  var makes: Payment.Kind { kind }
  var operation: Operation.Kind { kind == .mandate ? .createMandate : .charge }
  var total: Int? { amount?.minorUnits }

  var question: String {
    if let existingID {
      return "go on with the \(kind == .mandate ? "mandate" : "payment") \(existingID)"
    }
    return amount.map { priced("pay", $0) } ?? "create the mandate \(reference.text)"
  }
}
