import TenderModel

/// A sale or refund as the acquirer has it, with the advices about it and the refunds of it.
struct BookedSale: Booked {
  /// One message about the sale, or one refund of it.
  struct Entry: BookedPart {
    enum Kind: String, BookedValue { case completion, cancellation, refund }

    var kind = Kind.completion
    /// The message's own `TxRef`.
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

  /// Reads the state and the sum that the ledger of an earlier version has instead of entries.
  private mutating func addOldEntries(_ json: JSONObject) {
    func add(_ kind: Entry.Kind, _ amount: Int) {
      entries.append(Entry(kind: kind, amount: amount, response: "APPR"))
    }
    if json.text("state") == "gone" { add(.cancellation, amount) }
    if let sum = json["refunded"]?.boundedNumber { add(.refund, sum) }
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

extension Currency: BookedValue {
  init?(booked: JSON) { self.init(code: booked.text ?? "") }

  var booked: JSON { .string(code) }
}
