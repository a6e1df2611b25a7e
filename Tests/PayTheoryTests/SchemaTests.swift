import Foundation
import PayTheory
private import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// A GraphQL server with Pay Theory's published schema. graphql-core validates and executes.
private final class SchemaServer: HTTPExchange, @unchecked Sendable {
  // Unchecked: one test asks it, one request after the other.
  private let judge: Judge
  private let data: JSONObject
  private(set) var refusals: [String] = []
  private(set) var asked = 0

  init(without fields: String..., answering data: JSONObject) throws {
    let schema = Project.path("Tests/PayTheoryTests/Schema/graphql-2026.graphql")
    judge =
      try fields.first.map { try Judge("graphql_server.py", schema, $0) }
      ?? Judge("graphql_server.py", schema)
    self.data = data
  }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    asked += 1
    var question = JSONReader.read(request.body)?.object ?? [:]
    question["data"] = .object(data)
    let answer = (try? judge.ask(question)) ?? [:]
    for error in answer["errors"]?.array ?? [] { refusals.append(error["message"]?.text ?? "") }
    // AWS AppSync answers an invalid document with 200, null data and errors.
    return HTTPResponse(status: 200, body: Array(JSONWriter.text(.object(answer)).utf8))
  }
}

/// The simulator, with every GraphQL document and answer checked against the published schema.
private final class JudgedHTTP: HTTPExchange, @unchecked Sendable {
  // Unchecked: one test asks it, one request after the other.
  private let inner: any HTTPExchange
  private let judge: Judge
  private(set) var problems: [String] = []
  private(set) var judged = 0
  private(set) var documents: [String] = []

  init(_ inner: any HTTPExchange) throws {
    self.inner = inner
    judge = try Judge(
      "graphql_server.py",
      Project.path("Tests/PayTheoryTests/Schema/graphql-2026.graphql")
    )
  }

  func send(
    _ request: HTTPRequest,
    _ permit: SendPermit?,
    by deadline: Deadline
  ) throws(Fault) -> HTTPResponse {
    let response = try inner.send(request, permit, by: deadline)
    guard request.url.hasSuffix("/graphql") else { return response }
    judged += 1
    let body = JSONReader.read(response.body)?.object ?? [:]
    var question = JSONReader.read(request.body)?.object ?? [:]
    question["data"] = body["data"]
    documents.append(question.text("query") ?? "")
    let verdict = (try? judge.ask(question)) ?? [:]
    if let errors = verdict["errors"] { problems.append(JSONWriter.text(errors)) }
    // The answer must equal the one that the schema's types produce.
    if let data = body["data"], verdict["data"]?.object?.sorted != data.object?.sorted {
      problems.append(
        "not of the schema: \(JSONWriter.text(data)) / \(JSONWriter.text(verdict["data"] ?? .null))"
      )
    }
    return response
  }
}

/// Checks every document and every answer against Pay Theory's published schema.
@Suite(.enabled(if: Judge.has("graphql"), "python3-graphql-core is not installed"))
struct SchemaTests {
  private static let transaction: JSONObject = [
    "transaction_id": "pt-acme-paytheorylab-000000000001", "status": "SUCCEEDED",
    "gross_amount": 1050, "fees": 60, "fee_mode": "MERCHANT_FEE", "currency": "USD",
    "reference": "A", "avs_status": "POSTAL_CODE_MATCH", "metadata": "{\"order\":\"7\"}",
    "transaction_date": "2026-11-21T00:00:00Z",
    "payment_method": [
      "payment_method_id": "pt_pmt_1", "payment_type": "CARD", "card_brand": "VISA",
      "last_four": "1111", "payor": ["payor_id": "pt_pay_1"],
    ],
  ]

  private func engine(_ world: World, _ server: any HTTPExchange) throws -> Engine {
    try world.engine(exchange: { _ in server })
  }

  private static let found: JSONObject = [
    "transactions": ["items": [.object(transaction)], "total_row_count": 1]
  ]

  @Test func `looks up what the schema has`() throws {
    let world = try World()
    let server = try SchemaServer(answering: Self.found)
    let report = try engine(world, server).lookUp("pt-acme-paytheorylab-000000000001", known: nil)
    #expect(server.refusals == [])
    #expect(report.status == .succeeded)
    #expect(report.result["transaction"]?["avs_status"] == "POSTAL_CODE_MATCH")
    #expect(report.result["transaction"]?["payment_method"]?["payor"]?["payor_id"] == "pt_pay_1")
  }

