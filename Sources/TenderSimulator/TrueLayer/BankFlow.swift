import TenderModel

/// What the payer goes through on the way to the bank, and how far they are.
struct BankFlow: Equatable {
  /// What the client puts in front of the payer (TrueLayer/README, 4.3).
  enum Step: Equatable {
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
    fileprivate init?(_ text: String) {
      if text.hasPrefix("form:"), let page = Int(text.dropFirst("form:".count)) {
        self = .form(page)
      } else {
        guard let known = Self.words.first(where: { $0.word == text }) else { return nil }
        self = known.step
      }
    }

    fileprivate var text: String {
      if case .form(let page) = self { return "form:\(page)" }
      return Self.words.first { $0.step == self }?.word ?? ""
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
  enum Action: String {
    case execute = "Execute"
    case rejectAuthorisation = "RejectAuthorisation"
    case rejectExecution = "RejectExecution"
    case cancel = "Cancel"
    case authorise = "Authorise"
    case revoke = "Revoke"
  }

  let capabilities: BankCapabilities
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

  init(_ capabilities: BankCapabilities) { self.capabilities = capabilities }

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

extension BankFlow {
  init?(_ stored: JSONObject) {
    guard let capabilities = stored["capabilities"]?.object else { return nil }
    self.init(BankCapabilities(capabilities))
    step = stored.text("step").flatMap(Step.init)
    shownAt = stored["shown_at"]?.boundedNumber ?? 0
    queue = stored["queue"]?.array?.compactMap { $0.text.flatMap(Step.init) } ?? []
    session = stored.text("session")
    action = stored.text("action").flatMap(Action.init)
    isAbandoned = stored["abandoned"] == true
  }

  var stored: JSONObject {
    var stored: JSONObject = ["capabilities": .object(capabilities.given)]
    stored["step"] = step.map { .string($0.text) }
    stored["shown_at"] = .integer(shownAt)
    if !queue.isEmpty { stored["queue"] = .array(queue.map { .string($0.text) }) }
    stored["session"] = session.map(JSON.string)
    stored["action"] = action.map { .string($0.rawValue) }
    if isAbandoned { stored["abandoned"] = true }
    return stored
  }
}

/// What a client can do, as it declares it (TrueLayer/README, 4.2).
struct BankCapabilities: Equatable {
  let given: JSONObject
  let choosesBank: Bool
  let choosesAccount: Bool
  let redirects: Bool
  /// Where the payer comes back to.
  let returnAddress: String?
  /// Where the bank sends the payer, to be handed in by the client.
  let directReturn: String?
  let takesForms: Bool
  /// Whether forms are declared without any type of input.
  let hasEmptyForm: Bool
  let takesConsent: Bool
  /// Whether the consent comes with the form.
  let isConsentAdjacent: Bool
  let retries: Bool

  init(_ given: JSONObject) {
    self.given = given
    choosesBank = given["provider_selection"] != nil
    choosesAccount = given["user_account_selection"] != nil
    redirects = given["redirect"] != nil
    returnAddress = given["redirect"]?["return_uri"]?.text
    directReturn = given["redirect"]?["direct_return_uri"]?.text
    takesForms = given["form"] != nil
    hasEmptyForm = takesForms && given["form"]?["input_types"]?.array?.isEmpty != false
    isConsentAdjacent = given["consent"]?["action_type"]?.text == "adjacent"
    takesConsent = given["consent"] != nil
    retries = given["retry"] != nil
  }
}
