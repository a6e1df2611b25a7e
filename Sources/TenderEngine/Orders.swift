package import TenderModel

/// The party that pays the provider's fee, named as in the option and the record.
package enum FeeMode: String, Sendable, CaseIterable {
  case merchant = "merchant_fee"
  /// The payer, on top of the amount.
  case service = "service_fee"
}

/// The order of `transact`.
package struct PaymentOrder: PlacedOrder {
  package var reference: Reference
  package var amount: Money
  package var fee: Money?
  package var feeMode = FeeMode.merchant
  package var instrument: Instrument?
  /// The id of a stored method that is charged instead of an instrument.
  package var storedMethod: String?
  /// The id of a payment that exists at the provider already. It is recorded, and nothing is charged.
  package var existingID: String?
  /// Whether to stop when the provider waits for a confirmation.
  package var stopsAtConfirmation = false
  package var payor: JSONObject = [:]
  package var payorID: String?
  package var metadata: JSONObject = [:]
  /// Texts that options add to the content under their names, so that the payment can be found by them.
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
  var total: Int? { existingID == nil ? amount.minorUnits + (fee?.minorUnits ?? 0) : nil }
  var currency: Currency? { amount.currency }
  var card: Instrument? { instrument }
  var question: String {
    existingID.map { "record the payment \($0)" } ?? priced("charge", amount)
  }

  /// The members that must match in two equal orders: never card data, flow choices or output options.
  package var content: JSONObject {
    if let existingID { return ["command": "transact", "id": .string(existingID)] }
    var content: JSONObject = [
      "command": "transact", "amount": .integer(amount.minorUnits),
      "currency": .string(amount.currency.code), "fee_mode": .string(feeMode.rawValue),
    ]
    content["fee"] = fee.map { .integer($0.minorUnits) }
    content["method"] = .string(storedMethod == nil ? instrument?.method.rawValue ?? "" : "token")
    content["token"] = storedMethod?.json
    content.add(payor: payor, id: payorID, metadata: metadata)
    content[Operation.holder] = instrument?.holder
    for member in stored.members { content[member.key] = member.value }
    return content
  }
}

/// The order of `tokenize`.
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

  /// The members that must match in two equal orders: never card data.
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
  /// The holder's name, without any other data; nil without a name.
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
  /// Adds the payer and the merchant's metadata.
  fileprivate mutating func add(payor: JSONObject, id: String?, metadata: JSONObject) {
    if !payor.members.isEmpty { self["payor"] = .object(payor.sorted) }
    self["payor_id"] = id?.json
    if !metadata.members.isEmpty { self["metadata"] = .object(metadata.sorted) }
  }
}

/// A command's request to a provider.
package enum Order: Sendable {
  case payment(PaymentOrder)
  case token(TokenOrder)
  case sale(SaleOrder)
  case authorization(AuthorizationOrder)
  /// Captures a hold, or continues a payment that waits for its payer. The amount is a part of the hold.
  case capture(Money?)
  /// Releases a hold, or undoes a capture, depending on the payment.
  case cancel(RefundRequest = RefundRequest())
  case refund(RefundRequest)

  /// The order that is recorded; nil for a change of an earlier order's payment.
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

  /// The reference of a new payment; nil for a change of an earlier order's payment.
  package var reference: Reference? { placed?.reference }

  /// The question before it is sent; nil for a change of an earlier order's payment.
  package var question: String? { placed?.question }

  package var kind: Operation.Kind {
    switch self {
    case .capture: .capture
    case .cancel: .void
    default: placed?.operation ?? .refund
    }
  }
}

/// The engine's view of an order that begins a payment.
protocol PlacedOrder: Sendable {
  var reference: Reference { get }
  var makes: Payment.Kind { get }
  var operation: Operation.Kind { get }
  /// The whole amount in minor units.
  var total: Int? { get }
  var currency: Currency? { get }
  /// The members that must match in two orders under one reference.
  var content: JSONObject { get }
  var card: Instrument? { get }
  var question: String { get }
  /// The payment that a refund at a reader belongs to.
  var link: Reference? { get }
}

