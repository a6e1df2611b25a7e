import TenderEngine
import TenderModel

/// Executes the encrypted requests on the books (PayTheory/README, 4 and 12).
struct PayTheorySteps {
  /// The answer to a request, and whether it is sealed.
  typealias Answer = (type: String, body: JSONObject, isSealed: Bool)

  let parts: SimulatorParts
  let key: SimulatedKey
  let sessionKey: String

  /// The merchant of these intents.
  private var merchant: String { "\(key.partner)-\(key.stage)" }

  private var world: SimulatorWorld { parts.world }
  private var ledger: Ledger { parts.ledger }
  private var books: PayTheoryBooks { PayTheoryBooks(parts) }

  func perform(_ action: String, _ inner: JSONObject, now: Int) throws(Fault) -> Answer {
    switch action {
    case "host:transfer_part1": try part1(inner, now)
    case "host:transfer_part2": try part2(inner)
    case "host:cancel_transfer": try cancel(inner)
    case "host:tokenize": try tokenize(inner, now)
    case "host:barcode": try barcode(inner, now)
    default: throw .simulatedRefusal("Unknown action")
    }
  }

  /// Whether a session has an expired hold.
  ///
  /// The life of a real hold is not public, and its message at the end is not, either. The documented end is
  /// a closed session.
  func isExpired() throws(Fault) -> Bool {
    let isOver = world.options.scenario == "hold:expired"
    return try ledger.list(BookedIntent.self, reference: sessionKey).contains { intent in
      intent.state == .expired || isOver && intent.state == .pending
    }
  }

  /// A host token can be used once (PayTheory/README, 2.2).
  private func spend(_ inner: JSONObject, _ now: Int) throws(Fault) {
    guard let token = inner.text("hostToken"), let claims = WebToken.verify(token, now: now),
      let id = claims.text("jti"), claims.text("sessionKey") == sessionKey
    else { throw .simulatedRefusal("Invalid host token") }
    guard try ledger.put("spent-token", id, [:], replacing: false) else {
      throw .simulatedRefusal("Host token has been spent")
    }
  }

  private func part1(_ inner: JSONObject, _ now: Int) throws(Fault) -> Answer {
    try spend(inner, now)
    guard let method = inner["payment_method_data"]?.object,
      let payment = inner["payment_data"]?.object, let data = inner["pay_theory_data"]?.object
    else { throw .simulatedRefusal("Missing payment details") }
    try PayTheoryChecks.check(method, now: now)
    guard let amount = payment["amount"]?.boundedNumber, amount > 0 else {
      throw .simulatedRefusal("Amount must be a positive integer")
    }
    guard payment.text("currency") == "USD" else { throw .simulatedRefusal("Currency must be USD") }
    let mode = payment.text("fee_mode") ?? "merchant_fee"
    guard ["merchant_fee", "service_fee", "interchange"].contains(mode) else {
      throw .simulatedRefusal("Unknown fee mode")
    }
    let isServiceFee = mode == "service_fee"
    let booked = PayTheoryChecks.booked(inner, method)
    let fee = PayTheoryCatalog.fee(amount: amount, isACH: booked.type == .ach)
    let needsConfirmation = inner["confirmation_needed"]?.truth ?? false
    if isServiceFee, !needsConfirmation, data["fee"]?.boundedNumber != fee {
      throw .simulatedRefusal("Fee does not match")
    }
    if let name = data.text("payment_parameters"), !name.isEmpty {
      guard let range = PayTheoryCatalog.paymentParameters[name] else {
        throw .simulatedRefusal("Unknown payment parameters")
      }
      guard range.contains(amount) else {
        throw .simulatedRefusal("Amount is outside of the parameters")
      }
    }
    let terms = BookedTerms(
      amount: isServiceFee ? amount + fee : amount,
      fee: fee,
      isServiceFee: isServiceFee,
      reference: data.text("reference") ?? "",
      accountCode: data.text("account_code") ?? "",
      metadata: inner["metadata"]?.object ?? [:]
    )
    let receipt = books.receipt(key.partner, key.stage)
    guard needsConfirmation else {
      return ("transfer_complete", try capture(receipt, terms, booked), true)
    }
    let intent = BookedIntent(
      id: "pt_int_" + books.code(16),
      receipt: receipt,
      merchant: merchant,
      session: sessionKey,
      terms: terms,
      method: booked
    )
    try ledger.put(intent)
    try books.plan(.holdExpired, intent.id, at: now + PayTheoryCatalog.holdLife)
    return ("transfer_confirmation", preparation(intent, inner, method), true)
  }

