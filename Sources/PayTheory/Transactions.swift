import TenderEngine
import TenderModel

/// A GraphQL transaction as an outcome (README, 7).
enum Transactions {
  /// Returns the outcome of a charge, in the same shape as over the socket.
  static func payment(_ transaction: JSONObject) -> Outcome {
    let method = transaction["payment_method"]
    var body: JSONObject = [
      "receipt_number": transaction["transaction_id"].orEmpty,
      "last_four": (method?["last_four"]).orEmpty,
      "created_at": transaction["transaction_date"].orEmpty,
      "amount": transaction["gross_amount"] ?? 0,
      "state": transaction["status"].orEmpty,
      "metadata": transaction["metadata"].orEmptyObject,
      "payor_id": (method?["payor"]?["payor_id"]).orEmpty,
      "payment_method_id": (method?["payment_method_id"]).orEmpty,
      "brand": brand(method),
    ]
    var outcome: Outcome
    if status(transaction) == .declined {
      body["state"] = "FAILURE"
      let reasons = transaction["failure_reasons"]?.array?.compactMap(\.text) ?? []
      body["type"] = .string(reasons.first ?? "")
      outcome = Replies.declined(body)
    } else {
      body["service_fee"] = hasServiceFee(transaction) ? transaction["fees"] ?? 0 : 0
      outcome = Replies.complete(body, hasServiceFee: true)
      outcome.status = status(transaction)
      outcome.isVoided = outcome.status == .cancelled
    }
    outcome.currency = currency(transaction)
    outcome.providerStatus = transaction.text("status")
    outcome.dispute = transaction.text(Operation.dispute)
    return outcome
  }

  /// The provider's statuses that can be searched for, with ours.
  static let statuses: KeyValuePairs<String, Status> = [
    "PENDING": .pending, "SUCCEEDED": .succeeded, "SETTLED": .succeeded, "FAILED": .declined,
    "VOIDED": .cancelled, "REFUNDED": .refunded, "PARTIALLY_REFUNDED": .partiallyRefunded,
    "RETURNED": .returned,
  ]

  /// Returns our status. An unknown status counts as `PENDING`, because it may not be final.
  static func status(_ transaction: JSONObject) -> Status {
    switch transaction.text("status")?.uppercased() {
    case "SUCCESS": .succeeded
    case "FAILURE": .declined
    case let word: statuses.first { $0.key == word }?.value ?? .pending
    }
  }

  /// Returns whether the status of a transaction or authorization is documented. Any other decides nothing.
  static func isKnown(_ answer: JSONObject) -> Bool {
    if answer["authorization_date"] != nil, Authorizations.isReleased(answer) { return true }
    let word = answer.text("status")?.uppercased() ?? ""
    return ["SUCCESS", "FAILURE"].contains(word) || statuses.contains { $0.key == word }
  }

  /// Returns whether the payer pays the fee.
  static func hasServiceFee(_ answer: JSONObject) -> Bool {
    answer.text("fee_mode")?.uppercased() == "SERVICE_FEE"
  }

  static func id(_ transaction: JSONObject) -> String { transaction.text("transaction_id") ?? "" }

  /// Returns the id of the barcode that a transaction paid; nil without one.
  static func barcode(_ transaction: JSONObject) -> String? {
    transaction["payment_method"]?["barcode_id"]?.text.flatMap { $0.isEmpty ? nil : $0 }
  }

  static func gross(_ transaction: JSONObject) -> Int? {
    transaction["gross_amount"]?.boundedNumber
  }

  /// Returns the time of creation, in milliseconds since 1970; nil without a readable one.
  static func madeAt(_ transaction: JSONObject) -> Int? {
    transaction.text("transaction_date").flatMap { Timestamp.read($0) }
  }

  /// Returns the charges in a list, without replacements, refunds and returns.
  static func charges(_ list: [JSONObject]) -> [Outcome.Seen] {
    list.compactMap { item in
      guard isPayment(item), isKnown(item), !id(item).isEmpty,
        item.text("parent_id")?.isEmpty ?? true,
        let amount = gross(item), let state = payment(item).state
      else { return nil }
      let shown: JSON = .object(TransactionFields.shape.filtered(item).withoutNulls)
      var charge = Outcome.Seen(
        id: id(item),
        state: state,
        amount: amount,
        result: ["transaction": shown]
      )
      (charge.currency, charge.madeAt) = (currency(item), madeAt(item))
      charge.refunded = (try? refunded(item)) ?? 0
      charge.otherID = barcode(item)
      return charge
    }
  }

