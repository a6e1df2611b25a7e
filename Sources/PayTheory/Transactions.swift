import TenderEngine
import TenderModel

/// A transaction of the GraphQL interface as an outcome (README, 7).
enum Transactions {
  /// The outcome of a charge, in the shape that it has over the socket.
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
    }
    outcome.currency = currency(transaction)
    outcome.providerStatus = transaction.text("status")
    return outcome
  }

  /// The statuses that can be searched for, in our words.
  static let statuses: KeyValuePairs<String, Status> = [
    "PENDING": .pending, "SUCCEEDED": .succeeded, "SETTLED": .succeeded, "FAILED": .declined,
    "VOIDED": .cancelled, "REFUNDED": .refunded, "PARTIALLY_REFUNDED": .partiallyRefunded,
    "RETURNED": .returned,
  ]

  /// Our word for a status; `PENDING` for one that is new to us, since it is not known to be final.
  static func status(_ transaction: JSONObject) -> Status {
    switch transaction.text("status")?.uppercased() {
    case "SUCCESS": .succeeded
    case "FAILURE": .declined
    case let word: statuses.first { $0.key == word }?.value ?? .pending
    }
  }

  /// Whether the payer pays the fee.
  static func hasServiceFee(_ answer: JSONObject) -> Bool {
    answer.text("fee_mode")?.uppercased() == "SERVICE_FEE"
  }

  static func id(_ transaction: JSONObject) -> String { transaction.text("transaction_id") ?? "" }

  static func gross(_ transaction: JSONObject) -> Int? {
    transaction["gross_amount"]?.boundedNumber
  }

  static func currency(_ answer: JSONObject) -> Currency? {
    answer.text("currency").flatMap(Currency.init(code:))
  }

  /// Whether it is a payment, not a refund or a return.
  static func isPayment(_ transaction: JSONObject) -> Bool {
    !["REVERSAL", "ACH_RETURN"].contains(transaction.text("transaction_type"))
      && !id(transaction).contains(":")
  }

  /// Whether it was accepted and not voided since.
  static func isLive(_ transaction: JSONObject) -> Bool {
    let state = transaction.text("status") ?? ""
    return Replies.isState(ofNew: state) || state.uppercased() == "PARTIALLY_REFUNDED"
  }

  /// How much of it was refunded; null is nothing.
  ///
  /// Throws `provider_error` where it does not say: what is not said is not nothing.
  static func refunded(_ transaction: JSONObject) throws(Fault) -> Int {
    if transaction["refunded_amount"] == .null { return 0 }
    guard let amount = transaction["refunded_amount"]?.boundedNumber else {
      throw .unreadable("a payment that does not say how much of it was refunded")
    }
    return amount
  }

  private static func brand(_ method: JSON?) -> JSON {
    if method?["payment_type"]?.text == "ACH" { return "ACH" }
    return (method?["card_brand"]).orEmpty
  }
}

/// A payment as Pay Theory has it.
///
/// A void of a part voids the transaction and puts another one, for what is left, in its place.
struct FoundPayment {
  /// The transaction that it began with.
  var first: JSONObject
  /// The one that takes refunds now.
  var now: JSONObject

  /// A payment that was never replaced.
  init(_ transaction: JSONObject) {
    (first, now) = (transaction, transaction)
  }

  /// How much was voided in parts, in minor units.
  var voidedInParts: Int {
    max(0, (Transactions.gross(first) ?? 0) - (Transactions.gross(now) ?? 0))
  }

  /// Whether a part of it was voided.
  var isReplaced: Bool { Transactions.isPayment(now) && now.text("parent_id")?.isEmpty == false }

  var status: Status {
    switch Transactions.status(now) {
    case .cancelled where isReplaced: .refunded
    case .pending where isReplaced, .succeeded where isReplaced: .partiallyRefunded
    case let status: status
    }
  }

  /// What a look-up shows: the payment as a whole, beside the transaction as it is documented, nulls left out.
  var lookedUp: Outcome {
    let transaction = TransactionFields.shape.filtered(now)
    // Its own words are of the whole payment, as the command printed it that made it.
    var words = first
    words["status"] = now["status"]
    var outcome = Transactions.payment(words)
    outcome.status = status
    outcome.isProcessing = Transactions.status(now) == .pending
    outcome.id = Transactions.id(now)
    outcome.amount = Transactions.gross(first)
    outcome.refundedAmount = refunded
    outcome.lastFour = transaction["payment_method"]?["last_four"]?.text
    outcome.brand = transaction["payment_method"]?["card_brand"]?.text
    outcome.reference = transaction.text("reference").map(Reference.init(stored:))
    outcome.madeAt = first.text("transaction_date").flatMap { Timestamp.read($0) }
    outcome.shown = ["transaction": .object(transaction.withoutNulls)]
    return outcome
  }

  /// All that was refunded or voided of it; nil where it does not say.
  private var refunded: Int? {
    guard let whole = Transactions.gross(first), let left = Transactions.gross(now) else {
      return nil
    }
    if Transactions.status(now) == .cancelled { return isReplaced ? whole : nil }
    guard let own = try? Transactions.refunded(now) else { return nil }
    return max(0, whole - left) + own
  }
}

