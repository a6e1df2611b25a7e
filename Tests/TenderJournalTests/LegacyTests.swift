import TenderEngine
import TenderJournal
import TenderModel
import Testing

/// Converts one record of a version before 7 into a payment with operations.
@Suite struct LegacyTests {
  /// An attempt of an old export. These members replace those of a card payment.
  static func payment(_ members: JSONObject) throws -> Payment {
    var object: JSONObject = [
      "env": "simulator", "provider": "paytheory", "reference": "A", "number": 1,
      "operation": "transact", "phase": "done", "status": "succeeded", "freed": 0, "kind": 0,
      "id": "pt-1", "amount": 1000, "currency": "USD", "merchant": "m", "key": "k",
      "content": "{\"command\":\"transact\",\"amount\":1000,\"fee_mode\":\"merchant_fee\"}",
      "result": "{\"type\":\"X\"}", "created": 5, "updated": 9, "version": 3,
    ]
    for member in members.members {
      object[member.key] = member.value == .null ? nil : member.value
    }
    return try #require(PaymentRow.payment(of: object))
  }

  private static let byPayer: JSONObject = [
    "provider": "truelayer",
    "content": "{\"command\":\"transact\",\"amount\":1000,\"metadata\":{}}",
  ]

  private static func bank(_ members: JSONObject) throws -> Payment {
    var all = byPayer
    for member in members.members { all[member.key] = member.value }
    return try payment(all)
  }

  private func kinds(_ payment: Payment) -> [String] {
    payment.operations.map { "\($0.kind.rawValue) \($0.state.name.rawValue)" }
  }

  @Test(arguments: [
    ("succeeded", "charge succeeded"), ("declined", "charge declined"),
    ("pending", "charge processing"), ("cancelled", "charge cancelled"),
    ("expired", "charge expired"), ("returned", "charge returned"),
    ("requires_confirmation", "authorize waiting"),
  ])
  func `an attempt is one operation`(_ status: String, _ expected: String) throws {
    let payment = try Self.payment(["status": .string(status)])
    #expect(kinds(payment) == [expected])
    #expect(payment.state.status.rawValue == status)
    #expect(payment.state.amount == 1000)
    #expect(payment.charge.key == nil)
    #expect(payment.version == 3)
    #expect((payment.createdAt, payment.updatedAt) == (5, 9))
  }

  @Test func `a bank's payment keeps its key and its next step`() throws {
    let payment = try Self.bank([
      "status": "requires_action", "next_action": "{\"type\":\"redirect\"}",
    ])
    #expect(payment.charge.key == "k")
    #expect(payment.state.status == .requiresAction)
    #expect(payment.state.nextAction?.type == "redirect")
    let mandate = try Self.bank(["kind": 2, "status": "authorized"])
    #expect(kinds(mandate) == ["create_mandate succeeded"])
    #expect(mandate.state.status == .authorized)
  }

  @Test func `what was approved in part keeps what was asked`() throws {
    let part = try Self.payment(["amount": 700, "requested": 1000]).charge
    #expect((part.amount, part.approved) == (1000, 700))
    let withFee = try Self.payment(["amount": 1050, "requested": 1000]).charge
    #expect((withFee.amount, withFee.approved) == (1050, nil))
  }

  @Test func `an attempt that was freed has failed, with its error`() throws {
    let expired = try Self.payment([
      "status": "expired", "freed": 1,
      "fault": "{\"kind\":\"expired\",\"code\":\"c\",\"message\":\"m\"}",
    ])
    #expect(kinds(expired) == ["charge failed"])
    #expect(expired.state.status == .expired)
    #expect(expired.charge.fault?.kind == .expired)
  }

  @Test func `an unknown one stays sent`() throws {
    let lost = try Self.payment([
      "phase": "sent", "status": "pending", "sent": 7, "moment": "boot 3",
      "preparation": "{\"sale\":\"s\"}",
    ])
    #expect(lost.charge.state == .sent(.init(at: 7, moment: Moment(boot: "boot", milliseconds: 3))))
    #expect(lost.charge.preparation == .plain("{\"sale\":\"s\"}"))
    #expect(lost.state.status == .unknown)
  }

