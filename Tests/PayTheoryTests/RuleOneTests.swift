import PayTheory
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Rule 1 for every command in every state that a look can show.
@Suite struct RuleOneTests {
  @Test(arguments: RuleCommand.allCases)
  func `looks, folds, decides and sends`(_ command: RuleCommand) throws {
    try RuleSuite(StoredCards(), command).expect(Self.table)
  }

  static let table = RuleTable(
    """
    faults
      no_answer: no-answer
      graphql_unclear: 500 unreadable
      graphql_unavailable: 429
    refund refund-part refund-named cancel
      0 6 nothing_to_refund, returned 1000/0 returned 1000: returned
      0 6 refunded_elsewhere, partially_refunded 1000/300 elsewhere 300: part-refunded refunding
      0 6 refunded_elsewhere, refunded 1000/1000 elsewhere 1000: refunded
      0 6 disputed, succeeded 1000/0 disputed: inquiry disputed arbitration other-dispute
      0 6 dispute_lost, succeeded 1000/0 lost: lost
      0 6 provider_differs, succeeded 1000/0: other-amount other-currency other-reference
      0 11 not_shown, succeeded 1000/0: other-id absent
      0 11 FAULT, succeeded 1000/0: faults
    refund
      1 0, refunded 1000/1000: recorded pending settled declined won lower-currency
      0 6 refunded_elsewhere, cancelled 1000/1000: voided
      1 0, refunded 1000/1000 surplus 700: second-charge
    refund-part
      1 0, partially_refunded 1000/400: recorded pending settled declined won lower-currency
      0 6 refunded_elsewhere, cancelled 1000/1000: voided
      1 0, partially_refunded 1000/400 surplus 700: second-charge
    refund-named
      1 0, partially_refunded 1000/400: recorded pending settled declined won lower-currency
      0 6 refunded_elsewhere, cancelled 1000/1000: voided
      1 0, partially_refunded 1000/400 surplus 700: second-charge
    cancel
      1 0, refunded 1000/1000: recorded pending settled declined won lower-currency
      0 0, cancelled 1000/1000: voided
      1 0, refunded 1000/1000 surplus 700: second-charge
    release confirm confirm-part
      0 6 provider_differs, requires_confirmation 0/0: other-amount other-currency other-reference
      0 11 FAULT, requires_confirmation 0/0: faults
    release
      1 0, cancelled 0/0 released 1000: recorded lower-currency
      1 9 outcome_unknown, unknown 0/0 unknown: pending other-id absent
      0 6 nothing_to_cancel, declined 0/0: declined
      1 0, cancelled 0/0 released 1000 surplus 700: second-charge
      1 9 outcome_unknown, succeeded 1000/0 refunding 1000 unknown: captured
      0 6 nothing_to_cancel, expired 0/0: expired
      0 0, cancelled 0/0: released
    confirm confirm-part
      0 6 no_auth, declined 0/0: declined
      0 6 attempt_paid, requires_confirmation 0/0 surplus 700: second-charge
      0 6 no_auth, cancelled 0/0: released
      0 13 hold_expired, expired 0/0, then 0 6 no_auth, expired 0/0: expired
    confirm
      1 0, succeeded 1000/0: recorded pending lower-currency other-id absent
      0 0, succeeded 1000/0: captured
    confirm-part
      1 0, succeeded 400/0 released 600: recorded pending lower-currency other-id absent
      0 6 capture_differs, succeeded 1000/0: captured
    transact finish-charge
      0 0, returned 1000/0 returned 1000: returned
      0 0, succeeded 1000/0 surplus 700: second-charge
      0 0, partially_refunded 1000/300 elsewhere 300: part-refunded refunding
      0 0, refunded 1000/1000 elsewhere 1000: refunded
    transact
      1 0, succeeded 1000/0: recorded declined voided other-reference absent other-currency
      0 0, pending 1000/0: pending
      0 0, succeeded 1000/0: settled inquiry disputed arbitration lost won
      0 0, succeeded 1000/0: other-dispute lower-currency other-id
      0 6 attempt_paid, failed 0/0 surplus 1100: other-amount
      0 11 FAULT, failed 0/0: faults
    new-attempt
      1 0, succeeded 1000/0: recorded declined lower-currency other-id absent
      0 6 attempt_paid, declined 0/0 surplus 1000: pending settled won
      0 6 payment_given_back, declined 0/0: returned refunded voided
      0 6 attempt_paid, declined 0/0 surplus 700: part-refunded refunding second-charge
      0 6 attempt_paid, declined 0/0 surplus 1000 disputed: inquiry disputed arbitration other-dispute
      0 6 attempt_paid, declined 0/0 surplus 1000 lost: lost
      0 6 provider_differs, declined 0/0: other-amount other-currency other-reference
      0 11 FAULT, declined 0/0: faults
    finish-charge
      0 0, succeeded 1000/0: recorded settled won
      0 0, succeeded 1000/0: lower-currency other-id
      0 0, pending 1000/0: pending
      0 3 declined, declined 0/0: declined
      0 9 outcome_unknown, unknown 0/0 unknown: other-amount other-currency other-reference absent no-answer 500 429
      0 9 outcome_unknown, unknown 0/0 unknown: unreadable
      0 12 payment_cancelled, cancelled 1000/1000: voided
      0 0, succeeded 1000/0 disputed: inquiry disputed arbitration other-dispute
      0 0, succeeded 1000/0 lost: lost
    finish-capture
      0 0, succeeded 1000/0: recorded lower-currency second-charge captured
      0 0, pending 1000/0: pending
      0 9 outcome_unknown, unknown 0/0 unknown: declined other-amount other-currency other-id other-reference absent
      0 9 outcome_unknown, unknown 0/0 unknown: no-answer 500 429 unreadable
    finish-refund
      0 0, partially_refunded 1000/400: recorded pending settled declined won lower-currency
      0 0, partially_refunded 1000/400 disputed: inquiry disputed arbitration other-dispute
      0 0, partially_refunded 1000/400 lost: lost
      0 0, partially_refunded 1000/400 surplus 700: second-charge
      0 0, returned 1000/400 returned 1000: returned
      0 0, refunded 1000/1000 elsewhere 600: voided refunded
      0 0, partially_refunded 1000/700 elsewhere 300: part-refunded refunding
      0 9 outcome_unknown, succeeded 1000/0 refunding 400 unknown: other-amount other-currency other-id
      0 9 outcome_unknown, succeeded 1000/0 refunding 400 unknown: other-reference absent no-answer 500 429 unreadable
    """
  )
}

