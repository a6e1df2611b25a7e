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
  enum Status: String, BookedValue {
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
  /// Its course was decided when it was made.
  var course = Course.executed
  private(set) var status = Status.pending
  /// Milliseconds since 1970.
  var created = 0
  private(set) var executed: Int?
  private(set) var failed: Int?

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
    book.member("status", &status)
    // The ledger of an earlier version has no status: the transfer has ended since.
    if book.isReading, book.json["status"] == nil, course != .waiting {
      advance(at: created)
      if course == .returned { advance(at: created) }
    }
    book.member("executed", &executed)
    book.member("failed", &failed)
  }

  /// The duration of a transfer, in milliseconds.
  static let duration = 2000

  /// Begins its course: it is pending, or waits for the payee.
  mutating func begin() { status = course == .waiting ? .authorizationRequired : .pending }

  /// Ends a pending transfer by its course, or returns an executed one.
  mutating func advance(at time: Int) {
    let fails = course == .failed || status == .executed
    status = fails ? .failed : .executed
    if fails { failed = time } else { executed = time }
  }

  var failureReason: String? {
    failed.map { _ in course == .returned ? "returned" : "insufficient_funds" }
  }

  /// The refund or payout in a look-up's answer.
  var shown: JSONObject {
    var shown: JSONObject = [
      "id": id.json, "amount_in_minor": amount.json, "currency": currency.json,
      "status": status.rawValue.json, "created_at": Timestamp.microseconds(created).json,
    ]
    for member in payout?.members ?? [] { shown[member.key] = member.value }
    if !isPayout { shown["reference"] = .string(reference) }
    shown["metadata"] = metadata?.json
    shown["executed_at"] = executed.map { .string(Timestamp.microseconds($0)) }
    shown["failed_at"] = failed.map { .string(Timestamp.microseconds($0)) }
    shown["failure_reason"] = failureReason?.json
    return shown
  }
}
