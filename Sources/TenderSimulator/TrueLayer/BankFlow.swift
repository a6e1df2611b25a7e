import TenderModel

/// What the payer goes through on the way to the bank, and how far they are.
struct BankFlow: Equatable, BookedPart {
  /// What the client puts in front of the payer (TrueLayer/README, 4.3).
  enum Step: Equatable, BookedValue {
    case userAccountSelection, providerSelection, branchSelection, schemeSelection, consent
    /// A page of the bank's forms.
    case form(Int)
    case redirect
    /// The payer confirms in an app.
    case wait
    /// The bank has all it needs, and works on it.
    case working
    case retry

    private static let words: [(word: String, step: Step)] = [
      ("user_account_selection", .userAccountSelection), ("provider_selection", .providerSelection),
      ("branch_selection", .branchSelection), ("scheme_selection", .schemeSelection),
      ("consent", .consent), ("redirect", .redirect), ("wait", .wait), ("working", .working),
      ("retry", .retry),
    ]

    /// The step by the word that the ledger has.
    init?(booked: JSON) {
      let text = booked.text ?? ""
      if text.hasPrefix("form:"), let page = Int(text.dropFirst("form:".count)) {
        self = .form(page)
      } else {
        guard let known = Self.words.first(where: { $0.word == text }) else { return nil }
        self = known.step
      }
    }

    private var text: String { Self.words.first { $0.step == self }?.word ?? "" }

    var booked: JSON {
      if case .form(let page) = self { .string("form:\(page)") } else { .string(text) }
    }

    /// What TrueLayer calls it.
    var type: String {
      switch self {
      case .form: "form"
      case .working: "wait"
      default: text
      }
    }
  }

  /// What a payer does at the bank, by the documented names of the mock bank (TrueLayer/README, 10.4).
  enum Action: String, BookedValue {
    case execute = "Execute"
    case rejectAuthorisation = "RejectAuthorisation"
    case rejectExecution = "RejectExecution"
    case cancel = "Cancel"
    case authorise = "Authorise"
    case revoke = "Revoke"
  }

  private(set) var capabilities = BankCapabilities()
  /// What is in front of the payer; nil once the flow has ended.
  private(set) var step: Step?
  /// When it was put there, in milliseconds since 1970.
  private(set) var shownAt = 0
  /// What comes after it.
  var queue: [Step] = []
  /// The name of the bank's page, which is in the redirect alone.
  var session: String?
  /// What the payer did at the bank, until they are back.
  var action: Action?
  /// Whether the payer never comes back.
  var isAbandoned = false

  init() {}

  init(_ capabilities: BankCapabilities) { self.capabilities = capabilities }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("capabilities", &capabilities.given)
    book.member("step", &step)
    book.member("shown_at", &shownAt)
    book.member("queue", &queue)
    book.member("session", &session)
    book.member("action", &action)
    book.member("abandoned", &isAbandoned)
  }

  /// Puts a step in front of the payer.
  mutating func show(_ step: Step, at time: Int) {
    self.step = step
    shownAt = time
  }

  /// Leaves its configuration alone.
  mutating func end() {
    step = nil
    queue = []
  }
}

/// What a client can do, as it declares it (TrueLayer/README, 4.2).
struct BankCapabilities: Equatable {
  fileprivate(set) var given: JSONObject = [:]

  init() {}

  init(_ given: JSONObject) { self.given = given }

  var choosesBank: Bool { given["provider_selection"] != nil }
  var choosesAccount: Bool { given["user_account_selection"] != nil }
  var redirects: Bool { given["redirect"] != nil }

  /// Where the payer comes back to.
  var returnAddress: String? { given["redirect"]?["return_uri"]?.text }

  /// Where the bank sends the payer, to be handed in by the client.
  var directReturn: String? { given["redirect"]?["direct_return_uri"]?.text }

  /// Whether it shows forms: no types of input are as good as no forms.
  var takesForms: Bool { given["form"]?["input_types"]?.array?.isEmpty == false }

  var takesConsent: Bool { given["consent"] != nil }

  /// Whether the consent comes with the form.
  var isConsentAdjacent: Bool { given["consent"]?["action_type"]?.text == "adjacent" }

  var retries: Bool { given["retry"] != nil }
}
