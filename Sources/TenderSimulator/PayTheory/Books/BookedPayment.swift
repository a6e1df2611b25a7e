import TenderModel

/// A payment in the simulated provider's books: one charge, and what was done to it since.
struct BookedPayment {
  /// Something that was done to the charge; amounts in cents.
  enum Operation: Hashable {
    /// `replacement` is the transaction for what is left; nil where nothing is.
    case void(amount: Int, replacement: String?)
    case refund(id: String, amount: Int, at: Int)
  }

  /// How a charge ends that is pending.
  struct Settling: Hashable {
    /// Milliseconds since 1970.
    var at: Int
    var isReturned: Bool
  }

  var receipt: String
  var terms: BookedTerms
  var method: BookedMethod
  /// When it was charged, in milliseconds since 1970; a barcode may be paid later than it was made.
  var at: Int
  /// Why it failed; nil where it did not.
  var failure: String?
  var settling: Settling?
  var isDisputed = false
  /// The authorization that it captures.
  var authorization: String?
  var operations: [Operation] = []

  init(receipt: String, terms: BookedTerms, method: BookedMethod, at: Int) {
    self.receipt = receipt
    self.terms = terms
    self.method = method
    self.at = at
  }

  /// What was taken of the payer, in cents.
  var charged: Int { failure == nil ? terms.amount : 0 }

  var voided: Int {
    operations.reduce(0) { sum, operation in
      if case .void(let amount, _) = operation { sum + amount } else { sum }
    }
  }

  var refunded: Int {
    operations.reduce(0) { sum, operation in
      if case .refund(_, let amount, _) = operation { sum + amount } else { sum }
    }
  }

  /// What can still be voided or refunded, in cents.
  var left: Int { charged - voided - refunded }

  func isPending(at now: Int) -> Bool {
    failure == nil && voided < charged && (settling.map { now < $0.at } ?? false)
  }

  func isReturned(at now: Int) -> Bool { settling.map { $0.isReturned && $0.at <= now } ?? false }

  /// The id of the transaction that takes refunds now.
  var current: String {
    operations.reduce(receipt) { id, operation in
      if case .void(_, let replacement?) = operation { replacement } else { id }
    }
  }

  /// The transactions that it is at a time, oldest first.
  func rows(at now: Int) -> [BookedRow] {
    guard at <= now else { return [] }
    var done: [BookedRow] = []
    var refunds: [BookedRow] = []
    var row = BookedRow(self, id: receipt, gross: terms.amount)
    for operation in operations {
      switch operation {
      case .void(let amount, let replacement):
        row.status = .voided
        done.append(row)
        guard let replacement else { return done + refunds }
        row = BookedRow(self, id: replacement, gross: row.gross - amount, parent: row.id)
      case .refund(let id, let amount, let time):
        row.refunded += amount
        var refund = BookedRow(self, id: id, gross: amount, parent: row.id)
        (refund.type, refund.status, refund.at) = (.reversal, .pending, time)
        refunds.append(refund)
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
  /// In cents.
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

  /// The fees in cents: a refund gives none back.
  var fees: Int {
    guard type != .reversal else { return 0 }
    return payment.terms.fee(of: gross, isACH: payment.method.type == .ach)
  }
}
