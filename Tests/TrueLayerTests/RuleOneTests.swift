import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// Rule 1 for every command in every state that a look can show.
@Suite struct RuleOneTests {
  @Test(arguments: RuleCommand.allCases)
  func `looks, folds, decides and sends`(_ command: RuleCommand) throws {
    try RuleSuite(BankPayments(), command).expect(Self.table)
  }

  static let table = RuleTable(
    """
    faults
      connection_issues: no-answer
      server_error: 500
      unexpected_behaviour: unreadable
      generic_rate_limited: 429
    refund refund-part refund-named
      0 6 refunded_elsewhere, cancelled 1000/1000: voided
      0 6 nothing_to_refund, returned 1000/0 returned 1000: returned
      0 6 refunded_elsewhere, partially_refunded 1000/300 elsewhere 300: part-refunded
      0 6 refunded_elsewhere, refunded 1000/1000 elsewhere 1000: refunded
      0 6 refunded_elsewhere, succeeded 1000/0 refunding 300 elsewhere 300: refunding
      0 6 provider_differs, succeeded 1000/0: other-amount other-currency other-reference
      0 11 unexpected_behaviour, succeeded 1000/0: other-id absent
      0 11 FAULT, succeeded 1000/0: faults
    refund
      1 0, succeeded 1000/0 refunding 1000: recorded pending settled declined lower-currency expired
    refund-part
      1 0, succeeded 1000/0 refunding 400: recorded pending settled declined lower-currency expired
    refund-named
      1 0, succeeded 1000/0 refunding 400: recorded pending settled declined lower-currency expired
    cancel
      0 6 nothing_to_cancel, succeeded 1000/0: recorded
    stop
      1 0, cancelled 0/0: recorded voided lower-currency
      1 6 nothing_to_cancel, pending 1000/0, then 1 6 nothing_to_cancel, pending 1000/0: pending
      1 6 nothing_to_cancel, succeeded 1000/0: settled
      1 6 nothing_to_cancel, declined 0/0: declined
      1 6 nothing_to_cancel, returned 1000/0 returned 1000: returned
      1 9 outcome_unknown, unknown 0/0 unknown: other-amount other-currency other-id other-reference
      1 9 outcome_unknown, unknown 0/0 unknown: absent no-answer 500 429 unreadable
      1 6 nothing_to_cancel, expired 0/0: expired
      1 6 nothing_to_cancel, partially_refunded 1000/300 elsewhere 300: part-refunded
      1 6 nothing_to_cancel, refunded 1000/1000 elsewhere 1000: refunded
      1 6 nothing_to_cancel, succeeded 1000/0 refunding 300 elsewhere 300: refunding
    revoke
      1 0, revoked 0/0: recorded lower-currency
      1 8 cancel_pending, authorized 0/0, then 1 8 cancel_pending, authorized 0/0: pending settled declined expired
      0 6 provider_differs, authorized 0/0: other-currency other-reference
      0 11 unexpected_behaviour, authorized 0/0: other-id absent
      0 11 FAULT, authorized 0/0: faults
      0 0, revoked 0/0: voided
    transact
      2 0, succeeded 1000/0: recorded settled part-refunded refunded refunding lower-currency
      2 0, pending 1000/0: pending
      2 3 payment_rejected, declined 0/0: declined
      2 12 user_canceled, cancelled 0/0: voided
      2 0, returned 1000/0 returned 1000: returned
      2 9 outcome_unknown, unknown 0/0 unknown: other-amount other-currency other-id other-reference
      2 9 outcome_unknown, unknown 0/0 unknown: absent no-answer 500 429 unreadable
      2 13 payment_expired, expired 0/0: expired
    new-attempt
      2 0, succeeded 1000/0: recorded lower-currency
      0 6 attempt_paid, declined 0/0 surplus 1000: pending settled refunding
      2 3 payment_rejected, declined 0/0, then 2 3 payment_rejected, declined 0/0: declined
      2 12 user_canceled, cancelled 0/0, then 2 12 user_canceled, cancelled 0/0: voided
      0 6 payment_given_back, declined 0/0: returned refunded
      0 6 attempt_paid, declined 0/0 surplus 700: part-refunded
      0 6 provider_differs, declined 0/0: other-amount other-currency other-reference
      0 11 unexpected_behaviour, declined 0/0: other-id absent
      0 11 FAULT, declined 0/0: faults
      2 13 payment_expired, expired 0/0, then 2 13 payment_expired, expired 0/0: expired
    finish-charge
      1 0, requires_action 0/0: recorded
    finish-refund
      0 0, succeeded 1000/0 refunding 400: recorded pending settled declined lower-currency expired
      0 0, partially_refunded 1000/600 refunding 400 elsewhere 600: voided
      0 0, returned 1000/0 refunding 400 returned 1000: returned
      0 0, partially_refunded 1000/300 refunding 400 elsewhere 300: part-refunded
      0 0, refunded 1000/1000 elsewhere 1000: refunded
      0 0, succeeded 1000/0 refunding 700 elsewhere 300: refunding
      0 9 outcome_unknown, succeeded 1000/0 refunding 400 unknown: other-amount other-currency other-id other-reference absent no-answer 500 429 unreadable
    """
  )
}

