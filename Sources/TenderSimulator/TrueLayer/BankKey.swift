import TenderModel

/// An idempotency key in the simulated TrueLayer's books, and the answer that it repeats (TrueLayer/README,
/// 7.1).
struct BankKey: Booked {
  static let kind = "bank-key"
  /// How long it means the same request, in milliseconds.
  static let life = 30 * 86_400_000

  var key = ""
  /// A hash of the request.
  var content = ""
  var status = 0
  /// The answer, a resource's token left out.
  var body: JSONObject?
  var hasToken = false
  /// When it was used first, in milliseconds since 1970.
  var used = 0

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("content", &content)
    book.needed("status", &status)
    book.needed("at", &used)
    book.member("token", &hasToken)
    book.member("body", &body)
  }
}