  static func currency(_ answer: JSONObject) -> Currency? {
    answer.text("currency").flatMap { Currency(code: $0.uppercased()) }
  }

  /// Returns whether it is a payment, and not a refund or a return.
  static func isPayment(_ transaction: JSONObject) -> Bool {
    !["REVERSAL", "ACH_RETURN"].contains(transaction.text("transaction_type"))
      && !id(transaction).contains(":")
  }

  /// Returns whether it is a refund. The bank's return of a debit is none, and the debit itself says RETURNED.
  static func isReversal(_ transaction: JSONObject) -> Bool {
    !isPayment(transaction) && transaction.text("transaction_type") != "ACH_RETURN"
  }

  /// Returns whether it was accepted and not voided.
  static func isLive(_ transaction: JSONObject) -> Bool {
    let state = transaction.text("status") ?? ""
    return Replies.isState(ofNew: state) || state.uppercased() == "PARTIALLY_REFUNDED"
  }

  /// Returns the refunded amount; null means 0.
  ///
  /// Throws `provider_error` if the member is missing, or is no amount.
  static func refunded(_ transaction: JSONObject) throws(Fault) -> Int {
    let said = transaction["refunded_amount"]
    guard let amount = said == .null ? 0 : said?.boundedNumber, amount >= 0 else {
      throw .unreadable("a payment without its refunded amount")
    }
    // The status can be newer than the sum.
    switch status(transaction) {
    case .refunded where amount == 0: return gross(transaction) ?? 0
    case .partiallyRefunded where amount == 0:
      throw .unreadable("a payment that is refunded in part, without the amount")
    default: return amount
    }
  }

  /// Checks that an answer has all that decides about a refund.
  ///
  /// Throws `provider_error`.
  static func checkWhole(_ found: FoundPayment) throws(Fault) {
    for transaction in found.chain {
      guard isKnown(transaction), let whole = gross(transaction), whole >= 0,
        currency(transaction) != nil
      else { throw .unreadable("a payment without its status, amount or currency") }
    }
    guard isPayment(found.now), ![.declined, .cancelled].contains(status(found.now)) else { return }
    // Such a sum is about another payment, or about another amount of it.
    guard let whole = gross(found.now), try refunded(found.now) <= whole else {
      throw .unreadable("a payment with more refunded than its amount")
    }
  }

  private static func brand(_ method: JSON?) -> JSON {
    if method?["payment_type"]?.text == "ACH" { return "ACH" }
    return (method?["card_brand"]).orEmpty
  }
}

/// A payment at Pay Theory.
///
/// A partial void voids the transaction and creates a replacement for the rest.
struct FoundPayment {
  /// The transactions, each the replacement of the one before.
  var chain: [JSONObject]
  /// The refunds of the last one.
  var reversals: [JSONObject] = []

  /// Creates a payment that was never replaced.
  init(_ transaction: JSONObject) { chain = [transaction] }

  var first: JSONObject { chain.first ?? [:] }

  /// The current transaction, which can be refunded.
  var now: JSONObject { chain.last ?? [:] }

  /// Whether a part was voided.
  var isReplaced: Bool { Transactions.isPayment(now) && now.text("parent_id")?.isEmpty == false }

  var status: Status {
    switch Transactions.status(now) {
    case .cancelled where isReplaced: .refunded
    case .pending where isReplaced, .succeeded where isReplaced: .partiallyRefunded
    case let status: status
    }
  }

  /// The outcome of a look-up: the whole payment, with the documented transaction without nulls.
  var lookedUp: Outcome {
    let transaction = TransactionFields.shape.filtered(now)
    // The members describe the whole payment, as the first command printed it.
    var words = first
    words["status"] = now["status"]
    var outcome = Transactions.payment(words)
    outcome.status = status
    outcome.isProcessing = Transactions.status(now) == .pending
    outcome.id = Transactions.id(now)
    outcome.amount = Transactions.gross(first)
    outcome.refundedAmount = refunded
    outcome.refunds = refunds
    outcome.lastFour = transaction["payment_method"]?["last_four"]?.text
    outcome.brand = transaction["payment_method"]?["card_brand"]?.text
    outcome.reference = transaction.text("reference").map(Reference.init(stored:))
    outcome.madeAt = Transactions.madeAt(first)
    outcome.shown = ["transaction": .object(transaction.withoutNulls)]
    return outcome
  }

