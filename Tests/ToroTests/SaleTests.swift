import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import Toro

/// Sales and refunds on the simulated reader: states, receipts, exits.
@Suite struct SaleTests {
  struct Row: CustomTestStringConvertible {
    var scenario: String
    /// The documented states between the first and the last two.
    var states: [String]
    var status: Status?
    var exit: Int32
    /// The receipt's fields that this row checks; nil for a field that must be absent.
    var receipt: [String: JSON?] = [:]
    /// The documented name under `result.error`.
    var error: String?

    var testDescription: String { scenario }
  }

  static let pin = ["awaitingCard", "awaitingPinEntry", "authorising"]
  static let plain = ["awaitingCard", "authorising"]
  static let signed = ["awaitingCard", "authorising", "awaitingSignature"]

  static let rows: [Row] = [
    Row(
      scenario: "card:chip_pin",
      states: pin,
      status: .succeeded,
      exit: 0,
      receipt: [
        "authenticationMethod": "FPIN", "paymentInterface": "contact", "responseCode": "approved",
        "aid": "A0000000031010", "applicationLabel": "VISA DEBIT", "actionCode": "00",
        "panStart": "476173", "panLastFour": "0010", "captured": true,
        "signatureBase64": nil,
      ]
    ),
    Row(
      scenario: "card:online_pin",
      states: pin,
      status: .succeeded,
      exit: 0,
      receipt: ["authenticationMethod": "NPIN"]
    ),
    Row(
      scenario: "card:chip_signature",
      states: signed,
      status: .succeeded,
      exit: 0,
      receipt: ["authenticationMethod": "CPSG", "signatureBase64": "QWRh"]
    ),
    Row(
      scenario: "card:tap",
      states: plain,
      status: .succeeded,
      exit: 0,
      receipt: [
        "authenticationMethod": nil, "paymentInterface": "contactless",
        "applicationLabel": "Debit Mastercard",
      ]
    ),
    Row(
      scenario: "card:tap_mobile",
      states: plain,
      status: .succeeded,
      exit: 0,
      receipt: ["authenticationMethod": "MOBL"]
    ),
    Row(
      scenario: "card:swipe",
      states: signed,
      status: .succeeded,
      exit: 0,
      receipt: [
        "authenticationMethod": "CPSG", "paymentInterface": "magswipe", "aid": nil,
        "actionCode": nil, "panLastFour": "0010",
      ]
    ),
    Row(
      scenario: "card:swipe_pin",
      states: pin,
      status: .succeeded,
      exit: 0,
      receipt: ["authenticationMethod": "NPIN", "paymentInterface": "magswipe"]
    ),
    Row(
      scenario: "card:chip_swiped",
      states: pin,
      status: .succeeded,
      exit: 0,
      receipt: ["paymentInterface": "contact"]
    ),
    Row(
      scenario: "card:application_choice",
      states: [
        "awaitingCard", "awaitingApplicationSelection", "awaitingPinEntry", "authorising",
      ],
      status: .succeeded,
      exit: 0
    ),
    Row(scenario: "card:wrong_pin", states: pin, status: .succeeded, exit: 0),
    Row(
      scenario: "card:pin_bypass",
      states: pin,
      status: .declined,
      exit: 3,
      receipt: [
        "authenticationMethod": "BYPS", "responseCode": "declined", "responseReason": "70",
        "captured": false, "authCode": nil, "authorisedAmount": nil,
      ]
    ),
    Row(
      scenario: "card:pin_cancel",
      states: ["awaitingCard", "awaitingPinEntry"],
      status: .cancelled,
      exit: 12,
      error: "customerCancelled"
    ),
    Row(
      scenario: "card:customer_cancel",
      states: ["awaitingCard"],
      status: .cancelled,
      exit: 12,
      error: "customerCancelled"
    ),
    Row(
      scenario: "card:timeout",
      states: ["awaitingCard"],
      status: .expired,
      exit: 13,
      error: "transactionTimeout"
    ),
    Row(
      scenario: "card:no_card",
      states: ["awaitingCard"],
      status: .expired,
      exit: 13,
      error: "transactionTimeout"
    ),
    Row(
      scenario: "card:card_removed",
      states: ["awaitingCard"],
      exit: 19,
      error: "cardReadError"
    ),
    Row(
      scenario: "card:unsupported_card",
      states: ["awaitingCard"],
      exit: 19,
      error: "unsupportedCard"
    ),
    Row(
      scenario: "card:chip_unreadable",
      states: signed,
      status: .succeeded,
      exit: 0,
      receipt: ["paymentInterface": "magswipe"]
    ),
    Row(scenario: "card:chip_error", states: signed, status: .succeeded, exit: 0),
    Row(scenario: "card:fallback", states: signed, status: .succeeded, exit: 0),
    Row(scenario: "card:try_contact", states: pin, status: .succeeded, exit: 0),
    Row(
      scenario: "card:card_declines",
      states: ["awaitingCard"],
      status: .declined,
      exit: 3,
      receipt: ["responseCode": "declined", "recipientTransactionId": nil]
    ),
    Row(
      scenario: "card:declines_after",
      states: pin,
      status: .declined,
      exit: 3,
      receipt: ["responseCode": "declined", "captured": false]
    ),
    Row(
      scenario: "card:removed_after",
      states: pin,
      status: .cancelled,
      exit: 12,
      receipt: ["captured": false],
      error: "cardReadError"
    ),
    Row(
      scenario: "gateway:refer",
      states: pin,
      status: .declined,
      exit: 3,
      receipt: ["responseReason": "01", "actionCode": "01"]
    ),
    Row(
      scenario: "gateway:insufficient_funds",
      states: pin,
      status: .declined,
      exit: 3,
      receipt: ["responseReason": "51"]
    ),
    Row(
      scenario: "gateway:partial",
      states: pin,
      status: .succeeded,
      exit: 0,
      receipt: ["amount": 1000, "authorisedAmount": 500]
    ),
    Row(scenario: "gateway:suspended", states: pin, status: .pending, exit: 0),
    Row(scenario: "gateway:technical", states: pin, status: .declined, exit: 3),
    Row(
      scenario: "gateway:completion_required",
      states: pin,
      status: .requiresConfirmation,
      exit: 0,
      receipt: ["captured": false]
    ),
  ]

