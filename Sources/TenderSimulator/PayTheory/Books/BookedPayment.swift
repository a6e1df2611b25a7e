import TenderModel

/// A payment in the simulated provider's books: one charge, and its later operations.
struct BookedPayment: Booked {
  /// An operation on the charge: a refund, or a void without an id.
  struct Operation: BookedPart {
    /// In cents.
    var amount = 0
    /// The transaction for the rest after a void; nil without a rest.
    var replacement: String?
    /// The id of a refund, and its time in milliseconds since 1970.
    var refund: String?
    var at: Int?

    mutating func exchange(_ book: inout BookedMembers) {
      book.needed("amount", &amount)
      book.member("replacement", &replacement)
      book.member("refund", &refund)
      book.member("at", &at)
    }
  }

  static let kind = "payment"

  var receipt = ""
  var terms = BookedTerms()
  var method = BookedMethod()
  /// The time of the charge, in milliseconds since 1970. A barcode can be paid later than it was made.
  var at = 0
  /// The reason of its failure; nil if it did not fail.
  var failure: String?
  /// The time at which it is no longer pending, in milliseconds since 1970, and whether it is then returned.
  var settlesAt: Int?
  var isReturned = false
  var isDisputed = false
  var authorization: String?
  var operations: [Operation] = []

  var key: String { receipt }
  var listing: String? { terms.reference }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("receipt", &receipt)
    book.needed("terms", &terms)
    book.needed("method", &method)
    book.needed("at", &at)
    book.member("failure", &failure)
    book.member("settles_at", &settlesAt)
    book.member("returned", &isReturned)
    book.member("disputed", &isDisputed)
    book.member("authorization", &authorization)
    book.member("operations", &operations)
  }

  /// The amount taken from the payer, in cents.
  var charged: Int { failure == nil ? terms.amount : 0 }

  var voided: Int { operations.filter { $0.refund == nil }.reduce(0) { $0 + $1.amount } }
  var refunded: Int { operations.filter { $0.refund != nil }.reduce(0) { $0 + $1.amount } }

  /// The amount that can still be voided or refunded, in cents.
  var left: Int { charged - voided - refunded }

  /// The payment at a time as an entry for a person to read; nil before it is made.
  func shown(at now: Int) -> JSONObject? {
    guard let row = rows(at: now).last(where: { $0.type != .reversal }) else { return nil }
    var entry = terms.shown("payment", receipt, row.status.rawValue)
    entry["captured"] = .integer(charged)
    entry["returned"] = .integer(isReturned(at: now) ? charged : voided + refunded)
    entry["failure"] = failure?.json
    entry["operations"] = .array(
      operations.map { operation in
        let kind = operation.refund == nil ? "void" : "refund"
        let id = operation.refund ?? operation.replacement
        return ["kind": kind.json, "amount": operation.amount.json, "id": id?.json]
      }
    )
    return entry
  }

  func isPending(at now: Int) -> Bool {
    failure == nil && voided < charged && now < settlesAt ?? .min
  }

  func isReturned(at now: Int) -> Bool { isReturned && settlesAt ?? .max <= now }

  /// The id of the transaction that can be refunded now.
  var current: String { operations.compactMap(\.replacement).last ?? receipt }

  /// The transactions of the payment at a time, oldest first.
  func rows(at now: Int) -> [BookedRow] {
    guard at <= now else { return [] }
    var done: [BookedRow] = []
    var refunds: [BookedRow] = []
    var row = BookedRow(self, id: receipt, gross: terms.amount)
    for operation in operations {
      if let id = operation.refund {
        row.refunded += operation.amount
        var refund = BookedRow(self, id: id, gross: operation.amount, parent: row.id)
        (refund.type, refund.status, refund.at) = (.reversal, .pending, operation.at ?? at)
        refunds.append(refund)
      } else {
        row.status = .voided
        done.append(row)
        guard let replacement = operation.replacement else { return done + refunds }
        row = BookedRow(self, id: replacement, gross: row.gross - operation.amount, parent: row.id)
      }
    }
    row.status = status(of: row, at: now)
    return done + [row] + refunds
  }

  private func status(of row: BookedRow, at now: Int) -> BookedRow.Status {
    if failure != nil { return .failed }
    if isPending(at: now) { return .pending }
    if isReturned(at: now) { return .returned }
    guard row.refunded > 0 else { return .succeeded }
    return row.refunded < row.gross ? .partiallyRefunded : .refunded
  }
}

/// A `Transaction` of the published schema.
struct BookedRow {
  enum Status: String {
    case failed = "FAILED"
    case pending = "PENDING"
    case succeeded = "SUCCEEDED"
    case refunded = "REFUNDED"
    case partiallyRefunded = "PARTIALLY_REFUNDED"
    case voided = "VOIDED"
    case returned = "RETURNED"
  }

  enum Kind: String {
    case debit = "DEBIT"
    case failure = "FAILURE"
    case reversal = "REVERSAL"
  }

  let payment: BookedPayment
  let id: String
  var type: Kind
  var status = Status.succeeded
  /// The amount in cents.
  let gross: Int
  let parent: String?
  var refunded = 0
  var at: Int

  init(_ payment: BookedPayment, id: String, gross: Int, parent: String? = nil) {
    self.payment = payment
    self.id = id
    self.gross = gross
    self.parent = parent
    type = payment.failure == nil ? .debit : .failure
    at = payment.at
  }

  /// The fees in cents. A refund returns none.
  var fees: Int {
    guard type != .reversal else { return 0 }
    return payment.terms.fee(of: gross, isACH: payment.method.type == .ach)
  }

  private static let returnDetails: JSONObject = [
    "return_code": "R01", "return_details": "Insufficient funds", "transfer_type": "DEBIT",
  ]

  var graphQL: JSONObject {
    [
      "transaction_id": id.json, "status": status.rawValue.json,
      "transaction_type": type.rawValue.json, "transaction_date": Timestamp.preciseText(at).json,
      "gross_amount": gross.json, "net_amount": (gross - fees).json, "fees": fees.json,
      "fee_mode": payment.terms.feeMode.json, "currency": "USD",
      "reference": payment.terms.reference.json, "account_code": payment.terms.accountCode.json,
      "refunded_amount": refunded.json, "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "is_settled": false, "metadata": JSONWriter.text(payment.terms.metadata.json).json,
      "failure_reasons": payment.failure.map { [$0.json] } ?? [],
      "payment_method": payment.method.graphQL.json,
      "updated_row_at": Timestamp.preciseText(at).json, "parent_id": parent?.json,
      "authorization_id": payment.authorization?.json,
      "dispute_status": payment.isDisputed ? "INQUIRY" : nil,
      "ach_return_details": status == .returned ? Self.returnDetails.json : nil,
    ]
  }
}