  /// The total refunded or voided amount; nil if the answer does not contain it.
  var refunded: Int? {
    guard let whole = Transactions.gross(first), let left = Transactions.gross(now) else {
      return nil
    }
    if Transactions.status(now) == .cancelled { return isReplaced ? whole : nil }
    guard let own = try? Transactions.refunded(now) else { return nil }
    return max(0, whole - left) + own
  }

  /// The voids of parts, and the refunds of the current transaction.
  private var refunds: [Outcome.Seen] {
    let voids = zip(chain, chain.dropFirst()).compactMap { earlier, next in
      seen(
        Transactions.gross(earlier).flatMap { whole in Transactions.gross(next).map { whole - $0 }
        },
        next
      )
    }
    return voids
      + reversals.compactMap { seen(Transactions.gross($0), $0, isVoid: false) }
  }

  private func seen(_ amount: Int?, _ made: JSONObject, isVoid: Bool = true) -> Outcome.Seen? {
    let id = Transactions.id(made)
    guard let amount, amount > 0, !id.isEmpty else { return nil }
    let result = Self.reversal(id, isVoid: isVoid)
    var seen = Outcome.Seen(id: id, state: .succeeded, amount: amount, result: result)
    seen.isVoid = isVoid
    return seen
  }

  /// Returns the result of a refund or void, as `createReversal` answers it. A void of all that was left made no
  /// transaction.
  static func reversal(_ id: String?, isVoid: Bool) -> JSONObject {
    ["reversal": ["is_void": .bool(isVoid), "transaction_id": id?.json]]
  }
}

enum Authorizations {
  /// Returns a hold by a stored method, in the shape of `PT_CONFIRMATION`.
  ///
  /// `amount` is the payer's total including the fee, if it is known.
  static func held(_ authorization: JSONObject, amount: Int? = nil) -> Outcome {
    let method = authorization["payment_method"]
    let id = authorization.text("authorization_id")
    let amount = amount ?? authorization["amount"]?.boundedNumber
    guard authorization.text("status")?.uppercased() != "FAILED" else {
      let reasons = authorization["failure_reasons"]?.array?.compactMap(\.text) ?? []
      return Replies.declined([
        "receipt_number": id.map(JSON.string).orEmpty, "last_four": (method?["last_four"]).orEmpty,
        "brand": (method?["card_brand"]).orEmpty, "state": "FAILURE",
        "type": .string(reasons.first ?? ""),
      ])
    }
    return Outcome(
      status: .requiresConfirmation,
      id: id,
      amount: amount,
      currency: Transactions.currency(authorization),
      lastFour: method?["last_four"]?.text,
      brand: method?["card_brand"]?.text,
      result: [
        "type": "PT_CONFIRMATION",
        "body": [
          "receipt_number": id.map(JSON.string).orEmpty, "amount": .integer(amount ?? 0),
          "service_fee": Transactions.hasServiceFee(authorization) ? authorization["fees"] ?? 0 : 0,
          "brand": (method?["card_brand"]).orEmpty, "first_six": "",
          "last_four": (method?["last_four"]).orEmpty,
        ],
      ]
    )
  }

  static func lookedUp(_ authorization: JSONObject, at now: Int) -> Outcome {
    var outcome = held(authorization)
    if isOver(authorization, at: now) {
      outcome.status = isReleased(authorization) ? .cancelled : .expired
      if outcome.status == .expired { outcome.fault = .holdExpired }
    }
    outcome.providerStatus = authorization.text("status")
    outcome.reference = authorization.text("reference").map(Reference.init(stored:))
    outcome.madeAt = authorization.text("authorization_date").flatMap { Timestamp.read($0) }
    let shown = TransactionFields.shape.filtered(authorization).withoutNulls
    outcome.shown = ["authorization": .object(shown)]
    return outcome
  }

  /// Returns whether it was voided. Public documents have both spellings.
  static func isReleased(_ authorization: JSONObject) -> Bool {
    ["CANCELED", "CANCELLED"].contains(authorization.text("status")?.uppercased())
  }

  /// Returns whether it can no longer be captured, because it was voided or has expired.
  static func isOver(_ authorization: JSONObject, at now: Int) -> Bool {
    if isReleased(authorization) { return true }
    guard let end = authorization.text("expiration_date").flatMap({ Timestamp.read($0) }) else {
      return false
    }
    return end <= now
  }
}

enum Barcodes {
  /// Returns whether an id is a barcode's. Ids of transactions have no `@`.
  static func isID(_ id: String) -> Bool { id.contains("@") }

