package import TenderModel

extension LedgerAudit {
  /// What the simulated TrueLayer's books say of the bank payments of a reference; amounts in minor units.
  package struct BankBooks: Sendable, Hashable {
    /// How many were made, and how many of them a payer authorized.
    package var made = 0
    package var authorized = 0
    /// What was authorized, executed or settled.
    package var paid = 0
    /// How many refunds there are, those that failed left out.
    package var refunds = 0
    package var refunded = 0
    package var refunding = 0
  }

  /// What the books say of a reference at a time in milliseconds since 1970, or in the end.
  package static func bankBooks(
    path: String,
    reference: String,
    at now: Int = .max
  ) throws(Fault) -> BankBooks {
    let ledger = try Ledger(path: path)
    var books = BankBooks()
    let payments = try ledger.list(
      BankOrder.Kind.payment.table,
      column: "reference",
      value: reference
    ).compactMap { BankResource(booked: .object($0)) }
    for payment in payments {
      books.made += 1
      if payment.times[.authorized] != nil { books.authorized += 1 }
      if [.authorized, .executed, .settled].contains(payment.status) {
        books.paid += payment.order.amount
      }
      for refund in try ledger.list(BankRefund.self, parent: payment.id) {
        switch refund.status(at: now) {
        case .pending: books.refunding += refund.amount
        case .executed: books.refunded += refund.amount
        case .failed: continue
        }
        books.refunds += 1
      }
    }
    return books
  }

  /// The money of the bank payments of a reference at a time in milliseconds since 1970, or in the end.
  package static func bankMoney(
    path: String,
    reference: String,
    at now: Int = .max
  ) throws(Fault) -> Money {
    let books = try bankBooks(path: path, reference: reference, at: now)
    var money = Money()
    money.captured = books.paid
    money.returned = books.refunded
    money.refunding = books.refunding
    money.standing = books.authorized
    return money
  }
}
