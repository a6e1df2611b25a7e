internal import TenderCommandLine
internal import TenderModel
internal import TenderSimulator

/// `--expect` of `simulator run`: counts and sums that the books must have at the end.
struct BookExpectation {
  private static let counts: [(name: String, value: @Sendable (WorldTotals) -> Int)] = [
    ("payments", \.payments), ("unknown", \.unknown), ("undelivered", \.undelivered),
  ]
  private static let sums: [(name: String, value: @Sendable (WorldTotals) -> [String: Int])] = [
    ("charged", \.charged), ("refunded", \.refunded),
  ]

  private var expected: [(word: String, value: (WorldTotals) -> Int, number: Int)] = []

  /// Reads `payments=N`, `unknown=N`, `undelivered=N`, `charged.CUR=MINOR` and `refunded.CUR=MINOR`, with commas between them.
  ///
  /// Throws `usage` for any other word, and for `undelivered` where nothing is sent.
  init(_ texts: [String], hasWebhooks: Bool) throws(Fault) {
    for word in texts.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
      let sides = word.split(separator: "=", maxSplits: 1).map(String.init)
      let name = (sides.first ?? "").split(separator: ".", maxSplits: 1).map(String.init)
      let value: ((WorldTotals) -> Int)? =
        if name.count == 1 {
          Self.counts.first { $0.name == name[0] }?.value
        } else if name.count == 2, let currency = Currency(code: name[1])?.code {
          Self.sums.first { $0.name == name[0] }.map { sum in { sum.value($0)[currency] ?? 0 } }
        } else {
          nil
        }
      guard sides.count == 2, let value, let number = Int(sides[1]), number >= 0 else {
        throw .badValue(
          "--expect",
          String(word),
          hint: "charged.CUR=MINOR, refunded.CUR=MINOR, payments=N, unknown=N or undelivered=N, "
            + "such as charged.GBP=1400"
        )
      }
      guard sides[0] != "undelivered" || hasWebhooks else {
        throw .badValue("--expect", String(word), hint: "events are only sent with --webhook URL")
      }
      expected.append((sides[0], value, number))
    }
  }

  /// Returns what differs; nil if all is as expected.
  func difference(_ totals: WorldTotals) -> String? {
    let wrong = expected.filter { $0.value(totals) != $0.number }
    guard !wrong.isEmpty else { return nil }
    return "the books have "
      + wrong.map { "\($0.word)=\($0.value(totals))" }.joined(separator: ", ")
      + ", and " + wrong.map { "\($0.word)=\($0.number)" }.joined(separator: ", ")
      + " was expected"
  }

  /// A line for people: `14 payments, 1 refund, 0 refused · 140.00 GBP charged, 10.00 GBP refunded`.
  static func text(_ totals: WorldTotals) -> String {
    func count(_ number: Int, _ noun: String) -> String {
      "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
    var counts = [
      count(totals.payments, "payment"), count(totals.refunds, "refund"),
    ]
    if totals.delivered + totals.undelivered > 0 {
      counts.append(count(totals.delivered, "event") + " delivered")
    }
    if totals.undelivered > 0 { counts.append("\(totals.undelivered) undelivered") }
    counts.append("\(totals.refused) refused")
    if totals.unknown > 0 { counts.append("\(totals.unknown) unknown") }
    let amounts = sums.flatMap { name, value in
      value(totals).filter { $0.value > 0 }.sorted { $0.key < $1.key }.compactMap { code, amount in
        Currency(code: code).map { "\(Money(minorUnits: amount, currency: $0).text) \(name)" }
      }
    }
    let groups = [counts, amounts].filter { !$0.isEmpty }
    return groups.map { $0.joined(separator: ", ") }.joined(separator: " · ")
  }
}
