import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// What the encrypted requests do to the ledger (protocol note, sections 4 and 11).
struct PayTheorySteps {
  /// What a request comes to.
  enum Result {
    case sealed(type: String, body: JSONObject)
    case plain(type: String, body: JSONObject)
    case failure(String)
  }

  let world: SimulatorWorld
  let ledger: Ledger
  let key: SimulatedKey
  let sessionKey: String

  /// Whose intents these are.
  private var merchant: String { "\(key.partner)-\(key.stage)" }

  private static let alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

  func perform(_ action: String, _ inner: JSONObject, now: Int) throws(Fault) -> Result {
    switch action {
    case "host:transfer_part1": try part1(inner, now)
    case "host:transfer_part2": try part2(inner, now)
    case "host:cancel_transfer": try cancel(inner)
    case "host:tokenize": try tokenize(inner, now)
    case "host:barcode": try barcode(inner, now)
    default: .failure("Unknown action")
    }
  }

  /// Whether a session has a hold that has grown too old.
  ///
  /// Neither how long a real hold lives nor how its end is told is public: a session that is closed
  /// is the documented way in which one ends.
  static func isExpired(
    session: String,
    _ world: SimulatorWorld,
    _ ledger: Ledger
  ) throws(Fault) -> Bool {
    try ledger.list("intent", column: "reference", value: session).contains { intent in
      guard intent.text("state") == "pending" else { return false }
      return world.options.scenario == "hold:expired"
        || intent["expires_at"]?.boundedNumber ?? Int.max <= world.now
    }
  }

  /// A host token serves once (section 4.1); what is wrong with this one, or nil.
  private func spend(_ inner: JSONObject, _ now: Int) throws(Fault) -> String? {
    guard let token = inner.text("hostToken"), let claims = WebToken.verify(token, now: now),
      let id = claims.text("jti"), claims.text("sessionKey") == sessionKey
    else { return "Invalid host token" }
    let isFresh = try ledger.put("spent-token", id, [:], replacing: false)
    return isFresh ? nil : "Host token has been spent"
  }

  private func part1(_ inner: JSONObject, _ now: Int) throws(Fault) -> Result {
    if let problem = try spend(inner, now) { return .failure(problem) }
    guard let method = inner["payment_method_data"]?.object,
      let payment = inner["payment_data"]?.object, let data = inner["pay_theory_data"]?.object
    else { return .failure("Missing payment details") }
    if let problem = PayTheoryChecks.method(method, now: now) { return .failure(problem) }
    guard let amount = payment["amount"]?.boundedNumber, amount > 0 else {
      return .failure("Amount must be a positive integer")
    }
    guard payment.text("currency") == "USD" else { return .failure("Currency must be USD") }
    let feeMode = payment.text("fee_mode") == "service_fee" ? "service_fee" : "merchant_fee"
    let isACH = method.text("type") == "ach"
    let fee = PayTheoryCatalog.serviceFee(amount: amount, isACH: isACH)
    let needsConfirmation = inner["confirmation_needed"]?.truth ?? false
    if feeMode == "service_fee", !needsConfirmation, data["fee"]?.boundedNumber != fee {
      return .failure("Fee does not match")
    }
    if let name = data.text("payment_parameters"), !name.isEmpty {
      guard let range = PayTheoryCatalog.paymentParameters[name] else {
        return .failure("Unknown payment parameters")
      }
      guard range.contains(amount) else { return .failure("Amount is outside of the parameters") }
    }
    let receipt = "pt-\(key.partner)-\(key.stage)-" + code(12)
    var intent = PayTheoryChecks.intent(inner, method)
    intent["receipt"] = .string(receipt)
    intent["merchant"] = .string(merchant)
    intent["state"] = "pending"
    intent["amount"] = .integer(feeMode == "service_fee" ? amount + fee : amount)
    intent["fee"] = .integer(fee)
    intent["fee_mode"] = .string(feeMode)
    intent["payor_info"] = inner["payor_info"]
    let id = "pt_int_" + code(16)
    intent["id"] = .string(id)
    guard needsConfirmation else {
      return .sealed(type: "transfer_complete", body: try capture(intent, id, now))
    }
    intent["expires_at"] = .integer(now + PayTheoryCatalog.holdLife)
    try ledger.put("intent", id, intent, reference: sessionKey)
    return .sealed(
      type: "transfer_confirmation",
      body: preparation(intent, id, inner, method)
    )
  }

