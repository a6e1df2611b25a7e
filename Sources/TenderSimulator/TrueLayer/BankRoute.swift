import TenderModel

/// An endpoint of the simulated TrueLayer: its methods, the names of its faults, and its body
/// (TrueLayer/README, 1.4 and 10.1; bodies by the OpenAPI).
struct BankRoute {
  enum Endpoint: String {
    case collection, resource, start, cancel, revoke, refunds, refund, funds, constraints
    case submission, search, provider, providerReturn
    case accounts, account, transactions, sources, sweeping, payout, signup, signupAddress
  }

  let endpoint: Endpoint
  let kind: BankOrder.Kind
  let methods: [(name: String, step: String)]
  /// The path below `/v3`, which clients may omit (TrueLayer/README, 10.1). `*` is an id.
  private let path: [Substring]
  /// The shape of the body, in `BankSchema`.
  let body: String?
  /// Whether only the client may call it. A resource's token is then not enough.
  let isForClient: Bool
  /// Whether a write is refused without an idempotency key.
  let wantsKey: Bool

  /// Each endpoint with its methods and their steps, its path, the shape of its body, and its rules.
  private static let all = """
    providerReturn POST:return payments-provider-return providerReturn
    search POST:status payments-providers/search search client
    provider GET:status payments-providers/* -
    collection POST:create payments createPayment client key
    resource GET:status payments/* -
    start POST:start payments/*/authorization-flow startPayment
    cancel POST:bank-cancel payments/*/actions/cancel - key
    refunds GET:refunds,POST:refund payments/*/refunds refund client key
    refund GET:refunds payments/*/refunds/* - client
    submission POST:selection payments/*/authorization-flow/actions/provider-selection provider-selection
    submission POST:selection payments/*/authorization-flow/actions/branch-selection branch-selection
    submission POST:selection payments/*/authorization-flow/actions/scheme-selection scheme-selection
    submission POST:selection payments/*/authorization-flow/actions/user-account-selection \
    user-account-selection
    submission POST:consent payments/*/authorization-flow/actions/consent consent
    submission POST:form payments/*/authorization-flow/actions/form form
    collection GET:status,POST:create mandates createMandate client key
    resource GET:status mandates/* -
    start POST:start mandates/*/authorization-flow startMandate
    revoke POST:revoke mandates/*/revoke - client key
    funds GET:status mandates/*/funds - client
    constraints GET:status mandates/*/constraints - client
    submission POST:selection mandates/*/authorization-flow/actions/provider-selection provider-selection
    submission POST:consent mandates/*/authorization-flow/actions/consent consent
    accounts GET:accounts merchant-accounts - client
    account GET:accounts merchant-accounts/* - client
    transactions GET:accounts merchant-accounts/*/transactions - client
    sources GET:accounts merchant-accounts/*/payment-sources - client
    sweeping GET:accounts,POST:sweeping,DELETE:sweeping merchant-accounts/*/sweeping sweepingTerms \
    client key
    payout POST:payout payouts createPayout client key
    payout GET:accounts payouts/* -
    signup GET:accounts signup-plus/payments - client
    signupAddress POST:accounts signup-plus/authuri signupAddress client
    """.split(separator: "\n").compactMap(BankRoute.init)

  private init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard let endpoint = Endpoint(rawValue: String(words[0])) else { return nil }
    self.endpoint = endpoint
    methods = words[1].split(separator: ",").map { method in
      let parts = method.split(separator: ":").map(String.init)
      return (parts[0], parts[1])
    }
    path = words[2].split(separator: "/")
    kind = path[0] == "mandates" ? .mandate : .payment
    body = words[3] == "-" ? nil : String(words[3])
    isForClient = words.contains("client")
    wantsKey = words.contains("key")
  }

  /// Whether a token with these scopes is enough (TrueLayer/README, 1.2).
  ///
  /// The scope for a search and for Signup+ is not public, so that each of the clients' scopes is enough.
  func isAllowed(by scopes: Set<String>) -> Bool {
    let needed: Set<String> =
      switch endpoint {
      case .search: scopes
      case .signup, .signupAddress: ["payments", "signupplus"]
      case .refunds: ["payments", "payments:refund"]
      case _ where kind == .mandate:
        ["mandates", "recurring_payments:sweeping", "recurring_payments:commercial"]
      default: ["payments"]
      }
    return !scopes.isDisjoint(with: needed)
  }

  /// The endpoint of a path that begins with `/v3`; nil if there is none.
  static func of(_ parts: [String]) -> BankRoute? {
    all.first { route in
      route.path.count == parts.count - 1
        && zip(route.path, parts.dropFirst()).allSatisfy { $0 == "*" || $0 == $1 }
    }
  }
}
