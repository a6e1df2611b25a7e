import TenderModel

/// A refund in the simulated TrueLayer's books.
struct BankRefund: Booked {
  static let kind = "bank-refund"

  /// How it ends.
  enum Course: String, BookedValue {
    case executed, failed
    /// It is executed, and comes back two seconds later.
    case returned
  }

  /// In TrueLayer's words (TrueLayer/README, 8.4).
  enum Status: String { case pending, executed, failed }

  var id = ""
  /// The payment's id.
  var payment = ""
  /// In minor units.
  var amount = 0
  var currency = ""
  var reference = ""
  var metadata: JSONObject?
  var course = Course.executed
  /// Milliseconds since 1970.
  var created = 0

  var key: String { id }
  var parent: String? { payment }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("payment", &payment)
    book.needed("amount", &amount)
    book.needed("currency", &currency)
    book.needed("reference", &reference)
    book.needed("created", &created)
    book.needed("course", &course)
    book.member("metadata", &metadata)
  }

  /// How long it takes, in milliseconds.
  private static let duration = 2000

  private var ended: Int { created + Self.duration }

  /// When it comes back.
  private var returned: Int { ended + Self.duration }

  /// Its status at a time: two seconds after it was asked for it is executed, or has failed.
  func status(at now: Int) -> Status {
    switch course {
    case _ where now < ended: .pending
    case .executed: .executed
    case .failed: .failed
    case .returned: now < returned ? .executed : .failed
    }
  }

  /// The refund as a look-up shows it.
  func shown(at now: Int) -> JSONObject {
    let status = status(at: now)
    var shown: JSONObject = [
      "id": .string(id), "amount_in_minor": .integer(amount), "currency": .string(currency),
      "reference": .string(reference), "status": .string(status.rawValue),
      "created_at": .string(Timestamp.microseconds(created)),
    ]
    shown["metadata"] = metadata.map(JSON.object)
    if status == .executed || status == .failed && course == .returned {
      shown["executed_at"] = .string(Timestamp.microseconds(ended))
    }
    if status == .failed {
      shown["failed_at"] = .string(Timestamp.microseconds(course == .returned ? returned : ended))
      shown["failure_reason"] = course == .returned ? "returned" : "insufficient_funds"
    }
    return shown
  }
}