  /// Section 4.3, every field.
  private func preparation(
    _ intent: JSONObject,
    _ id: String,
    _ inner: JSONObject,
    _ method: JSONObject
  ) -> JSONObject {
    let isCard = method.text("type") == "card"
    var body: JSONObject = [
      "payment_token": .string("pt_tok_" + code(20)),
      "processor_payment_method_id": .string("PI" + code(20)),
      "merchant_uid": .string(PayTheoryCatalog.merchantUID),
      "last_four": intent["last_four"] ?? "", "brand": intent["brand"] ?? "",
      "session_key": .string(sessionKey), "processor": "finix",
      "expiration": isCard ? intent["expiration"] ?? .null : .null,
      "idempotency": intent["receipt"] ?? "",
      "billing_name": method["name"] ?? .null, "billing_address": method["address"] ?? .null,
      "amount": intent["amount"] ?? 0, "currency": "USD", "fee_mode": intent["fee_mode"] ?? "",
      "fee": intent["fee"] ?? 0, "processor_merchant_id": .string("MU" + code(20)),
      "payment_method": method["type"] ?? "", "metadata": inner["metadata"] ?? [:],
      "pay_theory_data": inner["pay_theory_data"] ?? [:],
      "payor_info": inner["payor_info"] ?? [:], "payment_intent_id": .string(id),
    ]
    if isCard { body["first_six"] = intent["first_six"] }
    body["payor_id"] = intent["payor_id"]
    return body
  }

  private func part2(_ inner: JSONObject, _ now: Int) throws(Fault) -> Result {
    guard let prepared = inner["payment_prep"]?.object,
      let id = prepared.text("payment_intent_id"), var intent = try ledger.find("intent", id),
      intent.text("merchant") == merchant, intent["receipt"] == prepared["idempotency"]
    else { return .failure("Unknown payment intent") }
    switch intent.text("state") {
    case "pending": break
    case "cancelled": return .failure("Payment intent was cancelled")
    default: return .failure("Payment intent was already transferred")
    }
    guard prepared["amount"]?.boundedNumber == intent["amount"]?.boundedNumber else {
      return .failure("Amount does not match the payment intent")
    }
    intent["state"] = "transferred"
    try ledger.put("intent", id, intent)
    return .sealed(type: "transfer_complete", body: try capture(intent, id, now))
  }

  /// Section 4.5; the shape of its answer is not documented, so this one is free.
  private func cancel(_ inner: JSONObject) throws(Fault) -> Result {
    guard let id = inner.text("payment_intent_id"), var intent = try ledger.find("intent", id),
      intent.text("merchant") == merchant
    else { return .failure("Unknown payment intent") }
    guard intent.text("state") == "pending" || intent.text("state") == "cancelled" else {
      return .failure("Payment intent was already transferred")
    }
    intent["state"] = "cancelled"
    try ledger.put("intent", id, intent)
    return .plain(type: "cancel", body: ["payment_intent_id": .string(id)])
  }

