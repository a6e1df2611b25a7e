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
    /// The settlement of a refund.
    var batch: Int?

    mutating func exchange(_ book: inout BookedMembers) {
      book.needed("amount", &amount)
      book.member("replacement", &replacement)
      book.member("refund", &refund)
      book.member("at", &at)
      book.member("batch", &batch)
    }
  }

  static let kind = "payment"

  var receipt = ""
  var terms = BookedTerms()
  var method = BookedMethod()
  /// The times of the charge and of the last change, in milliseconds since 1970.
  var at = 0
  var updated = 0
  /// The reason of its failure; nil if it did not fail.
  var failure: String?
  /// Whether it is authorized and not captured.
  var isPending = false
  var returned: BookedReturn?
  var dispute: BookedDispute.Status?
  /// Its settlement; nil before.
  var batch: Int?
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
    book.member("updated", &updated)
    book.member("pending", &isPending)
    book.member("returned", &returned)
    book.member("dispute", &dispute)
    book.member("batch", &batch)
    book.member("authorization", &authorization)
    book.member("operations", &operations)
  }

  /// The amount taken from the payer, in cents.
  var charged: Int { failure == nil ? terms.amount : 0 }

  var voided: Int { operations.filter { $0.refund == nil }.reduce(0) { $0 + $1.amount } }
  var refunded: Int { operations.filter { $0.refund != nil }.reduce(0) { $0 + $1.amount } }

  /// The amount that can still be voided or refunded, in cents.
  var left: Int { charged - voided - refunded }

  /// The payment as an entry for a person to read.
  var shown: JSONObject {
    let row = rows.last { $0.type == .debit || $0.type == .failure }
    var entry = terms.shown("payment", receipt, row?.status.rawValue ?? "")
    entry["captured"] = .integer(charged)
    entry["returned"] = .integer(voided + refunded + (returned?.amount ?? 0))
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

  /// The id of the transaction that can be refunded now.
  var current: String { operations.compactMap(\.replacement).last ?? receipt }

  /// The transactions of the payment, oldest first.
  var rows: [BookedRow] {
    var done: [BookedRow] = []
    var later: [BookedRow] = []
    var row = BookedRow(self, id: receipt, gross: terms.amount)
    for operation in operations {
      if let id = operation.refund {
        row.refunded += operation.amount
        var refund = BookedRow(self, id: id, gross: operation.amount, parent: row.id)
        (refund.type, refund.status, refund.at) = (.reversal, .pending, operation.at ?? at)
        later.append(refund.settled(in: operation.batch))
      } else {
        row.status = .voided
        done.append(row)
        guard let replacement = operation.replacement else { return done + later }
        row = BookedRow(self, id: replacement, gross: row.gross - operation.amount, parent: row.id)
      }
    }
    if let returned {
      var back = BookedRow(self, id: returned.id, gross: returned.amount, parent: row.id)
      (back.type, back.at) = (.achReturn, returned.at)
      later.append(back.settled(in: returned.batch))
    }
    row = row.settled(in: batch)
    row.updated = max(row.at, updated)
    row.status = status(of: row)
    return done + [row] + later
  }

  private func status(of row: BookedRow) -> BookedRow.Status {
    if failure != nil { return .failed }
    if isPending { return .pending }
    if returned != nil { return .returned }
    guard row.refunded > 0 else { return row.status }
    return row.refunded < row.gross ? .partiallyRefunded : .refunded
  }
}

/// The return of an ACH payment by the payer's bank.
struct BookedReturn: BookedPart, Equatable {
  var id = ""
  /// The published `AchReturnCode`.
  var code = "R01"
  /// In cents.
  var amount = 0
  /// Milliseconds since 1970.
  var at = 0
  var batch: Int?

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("code", &code)
    book.needed("amount", &amount)
    book.needed("at", &at)
    book.member("batch", &batch)
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
    case settled = "SETTLED"
  }

  enum Kind: String {
    case debit = "DEBIT"
    case failure = "FAILURE"
    case reversal = "REVERSAL"
    case achReturn = "ACH_RETURN"
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
  /// The time of the last change; nil for none since.
  var updated: Int?
  private var batch: Int?

  init(_ payment: BookedPayment, id: String, gross: Int, parent: String? = nil) {
    self.payment = payment
    self.id = id
    self.gross = gross
    self.parent = parent
    type = payment.failure == nil ? .debit : .failure
    at = payment.at
  }

  /// Returns it with its settlement.
  func settled(in batch: Int?) -> BookedRow {
    guard let batch else { return self }
    var row = self
    (row.batch, row.status) = (batch, .settled)
    return row
  }

  /// The fees in cents. A refund or return returns none.
  var fees: Int {
    guard type == .debit || type == .failure else { return 0 }
    return payment.terms.fee(of: gross, isACH: payment.method.type == .ach)
  }

  private var returnDetails: JSON? {
    guard status == .returned || type == .achReturn, let code = payment.returned?.code else {
      return nil
    }
    let words = code == "R01" ? "Insufficient funds" : nil
    return [
      "return_code": code.json, "return_details": words?.json, "transfer_type": "DEBIT",
    ]
  }

  var graphQL: JSONObject {
    [
      "transaction_id": id.json, "status": status.rawValue.json,
      "transaction_type": type.rawValue.json, "transaction_date": Timestamp.preciseText(at).json,
      "gross_amount": gross.json, "net_amount": (gross - fees).json, "fees": fees.json,
      "fee_mode": payment.terms.feeMode.json, "currency": "USD",
      "reference": payment.terms.reference.json, "account_code": payment.terms.accountCode.json,
      "refunded_amount": refunded.json, "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "is_settled": (batch != nil).json, "settlement_batch": batch?.json,
      "metadata": JSONWriter.text(payment.terms.metadata.json).json,
      "failure_reasons": payment.failure.map { [$0.json] } ?? [],
      "payment_method": payment.method.graphQL.json,
      "updated_row_at": Timestamp.preciseText(updated ?? at).json, "parent_id": parent?.json,
      "authorization_id": payment.authorization?.json, "dispute_status": payment.dispute?.json,
      "ach_return_details": returnDetails,
    ]
  }

  /// Whether nothing has changed but the time of the last change.
  func isSame(as other: BookedRow) -> Bool {
    var (one, two) = (self, other)
    (one.updated, two.updated) = (nil, nil)
    return one.graphQL == two.graphQL
  }

  /// The payload of its event ([Docs 2026] webhook_sample_payloads).
  var published: JSONObject {
    var payload = graphQL
    payload["payment_method"] = payment.method.published.json
    payload["merchant"] = [
      "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "merchant_name": PayTheoryCatalog.merchantName.json,
    ]
    return payload
  }
}