  @Test func `asks an older server again without the field that it names`() throws {
    let world = try World()
    let server = try SchemaServer(without: "avs_status", answering: Self.found)
    let report = try engine(world, server).lookUp("pt-acme-paytheorylab-000000000001", known: nil)
    #expect(server.asked == 2)
    #expect(report.status == .succeeded)
    #expect(report.result["transaction"]?["avs_status"] == nil)
    #expect(report.result["transaction"]?["transaction_id"] != nil)
  }

  /// Without its query, an older server has no authorizations, and a look-up goes on without them.
  @Test(arguments: ["pt-acme-paytheorylab-000000000001", "ORDER-1", "auth_1"])
  func `looks up without authorizations where an older server does not know them`(
    _ handle: String
  ) throws {
    let world = try World()
    let nothing: JSONObject = ["transactions": ["items": [], "total_row_count": 0]]
    let older = try SchemaServer(without: "authorizations", answering: nothing)
    let fault = #expect(throws: Fault.self) {
      try engine(world, older).lookUp(handle, known: nil)
    }
    #expect(fault?.kind == .notFound, "\(String(describing: fault)) \(older.refusals)")
    #expect(older.refusals.contains { $0.contains("authorizations") })
    let found = try SchemaServer(without: "authorizations", answering: Self.found)
    let report = try engine(world, found).lookUp("pt-acme-paytheorylab-000000000001", known: nil)
    #expect(report.status == .succeeded)
    // A server that does not know transactions has not said that there are none.
    let none = try SchemaServer(without: "transactions", answering: nothing)
    let unclear = #expect(throws: Fault.self) {
      try engine(world, none).lookUp(handle, known: nil)
    }
    #expect(unclear?.exitStatus == 11)
  }

  @Test(arguments: [nil, "avs_status"] as [String?])
  func `charges a stored method with one document, on either schema`(_ missing: String?) throws {
    let world = try World()
    let answer: JSONObject = [
      "createTransaction": .object(Self.transaction),
      "paymentMethodTokens": [
        "items": [["payment_method_id": "pt_pmt_1", "is_active": true]], "total_row_count": 1,
      ],
    ]
    let server =
      try missing.map { try SchemaServer(without: $0, answering: answer) }
      ?? SchemaServer(answering: answer)
    var order = try world.order()
    order.instrument = nil
    order.storedMethod = "pt_pmt_1"
    order.metadata = ["order": "7"]
    order.stored["account_code"] = "c"
    (order.sendsReceipt, order.receiptDescription) = (true, "d")
    let report = try engine(world, server).pay(order)
    #expect(server.refusals == [])
    #expect(server.asked == 2)
    #expect(report.result.text("type") == "PT_COMPLETE")
    #expect(report.result["body"]?["payor_id"] == "pt_pay_1")
    #expect(report.result["body"]?["metadata"] == ["order": "7"])
  }

  /// `--reason` is one of the schema's codes in any spelling, else the text beside OTHER.
  @Test(
    arguments: [
      (nil, #"{reason_code: REQUESTED_BY_CUSTOMER, reason_details: ""}"#),
      ("duplicate", #"{reason_code: DUPLICATE, reason_details: ""}"#),
      ("requested-by-customer", #"{reason_code: REQUESTED_BY_CUSTOMER, reason_details: ""}"#),
      (#"wrong "size""#, #"{reason_code: OTHER, reason_details: "wrong \"size\""}"#),
      ("}) { is_void }", #"{reason_code: OTHER, reason_details: "}) { is_void }"}"#),
    ] as [(String?, String)]
  )
  func `a refund says why, in the schema's words`(_ reason: String?, _ input: String) throws {
    let world = try World()
    let judged = Mutex<JudgedHTTP?>(nil)
    let engine = try world.engine(
      exchange: { inner in
        let made = try JudgedHTTP(inner)
        judged.withLock { $0 = made }
        return made
      }
    )
    _ = try engine.pay(world.order())
    var request = try RefundRequest.test(300, "USD")
    request.reason = reason
    _ = try engine.refund(world.latest(), handle: "A", request, idempotencyKey: nil)
    let http = try #require(judged.withLock { $0 })
    #expect(http.problems.isEmpty, "\(http.problems)")
    let document = http.documents.first { $0.contains("createReversal") }
    #expect(document?.contains("refund_reason: " + input) == true, "\(document ?? "")")
  }

  @Test func `every document and every answer of the simulator is the schema's`() throws {
    let world = try World()
    let judged = Mutex<JudgedHTTP?>(nil)
    let wrap: (any HTTPExchange) throws -> any HTTPExchange = { inner in
      let made = try JudgedHTTP(inner)
      judged.withLock { $0 = made }
      return made
    }
    let engine = try world.engine(exchange: wrap)
    _ = try engine.pay(world.order())
    _ = try engine.pay(world.order("D", amount: 193))
    let account = try Instrument.bankAccount(TestInstruments.account(.success))
    _ = try engine.pay(world.order("E", instrument: account))
    for reference in ["A", "D", "E"] {
      _ = try engine.lookUp(reference, known: world.latest(reference))
    }
    let method = try engine.store(world.tokenOrder()).id
    _ = try engine.pay(world.storedOrder("P", method: method, feeMode: .service))
    _ = try engine.pay(world.storedOrder("H", method: method, confirmation: true))
    _ = try engine.lookUp("H", known: world.latest("H"))
    let part = Money(minorUnits: 700, currency: try #require(Currency(code: "USD")))
    _ = try engine.confirm(world.latest("H"), handle: "H", amount: part)
    _ = try engine.pay(world.storedOrder("V", method: method, confirmation: true))
    _ = try engine.cancel(world.latest("V"), handle: "V")
    _ = try engine.cancel(world.latest("A"), handle: "A")
    _ = try engine.refund(world.latest("E"), 300)
    let payer = try CashPayer(name: "Ada", contact: "ada@example.com")
    _ = try engine.pay(world.order("B", instrument: .cash(payer)))
    for reference in ["A", "B", "E", "H", "P", "V"] {
      _ = try engine.lookUp(reference, known: world.latest(reference))
    }
    let found = try #require(engine.provider.search)
    _ = try found.find(PaymentFilter(), limit: 50)
    let server = try #require(judged.withLock { $0 })
    #expect(server.judged >= 30)
    #expect(server.problems == [])
  }

  /// Documents with their variables. The schema accepts some and refuses others.
  static let documents: [(String, JSONObject)] = [
    ("{transactions(limit: 1){items{transaction_id}}}", [:]),
    ("query Q($l: Int){transactions(limit: $l){total_row_count}}", ["l": 3]),
    ("query Q($q: SqlQuery){transactions(query: $q){total_row_count}}", ["q": ["query_list": []]]),
    (
      """
      query($q: SqlQuery!){t: transactions(query: $q){items{id: transaction_id \
      payment_method{payor{payor_id}} refund_reason{reason_code}}}}
      """,
      [
        "q": [
          "query_list": [["key": "reference", "value": "A", "operator": "EQUAL"]],
          "sort_list": [["key": "transaction_date", "direction": "DESC"]],
        ]
      ]
    ),
    ("{serviceFee(merchant_uid: \"m\", amount: 1000){fee total}}", [:]),
    ("{transactions(limit: 1){items{payor{payor_id}}}}", [:]),
    ("{transactions(limit: 1){items{transaction_id nothing}}}", [:]),
    ("{transactions(limit: 1){items}}", [:]),
    ("{transactions(limit: 1){total_row_count{a}}}", [:]),
    ("{transactions(limit: \"1\"){total_row_count}}", [:]),
    ("{transactions(limit: 1.5){total_row_count}}", [:]),
    ("{transactions(limit: 3000000000){total_row_count}}", [:]),
    ("{transactions(first: 1){total_row_count}}", [:]),
    ("{transactions(direction: SIDEWAYS){total_row_count}}", [:]),
    ("{transactions(direction: \"FORWARD\"){total_row_count}}", [:]),
    ("{transactions(query: {query_list: [{key: 1}]}){total_row_count}}", [:]),
    ("{transactions(query: {query_lists: []}){total_row_count}}", [:]),
    ("query Q($l: Int){transactions(limit: $k){total_row_count}}", ["l": 3]),
    ("query Q($l: String){transactions(limit: $l){total_row_count}}", ["l": "3"]),
    ("query Q($l: Int){transactions(limit: 1){total_row_count}}", ["l": 3]),
    ("query Q($l: Int!){transactions(limit: $l){total_row_count}}", [:]),
    ("query Q($l: Nothing){transactions(limit: $l){total_row_count}}", [:]),
    ("{serviceFee(merchant_uid: \"m\"){fee}}", [:]),
    ("{barcode(merchant_uid: \"m\", barcode_id: \"b\"){barcode_id expiration_date}}", [:]),
    ("{barcode(barcode_id: \"b\"){barcode_id}}", [:]),
    ("{authorizations(limit: 1){items{authorization_id captured_amount}}}", [:]),
    ("{authorizations(limit: 1){items{gross_amount}}}", [:]),
    ("mutation{createAuthorization(merchant_uid: \"m\", amount: 1){authorization_id}}", [:]),
    ("mutation{createAuthorization(merchant_uid: \"m\"){authorization_id}}", [:]),
    (
      "mutation{createAuthorization(merchant_uid: \"m\", amount: 1, recurring_id: \"r\"){status}}",
      [:]
    ),
    (
      "mutation{createCapture(merchant_uid: \"m\", authorization_id: \"a\", amount: 1){status}}",
      [:]
    ),
    ("mutation{createCapture(merchant_uid: \"m\", authorization_id: \"a\"){status}}", [:]),
    ("mutation{createVoidForAuthorization(authorization_id: \"a\")}", [:]),
    ("mutation{createVoidForAuthorization(authorization_id: \"a\"){a}}", [:]),
    ("{nothing}", [:]),
    ("mutation{transactions(limit: 1){total_row_count}}", [:]),
    (
      """
      mutation{createReversal(amount: 1, transaction_id: "a", refund_reason: \
      {reason_code: OTHER}){is_void}}
      """, [:]
    ),
    ("mutation{createReversal(amount: 1, transaction_id: \"a\"){is_void}}", [:]),
    (
      """
      mutation{createReversal(amount: 1, transaction_id: "a", refund_reason: \
      {reason_details: ""}){is_void}}
      """, [:]
    ),
    (
      """
      mutation{createReversal(amount: 1, transaction_id: "a", refund_reason: \
      {reason_code: BECAUSE}){is_void}}
      """, [:]
    ),
    ("mutation{createTransaction(merchant_uid: \"m\", amount: 1){transaction_id}}", [:]),
    (
      "mutation{createTransaction(merchant_uid: \"m\", amount: 1, currency: \"USD\"){status}}",
      [:]
    ),
    ("mutation{createTransaction(amount: 1){transaction_id}}", [:]),
    ("mutation{createTransaction(merchant_uid: null, amount: 1){transaction_id}}", [:]),
    ("mutation{createTransaction(merchant_uid: \"m\", amount: 1)}", [:]),
    (
      "mutation{createTransaction(merchant_uid: \"m\", amount: 1, send_receipt: \"yes\"){status}}",
      [:]
    ),
    ("{transactions(limit: 1){items{transaction_id}}", [:]),
    ("{transactions(limit: 1) items}", [:]),
    ("", [:]),
  ]

  @Test func `the simulator refuses what the schema refuses, and nothing else`() throws {
    let world = try World()
    let judge = try Judge(
      "graphql_server.py",
      Project.path("Tests/PayTheoryTests/Schema/graphql-2026.graphql")
    )
    let engine = Mutex<(any HTTPExchange)?>(nil)
    _ = try world.engine(exchange: { simulator in
      engine.withLock { $0 = simulator }
      return simulator
    })
    let simulator = try #require(engine.withLock { $0 })
    for (document, variables) in Self.documents {
      let question: JSONObject = ["query": .string(document), "variables": .object(variables)]
      let verdict = try judge.ask(question)
      let complaints = verdict["errors"]?.array?.compactMap { $0["message"]?.text } ?? []
      // Without data, the judge also reports nulls that must not be null. That is not an error of the
      // document.
      let isRefused = complaints.contains { !$0.contains("Cannot return null") }
      let answer = try simulator.send(
        HTTPRequest(
          method: .post,
          url: "https://api.tender.paytheorylab.com/graphql",
          fields: [HTTPRequest.Field("Authorization", "m;s")],
          body: Array(JSONWriter.text(.object(question)).utf8)
        ),
        by: Deadline(in: 1000, on: world.clock)
      )
      // A field may fail during the execution. Such an error has a path.
      let errors = JSONReader.read(answer.body)?["errors"]?.array ?? []
      let refuses = errors.contains { $0["path"] == nil }
      #expect(refuses == isRefused, "\(document) \(complaints)")
    }
  }
}
