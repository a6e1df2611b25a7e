package import TenderModel

/// Who pays the provider's fee, in the words of the option and of the record.
package enum FeeMode: String, Sendable, CaseIterable {
  case merchant = "merchant_fee"
  /// The payer, on top of the amount.
  case service = "service_fee"
}

/// What `transact` asks for.
package struct PaymentOrder: Sendable {
  package var reference: Reference
  package var amount: Money
  package var fee: Money?
  package var feeMode: FeeMode
  package var instrument: Instrument?
  /// A stored method's id, charged instead of an instrument.
  package var storedMethod: String?
  /// Whether to stop where the provider waits for a confirmation.
  package var stopsAtConfirmation: Bool
  package var payor: JSONObject
  package var payorID: String?
  package var metadata: JSONObject
  /// Where the merchant books it.
  package var accountCode: String?
  package var invoiceID: String?
  package var recurringID: String?
  package var paymentParameters: String?
  package var sendsReceipt = false
  package var receiptDescription: String?

  package init(
    reference: Reference,
    amount: Money,
    fee: Money? = nil,
    feeMode: FeeMode = .merchant,
    instrument: Instrument? = nil,
    storedMethod: String? = nil,
    stopsAtConfirmation: Bool = false,
    payor: JSONObject = [:],
    payorID: String? = nil,
    metadata: JSONObject = [:]
  ) {
    self.reference = reference
    self.amount = amount
    self.fee = fee
    self.feeMode = feeMode
    self.instrument = instrument
    self.storedMethod = storedMethod
    self.stopsAtConfirmation = stopsAtConfirmation
    self.payor = payor
    self.payorID = payorID
    self.metadata = metadata
  }

  /// What makes two orders the same: never card data, flow choices or output.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "transact", "amount": .integer(amount.minorUnits),
      "currency": .string(amount.currency.code), "fee_mode": .string(feeMode.rawValue),
    ]
    content["fee"] = fee.map { .integer($0.minorUnits) }
    content["method"] = .string(storedMethod == nil ? instrument?.method.rawValue ?? "" : "token")
    content["token"] = storedMethod.map(JSON.string)
    if !payor.members.isEmpty { content["payor"] = .object(payor.sorted) }
    content["payor_id"] = payorID.map(JSON.string)
    if !metadata.members.isEmpty { content["metadata"] = .object(metadata.sorted) }
    content["account_code"] = accountCode.map(JSON.string)
    content["invoice_id"] = invoiceID.map(JSON.string)
    content["recurring_id"] = recurringID.map(JSON.string)
    return content
  }
}

/// What `tokenize` asks for.
package struct TokenOrder: Sendable {
  package var reference: Reference
  package var instrument: Instrument
  package var payor: JSONObject
  package var payorID: String?
  package var metadata: JSONObject

  package init(
    reference: Reference,
    instrument: Instrument,
    payor: JSONObject,
    payorID: String?,
    metadata: JSONObject
  ) {
    self.reference = reference
    self.instrument = instrument
    self.payor = payor
    self.payorID = payorID
    self.metadata = metadata
  }

  /// What makes two orders the same: never card data.
  package var content: JSONObject {
    var content: JSONObject = [
      "command": "tokenize", "method": .string(instrument.method.rawValue),
    ]
    if !payor.members.isEmpty { content["payor"] = .object(payor.sorted) }
    content["payor_id"] = payorID.map(JSON.string)
    if !metadata.members.isEmpty { content["metadata"] = .object(metadata.sorted) }
    return content
  }
}

