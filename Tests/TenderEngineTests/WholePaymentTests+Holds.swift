import TenderEngine
import TenderModel
import Testing

/// Holds, and refunds of captured payments.
extension WholePaymentTests {
  // MARK: Holds

  @Test(arguments: [
    Case("held", .of(.authorize(10, .held)), "requires_confirmation, authorized 10, to capture 10"),
    Case(
      "held for a part",
      .of(.of(.authorize, 10, .held, approved: 7, id: "pt-1").asAttempt()),
      "requires_confirmation, authorized 7, to capture 7"
    ),
    Case(
      "captured",
      .of(.authorize(10, .succeeded), .capture(10, .succeeded)),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "captured in part: the rest is released",
      .of(.authorize(10, .succeeded), .capture(7, .succeeded)),
      "succeeded, final, authorized 10, captured 7, released 3, to refund 7"
    ),
    Case(
      "captured in part and refunded",
      .of(.authorize(10, .succeeded), .capture(7, .succeeded), .refund(7, .succeeded)),
      "refunded, final, authorized 10, captured 7, released 3, refunded 7"
    ),
    Case(
      "captured in part and voided",
      .of(.authorize(10, .succeeded), .capture(7, .succeeded), .void(7, .succeeded)),
      "cancelled, final, authorized 10, captured 7, released 3, voided 7, standing 0"
    ),
    Case(
      "voided",
      .of(.authorize(10, .succeeded), .void(10, .succeeded)),
      "cancelled, final, authorized 10, released 10"
    ),
    Case(
      "capture unknown",
      .of(.authorize(10, .held), .capture(10, .lost)),
      "unknown, unknown operation, authorized 10"
    ),
    Case(
      "void unknown",
      .of(.authorize(10, .held), .void(10, .lost)),
      "unknown, unknown operation, authorized 10"
    ),
    Case(
      "void not finished",
      .of(.authorize(10, .held), .void(10, .processing)),
      "pending, authorized 10"
    ),
    Case(
      "capture not finished",
      .of(.authorize(10, .succeeded), .capture(10, .processing)),
      "pending, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "capture declined",
      .of(.authorize(10, .held), .capture(10, .declined)),
      "declined, final, authorized 10"
    ),
    Case(
      "capture accepted, then declined",
      .of(.authorize(10, .succeeded), .capture(10, .declined)),
      "declined, final, authorized 10"
    ),
    Case(
      "capture that did nothing: held still",
      .of(.authorize(10, .held), .capture(10, .failed)),
      "requires_confirmation, authorized 10, to capture 10"
    ),
    Case(
      "captured at the second try",
      .of(.authorize(10, .succeeded), .capture(10, .failed), .capture(10, .succeeded)),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "captured after a void that did nothing",
      .of(.authorize(10, .succeeded), .void(10, .failed), .capture(10, .succeeded)),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "captured in several parts",
      .of(.authorize(10, .succeeded), .capture(4, .succeeded), .capture(3, .succeeded)),
      "succeeded, final, authorized 10, captured 7, released 3, to refund 7"
    ),
    Case(
      "captured twice: no more than was authorized",
      .of(.authorize(10, .succeeded), .capture(10, .succeeded), .capture(10, .succeeded)),
      "succeeded, final, authorized 10, captured 10, to refund 10, ! more was captured than was authorized"
    ),
    Case(
      "capture taken back by the bank",
      .of(.authorize(10, .succeeded), .capture(10, .returned)),
      "returned, final, authorized 10, captured 10, returned 10"
    ),
    Case(
      "captured elsewhere",
      .of(.authorize(10, .succeeded)),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case("lost", .of(.authorize(10, .lost)), "unknown, unknown operation"),
    Case("declined", .of(.authorize(10, .declined)), "declined, final"),
    Case(
      "lost, and its capture undone",
      .of(.authorize(10, .succeeded), .capture(10, .cancelled), .void(10, .succeeded)),
      "cancelled, final, authorized 10, released 10"
    ),
  ])
  func `shows holds`(_ example: Case) { #expect(Self.shown(example.payment) == example.shown) }

  // MARK: Refunds

  @Test(arguments: [
    Case(
      "two parts",
      .of(.charge(10, .succeeded), .refund(3, .succeeded), .refund(4, .succeeded)),
      "partially_refunded, final, authorized 10, captured 10, refunded 7, to refund 3"
    ),
    Case(
      "all of it",
      .of(.charge(10, .succeeded), .refund(3, .succeeded), .refund(7, .succeeded)),
      "refunded, final, authorized 10, captured 10, refunded 10"
    ),
    Case(
      "unknown",
      .of(.charge(10, .succeeded), .refund(3, .lost)),
      "succeeded, unknown operation, authorized 10, captured 10, refunding 3, to refund 7"
    ),
    Case(
      "unknown after a part",
      .of(.charge(10, .succeeded), .refund(3, .succeeded), .refund(3, .lost)),
      "partially_refunded, unknown operation, authorized 10, captured 10, refunded 3, refunding 3, "
        + "to refund 4"
    ),
    Case(
      "recorded, and its process died",
      .of(.charge(10, .succeeded), .refund(3, .prepared)),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "without effect",
      .of(
        .charge(10, .succeeded),
        .refund(3, .declined),
        .refund(3, .failed),
        .refund(3, .cancelled),
        .refund(3, .expired)
      ),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "came back",
      .of(.charge(10, .succeeded), .refund(3, .returned)),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "came back after it was seen",
      .of(.charge(10, .succeeded), .refund(3, .returned), seen: [.refunded(3, elsewhere: 0)]),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "of a payment that is not settled",
      .of(.charge(10, .processing), .refund(3, .processing)),
      "pending, authorized 10, captured 10, refunding 3, to refund 7"
    ),
    Case(
      "seen before it was executed here",
      .of(.charge(10, .succeeded), .refund(3, .processing), seen: [.refunded(3)]),
      "succeeded, authorized 10, captured 10, refunding 3, to refund 7"
    ),
    Case(
      "seen in part, with more on its way",
      .of(
        .charge(10, .succeeded),
        .refund(3, .lost),
        .refund(4, .processing),
        seen: [.refunded(3)]
      ),
      "succeeded, unknown operation, authorized 10, captured 10, refunding 7, to refund 3"
    ),
    Case(
      "made elsewhere",
      .of(.charge(10, .succeeded), .refund(3, .succeeded), seen: [.refunded(5), .refunded(3)]),
      "partially_refunded, final, authorized 10, captured 10, refunded 5, to refund 5, "
        + "! a refund was made at the provider and not by this journal"
    ),
    Case(
      "said to be more than was captured",
      .of(.charge(10, .succeeded), .refund(3, .succeeded), seen: [.refunded(11)]),
      "partially_refunded, final, authorized 10, captured 10, refunded 3, to refund 7, "
        + "! the provider says that more was refunded than was captured"
    ),
    Case(
      "more than was captured",
      .of(.charge(10, .succeeded), .refund(7, .succeeded), .refund(7, .succeeded)),
      "refunded, final, authorized 10, captured 10, refunded 10, ! more was refunded than was captured"
    ),
    Case(
      "parts voided, more than was captured",
      .of(
        .charge(10, .succeeded),
        .void(7, .succeeded, id: "pt-2"),
        .void(7, .succeeded, id: "pt-3")
      ),
      "refunded, final, authorized 10, captured 10, refunded 10, pt-3, standing 0, "
        + "! more was refunded than was captured"
    ),
    Case(
      "a part voided, and a part refunded",
      .of(.charge(10, .succeeded), .void(4, .succeeded, id: "pt-2"), .refund(3, .succeeded)),
      "partially_refunded, final, authorized 10, captured 10, refunded 7, to refund 3, pt-2, standing 6"
    ),
    Case(
      "a void beside a refund: no more than was captured",
      .of(.charge(10, .succeeded), .refund(3, .succeeded), .void(10, .succeeded)),
      "cancelled, final, authorized 10, captured 10, voided 7, refunded 3, standing 0"
    ),
    Case(
      "a void that the provider counts as refunded",
      .of(.charge(10, .succeeded), .void(10, .succeeded), seen: [.refunded(10)]),
      "cancelled, final, authorized 10, captured 10, voided 10, standing 0"
    ),
    Case(
      "a void with its answer lost",
      .of(.charge(10, .succeeded), .void(10, .lost)),
      "succeeded, unknown operation, authorized 10, captured 10, refunding 10"
    ),
    Case(
      "seen of an attempt that was declined",
      .of(.charge(10, .declined), .charge(10, .succeeded), seen: [.refunded(10, of: 1)]),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
  ])
  func `shows refunds`(_ example: Case) { #expect(Self.shown(example.payment) == example.shown) }
}
