import TenderModel
import TenderSystem
import Testing

/// Times in the forms that people write.
@Suite struct TimeExpressionTests {
  @Test(
    arguments: [
      ("2026-11-20", .day(year: 2026, month: 11, day: 20)),
      ("2026-11-20T17:19", .local(year: 2026, month: 11, day: 20, second: 62_340)),
      ("2026-11-20 17:19:05", .local(year: 2026, month: 11, day: 20, second: 62_345)),
      ("2026-11-20T17:19:00Z", .instant(1_795_195_140_000)),
      ("2026-11-20T17:19:00+01:00", .instant(1_795_191_540_000)), ("today", .daysAgo(0)),
      ("Yesterday", .daysAgo(1)), ("monday", .weekday(1)), ("sun", .weekday(0)),
      ("24h", .ago(86_400_000)), ("90s", .ago(90_000)), ("2w", .ago(1_209_600_000)),
    ] as [(String, TimeExpression)]
  )
  func `reads`(_ text: String, _ expression: TimeExpression) {
    #expect(TimeExpression(text) == expression)
  }

  @Test(arguments: [
    "", "tomorrow", "2026-02-30", "2026-11-20T25:00", "2026-11-20T17", "h", "-1h", "1y",
    "99999999h",
    "2026-11-20T17:19:00+25:00", "mo", "2026-1-1", "20261120",
  ])
  func `refuses`(_ text: String) { #expect(TimeExpression(text) == nil) }

  /// In any zone, a day has 23 to 25 hours, and today contains now.
  @Test func `knows days`() throws {
    let now = 1_795_195_140_000
    let today = try #require(LocalTime.range(of: .daysAgo(0), now: now))
    #expect(today.contains(now))
    let yesterday = try #require(LocalTime.range(of: .daysAgo(1), now: now))
    #expect(yesterday.upperBound + 1 == today.lowerBound)
    #expect((82_800_000...90_000_000).contains(yesterday.count))
    let week = (0..<7).compactMap { LocalTime.range(of: .weekday($0), now: now)?.lowerBound }
    #expect(Set(week).count == 7)
    #expect(week.allSatisfy { $0 < today.lowerBound && $0 >= today.lowerBound - 8 * 86_400_000 })
    #expect(LocalTime.range(of: .ago(1000), now: now) == (now - 1000)...(now - 1000))
    #expect(LocalTime.range(of: .ago(.max), now: .min) == nil)
  }
}

/// Dates in the form of HTTP.
@Suite struct HTTPDateTests {
  @Test func `reads the date of RFC 9110 and nothing else`() {
    #expect(Timestamp.httpDate("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777_000)
    for text in [
      "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT",
      "Sun, 06 Xyz 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "a b c d e GMT",
    ] { #expect(Timestamp.httpDate(text) == nil, "\(text)") }
  }
}
