import TenderEngine
import TenderModel
import TenderSimulator
import Testing

/// Requests of the acceptance tests of TrueLayer's clients that the published document leaves open, or
/// contradicts (TrueLayer/README, 10.7): truelayer-java d4173ee, truelayer-php a720f99.
@Suite struct SuiteTests {
  private static let payee =
    #"{"type":"merchant_account","merchant_account_id":"\#(AccountTests.pounds)","reference":"A"}"#

  /// A payment's body.
  private static func payment(
    bank: String = #"{"type":"user_selected"}"#,
    payee: String = payee,
    currency: String = "GBP",
    method: String = "",
    more: String = #","user":{"id":"u"}"#
  ) -> String {
    #"{"amount_in_minor":100,"currency":"\#(currency)","payment_method":{"type":"bank_transfer","#
      + #""provider_selection":\#(bank),"beneficiary":\#(payee)\#(method)}\#(more)}"#
  }

  private static let start =
    #"{"provider_selection":{},"redirect":{"return_uri":"http://localhost:3000/callback"}"#

  private let client: AccountTests.Client

  init() throws { client = try AccountTests.Client() }

  private func make(_ body: String, at path: String = "/v3/payments") throws -> String {
    let made = try client.ask(.post, path, body)
    #expect(made.status == 201, "\(made.body)")
    return path + "/" + (made.body["id"]?.text ?? "")
  }

  /// Starts the flow, chooses the bank and gives the bank's answer address after an action.
  private func authorize(_ path: String, _ action: String, more: String = "") throws {
    let flow = path + "/authorization-flow"
    #expect(try client.ask(.post, flow, Self.start + more + "}").status == 200)
    let choice = #"{"provider_id":"mock-payments-gb-redirect"}"#
    let next = try client.ask(.post, flow + "/actions/provider-selection", choice).body
    let address = next["authorization_flow"]?["actions"]?["next"]?["uri"]?.text ?? ""
    let parts = address.split(separator: "#token=").map(String.init)
    let session = parts.first?.split(separator: "/").last ?? ""
    let answer = try client.act(
      String(session),
      #"{"action":"\#(action)","redirect":false}"#,
      token: parts.last ?? ""
    )
    let query = answer.split(separator: "?").last ?? ""
    #expect(query.hasSuffix("#"))
    let body = ##"{"query":"?\##(query.dropLast())","fragment":"#"}"##
    let back = try client.ask(.post, "/v3/payments-provider-return", body)
    #expect(back.status == 200, "\(back.body)")
  }

  @Test func `a path needs no version`() throws {
    let path = try make(Self.payment(), at: "/payments")
    #expect(try client.ask(.get, "/v3" + path).body == client.ask(.get, path).body)
    #expect(try client.ask(.get, "/mandates").status == 200)
    #expect(try client.ask(.get, "/payments-providers/mock-payments-gb-redirect").status == 200)
    #expect(try client.ask(.get, "/merchant-accounts").status == 200)
  }

  @Test func `a payment shows the merchant behind it`() throws {
    let merchant =
      #"{"ultimate_counterparty":{"type":"business_division","id":"7","name":"Shoes"}}"#
    let more = #","user":{"id":"u"},"sub_merchants":"# + merchant
    let shown = try client.ask(.get, make(Self.payment(more: more))).body
    #expect(shown["sub_merchants"] == JSONReader.read(merchant))
  }

  @Test func `forms may have no types of input, and then count as none`() throws {
    let payee = AccountTests.external.replacing(
      "GB29NWBK60161331926819",
      with: "NL39ABNA8234998285"
    )
    let path = try make(
      Self.payment(payee: payee.replacing("A payout of June, 2026", with: "A"), currency: "EUR")
    )
    let none = Self.start + #","form":{"input_types":[]}}"#
    let started = try client.ask(.post, path + "/authorization-flow", none).body
    let banks = started["authorization_flow"]?["actions"]?["next"]?["providers"]?.array ?? []
    #expect(!banks.isEmpty)
    #expect(!banks.contains { $0["id"] == "mock-payments-de-embedded" })
    let flow = try client.ask(.get, path).body["authorization_flow"]
    #expect(flow?["configuration"]?["form"] == ["input_types": []])
  }