/// An authorization of the GraphQL interface as an outcome.
enum Authorizations {
  /// A hold by a stored method, in the shape of `PT_CONFIRMATION`.
  ///
  /// `amount` is what the payer pays with the fee, where that is known.
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

  /// What a look-up shows of one that was not captured.
  static func lookedUp(_ authorization: JSONObject, at now: Int) -> Outcome {
    var outcome = held(authorization)
    if isOver(authorization, at: now) {
      outcome.status = isReleased(authorization) ? .cancelled : .expired
    }
    outcome.providerStatus = authorization.text("status")
    outcome.reference = authorization.text("reference").map(Reference.init(stored:))
    outcome.madeAt = authorization.text("authorization_date").flatMap { Timestamp.read($0) }
    let shown = TransactionFields.shape.filtered(authorization).withoutNulls
    outcome.shown = ["authorization": .object(shown)]
    return outcome
  }

  /// Whether it was released: both spellings are in public documents.
  static func isReleased(_ authorization: JSONObject) -> Bool {
    ["CANCELED", "CANCELLED"].contains(authorization.text("status")?.uppercased())
  }

  /// Whether it can no longer be captured: it was released, or has expired.
  static func isOver(_ authorization: JSONObject, at now: Int) -> Bool {
    if isReleased(authorization) { return true }
    guard let end = authorization.text("expiration_date").flatMap({ Timestamp.read($0) }) else {
      return false
    }
    return end <= now
  }
}

/// A cash barcode of the GraphQL interface as an outcome.
enum Barcodes {
  /// Whether an id is a barcode's: a transaction's has no `@`.
  static func isID(_ id: String) -> Bool { id.contains("@") }

  /// What a look-up shows of one that is not paid.
  static func lookedUp(_ barcode: JSONObject, at now: Int) -> Outcome {
    let url = barcode["barcode_url"].as(.text(8192))
    let isOver = isExpired(barcode, at: now)
    var outcome = Outcome(
      status: isOver ? .expired : .requiresAction,
      id: barcode.text("barcode_id"),
      amount: barcode["amount"]?.boundedNumber,
      result: [
        "type": "PT_BARCODE",
        "body": [
          "BarcodeUid": barcode["barcode_id"].as(.word),
          "Merchant": barcode["merchant_uid"].as(.word),
          "barcode": "", "barcodeFee": barcode["fees"].asText, "barcodeUrl": url,
          "mapUrl": .string(Replies.shopMap),
        ],
      ],
      nextAction: isOver ? nil : PayerAction("barcode", ["url": url]),
      fault: isOver ? .barcodeExpired : nil
    )
    outcome.reference = barcode.text("reference").map(Reference.init(stored:))
    let shown = TransactionFields.shape.filtered(barcode).withoutNulls
    outcome.shown = ["barcode": .object(shown)]
    return outcome
  }

  /// Whether its last day is over, wherever in the world the shop is.
  private static func isExpired(_ barcode: JSONObject, at now: Int) -> Bool {
    guard let day = barcode.text("expiration_date").flatMap({ Timestamp.read($0) }) else {
      return false
    }
    return day + 36 * 60 * 60_000 <= now
  }
}

/// The fields of a `Transaction` that are asked for (published schema of 2026).
enum TransactionFields {
  /// For a look-up: everything that support asks about.
  static let all = [
    "transaction_id", "status", "transaction_type", "transaction_date", "gross_amount",
    "net_amount", "fees", "fee_mode", "currency", "reference", "account_code", "parent_id",
    "refunded_amount", "refund_voidable", "refund_reason { reason_code reason_details }",
    "dispute_status", "failure_reasons", "is_settled",
    "ach_return_details { return_code return_details transfer_type }", "authorization_id",
    "avs_status", "metadata", paidMethod, "updated_row_at",
  ]

  /// For a search: who paid as well.
  static let ofSearch =
    all.filter { $0 != paidMethod } + [
      """
      payment_method { payment_method_id payment_type card_brand last_four exp_date barcode_id \
      payor { payor_id full_name email phone } }
      """
    ]

  /// For a charge: what its result is made of, and nothing that a schema of before 2026 lacks, since
  /// a charge is never asked for twice.
  static let ofCharge = [
    "transaction_id", "status", "transaction_date", "gross_amount", "fees", "fee_mode", "currency",
    "reference", "failure_reasons", "metadata", method,
  ]

  /// For an authorization, which is not asked for twice either.
  static let ofAuthorization = [
    "authorization_id", "status", "authorization_date", "expiration_date", "amount", "fees",
    "fee_mode", "currency", "reference", "failure_reasons", method,
  ]

  /// For a look at an authorization: whether it was captured.
  static let ofLookedUpAuthorization = ofAuthorization + ["captured_amount", "transaction_id"]

  /// Their types in the published schema of 2026, and what is shown of an answer.
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

  /// Without these a transaction says nothing.
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

  /// The name of a field without its selection.
  static func name(_ field: String) -> String { String(field.prefix { $0 != " " }) }
}