extension PlacedOrder {
  var card: Instrument? { nil }

  var link: Reference? { nil }

  /// Returns the operation of the order, before it is recorded.
  func draft(at time: Int) -> Operation {
    var draft = Operation(operation, amount: total, at: time)
    draft.link = link
    draft.content = content
    return draft
  }

  /// Sets the order's facts on the payment. The card of an earlier attempt is cleared.
  func describe(_ payment: inout Payment) {
    (payment.kind, payment.currency) = (makes, currency)
    (payment.lastFour, payment.brand) = (card?.lastFour, nil)
  }

  func priced(_ verb: String, _ amount: Money) -> String {
    "\(verb) \(amount.text) under reference \(reference.text)"
  }
}

/// The request of `refund`, or of a `cancel` after capture.
package struct RefundRequest: Sendable {
  /// The amount; nil for all that is left.
  package var amount: Money?
  /// The operator's name for it (`--refund-reference`). The same name is the same refund.
  package var name: Reference?
  /// The text on the payer's statement; nil for one made from the payment's reference.
  package var statement: String?
  package var reason: String?
  /// Whether a person agreed to a second refund without a name.
  package var isFurtherApproved = false
  /// Whether a person agreed that the payer may have disputed money twice (`--despite-dispute`).
  package var isDespiteDispute = false
  /// The ids of refunds made elsewhere that a person accepted (`--despite-refund`).
  package var despiteRefunds: Set<String> = []

  /// Creates a refund. Without an amount, it is of all that is left.
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

  /// Whether this asks for an earlier refund again: the same name and amount.
  func isSame(as refund: Operation) -> Bool {
    refund.name == name?.text
      && (amount.map { $0.minorUnits == refund.amount && (name != nil || !refund.isRest) }
        ?? refund.isRest)
  }
}

/// The order of `transact` at a reader.
package struct SaleOrder: PlacedOrder {
  package var reference: Reference
  /// The price before the reader's gratuity menu. It includes `gratuity`.
  package var amount: Money
  package var isRefund = false
  /// The gratuity in minor units.
  package var gratuity: Int?
  /// The percentages of the reader's gratuity menu; empty without a menu.
  package var gratuityMenu: [Int] = []
  /// Whether the authorization captures as well.
  package var captures = true
  package var acceptsPart = false
  /// The receipt of the refunded payment, in its documented fields.
  package var original: JSONObject?
  /// The reference of the refunded payment, if the journal has it.
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

  /// The members that must match in two equal orders. Events at the reader are not among them.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "transact", "type": isRefund ? "refund" : "purchase",
      "amount": .integer(amount.minorUnits), "currency": .string(amount.currency.code),
    ]
    content["gratuity"] = gratuity?.json
    if acceptsPart { content[Operation.allowPartial] = true }
    content["original"] = (originalReference?.text ?? original?.text("saleReferenceId")).map(
      JSON.string
    )
    if !additional.members.isEmpty { content["additional"] = .object(additional.sorted) }
    return content
  }
}

/// The order of `transact` at a provider whose payers authorize at their bank.
package struct AuthorizationOrder: PlacedOrder {
  package var reference: Reference
  package var kind: Payment.Kind
  /// The provider's id of a payment or mandate that exists already.
  package var existingID: String?
  package var amount: Money?
  package var currency: Currency?
  /// The members that must match in two equal orders: never choices of the flow.
  package var content: JSONObject
  /// The body of the creation request, if it does not exist yet. Every repetition sends the same bytes.
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
    if let existingID { return "go on with the \(kind.noun) \(existingID)" }
    return amount.map { priced("pay", $0) } ?? "create the mandate \(reference.text)"
  }
}