  @Test(arguments: rows) func `comes to its end through the documented states`(_ row: Row) throws {
    let world = try ToroWorld()
    var exit: Int32 = 0
    var result: JSONObject = [:]
    let engine = try world.engine(scenario: row.scenario)
    let order = try world.sale()
    do throws(Fault) {
      let report = try engine.sell(order)
      exit = report.fault?.exitStatus ?? 0
      result = report.result
      #expect(report.status == row.status)
    } catch {
      exit = error.exitStatus
      result = error.result ?? [:]
      #expect(row.status == nil && error.effect == .none)
    }
    #expect(exit == row.exit)
    #expect(result.text("error") == row.error)
    #expect(Array(world.announced.prefix(2)) == ["ready", "connectingToDevice"])
    #expect(Array(world.announced.dropFirst(2).dropLast()) == row.states)
    #expect(world.announced.last == result.text("state"))
    for (field, value) in row.receipt { #expect(result["receipt"]?[field] == value, "\(field)") }
    // Nothing is charged for a declined, cancelled or undone sale.
    let stands = [.succeeded, .requiresConfirmation].contains(row.status)
    #expect(try world.ledger().standing == (stands ? 1 : 0))
  }

  @Test func `shows every field of the receipt`() throws {
    let world = try ToroWorld()
    let report = try world.engine(scenario: "card:chip_signature") { _, configuration in
      configuration.latitude = "51.5"
      configuration.longitude = "-0.1"
    }.sell(
      try world.sale("SALE-1", 1150) { order in
        order.gratuity = 150
        order.additional = ["order": "A-17", "table": 4]
      }
    )
    let receipt = report.receipt
    let fixed: JSONObject = [
      "saleReferenceId": "SALE-1", "amount": 1150, "authorisedAmount": 1150, "type": "purchase",
      "gratuityAmount": 150, "currency": "GBP", "responseCode": "approved", "responseReason": "00",
      "authenticationMethod": "CPSG", "additionalResponseInformation": "01:SIMAPPROVED",
      "actionCode": "00", "aid": "A0000000031010", "applicationLabel": "VISA DEBIT",
      "paymentInterface": "contact", "panStart": "476173", "panLastFour": "0010",
      "terminalSerialNumber": "12345678", "signatureBase64": "QWRh",
      "signatureVerificationFailed": false, "captured": true, "longitude": "-0.1",
      "latitude": "51.5", "additionalInformation": ["order": "A-17", "table": 4],
    ]
    for member in fixed.members { #expect(receipt[member.key] == member.value, "\(member.key)") }
    let free = [
      "authCode", "recipientTransactionId", "initiatorTransactionId", "transactionReference",
      "dateTime",
    ]
    for name in free { #expect(receipt.text(name)?.isEmpty == false, "\(name)") }
    #expect(receipt.members.count == fixed.members.count + free.count)
    #expect(Timestamp.read(receipt.text("dateTime") ?? "") != nil)
    #expect(report.amount == 1150 && report.id == receipt.text("transactionReference"))
  }

  @Test(arguments: [("card:tip_2", 15, 1150), ("card:tip_3", 20, 1200), ("card:tap", 10, 1100)])
  func `adds the gratuity that the customer chooses`(
    _ scenario: String,
    _ percent: Int,
    _ total: Int
  ) throws {
    let world = try ToroWorld()
    let report = try world.engine(scenario: scenario)
      .sell(try world.sale { $0.gratuityMenu = [10, 15, 20] })
    #expect(world.announced[2] == "awaitingGratuity")
    #expect(report.amount == total && report.requestedAmount == 1000)
    #expect(report.receipt["gratuityAmount"] == .integer(10 * percent))
    #expect(report.receipt["authorisedAmount"] == .integer(total))
    #expect(
      String(decoding: try #require(world.wire.requests.first), as: UTF8.self)
        .contains("<DtldAmt><Grtty>\(percent / 10).\(percent % 10)0</Grtty></DtldAmt>")
    )
  }

  @Test func `rounds a gratuity half up`() throws {
    let world = try ToroWorld()
    let report = try world.engine(scenario: "card:tap")
      .sell(try world.sale("A", 1050) { $0.gratuityMenu = [15] })
    #expect(report.receipt["gratuityAmount"] == 158)
  }
}
