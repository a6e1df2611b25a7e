/// An endpoint of the simulated TrueLayer: its methods, what its faults are called, what it takes
/// (TrueLayer/README, 1.4 and 10.1; bodies by the OpenAPI).
struct BankRoute {
  /// What it is.
  enum Endpoint: Equatable {
    case collection, resource, start, cancel, revoke, refunds, refund, funds, constraints
    case submission(String)
    case search, provider, providerReturn
  }

  let endpoint: Endpoint
  let kind: BankOrder.Kind
  let methods: [String]

  /// The endpoint of a path below `/v3`; nil where there is none.
  init?(_ parts: [String]) {
    guard parts.count >= 2 else { return nil }
    switch (parts[1], parts.count) {
    case ("payments-provider-return", 2): self.init(.providerReturn, .payment, "POST")
    case ("payments-providers", 3):
      if parts[2] == "search" {
        self.init(.search, .payment, "POST")
      } else {
        self.init(.provider, .payment, "GET")
      }
    case ("payments", _): self.init(payment: Array(parts.dropFirst(2)))
    case ("mandates", _): self.init(mandate: Array(parts.dropFirst(2)))
    default: return nil
    }
  }

  private init(_ endpoint: Endpoint, _ kind: BankOrder.Kind, _ methods: String...) {
    self.endpoint = endpoint
    self.kind = kind
    self.methods = methods
  }

  private init?(payment parts: [String]) {
    switch (parts.count, parts.dropFirst().joined(separator: "/")) {
    case (0, _): self.init(.collection, .payment, "POST")
    case (1, _): self.init(.resource, .payment, "GET")
    case (_, "authorization-flow"): self.init(.start, .payment, "POST")
    case (_, "actions/cancel"): self.init(.cancel, .payment, "POST")
    case (_, "refunds"): self.init(.refunds, .payment, "GET", "POST")
    case (3, let tail) where tail.hasPrefix("refunds/"): self.init(.refund, .payment, "GET")
    case (4, let tail) where tail.hasPrefix("authorization-flow/actions/"):
      let actions = [
        "provider-selection", "branch-selection", "scheme-selection", "user-account-selection",
        "consent", "form",
      ]
      guard actions.contains(parts[3]) else { return nil }
      self.init(.submission(parts[3]), .payment, "POST")
    default: return nil
    }
  }

  private init?(mandate parts: [String]) {
    switch (parts.count, parts.dropFirst().joined(separator: "/")) {
    case (0, _): self.init(.collection, .mandate, "GET", "POST")
    case (1, _): self.init(.resource, .mandate, "GET")
    case (_, "authorization-flow"): self.init(.start, .mandate, "POST")
    case (_, "revoke"): self.init(.revoke, .mandate, "POST")
    case (_, "funds"): self.init(.funds, .mandate, "GET")
    case (_, "constraints"): self.init(.constraints, .mandate, "GET")
    case (_, "authorization-flow/actions/provider-selection"),
      (_, "authorization-flow/actions/consent"):
      self.init(.submission(parts[3]), .mandate, "POST")
    default: return nil
    }
  }

  /// The name of a step, for its faults.
  func step(_ method: String) -> String {
    switch endpoint {
    case .providerReturn: "return"
    case .collection where method == "POST": "create"
    case .start: "start"
    case .cancel: "bank-cancel"
    case .revoke: "revoke"
    case .refunds where method == "POST": "refund"
    case .refunds, .refund: "refunds"
    case .submission("consent"): "consent"
    case .submission("form"): "form"
    case .submission: "selection"
    default: "status"
    }
  }

  /// Whether only the client itself may ask, not whoever has a resource's token.
  var isForClient: Bool {
    switch endpoint {
    case .collection, .revoke, .refunds, .refund, .funds, .constraints, .search: true
    default: false
    }
  }

  /// Whether a write is refused without an idempotency key.
  var wantsKey: Bool {
    switch endpoint {
    case .collection, .revoke, .refunds, .cancel: true
    default: false
    }
  }

  /// The shape of what is sent.
  var body: BankSchema {
    switch endpoint {
    case .collection: kind == .payment ? BankRequests.createPayment : BankRequests.createMandate
    case .start: kind == .payment ? BankRequests.startPayment : BankRequests.startMandate
    case .refunds: BankRequests.refund
    case .search: BankRequests.search
    case .providerReturn: BankRequests.providerReturn
    case .submission("provider-selection"): BankRequests.providerSelection
    case .submission("branch-selection"): BankRequests.branchSelection
    case .submission("scheme-selection"): BankRequests.schemeSelection
    case .submission("user-account-selection"): BankRequests.userAccountSelection
    case .submission("consent"): BankRequests.consent
    case .submission("form"): BankRequests.form
    default: .anyObject
    }
  }
}
