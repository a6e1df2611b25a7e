import TenderEngine
import TenderModel
import Testing

/// The wait that an answer asks for (RFC 9110, section 10.2.3).
@Suite struct RetryAfterTests {
  @Test(arguments: [
    ("7", Optional(7)), ("Tue, 24 Nov 2026 12:00:30 GMT", 30), ("Tue, 24 Nov 2026 11:00:00 GMT", 0),
    ("soon", nil), ("-1", nil), ("90000", nil), ("Tue, 24 Foo 2026 12:00:30 GMT", nil),
  ])
  func `reads the wait that a provider asks for`(_ text: String, _ seconds: Int?) throws {
    let now = try #require(Timestamp.read("2026-11-24T12:00:00Z"))
    let answer = HTTPResponse(status: 429, fields: ["retry-after": text])
    #expect(answer.retryAfter(now) == seconds)
  }
}
