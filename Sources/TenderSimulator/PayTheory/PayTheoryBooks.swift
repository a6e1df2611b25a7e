import TenderEngine
import TenderModel

/// The simulated provider's books, and its decisions about payments.
struct PayTheoryBooks {
  let parts: SimulatorParts

  var world: SimulatorWorld { parts.world }
  var ledger: Ledger { parts.ledger }

  init(_ parts: SimulatorParts) { self.parts = parts }

  /// The time until a pending payment changes, and until a barcode is paid in its scenario, in milliseconds.
  private static let settling = 5000

  private static let alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

  private var scenario: String? { world.options.scenario }

  func code(_ count: Int) -> String { world.randomness.text(count, from: Self.alphabet) }

  // MARK: Methods

  /// Stores a payment method under a new id; `receipt` is that of the one payment that it came with.
  func store(_ given: BookedMethod, of receipt: String? = nil) throws(Fault) -> BookedMethod {
    var method = given
    method.receipt = receipt
    method.id = "pt_pmt_" + code(16)
    if method.payor.isEmpty {
      method.payor = "pt_pay_" + code(16)
      let payor = method.graphQL["payor"]?.object ?? [:]
      try publish("PAYOR", isNew: true, method.payor, nil, payor)
    }
    try save(method, isNew: true)
    return method
  }

  /// Writes a payment method, and publishes that.
  func save(_ method: BookedMethod, isNew: Bool) throws(Fault) {
    try ledger.put(method)
    try publish("PAYMENT_METHOD", isNew: isNew, method.id, nil, method.published)
  }

  /// Returns an entry of the books, or refuses with a text.
  func known<Thing: Booked>(_ id: String?, or refusal: String) throws(Fault) -> Thing {
    guard let id, let thing = try ledger.find(Thing.self, id) else {
      throw .simulatedRefusal(refusal)
    }
    return thing
  }

  /// Returns a stored method that can be charged.
  func usableMethod(_ id: String?) throws(Fault) -> BookedMethod {
    let method: BookedMethod = try known(id, or: "Payment method not found")
    guard method.isActive else { throw .simulatedRefusal("Payment method is not active") }
    return method
  }

  // MARK: Charges

  /// Charges a stored method. Writes the payment and returns it.
  func charge(
    _ receipt: String,
    _ terms: BookedTerms,
    _ method: BookedMethod,
    capturing authorization: String? = nil
  ) throws(Fault) -> BookedPayment {
    var payment = BookedPayment(receipt: receipt, terms: terms, method: method, at: world.now)
    payment.failure = authorization == nil ? failure(terms, method) : nil
    payment.authorization = authorization
    let capture = payment.failure == nil ? captureTime(method.type) : nil
    payment.isPending = capture != nil
    try save(payment)
    guard payment.failure == nil else { return payment }
    if let capture {
      try plan(.capture, receipt, at: capture)
      let delay = ["returned": 0, "returned:late": PayTheoryCatalog.returnDelay][scenario ?? ""]
      if method.type == .ach, let delay { try plan(.achReturn, receipt, at: capture + delay) }
    } else {
      try settleLater(payment)
    }
    let isTrigger = terms.amount == PayTheoryCatalog.disputedAmount && !terms.isServiceFee
    if method.type == .card, scenario == "dispute" || isTrigger {
      _ = try dispute(receipt, "FRAUD")
      payment.dispute = .inquiry
    }
    return payment
  }

  /// The time at which a charge is captured; nil for at once.
  ///
  /// The hours of the scenario are the documented ones ([Docs 2026] understanding_transaction_statuses).
  private func captureTime(_ type: BookedMethod.Kind) -> Int? {
    switch type {
    case .cash: nil
    case _ where scenario == "capture:evening":
      NewYork.next(type == .ach ? 19 : 21, after: world.now)
    case .card where scenario != "pending": nil
    default: world.now + Self.settling
    }
  }

  /// The reason why a charge fails; nil if it does not. The scenario counts first, then the documented
  /// amounts and accounts.
  private func failure(_ terms: BookedTerms, _ method: BookedMethod) -> String? {
    if scenario == "approve" { return nil }
    if let scenario, scenario.hasPrefix("decline:") { return scenario.dropFirst(8).uppercased() }
    switch method.type {
    case .ach: return method.fails ? "INVALID_BANK_ACCOUNT_NUMBER" : nil
    case .card:
      if terms.isServiceFee { return nil }
      return PayTheoryCatalog.declines.first { $0.amount == terms.amount }?.code
    case .cash: return nil
    }
  }