  /// A member's text. Android writes numbers as texts.
  private static func text(_ value: JSON) -> String {
    value.text ?? value.boundedNumber.map { String($0) } ?? ""
  }

  /// The members of a preparation that say what is charged.
  private func charged(_ intent: BookedIntent) -> JSONObject {
    [
      "merchant_uid": PayTheoryCatalog.merchantUID.json, "amount": intent.terms.amount.json,
      "currency": "USD", "fee_mode": intent.terms.feeMode.lowercased().json,
      "fee": intent.terms.fee.json,
    ]
  }

  /// The body of `transfer_confirmation` (PayTheory/README, 4.6).
  private func preparation(
    _ intent: BookedIntent,
    _ inner: JSONObject,
    _ method: JSONObject
  ) -> JSONObject {
    let isCard = intent.method.type == .card
    let charged = charged(intent)
    return [
      "payment_token": ("pt_tok_" + books.code(20)).json,
      "processor_payment_method_id": ("PI" + books.code(20)).json,
      "merchant_uid": charged["merchant_uid"], "last_four": intent.method.lastFour.json,
      "brand": intent.method.brand.json, "session_key": sessionKey.json, "processor": "finix",
      "expiration": isCard ? intent.method.expiration.json : .null,
      "idempotency": intent.receipt.json, "billing_name": method["name"] ?? .null,
      "billing_address": method["address"] ?? .null, "amount": charged["amount"],
      "currency": charged["currency"], "fee_mode": charged["fee_mode"], "fee": charged["fee"],
      "processor_merchant_id": ("MU" + books.code(20)).json, "payment_method": method["type"] ?? "",
      "metadata": intent.terms.metadata.json, "pay_theory_data": inner["pay_theory_data"] ?? [:],
      "payor_info": inner["payor_info"] ?? [:], "payment_intent_id": intent.id.json,
      "first_six": isCard ? intent.method.firstSix.json : nil, "payor_id": intent.method.payor.json,
    ]
  }

  private func part2(_ inner: JSONObject) throws(Fault) -> Answer {
    guard let prepared = inner["payment_prep"]?.object,
      var intent = try intent(prepared.text("payment_intent_id")),
      intent.receipt == prepared.text("idempotency")
    else { throw .simulatedRefusal("Unknown payment intent") }
    switch intent.state {
    case .pending: break
    case .cancelled: throw .simulatedRefusal("Payment intent was cancelled")
    case .expired: throw .simulatedRefusal("Payment intent has expired")
    case .transferred: throw .simulatedRefusal("Payment intent was already transferred")
    }
    // The body of the first part comes back unchanged (PayTheory/README, 4.7). Some clients omit members.
    for member in charged(intent).members
    where prepared[member.key] != nil || member.key == "amount" {
      guard prepared[member.key].map(Self.text) == Self.text(member.value) else {
        throw .simulatedRefusal("\(member.key) does not match the payment intent")
      }
    }
    intent.state = .transferred
    try ledger.put(intent)
    return ("transfer_complete", try capture(intent.receipt, intent.terms, intent.method), true)
  }

  private func intent(_ id: String?) throws(Fault) -> BookedIntent? {
    guard let id, let intent = try ledger.find(BookedIntent.self, id) else { return nil }
    return intent.merchant == merchant ? intent : nil
  }