  private func tokenize(_ inner: JSONObject, _ now: Int) throws(Fault) -> Result {
    if let problem = try spend(inner, now) { return .failure(problem) }
    guard let method = inner["payment_method_data"]?.object else {
      return .failure("Missing payment details")
    }
    if let problem = PayTheoryChecks.method(method, now: now) { return .failure(problem) }
    let intent = PayTheoryChecks.intent(inner, method)
    let id = try storeMethod(intent, payor: payor(intent))
    let stored = try ledger.find("method", id) ?? [:]
    return .sealed(
      type: "tokenize_complete",
      body: [
        "payment_method_id": .string(id), "payor_id": stored["payor_id"] ?? "",
        "last_four": stored["last_four"] ?? "", "first_six": intent["first_six"] ?? .null,
        "brand": stored["brand"] ?? "", "card_brand": stored["brand"] ?? "",
        "expiration": stored["exp_date"] ?? "", "exp_date": stored["exp_date"] ?? "",
        "payment_type": method["type"] ?? "", "metadata": inner["metadata"] ?? [:],
      ]
    )
  }

  private func barcode(_ inner: JSONObject, _ now: Int) throws(Fault) -> Result {
    if let problem = try spend(inner, now) { return .failure(problem) }
    guard let payment = inner["payment"]?.object,
      let amount = payment["amount"]?.boundedNumber, amount > 0,
      let payor = payment.text("payor") ?? payment.text("buyer"), !payor.isEmpty,
      let contact = payment.text("payor_contact") ?? payment.text("buyer_contact"),
      !contact.isEmpty
    else { return .failure("Missing payment details") }
    let id = world.randomness.uuid().lowercased() + "@" + key.partner
    let number = world.randomness.text(20, from: "0123456789")
    let url = "https://\(key.partner).\(key.stage).ptbar.codes/" + code(6).uppercased()
    try ledger.put("barcode", id, ["amount": .integer(amount)])
    return .sealed(
      type: "barcode_complete",
      body: [
        "BarcodeUid": .string(id), "Merchant": .string(PayTheoryCatalog.merchantUID),
        "barcode": .string(number), "barcodeFee": "2.0", "barcodeUrl": .string(url),
      ]
    )
  }

  /// Charges an intent and gives the body of `transfer_complete` (section 4.6).
  private func capture(_ intent: JSONObject, _ id: String, _ now: Int) throws(Fault) -> JSONObject {
    let transactions = PayTheoryTransactions(world: world, ledger: ledger)
    let payor = payor(intent)
    let method = try storeMethod(intent, payor: payor)
    let transaction = try transactions.charge(intent, payor: payor, method: method, now: now)
    var body: JSONObject = [
      "state": "SUCCEEDED", "receipt_number": intent["receipt"] ?? "",
      "amount": intent["amount"] ?? 0, "service_fee": intent["fee"] ?? 0,
      "brand": intent["brand"] ?? "", "last_four": intent["last_four"] ?? "", "currency": "USD",
      "created_at": .string(Timestamp.preciseText(now)), "metadata": intent["metadata"] ?? [:],
      "payor_id": .string(payor), "payment_method_id": .string(method),
    ]
    if let code = transaction.text("failure_code") {
      body["state"] = "FAILURE"
      body["type"] = .string(code)
      body["card_brand"] = intent["brand"]
      body["status"] = [
        "result": "FAILED",
        "reason": [
          "error_code": .string(code), "error_text": .string(PayTheoryCatalog.sentence(code)),
        ],
      ]
    } else if transaction["settles_at"] != nil {
      body["state"] = "PENDING"
    }
    return body
  }

  private func payor(_ intent: JSONObject) -> String {
    intent.text("payor_id").flatMap { $0.isEmpty ? nil : $0 } ?? "pt_pay_" + code(16)
  }

  private func storeMethod(_ intent: JSONObject, payor: String) throws(Fault) -> String {
    let id = "pt_pmt_" + code(16)
    try ledger.put(
      "method",
      id,
      [
        "payment_method_id": .string(id), "payor_id": .string(payor),
        "last_four": intent["last_four"] ?? "", "brand": intent["brand"] ?? "",
        "exp_date": intent["expiration"] ?? "", "payment_type": intent["method"] ?? "",
      ]
    )
    return id
  }

  private func code(_ count: Int) -> String {
    world.randomness.text(count, from: Self.alphabet)
  }
}
