package import TenderEngine
package import TenderModel

/// Pay Theory: cards, ACH and cash over its socket; stored methods, look-ups and reversals over GraphQL.
package struct PayTheoryProvider: Provider {
  /// The provider's name in options, records and journals.
  package static let name = ProviderName("paytheory")
  let context: PayTheoryContext

  package init(_ context: PayTheoryContext) { self.context = context }

  package var name: ProviderName { Self.name }

  /// The abilities of Pay Theory's interfaces.
  package static let traits = Traits(
    kinds: [.authorize, .charge, .capture, .void, .refund, .store]
  ) { traits in
    traits.looksByReference = true
    // A request can arrive late as long as its host token is valid.
    traits.lateWindow = 15 * 60_000
    traits.capturesPart = capturesPart
    traits.recovery = recovery
  }

  /// The merchant: partner, stage, a fingerprint of the key, and the merchant's uid if it is known.
  ///
  /// The whole key need not be in any file. One key may serve several merchants.
  package var merchant: String {
    partner + (context.configuration.merchantUID.map { Self.separator + $0 } ?? "")
  }

  private static let separator = " "

  private var partner: String {
    let key = context.configuration.key
    return "\(key.partner)-\(key.stage.rawValue)-\(Box.fingerprint(key.text))"
  }

  /// Returns whether the payment belongs to these credentials.
  ///
  /// A payment recorded without a uid belongs to every merchant of its key. Without a uid in the settings,
  /// every payment of the key can be used. Some commands also need the uid.
  package func owns(_ payment: Payment) -> Bool {
    let isOfKey = payment.merchant.hasPrefix(partner + Self.separator)
    return payment.merchant == merchant || payment.merchant == partner
      || context.configuration.merchantUID == nil && isOfKey
  }

  package func isID(_ handle: String) -> Bool { handle.hasPrefix("pt-") }

  /// The documented answer to a capture where nothing is held.
  package static var nothingHeld: JSONObject {
    ["type": "NO_AUTH: There is no authorization to capture"]
  }

  package var search: (any SearchFlow)? { self }

  package func checkReady(for order: OrderOf<PayTheoryOrder>?, of payment: Payment?) throws(Fault) {
    try context.configuration.checkReady(for: order, of: payment)
  }

  package func way(of order: Order, _ payment: Payment?) -> String? {
    if case .capture = order { return nil }
    return payment?.state.isCaptured == true
      ? "reversal (void while it is pending, else refund)" : "void"
  }

  /// Fetches a token, as every payment does first. It is not used.
  func checkTokens() throws(Fault) -> String {
    _ = try Conversation.fetchToken(session: context.randomness.uuid(), context)
    return "it answers, and takes the API key"
  }

  package func perform(
    _ order: OrderOf<PayTheoryOrder>?,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    let operation = progress.operation
    if operation.isUnknown, let kept = operation.mutation { return try send(kept, progress) }
    let stored = progress.attempt.content.text("token")
    switch (operation.kind, order) {
    case (_, .placed(let order)?):
      if order.makes == .storedMethod { return try tokenize(order, progress) }
      if let id = order.existingID { return try existing(id) }
      if let method = order.storedMethod { return try pay(order, by: method, progress) }
      if case .cash(let payer) = order.instrument { return try makeBarcode(order, payer, progress) }
      return try transact(order, progress)
    case (.refund, .refund(let request)?): return try reverse(request, progress)
    case (.capture, _) where stored != nil: return try captureStored(progress)
    case (.void, _) where stored != nil: return try releaseStored(progress)
    case (.charge, nil), (.capture, _): return try transfer(progress)
    case (.void, _): return try release(progress)
    default: throw .unsupportedOperation(name, "\(operation.kind.rawValue) of this kind")
    }
  }

  package func preview(_ order: PayTheoryOrder) throws(Fault) -> JSONObject {
    let configuration = context.configuration
    if order.makes == .storedMethod {
      return ["action": "host:tokenize", "method": order.instrument?.method.rawValue.json]
    }
    if let id = order.existingID {
      return [
        "method": "POST", "url": .string(configuration.graphQLURL), "action": "transactions",
        "transaction_id": .string(id),
      ]
    }
    guard let method = order.storedMethod else { return message(order) }
    return [
      "method": "POST", "url": .string(configuration.graphQLURL),
      "action": order.stopsAtConfirmation ? "createAuthorization" : "createTransaction",
      "payment_method_id": .string(method), "amount": .integer(order.amount.minorUnits),
      "fee": order.fee?.minorUnits.json, "currency": .string(order.amount.currency.code),
      "fee_mode": .string(order.feeMode.rawValue), "reference": .string(order.reference.text),
    ]
  }

  /// Returns the message of an order over the socket, with secrets masked.
  private func message(_ order: PayTheoryOrder) -> JSONObject {
    let configuration = context.configuration
    let requests = Requests(
      timeZone: configuration.timeZone,
      now: context.clock.now,
      hostToken: "[redacted]",
      sessionKey: "[redacted]"
    )
    var writer = JSONWriter()
    writer.beginObject()
    let action: String
    if case .cash(let payer) = order.instrument {
      action = "host:barcode"
      requests.barcode(order, payer, &writer)
    } else {
      action = "host:transfer_part1"
      requests.transferPart1(
        order,
        confirmation: configuration.twoStep || order.stopsAtConfirmation,
        &writer
      )
    }
    writer.endObject()
    defer { writer.wipe() }
    var payload = JSONReader.read(writer.bytes)?.object ?? [:]
    if var method = payload["payment_method_data"]?.object {
      for name in ["number", "security_code", "account_number"] where method[name] != nil {
        method[name] = "[redacted]"
      }
      payload["payment_method_data"] = .object(method)
    }
    return [
      "url": .string(configuration.socketURL), "action": .string(action),
      "payload": .object(payload),
    ]
  }
}