/// Payments by a stored card. All their requests are GraphQL.
private final class StoredCards: RuleWorld {
  private let world: World
  private let method: String
  let portal = Portal(hidesAbsent: false) { request in
    let text = String(decoding: request.body, as: UTF8.self)
    return text.contains("transactions(") || text.contains("authorizations(")
  }

  init() throws {
    world = try World()
    method = try #require(try world.engine().store(world.tokenOrder()).id)
  }

  var currency: String { "USD" }

  func engine() throws -> Engine { try engine(scenario: nil) }

  private func engine(scenario: String?) throws -> Engine {
    try world.engine(scenario: scenario, exchange: { [portal] in portal.before($0) })
  }

  func payment(_ reference: String) throws -> Payment? { try world.latest(reference) }

  func order(_ reference: String, _ start: RuleStart) throws -> any PlacedOrder {
    let isHold = start == .held || start == .lostCapture
    return try world.storedOrder(reference, amount: 1000, method: method, confirmation: isHold)
  }

  func begin(_ start: RuleStart, _ reference: String) throws -> Bool {
    let order = try order(reference, start)
    switch start {
    case .waiting, .mandate: return false
    case .paid, .held: _ = try engine().execute(.placed(order))
    case .declined: _ = try engine(scenario: "decline:do_not_honor").execute(.placed(order))
    case .refused:
      let body = #"{"errors":[{"message":"no","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}"#
      portal.way = .refusing(HTTPResponse(status: 200, body: Array(body.utf8)))
      _ = try? engine().execute(.placed(order))
    case .lostCharge, .lostCapture, .lostRefund: try lose(start, reference, refunding: 400)
    }
    return true
  }

