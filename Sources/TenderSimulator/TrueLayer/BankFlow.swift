import TenderModel

/// The payer's steps on the way to the bank, and the current one.
struct BankFlow: Equatable, BookedPart {
  /// A step that the client shows to the payer (TrueLayer/README, 4.3).
  enum Step: Equatable, BookedValue {
    case userAccountSelection, providerSelection, branchSelection, schemeSelection, consent
    /// A page of the bank's forms.
    case form(Int)
    case redirect
    /// The payer confirms in an app.
    case wait
    /// The bank has all the data, and works on it.
    case working
    case retry

    private static let words: [(word: String, step: Step)] = [
      ("user_account_selection", .userAccountSelection), ("provider_selection", .providerSelection),
      ("branch_selection", .branchSelection), ("scheme_selection", .schemeSelection),
      ("consent", .consent), ("redirect", .redirect), ("wait", .wait), ("working", .working),
      ("retry", .retry),
    ]

    /// Reads a step by its name in the ledger.
    static func read(booked: JSON) -> Step? {
      let text = booked.text ?? ""
      if text.hasPrefix("form:"), let page = Int(text.dropFirst("form:".count)) {
        return .form(page)
      }
      return words.first { $0.word == text }?.step
    }

    private var text: String { Self.words.first { $0.step == self }?.word ?? "" }

    var json: JSON {
      if case .form(let page) = self { .string("form:\(page)") } else { .string(text) }
    }

    /// TrueLayer's name of the step.
    var type: String {
      switch self {
      case .form: "form"
      case .working: "wait"
      default: text
      }
    }
  }

  /// A payer's action at the bank, with the documented names of the mock bank (TrueLayer/README, 10.4).
  enum Action: String, BookedValue {
    case execute = "Execute"
    case rejectAuthorisation = "RejectAuthorisation"
    case rejectExecution = "RejectExecution"
    case cancel = "Cancel"
    case authorise = "Authorise"
    case revoke = "Revoke"
  }

  private(set) var capabilities = BankCapabilities()
  /// The payer's current step; nil after the end of the flow.
  private(set) var step: Step?
  /// The time when the step was shown, in milliseconds since 1970.
  private(set) var shownAt = 0
  var queue: [Step] = []
  /// The name of the bank's page, which only the redirect has.
  var session: String?
  /// The payer's action at the bank, until the return.
  var action: Action?
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

  mutating func show(_ step: Step, at time: Int) {
    self.step = step
    shownAt = time
  }

  /// Ends the flow. Its configuration stays.
  mutating func end() {
    step = nil
    queue = []
  }
}

/// A client's declared capabilities (TrueLayer/README, 4.2).
struct BankCapabilities: Equatable {
  fileprivate(set) var given: JSONObject = [:]

  init() {}

  init(_ given: JSONObject) { self.given = given }

  var choosesBank: Bool { given["provider_selection"] != nil }
  var choosesAccount: Bool { given["user_account_selection"] != nil }
  var redirects: Bool { given["redirect"] != nil }

  var returnAddress: String? { given["redirect"]?["return_uri"]?.text }

  /// The address to which the bank sends the payer. The client submits its parameters.
  var directReturn: String? { given["redirect"]?["direct_return_uri"]?.text }

  /// Whether it shows forms. Without types of input, it cannot.
  var takesForms: Bool { given["form"]?["input_types"]?.array?.isEmpty == false }

  var takesConsent: Bool { given["consent"] != nil }

  var isConsentAdjacent: Bool { given["consent"]?["action_type"]?.text == "adjacent" }

  var retries: Bool { given["retry"] != nil }
}
