import TenderModel

/// The request bodies of TrueLayer, by its OpenAPI (Payments API v3, 2026-08). Members, enumerations, lengths
/// and patterns are the published ones.
///
/// The published text itself has these departures. PLN and NOK are currencies of its SDKs, but not of its
/// enumeration. The shapes of payouts and sweeping are those of [JAVA] and [PHP]. A payment on a mandate
/// needs no user, a commercial mandate no use case, and forms may have no types of input.
enum BankRequests {
  static let periods = ["day", "week", "fortnight", "month", "half_year", "year"]

  /// The shapes by name, each with its members.
  ///
  /// `!` marks a required member. Its shape comes after a colon; without one it is any text. A shape is the
  /// name of another shape or of `BankSchema.known`, `[…]` for a list, or `characters/least-most`. `one of`
  /// begins an enumeration; `by type` begins the shapes that the member `type` selects.
  private static let texts = EmbeddedText.rows("TenderSimulator/TrueLayer/Requests.txt")

  static func check(_ body: JSONObject, _ shape: String) throws(BankProblem) {
    try BankSchema(texts[shape] ?? "", among: texts).check(.object(body))
  }
}
