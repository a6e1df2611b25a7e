import CLibraries
import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// Steps by other clients, and values that must never be shown: tokens, accounts, foreign addresses.
extension WireTests {
  @Test func `a wait goes on with what is wanted next`() throws {
    let path = "/v3/payments/\(Self.id)"
    func next(_ type: String) -> String {
      #"{"status":"authorizing","authorization_flow":{"actions":{"next":{"type":"\#(type)"}}}}"#
    }
    let stub = StubHTTP([
      .init("GET", path, 200, next("wait")), .init("GET", path, 200, next("wait")),
      .init("GET", path, 200, next("consent")), .init("GET", path, 200, next("consent")),
      .init("POST", path + "/authorization-flow/actions/consent", 200, next("wait")),
      .init("GET", path, 200, Self.whole("executed")),
    ])
    let world = try World()
    let engine = world.engine(over: stub) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token")
    }
    let report = try engine.pay(try world.existing(Self.id))
    #expect(report.result == ["state": "wait"])
    let final = try engine.wait(for: report, upTo: 60_000, every: 1000, inWordsOfAttempt: true) {
      _ in
    }
    #expect(final.result == ["state": "executed"])
    #expect(stub.left == 0)
  }

  @Test func `a look-up never shows an address that is none for a payer`() throws {
    let next: JSON = ["type": "redirect", "uri": "javascript:alert(1)"]
    let body: JSON = [
      "status": "authorizing", "authorization_flow": ["actions": ["next": next]],
    ]
    let stub = StubHTTP([.init("GET", "/v3/payments/\(Self.id)", 200, JSONWriter.text(body))])
    let report = try World().engine(over: stub) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token")
    }.lookUp(Self.id, known: nil)
    #expect(report.nextAction?.json == ["type": "redirect"])
  }

  @Test func `a step that an earlier process took is looked at, not failed of`() throws {
    let path = "/v3/payments/\(Self.id)"
    let choose =
      #"{"status":"authorizing","authorization_flow":{"actions":{"next":{"type":"scheme_selection","#
      + #""schemes":[{"id":"s"}]}}}}"#
    let stub = StubHTTP([
      .init("GET", path, 200, choose),
      .init(
        "POST",
        path + "/authorization-flow/actions/scheme-selection",
        400,
        Self.problem + #"invalid-state"}"#
      ),
      .init("GET", path, 200, Self.redirect),
    ])
    let world = try World()
    let report = try world.engine(over: stub) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token")
    }.pay(try world.existing(Self.id))
    #expect(report.result == ["state": "redirect"])
    #expect(stub.left == 0)
  }

  @Test(arguments: [
    "javascript:alert(1)", "file:///etc/passwd", "http://evil.example/", "-oX=1", "",
    "https://bank.example/\u{1b}[2J", "https://bank.example/\n",
  ])
  func `a payer is sent to the web alone`(_ address: String) throws {
    let next: JSON = ["type": "redirect", "uri": .string(address)]
    let body: JSON = [
      "status": "authorizing", "authorization_flow": ["actions": ["next": next]],
    ]
    let stub = StubHTTP([.init("GET", "/v3/payments/\(Self.id)", 200, JSONWriter.text(body))])
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      _ = try world.engine(over: stub) { _, configuration in
        configuration.resourceToken = SharedSecret("resource-token")
      }.pay(try world.existing(Self.id))
    }
    #expect(fault?.code == "unexpected_behaviour")
    #expect(world.guide.addresses.isEmpty)
  }

  @Test func `a payer's account is gone from every text`() throws {
    let body =
      #"{"status":"failed","failure_reason":"account GB33BUKB20201555555555 / 87654321 blocked","#
      + #""failure_stage":"authorized","payment_source":{"account_holder_name":"P 87654321","#
      + #""account_identifiers":[{"type":"iban","iban":"GB33BUKB20201555555555"},"#
      + #"{"type":"sort_code_account_number","sort_code":"202015","account_number":"87654321"}]}}"#
    let stub = StubHTTP([.init("GET", "/v3/payments/\(Self.id)", 200, body)])
    let report = try World().engine(over: stub) { _, configuration in
      configuration.resourceToken = SharedSecret("resource-token")
    }.lookUp(Self.id, known: nil)
    let text = JSONWriter.text([.object(report.result), .object(report.details)])
    #expect(!text.contains("87654321") && !text.contains("GB33BUKB"))
    #expect(report.lastFour == "5555")
    #expect(report.result["failure_reason"] == "account [redacted] / [redacted] blocked")
  }

  @Test func `401 costs the token, once, and nothing else`() throws {
    let path = "/v3/payments/\(Self.id)"
    let stub = StubHTTP([
      .init("POST", "/connect/token", 200, Self.token), .init("GET", path, 401, "{}"),
      .init("POST", "/connect/token", 200, Self.token),
      .init("GET", path, 200, #"{"status":"settled","amount_in_minor":5,"currency":"GBP"}"#),
      .init("GET", path + "/refunds", 404, "{}"),
    ])
    let report = try World().engine(over: stub).lookUp(Self.id, known: nil)
    #expect(report.status == .succeeded)
    #expect(stub.left == 0)
  }

  @Test(arguments: [
    "../payments", "a/b", "", "a b", "é", String(repeating: "a", count: 65), "a%2fb",
  ])
  func `an id that is none never enters a path`(_ id: String) throws {
    let stub = StubHTTP([])
    let fault = #expect(throws: Fault.self) {
      _ = try World().engine(over: stub).lookUp(id, known: nil)
    }
    #expect(fault?.exitStatus == 5)
    #expect(stub.requests.isEmpty)
  }

  @Test func `a created id that is none is not gone on with`() throws {
    let world = try World()
    let stub = StubHTTP([
      .init("POST", "/connect/token", 200, Self.token),
      .init("POST", "/v3/payments", 201, #"{"id":"../../x","resource_token":"t"}"#),
    ])
    let fault = #expect(throws: Fault.self) {
      _ = try world.engine(over: stub).pay(try world.payment("A"))
    }
    #expect(fault?.exitStatus == 9)
    #expect(stub.requests.count == 2)
  }

  @Test func `no token, key or payer's account is left in the journal`() throws {
    let world = try World()
    let engine = world.engine(
      over: StubHTTP([
        .init("POST", "/connect/token", 200, Self.token),
        .init("POST", "/v3/payments", 201, Self.created),
        .init("POST", "/v3/payments/\(Self.id)/authorization-flow", 200, Self.redirect),
      ])
    )
    let report = try engine.pay(try world.payment("A"))
    let attempt = try #require(try world.latest("A"))
    #expect(
      report.nextAction?["url"]?.text?.hasPrefix("https://bank.example/login#token=eyJ") == true
    )
    // The address of the bank's page is a credential. It is read again and not stored.
    #expect(attempt.attempt?.state.action == PayerAction("redirect"))
    #expect(attempt.attempt?.preparation == nil)
    let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.path)
    for name in names {
      let data = try Data(contentsOf: world.folder.appending(path: name))
      for secret in [
        "the-access-token", "the-resource-token", "bank-simulator-opens", "BEGIN EC", "eyJhbGci",
        "remi@example.com\"},\"metadata",
      ] {
        #expect(data.range(of: Data(secret.utf8)) == nil, "\(secret) in \(name)")
      }
    }
  }
}