  func show(
    _ sight: Sight,
    _ start: RuleStart,
    _ look: Portal.Look,
    _ body: inout JSONObject
  ) -> Bool {
    guard var data = body["data"]?.object, let list = data.members.first?.key,
      let (key, value) = Self.condition(look.text)
    else { return true }
    var items = data[list]?["items"]?.array?.compactMap(\.object) ?? []
    let reference = look.payment?.reference.text ?? ""
    let elsewhere = "pt-\(reference)"
    var made: JSONObject = [
      "transaction_id": .string(elsewhere), "status": "SUCCEEDED", "transaction_type": "DEBIT",
      "gross_amount": 1000, "refunded_amount": 0, "currency": "USD", "fee_mode": "MERCHANT_FEE",
      "reference": .string(reference),
      "transaction_date": .string(Timestamp.text(world.clock.now)),
    ]
    let isHold = start == .held || start == .lostCapture
    let isList = list == "transactions"
    // After a refusal, the provider can have the charge all the same.
    if start == .refused, key == "reference", isList, sight != .absent { items = [made] }
    if isHold, key == "transaction_id", value == elsewhere, sight == .captured { items = [made] }
    switch sight {
    case .absent: items = []
    case .secondCharge:
      (made["transaction_id"], made["gross_amount"]) = (.string(elsewhere + "-2"), 700)
      if isList, key == "reference" { items.insert(made, at: 0) }
    case .partRefunded, .refunding:
      made["transaction_type"] = "REVERSAL"
      (made["transaction_id"], made["parent_id"]) = (.string(value + ":R9"), .string(value))
      made["gross_amount"] = 300
      if sight == .refunding { made["status"] = "PENDING" }
      if key == "parent_id" { items.append(made) }
    default: break
    }
    let canShow = items.isEmpty || items.allSatisfy { $0.text("transaction_type") == "REVERSAL" }
    var isShown = true
    items = items.map { item in
      guard item.text("transaction_type") != "REVERSAL" else { return item }
      var item = item
      isShown =
        isList ? Self.change(&item, sight, start) : Self.change(hold: &item, sight, elsewhere)
      return item
    }
    data[list] = [
      "items": .array(items.map(JSON.object)), "total_row_count": .integer(items.count),
    ]
    body["data"] = .object(data)
    return canShow || isShown
  }

  /// Returns the key and the value of a query.
  private static func condition(_ text: String) -> (key: String, value: String)? {
    let match = text.firstMatch(of: #/key: \\"(\w+)\\", value: \\"([^"\\]*)\\"/#)
    return match.map { (String($0.1), String($0.2)) }
  }

  private static func change(_ item: inout JSONObject, _ sight: Sight, _ start: RuleStart) -> Bool {
    let gross = item["gross_amount"]?.wholeNumber ?? 0
    let refunded = item["refunded_amount"]?.wholeNumber ?? 0
    func set(_ status: String) {
      item["status"] = .string(status)
      if item.text("transaction_type") == "FAILURE", status != "FAILED" {
        item["transaction_type"] = "DEBIT"
      }
    }
    switch sight {
    case .recorded, .absent, .secondCharge: break
    case .pending: set("PENDING")
    case .settled: set("SETTLED")
    case .declined: set("FAILED")
    case .voided: set("VOIDED")
    case .returned: set("RETURNED")
    case .partRefunded, .refunding:
      set("PARTIALLY_REFUNDED")
      item["refunded_amount"] = .integer(refunded + 300)
    case .refunded:
      set("REFUNDED")
      item["refunded_amount"] = .integer(gross)
    case .inquiry, .disputed, .arbitration, .lost, .won, .otherDispute:
      set("SUCCEEDED")
      item["dispute_status"] = sight.dispute?.json
    case .otherAmount: item["gross_amount"] = .integer(gross + 100)
    case .otherCurrency: item["currency"] = "CAD"
    case .lowerCurrency: item["currency"] = "usd"
    case .otherID: item["transaction_id"] = "pt-other"
    case .otherReference: item["reference"] = "OTHER"
    case .captured: return start == .held || start == .lostCapture
    case .released, .expired: return false
    case .noAnswer, .status500, .status429, .unreadable: break
    }
    return true
  }

  private static func change(hold item: inout JSONObject, _ sight: Sight, _ capture: String) -> Bool
  {
    switch sight {
    case .recorded, .absent, .secondCharge: break
    case .pending: item["status"] = "PENDING"
    case .declined: item["status"] = "FAILED"
    case .captured:
      (item["transaction_id"], item["captured_amount"]) = (.string(capture), 1000)
    case .released: item["status"] = "CANCELED"
    case .expired: item["expiration_date"] = "2020-01-01T00:00:00Z"
    case .otherAmount: item["amount"] = 1100
    case .otherCurrency: item["currency"] = "CAD"
    case .lowerCurrency: item["currency"] = "usd"
    case .otherID: item["authorization_id"] = "pt-other"
    case .otherReference: item["reference"] = "OTHER"
    case .settled, .voided, .returned, .partRefunded, .refunded, .refunding, .inquiry, .disputed,
      .arbitration, .lost, .won, .otherDispute:
      return false
    case .noAnswer, .status500, .status429, .unreadable: break
    }
    return true
  }
}