  /// Writes a payment. Each of its transactions that is new or has changed is published.
  func save(_ given: BookedPayment) throws(Fault) {
    var payment = given
    let before = try ledger.find(BookedPayment.self, payment.receipt)
    payment.updated = before == nil ? payment.at : world.now
    try ledger.put(payment)
    let known = before?.rows ?? []
    for row in payment.rows {
      let old = known.first { $0.id == row.id }
      if old == nil {
        try ledger.put("transaction", row.id, ["payment": .string(payment.receipt)])
      }
      guard old.map({ !$0.isSame(as: row) }) ?? true else { continue }
      let reference = payment.terms.reference
      try publish("TRANSACTION", isNew: old == nil, row.id, reference, row.published)
    }
  }

  func payment(of id: String) throws(Fault) -> BookedPayment? {
    guard let receipt = try ledger.find("transaction", id)?.text("payment") else { return nil }
    return try ledger.find(BookedPayment.self, receipt)
  }

  /// The transactions of payments, oldest first: all, or those of a reference.
  func rows(reference: String? = nil) throws(Fault) -> [BookedRow] {
    let rows = try ledger.list(BookedPayment.self, reference: reference).flatMap(\.rows)
    return rows.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
      .map(\.element)
  }

  /// The transactions with an id, or with a parent.
  func rows(id: String) throws(Fault) -> [BookedRow] {
    try payment(of: id)?.rows.filter { $0.id == id } ?? []
  }

  func rows(parent: String) throws(Fault) -> [BookedRow] {
    try payment(of: parent)?.rows.filter { $0.parent == parent } ?? []
  }

  // MARK: Reversals

  /// The result of a reversal. A void of the whole rest has no transaction.
  struct Reversal {
    var isVoid: Bool
    var transaction: String?
  }

  /// Voids a pending payment, or refunds another. `amount` is in cents.
  func reverse(_ id: String, amount: Int) throws(Fault) -> Reversal {
    guard var payment = try payment(of: id), payment.current == id else {
      throw .simulatedRefusal("Transaction not found, or it cannot be reversed")
    }
    guard payment.failure == nil, payment.returned == nil else {
      throw .simulatedRefusal("Transaction cannot be reversed")
    }
    guard amount > 0, amount <= payment.left else {
      throw .simulatedRefusal("Amount exceeds what is left")
    }
    if payment.isPending {
      let replacement = amount < payment.left ? receipt() : nil
      payment.operations.append(.init(amount: amount, replacement: replacement))
      try save(payment)
      return Reversal(isVoid: true, transaction: replacement)
    }
    let number = payment.rows.count { $0.type == .reversal && $0.parent == id }
    let refund = "\(id):R\(number + 1)"
    payment.operations.append(.init(amount: amount, refund: refund, at: world.now))
    try save(payment)
    try add(.reversal, refund, payment.receipt, amount)
    return Reversal(isVoid: false, transaction: refund)
  }

  /// Returns a new receipt number of the simulated merchant.
  func receipt(_ partner: String = "tender", _ stage: String = "paytheorylab") -> String {
    "pt-\(partner)-\(stage)-" + code(12)
  }

  // MARK: Authorizations

  func authorize(
    _ terms: BookedTerms,
    _ method: BookedMethod
  ) throws(Fault) -> BookedAuthorization {
    let failure = failure(terms, method)
    let isOver = scenario == "hold:expired"
    let authorization = BookedAuthorization(
      id: "pt-auth-" + code(12),
      state: failure == nil ? .succeeded : .failed,
      terms: terms,
      method: method,
      at: world.now,
      expiresAt: world.now + (isOver ? 0 : PayTheoryCatalog.authorizationLife),
      failure: failure
    )
    try save(authorization, isNew: true)
    return authorization
  }

  /// Writes an authorization, and publishes that.
  private func save(_ authorization: BookedAuthorization, isNew: Bool) throws(Fault) {
    try ledger.put(authorization)
    var payload = authorization.graphQL
    payload["payment_method"] = authorization.method.published.json
    let reference = authorization.terms.reference
    try publish("AUTHORIZATION", isNew: isNew, authorization.id, reference, payload)
  }

