import TenderEngine
import TenderModel

/// The inner objects of Pay Theory's encrypted requests (README, 4).
struct Requests {
  let timeZone: String
  let now: Int
  let hostToken: String
  let sessionKey: String

  /// `host:transfer_part1` (README, 4.2).
  func transferPart1(_ order: PaymentOrder, confirmation: Bool, _ json: inout JSONWriter) {
    writeSession(&json)
    json.name("payment_method_data")
    writeMethod(order.instrument, &json)
    json.name("payment_data")
    json.write([
      "fee_mode": .string(order.feeMode.rawValue), "currency": .string(order.amount.currency.code),
      "amount": .integer(order.amount.minorUnits),
    ])
    json.name("confirmation_needed")
    json.write(.bool(confirmation))
    writeTail(order, &json)
  }

  /// `host:barcode` (README, 4.11).
  func barcode(_ order: PaymentOrder, _ payer: CashPayer, _ json: inout JSONWriter) {
    writeSession(&json)
    json.name("payment")
    json.write([
      "payor": .string(payer.name), "payor_contact": .string(payer.contact),
      "amount": .integer(order.amount.minorUnits),
    ])
    writeTail(order, &json)
  }

  /// `host:tokenize` (README, 4.10).
  func tokenize(_ order: TokenOrder, _ json: inout JSONWriter) {
    writeSession(&json)
    json.name("payment_method_data")
    writeMethod(order.instrument, &json)
    json.name("payor_info")
    json.write(.object(Self.payorInfo(order.payor)))
    json.name("pay_theory_data")
    json.write(["payor_id": .string(order.payorID ?? "")])
    json.name("metadata")
    json.write(.object(order.metadata))
  }

  /// `host:transfer_part2`, with the preparation byte for byte as it came (README, 4.7).
  func transferPart2(_ preparation: PreparedTransfer, _ json: inout JSONWriter) {
    json.name("payment_prep")
    json.verbatim(preparation.text.utf8)
    json.name("sessionKey")
    json.write(.string(sessionKey))
    json.name("timing")
    json.write(.integer(now))
    json.name("metadata")
    json.write(.object(preparation.metadata))
  }

  /// `host:cancel_transfer` (README, 4.9).
  func cancel(_ preparation: PreparedTransfer, _ json: inout JSONWriter) {
    json.name("payment_intent_id")
    json.write(.string(preparation.intent))
    json.name("sessionKey")
    json.write(.string(sessionKey))
    json.name("timing")
    json.write(.integer(now))
  }

  private func writeSession(_ json: inout JSONWriter) {
    json.name("hostToken")
    json.write(.string(hostToken))
    json.name("sessionKey")
    json.write(.string(sessionKey))
    json.name("timing")
    json.write(.integer(now))
  }

  private func writeTail(_ order: PaymentOrder, _ json: inout JSONWriter) {
    json.name("payor_info")
    json.write(.object(Self.payorInfo(order.payor)))
    json.name("pay_theory_data")
    json.write(.object(payTheoryData(order)))
    json.name("metadata")
    json.write(.object(order.metadata))
  }

  /// `payment_method_data` (README, 4.3); empty for cash, which has a member of its own (README, 4.11).
  private func writeMethod(_ instrument: Instrument?, _ json: inout JSONWriter) {
    json.beginObject()
    switch instrument {
    case .card(let card):
      json.name("type")
      json.write("card")
      json.name("number")
      json.write(card.number)
      json.name("security_code")
      json.write(card.securityCode)
      json.name("expiration_month")
      json.write(.string(card.expiration.monthText))
      json.name("expiration_year")
      json.write(.string(card.expiration.yearText))
      if let name = card.name {
        json.name("name")
        json.write(.string(name))
      }
      json.name("address")
      json.write(.object(Self.object(card.address)))
    case .bankAccount(let account):
      json.name("type")
      json.write("ach")
      json.name("name")
      json.write(.string(account.name))
      json.name("account_number")
      json.write(account.number)
      json.name("account_type")
      json.write(.string(account.kind.rawValue))
      json.name("bank_code")
      json.write(.string(account.routing))
    case .cash, nil: break
    }
    json.endObject()
  }

  /// `payor_info` (README, 4.4): the personal address is always sent.
  static func payorInfo(_ payor: JSONObject) -> JSONObject {
    var info: JSONObject = [:]
    for name in ["first_name", "last_name", "email", "phone"] { info[name] = payor[name] }
    var address: JSONObject = [:]
    for name in ["line1", "line2", "city", "region", "postal_code", "country"] {
      address[name] = payor[name]
    }
    info["personal_address"] = .object(address)
    return info
  }

  /// `pay_theory_data` (README, 4.5): every key, with the SDK's defaults.
  func payTheoryData(_ order: PaymentOrder) -> JSONObject {
    [
      "account_code": .string(order.stored.text("account_code") ?? ""),
      "reference": .string(order.reference.text),
      "payment_parameters": .string(order.paymentParameters ?? ""),
      "payor_id": .string(order.payorID ?? ""),
      "send_receipt": .bool(order.sendsReceipt),
      "receipt_description": .string(order.receiptDescription ?? ""),
      "invoice_id": .string(order.stored.text("invoice_id") ?? ""),
      "recurring_id": .string(order.stored.text("recurring_id") ?? ""),
      "timezone": .string(timeZone),
      "fee": .integer(order.fee?.minorUnits ?? 0),
    ]
  }

  private static func object(_ address: Address) -> JSONObject {
    JSONObject(address.parts.map { JSONObject.Member(key: $0.name, value: .string($0.value)) })
  }
}
