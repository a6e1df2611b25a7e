import TenderEngine
import TenderModel
import Testing

/// The borders of a group of duplicates: the currency, and the time to the next payment.
@Suite struct DuplicateTests {
  private func payment(_ currency: String, at time: Int) -> Payment {
    var payment = Payment.of(.charge(900, .succeeded))
    payment.lastFour = "1111"
    payment.currency = Currency(code: currency)
    payment.createdAt = time
    return payment
  }

  private func sizes(_ payments: [Payment]) -> [Int] {
    var search = DuplicateSearch(within: 1000)
    let early = payments.flatMap { search.add($0) }
    return (early + search.finish()).map(\.count)
  }

  @Test func `equal amounts in two currencies are not alike`() {
    #expect(sizes([payment("USD", at: 20), payment("EUR", at: 10)]) == [])
    #expect(sizes([payment("USD", at: 20), payment("EUR", at: 10), payment("USD", at: 5)]) == [2])
  }

  /// Ids that end alike are of two payers. Phone numbers that do are one.
  @Test(arguments: [
    ("id", "CUST-7700900123", "X-447700900123", []),
    ("phone", "07700 900123", "+44 7700 900123", [2]),
  ])
  func `payers are joined by whole ids`(
    _ member: String,
    _ one: String,
    _ other: String,
    _ groups: [Int]
  ) throws {
    let payments = try [one, other].enumerated().map { index, value in
      var payment = payment("USD", at: 20 - index)
      payment.lastFour = nil
      try payment.change(1) {
        $0.content["user"] = .object(JSONObject([.init(key: member, value: .string(value))]))
      }
      return payment
    }
    #expect(sizes(payments) == groups)
  }

  @Test func `the given time belongs to the group`() {
    #expect(sizes([payment("USD", at: 2000), payment("USD", at: 1000)]) == [2])
    #expect(sizes([payment("USD", at: 2001), payment("USD", at: 1000)]) == [])
  }
}