/// Payments to a merchant account, and mandates.
private final class BankPayments: RuleWorld {
  private let world: World
  let portal = Portal { request in
    // The answer about one refund is that of the request which made it.
    request.method == .get && !request.url.contains("/refunds/")
      && (request.url.contains("/v3/payments/") || request.url.contains("/v3/mandates/"))
  }

  init() throws { world = try World() }

  var currency: String { "GBP" }

  func engine() throws -> Engine { try engine(scenario: nil) }

  private func engine(scenario: String?, listens: Bool = true) throws -> Engine {
    try world.engine(
      scenario: scenario,
      listens: listens,
      change: FlowTests.bank,
      wrap: { [portal] in portal.before($0) }
    )
  }

  func payment(_ reference: String) throws -> Payment? { try world.latest(reference) }

  func order(_ reference: String, _ start: RuleStart) throws -> any PlacedOrder {
    if start == .mandate { return try world.mandate(reference) }
    return try world.payment(reference) { creation in
      creation.sortCode = nil
      creation.accountNumber = nil
      creation.beneficiaryName = nil
      creation.merchantAccount = AccountTests.pounds
    }
  }

  func begin(_ start: RuleStart, _ reference: String) throws -> Bool {
    let order = Order.placed(try order(reference, start))
    switch start {
    case .held, .lostCapture: return false
    case .paid, .mandate: _ = try engine().execute(order)
    case .waiting: _ = try engine(scenario: nil, listens: false).execute(order)
    case .declined: _ = try engine(scenario: "bank:reject_authorisation").execute(order)
    case .refused:
      portal.way = .refusing(HTTPResponse(status: 422, body: Array("{}".utf8)))
      _ = try? engine().execute(order)
    case .lostCharge, .lostRefund: try lose(start, reference, refunding: 400)
    }
    return true
  }

  func show(
    _ sight: Sight,
    _ start: RuleStart,
    _ look: Portal.Look,
    _ body: inout JSONObject
  ) -> Bool {
    let isMandate = start == .mandate
    if look.request.url.hasSuffix("/refunds") {
      let amounts: [Sight: Int] = [.partRefunded: 300, .refunding: 300, .refunded: 1000]
      guard let amount = amounts[sight] else { return true }
      let status = sight == .refunding ? "pending" : "executed"
      let refund: JSON = [
        "id": .string("7f3a6a0e-\(look.payment?.reference.text ?? "")"),
        "amount_in_minor": .integer(amount),
        "currency": "GBP", "status": .string(status),
      ]
      body["items"] = .array((body["items"]?.array ?? []) + [refund])
      return true
    }
    func fail(_ reason: String) {
      (body["status"], body["failure_reason"]) = ("failed", .string(reason))
      body["failure_stage"] = "authorizing"
    }
    switch sight {
    case .recorded, .absent: break
    case .pending: body["status"] = isMandate ? "authorizing" : "executed"
    case .settled: body["status"] = isMandate ? "authorized" : "settled"
    case .partRefunded, .refunding, .refunded:
      body["status"] = "settled"
      return !isMandate
    case .declined: fail("provider_rejected")
    case .voided where isMandate: body["status"] = "revoked"
    case .voided: fail("canceled")
    case .expired: fail("expired")
    case .returned:
      (body["status"], body["reversed_at"]) = ("settled", "2027-01-15T08:00:00Z")
      return !isMandate
    case .otherAmount:
      body["amount_in_minor"] = 1100
      return !isMandate
    case .otherCurrency: body["currency"] = "EUR"
    case .lowerCurrency: body["currency"] = "gbp"
    case .otherID: body["id"] = "0f3a6a0e-9a45-4a1c-8f5e-3a0f0c9d1e2b"
    case .otherReference: body["metadata"] = ["reference": "OTHER"]
    case .inquiry, .disputed, .arbitration, .lost, .won, .otherDispute, .secondCharge, .captured,
      .released:
      return false
    case .noAnswer, .status500, .status429, .unreadable: break
    }
    return true
  }
}
