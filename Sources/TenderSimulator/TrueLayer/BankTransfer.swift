import TenderModel

/// A refund or a payout in the simulated TrueLayer's books.
struct BankTransfer: Booked {
  static let kind = "bank-refund"

  enum Course: String, BookedValue {
    case executed, failed
    /// It is executed, and returns two seconds later.
    case returned
    /// It waits for the payee to choose an account.
    case waiting
  }

  /// The status in TrueLayer's terms (TrueLayer/README, 8.4).
  enum Status: String {
    case pending, executed, failed
    case authorizationRequired = "authorization_required"
  }

  var id = ""
  /// The payment's id; for a payout, the merchant account's.
  var payment = ""
  /// The merchant account that pays.
  var account: String?
  /// In minor units.
  var amount = 0
  var currency = ""
  var reference = ""
  var metadata: JSONObject?
  /// The members that only a payout shows.
  var payout: JSONObject?
  var course = Course.executed
  /// Milliseconds since 1970.
  var created = 0

  var key: String { id }
  var parent: String? { payment }
  var listing: String? { account }
  var isPayout: Bool { payout != nil }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("payment", &payment)
    book.needed("amount", &amount)
    book.needed("currency", &currency)
    book.needed("reference", &reference)
    book.needed("created", &created)
    book.needed("course", &course)
    book.member("metadata", &metadata)
    book.member("account", &account)
    book.member("payout", &payout)
  }

  /// The duration of a transfer, in milliseconds.
  private static let duration = 2000

  private var ended: Int { created + Self.duration }

  private var returned: Int { ended + Self.duration }

  /// The status at a time. Two seconds after the request, it is executed or has failed.
  func status(at now: Int) -> Status {
    switch course {
    case .waiting: .authorizationRequired
    case _ where now < ended: .pending
    case .executed: .executed
    case .failed: .failed
    case .returned: now < returned ? .executed : .failed
    }
  }

  /// The refund or payout in a look-up's answer.
  func shown(at now: Int) -> JSONObject {
    let status = status(at: now)
    var shown: JSONObject = [
      "id": id.json, "amount_in_minor": amount.json, "currency": currency.json,
      "status": status.rawValue.json, "created_at": Timestamp.microseconds(created).json,
    ]
    for member in payout?.members ?? [] { shown[member.key] = member.value }
    if !isPayout { shown["reference"] = .string(reference) }
    shown["metadata"] = metadata?.json
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