  /// Handles `host:cancel_transfer` (PayTheory/README, 4.9).
  ///
  /// The shape of the real answer is not public. This one is the simulator's.
  private func cancel(_ inner: JSONObject) throws(Fault) -> Answer {
    guard var intent = try intent(inner.text("payment_intent_id")) else {
      throw .simulatedRefusal("Unknown payment intent")
    }
    guard intent.state != .transferred else {
      throw .simulatedRefusal("Payment intent was already transferred")
    }
    intent.state = .cancelled
    try ledger.put(intent)
    return ("cancel", ["payment_intent_id": .string(intent.id)], false)
  }

  private func tokenize(_ inner: JSONObject, _ now: Int) throws(Fault) -> Answer {
    try spend(inner, now)
    guard let method = inner["payment_method_data"]?.object else {
      throw .simulatedRefusal("Missing payment details")
    }
    try PayTheoryChecks.check(method, now: now)
    let stored = try books.store(PayTheoryChecks.booked(inner, method))
    let body: JSONObject = [
      "payment_method_id": stored.id.json, "payor_id": stored.payor.json,
      "last_four": stored.lastFour.json,
      "first_six": stored.firstSix.isEmpty ? .null : stored.firstSix.json,
      "brand": stored.brand.json, "card_brand": stored.brand.json,
      "expiration": stored.expiration.json, "exp_date": stored.expiration.json,
      "payment_type": method["type"] ?? "", "metadata": inner["metadata"] ?? [:],
    ]
    return ("tokenize_complete", body, true)
  }

  private func barcode(_ inner: JSONObject, _ now: Int) throws(Fault) -> Answer {
    try spend(inner, now)
    guard let payment = inner["payment"]?.object,
      let amount = payment["amount"]?.boundedNumber, amount > 0,
      let payor = payment.text("payor") ?? payment.text("buyer"), !payor.isEmpty,
      let contact = payment.text("payor_contact") ?? payment.text("buyer_contact"),
      !contact.isEmpty
    else { throw .simulatedRefusal("Missing payment details") }
    let number = world.randomness.text(20, from: "0123456789")
    let barcode = try books.makeBarcode(
      amount,
      reference: inner["pay_theory_data"]?["reference"]?.text ?? "",
      name: payor,
      contact: contact,
      key: key
    )
    let body: JSONObject = [
      "BarcodeUid": barcode.id.json, "Merchant": PayTheoryCatalog.merchantUID.json,
      "barcode": number.json, "barcodeFee": "2.0", "barcodeUrl": barcode.url.json,
    ]
    return ("barcode_complete", body, true)
  }

  /// Charges a prepared payment. Returns the body of `transfer_complete` (PayTheory/README, 4.8).
  private func capture(
    _ receipt: String,
    _ terms: BookedTerms,
    _ given: BookedMethod
  ) throws(Fault) -> JSONObject {
    let method = try books.store(given, of: receipt)
    let payment = try books.charge(receipt, terms, method)
    var body: JSONObject = [
      "state": payment.isPending ? "PENDING" : "SUCCEEDED",
      "receipt_number": receipt.json, "amount": terms.amount.json, "service_fee": terms.fee.json,
      "brand": method.brand.json, "last_four": method.lastFour.json, "currency": "USD",
      "created_at": Timestamp.preciseText(payment.at).json, "metadata": terms.metadata.json,
      "payor_id": method.payor.json, "payment_method_id": method.id.json,
    ]
    if let code = payment.failure {
      body["state"] = "FAILURE"
      body["type"] = .string(code)
      body["card_brand"] = .string(method.brand)
      body["status"] = [
        "result": "FAILED",
        "reason": [
          "error_code": .string(code), "error_text": .string(PayTheoryCatalog.sentence(code)),
        ],
      ]
    }
    return body
  }
}
