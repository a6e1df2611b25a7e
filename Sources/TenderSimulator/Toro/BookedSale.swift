package import TenderModel

/// A sale or refund as the acquirer has it, with the advices about it and the refunds of it.
struct BookedSale {
  /// One message about the sale, or one refund of it.
  struct Entry {
    enum Kind: String { case completion, cancellation, refund }

    var kind: Kind
    /// The message's own `TxRef`.
    var reference: String
    /// In minor units.
    var amount: Int
    var response: String

    var isApproved: Bool { response == "APPR" }
  }

  /// The merchant's name for it (`SaleRefId`), and the terminal's (`TxRef`).
  var sale: String
  var reference: String
  /// When it was, as the terminal says (`TxDtTm`).
  var time = ""
  var terminal = ""
  /// ISO 20022's `CardPaymentServiceType12`: CRDP, RFND.
  var type = ""
  var currency: Currency?
  /// What was asked for and, where it was approved, what was authorised, in minor units.
  var amount = 0
  var authorised: Int?
  /// Whether the authorisation captured it.
  var capturesAtOnce = false
  var needsCompletion = false
  /// The answer: `Response9Code`, its reason, words, the code, and the acquirer's own name for it.
  var response = ""
  var reason = ""
  var words = ""
  var code: String?
  var recipient: String?
  /// The `TxRef` of what a refund refunds.
  var original: String?
  var entries: [Entry] = []

  init(sale: String, reference: String) {
    self.sale = sale
    self.reference = reference
  }

  var isCancelled: Bool { entries.contains { $0.kind == .cancellation && $0.isApproved } }

  /// Whether it was authorised, and not cancelled since.
  var stands: Bool { authorised != nil && !isCancelled }

  private func sum(_ kind: Entry.Kind) -> Int {
    entries.filter { $0.kind == kind && $0.isApproved }.reduce(0) { $0 + $1.amount }
  }

  /// In minor units: by the authorisation, or by a completion.
  var captured: Int {
    guard stands, let authorised else { return 0 }
    return capturesAtOnce ? authorised : sum(.completion)
  }

  var refunded: Int { sum(.refund) }

  /// What can still be refunded.
  var left: Int { captured - refunded }
}

extension BookedSale {
  /// The sale as the ledger has it.
  var json: JSONObject {
    var json: JSONObject = [
      "sale": .string(sale), "ref": .string(reference), "at": .string(time),
      "terminal": .string(terminal), "type": .string(type), "amount": .integer(amount),
      "captured": .bool(capturesAtOnce), "completion": .bool(needsCompletion),
      "rspn": .string(response), "rsn": .string(reason), "inf": .string(words),
    ]
    json["currency"] = (currency?.code).map(JSON.string)
    json["authorised"] = authorised.map(JSON.integer)
    json["code"] = code.map(JSON.string)
    json["rcpt"] = recipient.map(JSON.string)
    json["original"] = original.map(JSON.string)
    json["operations"] = .array(
      entries.map { entry in
        [
          "kind": .string(entry.kind.rawValue), "ref": .string(entry.reference),
          "amount": .integer(entry.amount), "rspn": .string(entry.response),
        ]
      }
    )
    return json
  }

  /// Reads what the ledger has; nil for what is not a sale.
  init?(_ json: JSONObject) {
    guard let sale = json.text("sale"), let reference = json.text("ref") else { return nil }
    self.init(sale: sale, reference: reference)
    time = json.text("at") ?? ""
    terminal = json.text("terminal") ?? ""
    type = json.text("type") ?? ""
    currency = json.text("currency").flatMap(Currency.init(code:))
    amount = json["amount"]?.boundedNumber ?? 0
    authorised = json["authorised"]?.boundedNumber
    capturesAtOnce = json["captured"] == true
    needsCompletion = json["completion"] == true
    response = json.text("rspn") ?? ""
    reason = json.text("rsn") ?? ""
    words = json.text("inf") ?? ""
    code = json.text("code")
    recipient = json.text("rcpt")
    original = json.text("original")
    guard let operations = json["operations"]?.array else {
      addOldEntries(json)
      return
    }
    entries = operations.compactMap { operation in
      guard let kind = operation["kind"]?.text.flatMap(Entry.Kind.init(rawValue:)) else {
        return nil
      }
      return Entry(
        kind: kind,
        reference: operation["ref"]?.text ?? "",
        amount: operation["amount"]?.boundedNumber ?? 0,
        response: operation["rspn"]?.text ?? ""
      )
    }
  }

  /// Reads the state and the sum that the ledger of an earlier version has instead of entries.
  private mutating func addOldEntries(_ json: JSONObject) {
    func add(_ kind: Entry.Kind, _ amount: Int) {
      entries.append(Entry(kind: kind, reference: "", amount: amount, response: "APPR"))
    }
    if json.text("state") == "gone" { add(.cancellation, amount) }
    if let sum = json["refunded"]?.boundedNumber { add(.refund, sum) }
  }
}

extension LedgerAudit {
  private static func booked(path: String, reference: String) throws(Fault) -> [BookedSale] {
    try Ledger(path: path).list("toro-sale", column: "reference", value: reference)
      .compactMap(BookedSale.init)
  }

  /// The sales under a reference as the acquirer has them: how many were authorised, how many of
  /// them were not cancelled, and how many of these are captured.
  package static func sales(
    path: String,
    reference: String
  ) throws(Fault) -> (authorised: Int, standing: Int, captured: Int) {
    let sales = try booked(path: path, reference: reference)
    return (
      sales.count { $0.authorised != nil }, sales.count(where: \.stands),
      sales.count { $0.captured > 0 }
    )
  }

  /// The money of the sales under a reference as the acquirer has it: what was cancelled was never captured.
  ///
  /// A refund at the reader counts as captured under its own reference, and as returned at its original.
  package static func saleMoney(path: String, reference: String) throws(Fault) -> Money {
    var money = Money()
    for sale in try booked(path: path, reference: reference) {
      money.captured += sale.captured
      money.returned += sale.refunded
      money.standing += sale.stands ? 1 : 0
    }
    return money
  }
}