  /// Captures an authorization once. `amount` excludes the fee.
  func capture(
    _ id: String,
    amount: Int,
    fee: Int?,
    mayExceed: Bool,
    mayRenew: Bool
  ) throws(Fault) -> BookedPayment {
    var authorization: BookedAuthorization = try known(id, or: "Authorization not found")
    var terms = authorization.terms
    let isWhole = amount == terms.amount - (terms.isServiceFee ? terms.fee : 0)
    guard authorization.state == .succeeded, authorization.capture == nil,
      authorization.expiresAt > world.now || mayRenew
    else {
      throw .simulatedRefusal("AUTHORIZATION_EXPIRED_OR_ALREADY_CAPTURED")
    }
    guard amount > 0, amount + (fee ?? 0) <= terms.amount || mayExceed else {
      throw .simulatedRefusal("Amount exceeds the authorization")
    }
    if terms.isServiceFee {
      let isACH = authorization.method.type == .ach
      guard fee == (isWhole ? terms.fee : PayTheoryCatalog.fee(amount: amount, isACH: isACH)) else {
        throw .simulatedRefusal("Fee does not match")
      }
    }
    terms.fee = terms.fee(of: amount + (fee ?? 0), isACH: authorization.method.type == .ach)
    if terms.isServiceFee { terms.fee = fee ?? 0 }
    terms.amount = amount + (terms.isServiceFee ? terms.fee : 0)
    let payment = try charge(receipt(), terms, authorization.method, capturing: id)
    authorization.capture = payment.receipt
    authorization.captured = terms.amount
    try save(authorization, isNew: false)
    return payment
  }

  /// Releases an authorization before its capture.
  func release(_ id: String) throws(Fault) {
    var authorization: BookedAuthorization = try known(id, or: "Authorization not found")
    guard authorization.state == .succeeded, authorization.capture == nil else {
      throw .simulatedRefusal("Authorization cannot be voided")
    }
    authorization.state = .canceled
    try save(authorization, isNew: false)
  }

  // MARK: Barcodes

  static let day = 24 * 60 * 60_000

  func makeBarcode(
    _ amount: Int,
    reference: String,
    name: String,
    contact: String,
    key: SimulatedKey
  ) throws(Fault) -> BookedBarcode {
    let isOver = scenario == "barcode:expired"
    let barcode = BookedBarcode(
      id: world.randomness.uuid().lowercased() + "@" + key.partner,
      amount: amount,
      url: "https://\(key.partner).\(key.stage).ptbar.codes/" + code(6).uppercased(),
      reference: reference,
      name: name,
      contact: contact,
      lastDay: world.now + (isOver ? -3 * Self.day : PayTheoryCatalog.barcodeLife)
    )
    try ledger.put(barcode)
    if scenario == "barcode:paid" {
      try plan(.barcodePaid, barcode.id, at: world.now + Self.settling)
    }
    return barcode
  }

  /// Pays a barcode in a shop, once.
  func pay(barcode id: String, amount: Int) throws(Fault) {
    let barcode: BookedBarcode = try known(id, or: "Barcode not found")
    guard barcode.payment == nil, barcode.amount == amount,
      barcode.lastDay + Self.day > world.now
    else { throw .simulatedRefusal("Barcode cannot be paid with that amount, or any more") }
    try pay(barcode)
  }

  func pay(_ barcode: BookedBarcode) throws(Fault) {
    var barcode = barcode
    var method = BookedMethod()
    method.type = .cash
    method.barcode = barcode.id
    method.payorName = barcode.name
    let terms = BookedTerms(amount: barcode.amount, reference: barcode.reference)
    let receipt = receipt()
    barcode.payment = try charge(receipt, terms, try store(method, of: receipt)).receipt
    try ledger.put(barcode)
  }
}

extension Fault {
  /// A refusal by the simulated provider, with a text of the simulator.
  ///
  /// It never leaves the simulator. So its code, which is the text itself, has no page.
  static func simulatedRefusal(_ text: String) -> Fault { Fault(.declined, code: text, text) }

  /// Returns the result of `body`, or the provider's refusal. Faults of the ledger are thrown.
  static func refusable<Value>(
    _ body: () throws(Fault) -> Value
  ) throws(Fault) -> Result<Value, Fault> {
    do throws(Fault) {
      return .success(try body())
    } catch {
      guard error.kind == .declined else { throw error }
      return .failure(error)
    }
  }
}
