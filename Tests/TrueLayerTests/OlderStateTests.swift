import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Look-ups that lag behind, or are about another payment, after the payer's consent.
@Suite struct OlderStateTests {
  /// The consent can move money, so nothing but an end of the payment proves that none was moved.
  @Test(arguments: ["authorization_required", "odd"])
  func `a state from before the consent, or none that is known, is unknown`(
    _ status: String
  ) throws {
    let world = try World()
    func pay(_ lies: Bool) throws -> Report {
      try world.engine(
        change: FlowTests.bank,
        wrap: { inner in
          lies
            ? OtherPaymentTests.Confused(inner: inner, member: "status", value: .string(status))
            : inner
        }
      ).pay(try world.payment("A"))
    }
    for _ in 0..<2 {
      let fault = #expect(throws: Fault.self) { _ = try pay(true) }
      #expect(fault?.exitStatus == 9)
      #expect(fault?.effect == .unknown)
    }
    #expect(try pay(false).status == .succeeded)
    #expect(try world.books("A").made == 1)
  }

  /// The answer to the creation named another payment's id.
  @Test func `a look-up that names another reference is not recorded`() throws {
    let world = try World()
    _ = try world.engine(listens: false, change: FlowTests.bank).pay(try world.payment("A"))
    let known = try #require(try world.latest("A"))
    let id = try #require(known.state.id)
    let report = try world.engine(
      change: FlowTests.bank,
      wrap: { inner in
        OtherPaymentTests.Edited(inner: inner, path: id, method: .get) { body in
          body["status"] = "settled"
          body["metadata"] = ["reference": "B"]
        }
      }
    ).lookUp("A", known: known)
    #expect(report.note?.contains("another payment ('B')") == true, "\(report.note ?? "")")
    #expect(report.status == .requiresAction)
    #expect(try world.latest("A")?.state.isFinal == false)
  }

  @Test func `a refund under way that the journal does not have is told`() throws {
    let world = try World()
    _ = try world.settled()
    let report = try world.engine(
      change: FlowTests.bank,
      wrap: { inner in
        OtherPaymentTests.Edited(inner: inner, path: "/refunds", method: .get) { body in
          body["items"] = [
            [
              "id": "11111111-2222-4333-8444-555555555555", "amount_in_minor": 200,
              "currency": "GBP", "status": "pending", "reference": "R",
            ]
          ]
        }
      }
    ).lookUp("R", known: try world.latest("R"))
    #expect(
      report.note
        == "truelayer shows a refund of 2.00 GBP (11111111-2222-4333-8444-555555555555) under way, "
        + "which this journal does not have"
    )
    #expect(try world.latest("R")?.state.leftToRefund == 1000)
  }
}
