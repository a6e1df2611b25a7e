import TenderModel

/// A dispute of a card payment (`Dispute` of the published schema).
struct BookedDispute: Booked {
  enum Status: String, BookedValue {
    case inquiry = "INQUIRY"
    case pending = "PENDING"
    case won = "WON"
    case lost = "LOST"

    var isOpen: Bool { self == .inquiry || self == .pending }

    /// The documented course: an inquiry, then a chargeback, then its end.
    func allows(_ next: Status) -> Bool {
      self == .inquiry && next == .pending || self == .pending && !next.isOpen
    }
  }

  static let kind = "dispute"

  var id = ""
  var payment = ""
  var transaction = ""
  var status = Status.inquiry
  var reason = "FRAUD"
  /// In cents.
  var amount = 0
  /// Milliseconds since 1970.
  var at = 0
  var updated = 0
  var expiresAt = 0
  var withdrawalBatch: Int?
  var depositBatch: Int?

  var key: String { id }
  var parent: String? { payment }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("payment", &payment)
    book.needed("transaction", &transaction)
    book.needed("status", &status)
    book.member("reason", &reason)
    book.member("amount", &amount)
    book.member("at", &at)
    book.member("updated", &updated)
    book.member("expires_at", &expiresAt)
    book.member("withdrawal_batch", &withdrawalBatch)
    book.member("deposit_batch", &depositBatch)
  }

  func graphQL(_ transaction: JSONObject?) -> JSONObject {
    [
      "dispute_id": id.json, "status": status.json, "reason": reason.json, "amount": amount.json,
      "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "dispute_date": Timestamp.preciseText(at).json,
      "expiration_date": Timestamp.preciseText(expiresAt).json,
      "updated_date": Timestamp.preciseText(updated).json,
      "updated_row_at": Timestamp.preciseText(updated).json,
      "settlement_withdrawal_batch": withdrawalBatch.map { String($0).json },
      "settlement_deposit_batch": depositBatch.map { String($0).json },
      "transaction": transaction?.json,
    ]
  }
}