  /// The ways to confirm, the field that each asks for, and one that it does not.
  @Test(arguments: [
    ("Sms", "embedded-auth-flow-sms-input", "test_executed"),
    ("PhotoTan", "otp_authorization", "1234"),
  ])
  func `a code is asked for in the way that was chosen`(
    _ way: String,
    _ id: String,
    _ code: String
  ) throws {
    let payee = AccountTests.external.replacing("A payout of June, 2026", with: "A")
    let path = try make(Self.payment(payee: payee, currency: "EUR"))
    let flow = path + "/authorization-flow"
    let types = #","form":{"input_types":["text","text_with_image","select"]}}"#
    #expect(try client.ask(.post, flow, Self.start + types).status == 200)
    let choice = #"{"provider_id":"mock-payments-de-embedded"}"#
    #expect(try client.ask(.post, flow + "/actions/provider-selection", choice).status == 200)
    var next: JSON?
    for inputs in [
      #""psu-id":"a","psu-password":"b","remitter-name":"c""#,
      #""embedded-auth-flow-sca-select":"\#(way)""#,
    ] {
      let form = #"{"inputs":{\#(inputs)}}"#
      next = try client.ask(.post, flow + "/actions/form", form).body["authorization_flow"]
    }
    let asked = next?["actions"]?["next"]?["inputs"]?.array ?? []
    #expect(asked.map { $0["id"]?.text } == [id])
    let last = try client.ask(.post, flow + "/actions/form", #"{"inputs":{"\#(id)":"\#(code)"}}"#)
    #expect(last.body["authorization_flow"]?["actions"]?["next"]?["type"] == "wait")
  }

  @Test func `a return is taken with the marks before query and fragment`() throws {
    let path = try make(Self.payment())
    try authorize(path, "Execute")
    #expect(try client.ask(.get, path).body["status"] == "settled")
  }

  @Test(arguments: [(true, "attempt_failed"), (false, "failed")])
  func `a rejected execution may be tried again`(_ retries: Bool, _ status: String) throws {
    let path = try make(Self.payment(method: retries ? #","retry":{}"# : ""))
    try authorize(path, "RejectExecution", more: #","retry":{}"#)
    let shown = try client.ask(.get, path).body
    #expect(shown["status"] == .string(status))
    #expect(shown["failure_reason"] == "provider_rejected")
  }

  @Test func `a commercial mandate needs no use case, and a payment on a mandate no user`() throws {
    let body = SchemaTests.mandate.replacing(#""use_case":"utilities","#, with: "")
    let mandate = try make(body, at: "/v3/mandates")
    try authorize(mandate, "Authorise")
    #expect(try client.ask(.get, mandate).body["status"] == "authorized")
    let id = mandate.split(separator: "/").last ?? ""
    let charge =
      #"{"amount_in_minor":100,"currency":"GBP","payment_method":{"type":"mandate","#
      + #""mandate_id":"\#(id)","reference":"A"}}"#
    let payment = try make(charge)
    #expect(try client.ask(.get, payment).body["status"] == "executed")
    let noUser = try client.ask(.post, "/v3/payments", Self.payment(more: ""))
    #expect(noUser.status == 400)
    #expect(noUser.body["errors"]?.object?.members.map(\.key) == ["user"])
  }

  @Test func `signup is known once its payment is authorized`() throws {
    let more = #","user":{"id":"u"},"related_products":{"signup_plus":{}}"#
    let path = try make(Self.payment(more: more))
    let id = path.split(separator: "/").last ?? ""
    let place = "/signup-plus/payments?payment_id=\(id)"
    let wanted = #"{"payment_id":"\#(id)"}"#
    #expect(try client.ask(.get, place).status == 404)
    #expect(try client.ask(.post, "/signup-plus/authuri", wanted).status == 404)
    try authorize(path, "Execute")
    let person = try client.ask(.get, place).body
    #expect(person["first_name"] == "Remi")
    #expect(person["account_details"]?["provider_id"] == "mock-payments-gb-redirect")
    let address = try client.ask(.post, "/signup-plus/authuri", wanted).body["auth_uri"]?.text
    #expect(address?.contains("://") == true)
  }
}

extension AccountTests.Client {
  /// The text that the mock bank's interface answers an action with.
  fileprivate func act(_ session: String, _ body: String, token: String) throws -> String {
    let answer = try schema.simulator(world).send(
      HTTPRequest(
        method: .post,
        url: "https://simulator/api/single-immediate-payments/\(session)/action",
        fields: [HTTPRequest.Field("Authorization", "Bearer \(token)")],
        body: Array(body.utf8)
      ),
      by: Deadline(in: 1000, on: world.clock)
    )
    #expect(answer.status == 202)
    return String(decoding: answer.body, as: UTF8.self)
  }
}
