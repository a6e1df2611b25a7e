import TenderEngine
import TenderModel
import Testing

/// Whole payments, with the state that each leads to.
@Suite struct WholePaymentTests {
  /// Returns a payment's amounts and status in one line, without zeros and nils.
  static func shown(_ payment: Payment) -> String {
    let state = payment.state
    let amounts: [(String, Int)] = [
      ("authorized", state.authorized), ("captured", state.captured), ("released", state.released),
      ("voided", state.reversed), ("refunded", state.refunded), ("refunding", state.refunding),
      ("returned", state.returned), ("to capture", state.leftToCapture),
      ("to refund", state.leftToRefund),
    ]
    var words = [state.status.rawValue]
    if state.isFinal { words.append("final") }
    if state.isUnknown { words.append("unknown operation") }
    words += amounts.filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" }
    if let action = state.nextAction { words.append(action.type) }
    if let id = state.id, id != "pt-1" { words.append(id) }
    if state.captured != state.standing { words.append("standing \(state.standing)") }
    if let warning = state.warning { words.append("! " + warning) }
    return words.joined(separator: ", ")
  }

  struct Case: CustomTestStringConvertible {
    let name: String
    let payment: Payment
    let shown: String

    init(_ name: String, _ payment: Payment, _ shown: String) {
      self.name = name
      self.payment = payment
      self.shown = shown
    }

    var testDescription: String { name }
  }

  // MARK: Reported cases

  @Test(arguments: [
    Case(
      "4: pending, a part voided",
      .of(.charge(500, .processing), .void(200, .succeeded, id: "pt-2")),
      "partially_refunded, authorized 500, captured 500, refunded 200, to refund 300, pt-2, standing 300"
    ),
    Case(
      "4: and then settled",
      .of(.charge(500, .succeeded), .void(200, .succeeded, id: "pt-2")),
      "partially_refunded, final, authorized 500, captured 500, refunded 200, to refund 300, pt-2, "
        + "standing 300"
    ),
    Case(
      "3: a second part, its answer lost",
      .of(.charge(1050, .processing), .void(400, .succeeded, id: "pt-2"), .void(650, .lost)),
      "partially_refunded, unknown operation, authorized 1050, captured 1050, refunded 400, "
        + "refunding 650, pt-2, standing 650"
    ),
    Case(
      "3: and found out",
      .of(
        .charge(1050, .succeeded),
        .void(400, .succeeded, id: "pt-2"),
        .void(650, .succeeded, id: "pt-3")
      ),
      "refunded, final, authorized 1050, captured 1050, refunded 1050, pt-3, standing 0"
    ),
    Case(
      "5: a refund on its way",
      .of(.charge(1000, .succeeded), .refund(100, .processing)),
      "succeeded, authorized 1000, captured 1000, refunding 100, to refund 900"
    ),
    Case(
      "5: and executed",
      .of(.charge(1000, .succeeded), .refund(100, .succeeded)),
      "partially_refunded, final, authorized 1000, captured 1000, refunded 100, to refund 900"
    ),
    Case(
      "9: a sale that was cancelled",
      .of(.charge(1000, .succeeded), .void(1000, .succeeded)),
      "cancelled, final, authorized 1000, captured 1000, voided 1000, standing 0"
    ),
    Case(
      "9: a sale that its own run undid",
      .of(.charge(1000, .succeeded), .void(1000, .succeeded)),
      "cancelled, final, authorized 1000, captured 1000, voided 1000, standing 0"
    ),
    Case(
      "12: a hold older than its life",
      .of(.authorize(1000, .expired)),
      "expired, final"
    ),
    Case(
      "12: a hold whose capture found it expired",
      .of(.authorize(1000, .held), .capture(1000, .expired)),
      "expired, final, authorized 1000"
    ),
    Case("12: a barcode", .of(.charge(1000, .barcode)), "requires_action, barcode"),
    Case("12: a barcode that expired", .of(.charge(1000, .expired)), "expired, final"),
    Case(
      "12: a barcode that was paid, and is being settled",
      .of(.charge(1000, .processing)),
      "pending, authorized 1000, captured 1000, to refund 1000"
    ),
    Case(
      "12: a new barcode in its place",
      .of(.charge(1000, .expired), .charge(1000, .barcode)),
      "requires_action, barcode"
    ),
    Case(
      "12: and then the first is paid after all",
      .of(.charge(1000, .succeeded), .charge(1000, .succeeded)),
      "succeeded, final, authorized 1000, captured 1000, to refund 1000, ! attempt 1 was paid as well"
    ),
  ])
  func `shows what the issue asks for`(_ example: Case) {
    #expect(Self.shown(example.payment) == example.shown)
  }

  // MARK: Charges