extension Operation {
  /// The stored preparation of a transfer; nil if there is none, or its key is missing.
  var prepared: PreparedTransfer? { (preparation?.secret).flatMap(PreparedTransfer.init(stored:)) }

  /// The stored GraphQL request; nil for one over the socket.
  var mutation: Mutation? { (preparation?.plain).flatMap(Mutation.init(stored:)) }
}

/// The rules for an order's options (README, 5), and for the operations that may follow it.
extension PayTheoryProvider {
  package func check(_ order: PayTheoryOrder) throws(Fault) {
    if order.makes == .storedMethod {
      if case .cash = order.instrument { throw .cashToken }
      return
    }
    if let id = order.existingID {
      guard isID(id) else {
        throw .usage(
          "bad_value",
          "\(id.quotedForMessage) is not an id of Pay Theory's",
          "such as pt-1"
        )
      }
      return
    }
    guard order.amount.minorUnits > 0 else {
      throw .usage("bad_amount", "--amount must be more than zero", "such as --amount 10.50")
    }
    // Its published schema has every amount as a GraphQL Int, which has 32 bits.
    guard order.amount.minorUnits + (order.fee?.minorUnits ?? 0) <= Int(Int32.max) else {
      let most = "Pay Theory takes 21474836.47 USD at most"
      throw .usage("bad_amount", "the amount is too large", most)
    }
    guard order.amount.currency.code == "USD" else {
      let problem = "Pay Theory takes USD, not \(order.amount.currency.code)"
      throw .usage("bad_currency", problem, "leave --currency out")
    }
    if order.payorID != nil, !order.payor.members.isEmpty {
      throw .exclusive("--payor and --payor-id")
    }
    if order.stored["invoice_id"] != nil, order.stored["recurring_id"] != nil {
      throw .exclusive("--invoice-id and --recurring-id")
    }
    try checkFee(order)
    if order.sendsReceipt, order.payor["email"] == nil,
      order.payorID == nil, order.storedMethod == nil
    {
      throw .badOptions("--send-receipt needs an address", hint: "add --payor email=ADDRESS")
    }
    if order.storedMethod != nil,
      order.payorID != nil || !order.payor.members.isEmpty || order.paymentParameters != nil
    {
      throw .badOptions(
        "--payor, --payor-id and --payment-parameters cannot be used with --token",
        hint: "a stored method has its payer already"
      )
    }
    guard order.stopsAtConfirmation else { return }
    if order.instrument?.method == .cash {
      let hint = "leave it out with cash"
      throw .badOptions("--hold is for cards, bank accounts and --token", hint: hint)
    }
    if order.storedMethod != nil,
      order.sendsReceipt || order.receiptDescription != nil || order.stored["recurring_id"] != nil
    {
      throw .badOptions(
        "--send-receipt, --receipt-description and --recurring-id cannot be used with --token --hold",
        hint: "an authorization has none of them"
      )
    }
  }

  package func check(_ draft: Operation, of payment: Payment) throws(Fault) {
    guard draft.kind == .capture, let amount = draft.amount, amount < payment.state.leftToCapture,
      !Self.capturesPart(of: payment)
    else { return }
    let isService = Self.hasServiceFee(payment)
    throw Fault(
      .unsupported,
      code: "method_unsupported",
      isService
        ? "a hold with a service fee is captured as a whole"
        : "only a hold by a stored method (--token) can be captured in part",
      hint: isService ? nil : "for a part, the hold needs --token: tender help confirm",
      next: payment.next(.confirm)
    )
  }

  /// Only a hold by a stored method is captured by `createCapture`, which takes an amount.
  @Sendable private static func capturesPart(of payment: Payment) -> Bool {
    payment.attempt?.content.text("token") != nil && !hasServiceFee(payment)
  }

  private static func hasServiceFee(_ payment: Payment) -> Bool {
    payment.attempt?.content.text("fee_mode") == FeeMode.service.rawValue
  }

  private func checkFee(_ order: PayTheoryOrder) throws(Fault) {
    guard order.feeMode == .service else {
      guard order.fee == nil, order.maxFee == nil else {
        let name = order.fee == nil ? "--max-fee" : "--fee"
        let hint = "leave \(name) out, or add --fee-mode service_fee"
        throw .badOptions("\(name) needs --fee-mode service_fee", hint: hint)
      }
      return
    }
    guard order.fee == nil || order.maxFee == nil else { throw .exclusive("--fee and --max-fee") }
    let isNamed = order.fee != nil || order.maxFee != nil
    guard isNamed || order.stopsAtConfirmation || order.storedMethod != nil else {
      throw .badOptions(
        "--fee-mode service_fee needs --max-fee or --fee, unless --hold or --token is given",
        hint: "--max-fee takes the fee that Pay Theory computes, up to that amount"
      )
    }
  }
}
