import TenderEngine
import TenderModel

/// The inner objects of Pay Theory's encrypted requests (README, 4).
struct Requests {
  let timeZone: String
  let now: Int
  let hostToken: String
  let sessionKey: String

  /// `host:transfer_part1` (README, 4.2).
  func transferPart1(_ order: PayTheoryOrder, confirmation: Bool, _ json: inout JSONWriter) {
    writeSession(&json)
    writeMethod(order.instrument, &json)
    json.write(members: [
      "payment_data": [
        "fee_mode": .string(order.feeMode.rawValue),
        "currency": .string(order.amount.currency.code),
        "amount": .integer(order.amount.minorUnits),
      ],
      "confirmation_needed": .bool(confirmation),
    ])
    writeTail(order.payor, payTheoryData(order), order.metadata, &json)
  }

  /// `host:barcode` (README, 4.11).
  func barcode(_ order: PayTheoryOrder, _ payer: CashPayer, _ json: inout JSONWriter) {
    writeSession(&json)
    json.write(members: [
      "payment": [
        "payor": .string(payer.name), "payor_contact": .string(payer.contact),
        "amount": .integer(order.amount.minorUnits),
      ]
    ])
    writeTail(order.payor, payTheoryData(order), order.metadata, &json)
  }

  /// `host:tokenize` (README, 4.10).
  func tokenize(_ order: PayTheoryOrder, _ json: inout JSONWriter) {
    writeSession(&json)
    writeMethod(order.instrument, &json)
    let data: JSONObject = ["payor_id": .string(order.payorID ?? "")]
    writeTail(order.payor, data, order.metadata, &json)
  }

  /// `host:transfer_part2`, with the preparation byte for byte as received (README, 4.7).
  func transferPart2(_ preparation: PreparedTransfer, _ json: inout JSONWriter) {
    json.name("payment_prep")
    json.verbatim(preparation.text)
    json.write(members: [
      "sessionKey": .string(sessionKey), "timing": .integer(now),
      "metadata": .object(preparation.metadata),
    ])
  }

  /// `host:cancel_transfer` (README, 4.9).
  func cancel(_ preparation: PreparedTransfer, _ json: inout JSONWriter) {
    json.write(members: [
      "payment_intent_id": .string(preparation.intent), "sessionKey": .string(sessionKey),
      "timing": .integer(now),
    ])
  }

  private func writeSession(_ json: inout JSONWriter) {
    json.write(members: [
      "hostToken": .string(hostToken), "sessionKey": .string(sessionKey), "timing": .integer(now),
    ])
  }

  private func writeTail(
    _ payor: JSONObject,
    _ data: JSONObject,
    _ metadata: JSONObject,
    _ json: inout JSONWriter
  ) {
    json.write(members: [
      "payor_info": .object(payorInfo(payor)), "pay_theory_data": .object(data),
      "metadata": .object(metadata),
    ])
  }

  /// Writes `payment_method_data` (README, 4.3). It is empty for cash, which has another member (README,
  /// 4.11).
  private func writeMethod(_ instrument: Instrument?, _ json: inout JSONWriter) {
    json.name("payment_method_data")
    json.beginObject()
    switch instrument {
    case .card(let card):
      json.write(members: ["type": "card"])
      json.name("number")
      json.write(card.number)
      json.name("security_code")
      json.write(card.securityCode)
      let address = card.address.parts.map {
        JSONObject.Member(key: $0.name, value: .string($0.value))
      }
      json.write(members: [
        "expiration_month": .string(card.expiration.monthText),
        "expiration_year": .string(card.expiration.yearText), "name": card.name?.json,
        "address": .object(JSONObject(address)),
      ])
    case .bankAccount(let account):
      json.write(members: ["type": "ach", "name": .string(account.name)])
      json.name("account_number")
      json.write(account.number)
      json.write(members: [
        "account_type": .string(account.kind.rawValue), "bank_code": .string(account.routing),
      ])
    case .cash, nil: break
    }
    json.endObject()
  }

  /// Returns `payor_info` (README, 4.4). The personal address is always sent.
  private func payorInfo(_ payor: JSONObject) -> JSONObject {
    var info: JSONObject = [:]
    for name in ["first_name", "last_name", "email", "phone"] { info[name] = payor[name] }
    var address: JSONObject = [:]
    for name in ["line1", "line2", "city", "region", "postal_code", "country"] {
      address[name] = payor[name]
    }
    info["personal_address"] = .object(address)
    return info
  }

  /// Returns `pay_theory_data` (README, 4.5) with every key and the SDK's defaults.
  private func payTheoryData(_ order: PayTheoryOrder) -> JSONObject {
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
}
