import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

@Suite struct BankGrowthTests {
  /// Gives a payer many accounts and a payment many texts.
  struct Crowded: HTTPExchange {
    let inner: any HTTPExchange
    let count: Int

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      var response = try inner.send(request, permit, by: deadline)
      guard request.method == .get, var body = JSONReader.read(response.body)?.object,
        body["amount_in_minor"] != nil
      else { return response }
      let accounts = (0..<count).map { number -> JSON in
        ["type": "iban", "iban": .string("GB29NWBK\(10_000_000_000_000 + number)")]
      }
      body["payment_source"] = ["account_identifiers": .array(accounts)]
      body["metadata"] = .array((0..<count).map { .string("order \($0) is ready") })
      response.body = Array(JSONWriter.text(.object(body)).utf8)
      return response
    }
  }

  @Test func `masks accounts in time that grows with what comes`() throws {
    let world = try World()
    _ = try world.engine(change: FlowTests.bank)
      .pay(try world.payment("A"))
    let known = try world.latest()
    try Growth.expectLinear(base: 100) { size in
      _ = try world.engine(wrap: { Crowded(inner: $0, count: size) }).lookUp("A", known: known)
    }
  }
}
