import TenderModel

/// An idempotency key in the simulated TrueLayer's books, and the answer that it repeats (TrueLayer/README,
/// 7.1).
struct BankKey: Booked {
  static let kind = "bank-key"
  /// The time for which it means the same request, in milliseconds.
  static let life = 30 * 86_400_000

  var key = ""
  /// A hash of the request.
  var content = ""
  var status = 0
  /// The answer, without a resource's token.
  var body: JSONObject?
  var hasToken = false
  /// The time of its first use, and of the answer if that is late, in milliseconds since 1970.
  var used = 0
  var answered: Int?

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("content", &content)
    book.needed("status", &status)
    book.needed("at", &used)
    book.member("answered", &answered)
    book.member("token", &hasToken)
    book.member("body", &body)
  }
}