/// What a command asks of a provider.
package enum Order: Sendable {
  case payment(PaymentOrder)
  case token(TokenOrder)
  case sale(SaleOrder)
  case authorization(AuthorizationOrder)
  /// A reversal of what an earlier order captured.
  case refund(RefundRequest)

  /// The reference that it is made under; nil for what changes an earlier order's payment.
  package var reference: Reference? {
    switch self {
    case .payment(let order): order.reference
    case .token(let order): order.reference
    case .sale(let order): order.reference
    case .authorization(let order): order.reference
    case .refund: nil
    }
  }

  /// What two orders under one reference must have the same.
  package var content: JSONObject {
    switch self {
    case .payment(let order): order.content
    case .token(let order): order.content
    case .sale(let order): order.content
    case .authorization(let order): order.content
    case .refund: [:]
    }
  }

  /// What tells its card or account from another, to be kept as a keyed hash; nil where it brings none.
  var instrumentIdentity: String? {
    switch self {
    case .payment(let order): order.instrument?.identity
    case .token(let order): order.instrument.identity
    case .sale, .authorization, .refund: nil
    }
  }

  /// What kind of thing it makes.
  package var paymentKind: Payment.Kind {
    switch self {
    case .payment, .sale, .refund: .payment
    case .token: .storedMethod
    case .authorization(let order): order.kind
    }
  }

  /// The kind of operation that it is.
  package var kind: Operation.Kind { draft(at: 0).kind }

  /// The operation that it is, before it is recorded.
  func draft(at time: Int) -> Operation {
    var operation: Operation
    switch self {
    case .payment(let order):
      operation = Operation(order.stopsAtConfirmation ? .authorize : .charge, at: time)
      operation.amount = order.amount.minorUnits + (order.fee?.minorUnits ?? 0)
    case .token: operation = Operation(.store, at: time)
    case .sale(let order):
      operation = Operation(
        order.isRefund ? .refund : order.captures ? .charge : .authorize,
        at: time
      )
      operation.amount = order.amount.minorUnits
      operation.link = order.isRefund ? order.originalReference : nil
    case .authorization(let order):
      operation = Operation(order.kind == .mandate ? .createMandate : .charge, at: time)
      operation.amount = order.amount?.minorUnits
    case .refund(let request):
      operation = Operation(.refund, amount: request.amount?.minorUnits, at: time)
      operation.name = request.name?.text
      operation.isRest = request.amount == nil
    }
    operation.content = content
    return operation
  }

  /// What it says about the payment as a whole.
  func describe(_ payment: inout Payment) {
    payment.kind = paymentKind
    switch self {
    case .payment(let order):
      payment.currency = order.amount.currency
      payment.lastFour = order.instrument?.lastFour
      payment.brand = nil
    case .token(let order): payment.lastFour = order.instrument.lastFour
    case .sale(let order): payment.currency = order.amount.currency
    case .authorization(let order):
      payment.currency = order.amount?.currency ?? order.currency
    case .refund: break
    }
  }

  /// What a person is asked to say yes to.
  package var question: String {
    switch self {
    case .payment(let order): Self.priced("charge", order.amount, order.reference)
    case .token(let order): "store a payment method under reference \(order.reference.text)"
    case .sale(let order):
      Self.priced(order.isRefund ? "refund" : "charge", order.amount, order.reference)
    case .authorization(let order):
      if let id = order.existingID {
        "go on with the \(order.kind == .mandate ? "mandate" : "payment") \(id)"
      } else if let amount = order.amount {
        Self.priced("pay", amount, order.reference)
      } else {
        "create the mandate \(order.reference.text)"
      }
    case .refund(let request): request.amount.map { "refund \($0.text)" } ?? "refund what is left"
    }
  }

  private static func priced(_ verb: String, _ amount: Money, _ reference: Reference) -> String {
    "\(verb) \(amount.text) under reference \(reference.text)"
  }
}

/// What is asked of a payment that exists.
package enum Later: Sendable {
  /// Captures a hold, or goes on with what waits for its payer; the amount is a part of the hold.
  case capture(Money?)
  /// Releases a hold, or undoes what was captured, whichever the payment is.
  case cancel(RefundRequest = RefundRequest())
  case refund(RefundRequest)

  /// What is to be given back; nil for a capture.
  var refund: RefundRequest? {
    switch self {
    case .capture: nil
    case .cancel(let request), .refund(let request): request
    }
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
package struct SaleOrder: Sendable {
  package var reference: Reference
  /// What the payer pays before the reader's gratuity menu: `gratuity` is in it.
  package var amount: Money
  package var isRefund: Bool
  /// In minor units.
  package var gratuity: Int?
  /// The percentages of the reader's gratuity menu; empty for none.
  package var gratuityMenu: [Int]
  /// Whether the authorization captures as well.
  package var captures: Bool
  /// The receipt of what is refunded, in its documented fields.
  package var original: JSONObject?
  /// The reference of what is refunded, where the journal knows it.
  package var originalReference: Reference?
  package var additional: JSONObject

  package init(
    reference: Reference,
    amount: Money,
    isRefund: Bool = false,
    gratuity: Int? = nil,
    gratuityMenu: [Int] = [],
    captures: Bool = true,
    original: JSONObject? = nil,
    originalReference: Reference? = nil,
    additional: JSONObject = [:]
  ) {
    self.reference = reference
    self.amount = amount
    self.isRefund = isRefund
    self.gratuity = gratuity
    self.gratuityMenu = gratuityMenu
    self.captures = captures
    self.original = original
    self.originalReference = originalReference
    self.additional = additional
  }

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
package struct AuthorizationOrder: Sendable {
  package var reference: Reference
  package var kind: Payment.Kind
  /// The provider's id of something that exists already.
  package var existingID: String?
  package var amount: Money?
  package var currency: Currency?
  /// What makes two orders the same: never choices of the flow.
  package var content: JSONObject
  /// The body that makes it, where it does not exist yet: the same bytes for every repetition.
  package var creation: [UInt8]

  package init(
    reference: Reference,
    kind: Payment.Kind,
    existingID: String? = nil,
    amount: Money? = nil,
    currency: Currency? = nil,
    content: JSONObject,
    creation: [UInt8] = []
  ) {
    self.reference = reference
    self.kind = kind
    self.existingID = existingID
    self.amount = amount
    self.currency = currency
    self.content = content
    self.creation = creation
  }
}