  @Test(arguments: [
    Case("recorded", .of(.charge(10, .prepared)), "pending"),
    Case("lost", .of(.charge(10, .lost)), "unknown, unknown operation"),
    Case("at the payer", .of(.charge(10, .redirect)), "requires_action, redirect"),
    Case(
      "at the payer's bank",
      .of(.charge(10, .waiting(PayerAction("wait")))),
      "pending, wait"
    ),
    Case(
      "failed at the payer's bank, and can go on",
      .of(.charge(10, .waiting(PayerAction("retry")))),
      "failed, retry"
    ),
    Case(
      "paid",
      .of(.charge(10, .succeeded)),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case("declined", .of(.charge(10, .declined)), "declined, final"),
    Case("cancelled at the payer", .of(.charge(10, .cancelled)), "cancelled, final"),
    Case("failed before it was sent", .of(.charge(10, .failed)), "failed, final"),
    Case(
      "expired before it was sent",
      .of(.of(.charge, 10, .failed, id: "pt-1", fault: .expired).asAttempt()),
      "expired, final"
    ),
    Case(
      "stopped before it was sent",
      .of(.of(.charge, 10, .failed, id: "pt-1", fault: .cancelled).asAttempt()),
      "cancelled, final"
    ),
    Case(
      "refused before it was sent",
      .of(.of(.charge, 10, .failed, id: "pt-1", fault: .rejected).asAttempt()),
      "failed, final"
    ),
    Case(
      "taken back by the bank",
      .of(.charge(10, .returned)),
      "returned, final, authorized 10, captured 10, returned 10"
    ),
    Case(
      "taken back by the bank after a part was refunded",
      .of(.charge(10, .returned), .refund(4, .succeeded)),
      "returned, final, authorized 10, captured 10, refunded 4, returned 10"
    ),
    Case(
      "approved in part",
      .of(.of(.charge, 10, .succeeded, approved: 7, id: "pt-1").asAttempt()),
      "succeeded, final, authorized 7, captured 7, to refund 7"
    ),
    Case(
      "paid after a decline",
      .of(.charge(10, .declined), .charge(10, .succeeded)),
      "succeeded, final, authorized 10, captured 10, to refund 10"
    ),
    Case(
      "declined again",
      .of(.charge(10, .declined), .charge(10, .declined)),
      "declined, final"
    ),
    Case(
      "unknown again after a void",
      .of(.charge(10, .succeeded), .void(10, .succeeded), .charge(10, .lost)),
      "unknown, unknown operation"
    ),
    Case(
      "lost, and undone by its own run, whose answer is lost too",
      .of(.charge(10, .lost), .void(10, .lost)),
      "unknown, unknown operation"
    ),
    Case(
      "approved, and being undone",
      .of(.charge(10, .succeeded), .void(10, .lost)),
      "succeeded, unknown operation, authorized 10, captured 10, refunding 10"
    ),
    Case(
      "lost, and undone",
      .of(.charge(10, .cancelled), .void(10, .succeeded)),
      "cancelled, final"
    ),
    Case(
      "charged with more than was asked for",
      .of(.of(.charge, 10, .succeeded, approved: 12, id: "pt-1").asAttempt()),
      "succeeded, final, authorized 12, captured 12, to refund 12, "
        + "! the provider says that more was charged than was asked for"
    ),
  ])
  func `shows charges`(_ example: Case) { #expect(Self.shown(example.payment) == example.shown) }

  // MARK: Details

  @Test func `counts fee and gratuity to what is asked, and says what was ordered`() {
    let paid = Payment.of(.charge(1050, .succeeded, fee: 50)).state
    #expect(paid.asked == 1050)
    #expect(paid.amount == 1050)
    #expect(paid.captured == 1050)
    #expect(paid.requestedAmount == 1000)
    let part = Payment.of(.of(.charge, 1050, .succeeded, approved: 700).asAttempt(fee: 50)).state
    #expect(part.asked == 1050)
    #expect(part.amount == 700)
    #expect(part.requestedAmount == 1000)
    let plain = Payment.of(.charge(1050, .succeeded)).state
    #expect(plain.requestedAmount == nil)
    #expect(Payment.of(.charge(nil, .redirect)).state.amount == nil)
  }

  @Test func `is nothing without an attempt`() {
    #expect(Self.shown(.of()) == "pending")
    #expect(Self.shown(.of(.refund(5, .lost))) == "pending, unknown operation")
  }

  @Test func `starts anew with each attempt`() {
    var payment = Payment.of(.charge(10, .cancelled), seen: [.refunded(4), .revoked])
    #expect(payment.observed.refunded == 4)
    payment.append(.charge(10, .succeeded))
    #expect(payment.observed == Observed())
    // A late observation of the first attempt is recorded, and does not change the second.
    payment.add(.refunded(7, of: 1, at: 9))
    #expect(payment.observed == Observed())
    #expect(payment.unwritten.count == 3)
    payment.add(.refunded(2, of: 2, at: 9))
    #expect(payment.state.refunded == 2)
  }

  @Test func `numbers attempts, reversals and other operations apart`() {
    let payment = Payment.of(
      .authorize(10, .declined),
      .authorize(10, .succeeded),
      .capture(10, .succeeded),
      .void(3, .failed),
      .refund(3, .succeeded),
      .refund(3, .succeeded)
    )
    #expect(payment.operations.map(\.sequence) == [1, 2, 3, 4, 5, 6])
    #expect(payment.operations.map(\.number) == [1, 2, 1, 1, 2, 3])
    #expect(payment.changed == [1, 2, 3, 4, 5, 6])
  }
}