  static func lookedUp(_ barcode: JSONObject, at now: Int) -> Outcome {
    var outcome = Replies.barcode(barcode, amount: barcode["amount"]?.boundedNumber)
    if isExpired(barcode, at: now) {
      (outcome.status, outcome.nextAction, outcome.fault) = (.expired, nil, .barcodeExpired)
    }
    outcome.reference = barcode.text("reference").map(Reference.init(stored:))
    let shown = TransactionFields.shape.filtered(barcode).withoutNulls
    outcome.shown = ["barcode": .object(shown)]
    return outcome
  }

  /// Returns whether its last day has ended in every time zone.
  private static func isExpired(_ barcode: JSONObject, at now: Int) -> Bool {
    guard let day = barcode.text("expiration_date").flatMap({ Timestamp.read($0) }) else {
      return false
    }
    return day + 36 * 60 * 60_000 <= now
  }
}

/// The requested fields of a `Transaction` (published schema of 2026).
enum TransactionFields {
  /// The fields for a look-up, with everything that support asks for.
  static let all = [
    "transaction_id", "status", "transaction_type", "transaction_date", "gross_amount",
    "net_amount", "fees", "fee_mode", "currency", "reference", "account_code", "parent_id",
    "refunded_amount", "refund_voidable", "refund_reason { reason_code reason_details }",
    "dispute_status", "failure_reasons", "is_settled",
    "ach_return_details { return_code return_details transfer_type }", "authorization_id",
    "avs_status", "metadata", paidMethod, "updated_row_at",
  ]

  /// The fields for a search, with the payer.
  static let ofSearch =
    all.filter { $0 != paidMethod } + [
      """
      payment_method { payment_method_id payment_type card_brand last_four exp_date barcode_id \
      payor { payor_id full_name email phone } }
      """
    ]

  /// The fields for a charge, as its result needs them.
  ///
  /// Schemas before 2026 have all of them, because a charge cannot be sent again with fewer fields.
  static let ofCharge = [
    "transaction_id", "status", "transaction_date", "gross_amount", "fees", "fee_mode", "currency",
    "reference", "failure_reasons", "metadata", method,
  ]

  /// The fields for an authorization, which cannot be sent again either.
  static let ofAuthorization = [
    "authorization_id", "status", "authorization_date", "expiration_date", "amount", "fees",
    "fee_mode", "currency", "reference", "failure_reasons", method,
  ]

  /// The fields for a look at an authorization, which show whether it was captured.
  static let ofLookedUpAuthorization = ofAuthorization + ["captured_amount", "transaction_id"]

  /// The types of the fields in the published schema of 2026. Only these are shown.
  static let shape: Shape = .object([
    "transaction_id": .word, "status": .word, "transaction_type": .word, "transaction_date": .word,
    "gross_amount": .number, "net_amount": .number, "fees": .number, "fee_mode": .word,
    "currency": .word, "reference": .word, "account_code": .word, "parent_id": .word,
    "refunded_amount": .number, "refund_voidable": .truth,
    "refund_reason": .object(["reason_code": .word, "reason_details": .text(4096)]),
    "dispute_status": .word, "failure_reasons": .list(.text(4096)), "is_settled": .truth,
    "ach_return_details": .object([
      "return_code": .word, "return_details": .text(4096), "transfer_type": .word,
    ]),
    "authorization_id": .word, "avs_status": .word, "metadata": .own, "updated_row_at": .word,
    "payment_method": .object([
      "payment_method_id": .word, "payment_type": .word, "card_brand": .word,
      "last_four": .lastFour, "exp_date": .word, "barcode_id": .word,
      "payor": .object(["payor_id": .word]),
    ]),
    "authorization_date": .word, "expiration_date": .word, "amount": .number,
    "captured_amount": .number, "barcode_url": .text(8192), "barcode_id": .word,
    "merchant_uid": .word,
  ])

  /// The fields without which a transaction is useless.
  static let needed: Set<String> = [
    "transaction_id", "status", "gross_amount", "amount", "barcode_id", "fee",
  ]

  private static let method = """
    payment_method { payment_method_id payment_type card_brand last_four exp_date \
    payor { payor_id } }
    """

  private static let paidMethod = """
    payment_method { payment_method_id payment_type card_brand last_four exp_date barcode_id \
    payor { payor_id } }
    """

  /// Returns the name of a field without its selection.
  static func name(_ field: String) -> String { String(field.prefix(before: " ")) }
}
