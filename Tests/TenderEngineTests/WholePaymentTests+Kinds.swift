import TenderEngine
import TenderModel
import Testing

/// Refunds by card, mandates and stored methods.
extension WholePaymentTests {
  @Test(arguments: [
    Case(
      "waiting for the card",
      .of(.cardRefund(.redirect)),
      "requires_action, refunding 5, redirect"
    ),
    Case("lost", .of(.cardRefund(.lost)), "unknown, unknown operation, refunding 5"),
    Case("suspended", .of(.cardRefund(.processing)), "pending, refunding 5"),
    Case("made", .of(.cardRefund(.succeeded)), "succeeded, final, refunded 5"),
    Case("declined", .of(.cardRefund(.declined)), "declined, final"),
    Case("came back", .of(.cardRefund(.returned)), "returned, final, returned 5"),
    Case("undone", .of(.cardRefund(.succeeded), .void(5, .succeeded)), "cancelled, final"),
    Case(
      "being undone",
      .of(.cardRefund(.succeeded), .void(5, .lost)),
      "succeeded, unknown operation, refunded 5"
    ),
  ])
  func `shows refunds by card`(_ example: Case) {
    #expect(Self.shown(example.payment) == example.shown)
  }

  @Test(arguments: [
    Case("at its payer", .mandate(.redirect), "requires_action, redirect"),
    Case("at its payer's bank", .mandate(.waiting(PayerAction("wait"))), "pending, wait"),
    Case("lost", .mandate(.lost), "unknown, unknown operation"),
    Case("authorized", .mandate(.succeeded), "authorized, final"),
    Case("declined", .mandate(.declined), "declined, final"),
    Case("revoked", .mandate(.succeeded, .of(.revoke, nil, .succeeded)), "revoked, final"),
    Case(
      "revoked elsewhere",
      .mandate(.succeeded, seen: [.revoked]),
      "revoked, final"
    ),
    Case(
      "revoked elsewhere before it was authorized",
      .mandate(.redirect, seen: [.revoked]),
      "revoked, final"
    ),
    Case(
      "revocation unknown",
      .mandate(.succeeded, .of(.revoke, nil, .lost)),
      "unknown, unknown operation"
    ),
    Case(
      "revocation unknown, and seen revoked",
      .mandate(.succeeded, .of(.revoke, nil, .lost), seen: [.revoked]),
      "revoked, unknown operation"
    ),
    Case(
      "revocation that did nothing",
      .mandate(.succeeded, .of(.revoke, nil, .failed)),
      "authorized, final"
    ),
    Case(
      "stopped before it was authorized",
      .mandate(.cancelled, .of(.revoke, nil, .succeeded)),
      "cancelled, final"
    ),
  ])
  func `shows mandates`(_ example: Case) { #expect(Self.shown(example.payment) == example.shown) }

  @Test(arguments: [
    Case("stored", .stored(.succeeded), "succeeded, final"),
    Case("lost", .stored(.lost), "unknown, unknown operation"),
    Case("refused", .stored(.failed), "failed, final"),
    Case("declined", .stored(.declined), "declined, final"),
  ])
  func `shows stored methods`(_ example: Case) {
    #expect(Self.shown(example.payment) == example.shown)
  }
}

extension Operation.State {
  static let barcode = waiting(PayerAction("barcode", ["url": "https://p.example/b"]))
}

extension Operation {
  static func cardRefund(_ state: State) -> Operation {
    of(.refund, 5, state, id: "pt-1").asAttempt()
  }
}

extension Observation {
  static let revoked = {
    var seen = Observation(.lookup, at: 1, operation: 1, state: .succeeded)
    seen.isRevoked = true
    return seen
  }()
}

extension Payment {
  static func mandate(
    _ state: Operation.State,
    _ follower: Operation? = nil,
    seen: [Observation] = []
  ) -> Payment {
    var payment = Payment.of(
      .of(.createMandate, nil, state, id: "pt-1").asAttempt(),
      kind: .mandate,
      seen: seen
    )
    if let follower { payment.append(follower) }
    return payment
  }

  static func stored(_ state: Operation.State) -> Payment {
    .of(.of(.store, nil, state, id: "pt-1").asAttempt(), kind: .storedMethod)
  }
}
