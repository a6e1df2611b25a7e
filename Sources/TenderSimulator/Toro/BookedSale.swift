import TenderModel

/// A sale or refund in the acquirer's books, with its advices and its refunds.
struct BookedSale: Booked {
  /// One message about the sale, or one refund.
  struct Entry: BookedPart {
    enum Kind: String, BookedValue { case completion, cancellation, refund }

    var kind = Kind.completion
    /// The message's `TxRef`.
    var reference = ""
    /// In minor units.
    var amount = 0
    var response = ""

    var isApproved: Bool { response == "APPR" }

    mutating func exchange(_ book: inout BookedMembers) {
      book.needed("kind", &kind)
      book.member("ref", &reference)
      book.member("amount", &amount)
      book.member("rspn", &response)
    }
  }

  static let kind = "toro-sale"

  /// The merchant's name for it (`SaleRefId`), and the terminal's (`TxRef`).
  var sale = ""
  var reference = ""
  /// The time from the terminal (`TxDtTm`).
  var time = ""
  var terminal = ""
  /// ISO 20022's `CardPaymentServiceType12`: CRDP, RFND.
  var type = ""
  var currency: Currency?
  /// The requested amount and, if approved, the authorized amount, in minor units.
  var amount = 0
  var authorised: Int?
  /// Whether the authorization captured it.
  var capturesAtOnce = false
  var needsCompletion = false
  /// The answer: `Response9Code`, its reason, its text, the code, and the acquirer's name of the sale.
  var response = ""
  var reason = ""
  var words = ""
  var code: String?
  var recipient: String?
  /// The `TxRef` of the refunded sale.
  var original: String?
  var entries: [Entry] = []

  var key: String { reference }
  var listing: String? { sale }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("sale", &sale)
    book.needed("ref", &reference)
    book.member("at", &time)
    book.member("terminal", &terminal)
    book.member("type", &type)
    book.member("currency", &currency)
    book.member("amount", &amount)
    book.member("authorised", &authorised)
    book.member("captured", &capturesAtOnce)
    book.member("completion", &needsCompletion)
    book.member("rspn", &response)
    book.member("rsn", &reason)
    book.member("inf", &words)
    book.member("code", &code)
    book.member("rcpt", &recipient)
    book.member("original", &original)
    if book.isReading, book.json["operations"] == nil { addOldEntries(book.json) }
    book.member("operations", &entries)
  }

  /// Reads the state and the sum in a ledger of an earlier version, which has no entries.
  private mutating func addOldEntries(_ json: JSONObject) {
    func add(_ kind: Entry.Kind, _ amount: Int) {
      entries.append(Entry(kind: kind, amount: amount, response: "APPR"))
    }
    if json.text("state") == "gone" { add(.cancellation, amount) }
    if let sum = json["refunded"]?.boundedNumber { add(.refund, sum) }
  }

  var isCancelled: Bool { entries.contains { $0.kind == .cancellation && $0.isApproved } }

  /// Whether it was authorized, and not cancelled since.
  var stands: Bool { authorised != nil && !isCancelled }

  private func sum(_ kind: Entry.Kind) -> Int {
    entries.filter { $0.kind == kind && $0.isApproved }.reduce(0) { $0 + $1.amount }
  }

  /// The captured amount in minor units, by the authorization or by a completion.
  var captured: Int {
    guard stands, let authorised else { return 0 }
    return capturesAtOnce ? authorised : sum(.completion)
  }

  var refunded: Int { sum(.refund) }

  /// The amount that can still be refunded.
  var left: Int { captured - refunded }
}

extension Currency: BookedValue {
  static func read(booked: JSON) -> Currency? { Currency(code: booked.text ?? "") }

  var json: JSON { .string(code) }
}