  @Test func `a confirm is a capture`() throws {
    let done = try Self.payment(["operation": "confirm"])
    #expect(kinds(done) == ["authorize succeeded", "capture succeeded"])
    #expect(done.state.captured == 1000)
    let pending = try Self.payment(["operation": "confirm", "status": "pending"])
    #expect(kinds(pending) == ["authorize succeeded", "capture processing"])
    let lost = try Self.payment([
      "operation": "confirm", "phase": "sent", "status": "requires_confirmation", "sent": 7,
      "preparation": "{\"sale\":\"s\",\"advice\":\"a\"}",
    ])
    #expect(kinds(lost) == ["authorize waiting", "capture sent"])
    #expect(lost[2]?.preparation?.plain != nil)
    #expect(lost.charge.preparation == nil)
    let payers = try Self.bank(["operation": "confirm", "status": "succeeded"])
    #expect(kinds(payers) == ["charge succeeded"])
  }

  @Test func `what was undone as a whole is a void or a refund`() throws {
    let released = try Self.payment([
      "operation": "cancel", "status": "cancelled", "reversal": "{}",
    ])
    #expect(kinds(released) == ["authorize succeeded", "void succeeded"])
    #expect((released.state.status, released.state.captured) == (.cancelled, 0))
    let voided = try Self.payment([
      "operation": "cancel", "status": "cancelled",
      "reversal": "{\"reversal\":{\"is_void\":true,\"transaction_id\":\"pt-2\"}}",
    ])
    #expect(kinds(voided) == ["charge succeeded", "void succeeded"])
    #expect((voided.state.status, voided.state.voided) == (.cancelled, 1000))
    let refunded = try Self.payment([
      "operation": "cancel", "status": "refunded", "reversal": "{\"reversal\":{\"is_void\":false}}",
    ])
    #expect(kinds(refunded) == ["charge succeeded", "refund succeeded"])
    #expect((refunded.state.status, refunded.state.refunded) == (.refunded, 1000))
    #expect(refunded[2]?.isRest == true)
    let withdrawn = try Self.bank([
      "operation": "cancel", "status": "cancelled", "reversal": "{\"status\":\"failed\"}",
    ])
    #expect(kinds(withdrawn) == ["charge cancelled", "void succeeded"])
    #expect((withdrawn.state.status, withdrawn.state.captured) == (.cancelled, 0))
    let revoked = try Self.bank([
      "operation": "cancel", "kind": 2, "status": "revoked", "reversal": "{\"status\":\"revoked\"}",
    ])
    #expect(kinds(revoked) == ["create_mandate succeeded", "revoke succeeded"])
    #expect(revoked.state.status == .revoked)
  }

