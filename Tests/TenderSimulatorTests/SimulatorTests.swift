import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

@Suite final class SimulatorTests {
  let folder: URL
  let clock = ManualClock()

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "sim-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func simulator(_ options: SimulatorOptions = SimulatorOptions()) throws -> InProcessSimulator {
    try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: folder.path + "/simulator.db",
        clock: clock,
        randomness: CountingRandomness(),
        options: options,
        providers: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      )
    )
  }

  func send(
    _ method: String,
    _ path: String,
    fields: [String: String],
    body: String = ""
  ) throws
    -> (status: Int, body: JSON)
  {
    let answer = try simulator().send(
      HTTPRequest(
        method: HTTPMethod(rawValue: method) ?? .get,
        url: "https://simulator" + path,
        fields: fields.map { HTTPRequest.Field($0.key, $0.value) },
        body: Array(body.utf8)
      ),
      by: Deadline(in: 1000, on: clock)
    )
    return (answer.status, JSONReader.read(answer.body) ?? .null)
  }

  @Test func `gives a token with the claims that real ones have`() throws {
    let fields = ["X-API-Key": PayTheoryCatalog.apiKey, "X-Session-Key": "S"]
    let answer = try send("GET", "/pt-token-service/", fields: fields)
    #expect(answer.status == 200)
    let token = try #require(answer.body["pt-token"]?.text)
    let parts = token.split(separator: ".").map(String.init)
    let claims = try #require(Base64.decodeURL(parts[1]).flatMap { JSONReader.read($0)?.object })
    #expect(claims.text("session_key") == "S")
    #expect(claims["exp"] == .integer(clock.now / 1000 + 300))
    #expect(claims.text("challenge")?.count == 172)
    #expect(try send("GET", "/pt-token-service/", fields: ["X-API-Key": "nobody"]).status == 404)
    #expect(try send("GET", "/elsewhere", fields: fields).status == 404)
  }

  @Test(arguments: [
    ("{", 400), ("{\"query\":\"query { nothing }\"}", 200), ("{\"query\":\"{{{\"}", 400),
    ("{\"query\":\"\(String(repeating: "{a", count: 5000))\"}", 400),
  ])
  func `answers any GraphQL with errors, never with a crash`(_ body: String, _ status: Int) throws {
    let answer = try send(
      "POST",
      "/graphql",
      fields: ["Authorization": "uid;secret"],
      body: body
    )
    #expect(answer.status == status)
    #expect(answer.body["errors"]?.array?.isEmpty == false)
    #expect(answer.body["data"] == nil)
  }

  @Test func `wants credentials, and takes variables too`() throws {
    let query =
      #"{"query":"query Q($id: String) { found: transactions(limit: 1, query: {query_list: [{key: \"transaction_id\", value: $id, operator: EQUAL, conjunctive_operator: NONE_NEXT}]}) { items { transaction_id } total_row_count } }","variables":{"id":"pt-x"}}"#
    #expect(try send("POST", "/graphql", fields: [:], body: query).status == 401)
    let answer = try send("POST", "/graphql", fields: ["Authorization": "u;s"], body: query)
    #expect(answer.body == ["data": ["found": ["items": [], "total_row_count": 0]]])
  }

  @Test func `refuses a query key that nothing listed has`() throws {
    let fields = ["Authorization": "u;s"]
    let query =
      #"{"query":"{ transactions(query: {query_list: [{key: \"KEY\", value: \"x\", operator: EQUAL, conjunctive_operator: NONE_NEXT}]}) { total_row_count } }"}"#
    let known = query.replacing("KEY", with: "reference")
    let answer = try send("POST", "/graphql", fields: fields, body: known)
    #expect(answer.body == ["data": ["transactions": ["total_row_count": 0]]])
    let unknown = query.replacing("KEY", with: "referense")
    let refusal = try send("POST", "/graphql", fields: fields, body: unknown)
    #expect(refusal.body["data"] == nil)
    #expect(refusal.body["errors"]?.array?.first?["path"] == ["transactions"])
  }

  private func ask(_ query: String, _ more: JSONObject = [:]) throws -> JSON {
    var body = more
    body["query"] = .string(query)
    let text = JSONWriter.text(.object(body))
    return try send("POST", "/graphql", fields: ["Authorization": "M;s"], body: text).body
  }

  @Test func `executes what clients send`() throws {
    let typed = try ask("{ __typename transactions { __typename items { __typename } } }")
    #expect(
      typed["data"] == [
        "__typename": "Query", "transactions": ["__typename": "Transactions", "items": []],
      ]
    )
    let named = try ask(
      "query Q($id: String!, $by: Operator) { t: transactions(query: {query_list: "
        + "[{key: \"reference\", value: $id, operator: $by}]}) { n: total_row_count } }",
      ["operationName": "Q", "variables": ["id": "A", "by": "EQUAL"]]
    )
    #expect(named["data"] == ["t": ["n": 0]])
  }

  /// Fragments, directives, default values and several operations are not read.
  @Test(arguments: [
    "{ transactions { ...F } } fragment F on Transactions { total_row_count }",
    "{ transactions { ... on Transactions { total_row_count } } }",
    "{ transactions { total_row_count @skip(if: true) } }", "{ transactions { __typename { a } } }",
    "query A { transactions { total_row_count } } query B { transactions { total_row_count } }",
    "query A($l: Int = 1) { transactions(limit: $l) { total_row_count } }",
  ])
  func `refuses what it does not read`(_ query: String) throws {
    let answer = try ask(query)
    #expect(answer["errors"]?.array?.isEmpty == false && answer["data"] == nil, "\(answer)")
  }

  @Test func `refuses another merchant's payments`() throws {
    for (merchant, isRefused) in [("M", false), ("other", true)] {
      for query in [
        #"mutation { createTransaction(merchant_uid: "UID", amount: 1, payment_method_id: "x") { status } }"#,
        #"mutation { updatePaymentMethodToDisabled(merchant_uid: "UID", payment_method_id: "x") }"#,
        #"{ serviceFee(merchant_uid: "UID", amount: 100) { fee } }"#,
        #"{ barcode(merchant_uid: "UID", barcode_id: "x") { amount } }"#,
      ] {
        let text = query.replacing("UID", with: merchant)
        let message = try ask(text)["errors"]?.array?.first?["message"]?.text
        #expect((message == "Merchant not found") == isRefused, "\(text): \(message ?? "")")
      }
    }
  }

  @Test func `spells its options in a header and reads them back`() throws {
    var options = SimulatorOptions()
    try options.set(
      scenario: "pending",
      among: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
    )
    try options.set(
      fault: "part2:silence-after*3",
      among: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
    )
    options.seed = 7
    options.clock = .standing(1_800_000_000_000)
    #expect(
      try SimulatorOptions(
        headerValue: options.headerValue,
        among: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      ) == options
    )
    let fault = #expect(throws: Fault.self) {
      try options.set(
        fault: "part2:silense-after",
        among: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      )
    }
    #expect(
      fault?.hint == "did you mean part2:silence-after? see: tender simulator scenarios part2:"
    )
  }
}

@Suite struct HeaderTests {
  /// A clock outside of the range of times is refused.
  @Test(
    arguments: [
      ("clock=-9223372036854775808", nil), ("clock=9223372036854775807", nil), ("clock=-1", nil),
      ("clock=253402300800000", nil), ("clock=0", 0), ("clock=1800000000000", 1_800_000_000_000),
    ] as [(String, Int?)]
  )
  func `takes clocks that can be reckoned with`(_ header: String, _ clock: Int?) {
    #expect(
      (try? SimulatorOptions(
        headerValue: header,
        among: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      ))?.clock == clock.map { .standing($0) }
    )
  }
}