  @Test func `refunds in parts keep order, names, keys and ids`() throws {
    let payment = try Self.bank([
      "operation": "cancel", "status": "pending",
      "reversal": """
      {"refunds":[
        {"attempt":1,"amount":300,"rest":false,"key":"k1","refund_reference":"r1","id":"i1","status":"executed"},
        {"attempt":2,"amount":200,"rest":false,"key":"k2","id":"i2","status":"failed","failure_reason":"x"},
        {"attempt":3,"amount":700,"rest":true,"key":"k3","id":"i3","status":"pending","reference":"on a statement"}
      ]}
      """,
    ])
    #expect(
      kinds(payment) == [
        "charge succeeded", "refund succeeded", "refund declined", "refund processing",
      ]
    )
    let refunds = payment.reversals
    #expect(refunds.map(\.number) == [1, 2, 3])
    #expect(refunds.map(\.name) == ["r1", nil, nil])
    #expect(refunds.map(\.key) == ["k1", "k2", "k3"])
    #expect(refunds.map(\.id) == ["i1", "i2", "i3"])
    #expect(refunds.map(\.isRest) == [false, false, true])
    #expect(refunds.allSatisfy { $0.link == nil })
    #expect((payment.state.refunded, payment.state.refunding) == (300, 700))
    #expect(payment.state.status == .partiallyRefunded)
  }

  @Test func `refunds at the reader are linked both ways`() throws {
    let original = try Self.payment([
      "provider": "toro", "status": "partially_refunded",
      "reversal": """
      {"refunds":[{"reference":"RA","amount":300,"status":"succeeded"},
        {"reference":"RB","amount":200,"status":"unknown"}]}
      """,
    ])
    #expect(kinds(original) == ["charge succeeded", "refund succeeded", "refund sent"])
    #expect(original.reversals.map { $0.link?.text } == ["RA", "RB"])
    #expect((original.state.refunded, original.state.leftToRefund) == (300, 500))
    let refund = try Self.payment([
      "provider": "toro", "reference": "RA", "amount": 300,
      "content":
        "{\"command\":\"transact\",\"type\":\"refund\",\"amount\":300,\"original\":\"A\"}",
    ])
    #expect(kinds(refund) == ["refund succeeded"])
    #expect(refund.charge.link?.text == "A")
  }

  @Test func `a refund whose answer was lost is that operation, with what finishes it`() throws {
    let prepared = """
      {"attempt":2,"amount":300,"rest":false,"key":"k2","refund_reference":"r2","before":200}
      """
    let lost = try Self.payment([
      "operation": "cancel", "phase": "sent", "status": "partially_refunded", "sent": 7,
      "fault": "{\"kind\":\"unknown\",\"effect\":\"unknown\",\"code\":\"c\",\"message\":\"m\"}",
      "preparation": .string(prepared),
      "reversal": "{\"refunds\":[{\"attempt\":1,\"amount\":200,\"status\":\"executed\"}]}",
    ])
    #expect(kinds(lost) == ["charge succeeded", "refund succeeded", "refund sent"])
    #expect(lost[3]?.amount == 300)
    #expect(lost[3]?.name == "r2")
    #expect(lost[3]?.number == 2)
    #expect(lost[3]?.preparation == .plain(prepared))
    #expect(lost[3]?.fault?.code == "c")
    #expect(lost.charge.preparation == nil)
    #expect(lost.charge.fault == nil)
    #expect((lost.state.refunded, lost.state.refunding) == (200, 300))
    let whole = try Self.payment(["operation": "cancel", "phase": "sent", "sent": 7])
    #expect(kinds(whole) == ["charge succeeded", "refund sent"])
    #expect(whole[2]?.isRest == true)
    let void = try Self.payment([
      "operation": "cancel", "phase": "sent", "status": "requires_confirmation", "sent": 7,
    ])
    #expect(kinds(void) == ["authorize waiting", "void sent"])
    let advised = try Self.payment([
      "operation": "cancel", "phase": "sent", "sent": 7, "preparation": "{\"sale\":\"s\"}",
    ])
    #expect(kinds(advised) == ["charge succeeded", "void sent"])
    #expect(advised[2]?.preparation?.plain != nil)
    let revoke = try Self.bank([
      "operation": "cancel", "kind": 2, "phase": "sent", "status": "authorized",
    ])
    #expect(kinds(revoke) == ["create_mandate succeeded", "revoke sent"])
  }

  @Test func `what a look-up had seen stays seen`() throws {
    let refunded = try Self.payment(["status": "refunded"])
    #expect(refunded.state.status == .refunded)
    #expect(refunded.observed.refunded == 1000)
    let revoked = try Self.bank(["kind": 2, "status": "revoked"])
    #expect(revoked.state.status == .revoked)
  }

  /// An export of this version is read back completely, without secrets.
  @Test func `an export of a payment is read back`() throws {
    var payment = try Self.bank([
      "status": "pending", "operation": "cancel",
      "reversal":
        "{\"refunds\":[{\"attempt\":1,\"amount\":300,\"key\":\"k1\",\"status\":\"pending\"}]}",
    ])
    try payment.change(1) {
      $0.preparation = .secret("s")
      $0.fingerprints = ["x": "y"]
    }
    let object = PaymentRow.object(payment)
    #expect(!JSON.object(object).canonicalText.contains("fingerprints"))
    let read = try #require(PaymentRow.payment(of: object))
    #expect(read.charge.preparation == nil)
    #expect(PaymentRow.isSame(read, payment))
    #expect(read.state == payment.state)
    #expect(PaymentRow.payment(of: ["operations": []]) == nil)
    #expect(PaymentRow.payment(of: ["x": 1]) == nil)
  }
}
