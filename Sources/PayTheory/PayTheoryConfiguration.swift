internal import TenderCommandLine
internal import TenderEngine
package import TenderModel

/// What the adapter must be told: whose account, where, and how.
package struct PayTheoryConfiguration: Sendable {
  package var env: Env
  package var key: APIKey
  package var merchantUID: String?
  package var secretKey: SharedSecret?
  /// Base addresses that replace the provider's scheme, host and port; nil for its own.
  package var tokenBase: String?
  package var socketBase: String?
  package var graphQLBase: String?
  /// Whether any base address is set: the provider's own hosts are then out of reach.
  package var isRedirected = false
  /// Whether a plain payment runs part 1 with confirmation and part 2 at once.
  ///
  /// Which of the two ways a live account accepts is not public.
  package var twoStep: Bool
  /// The time zone that requests carry, by its IANA name.
  package var timeZone: String
  /// How long one request may take, in milliseconds.
  package var timeout: Int

  package init(
    env: Env,
    key: APIKey,
    merchantUID: String? = nil,
    secretKey: SharedSecret? = nil,
    tokenBase: String? = nil,
    socketBase: String? = nil,
    graphQLBase: String? = nil,
    twoStep: Bool = true,
    timeZone: String = "UTC",
    timeout: Int = 30_000
  ) {
    self.env = env
    self.key = key
    self.merchantUID = merchantUID
    self.secretKey = secretKey
    self.tokenBase = tokenBase
    self.socketBase = socketBase
    self.graphQLBase = graphQLBase
    self.twoStep = twoStep
    self.timeZone = timeZone
    self.timeout = timeout
  }

  /// Throws `auth` or `usage` where credentials or addresses are missing that an order needs; nil is a look-up.
  func checkReady(for order: Order?, of payment: Payment?) throws(Fault) {
    switch order {
    case nil: _ = try merchant(for: "a look-up")
    case .payment(let order)? where order.storedMethod != nil:
      _ = try merchant(for: "charging a stored method")
    case .capture?, .cancel?, .refund?:
      // A hold by a stored method is captured and released by GraphQL, as a reversal is made.
      let isStored = payment?.content.text("token") != nil
      if isStored || payment?.state.isCaptured == true {
        _ = try merchant(for: "a reversal")
      } else {
        try checkBases()
      }
    case .payment?, .token?, .sale?, .authorization?: try checkInstruments()
    }
  }

  /// Throws `auth` or `usage` where an instrument cannot be taken: by its stage, or for lack of an address.
  func checkInstruments() throws(Fault) {
    try checkBases()
    guard key.stage != .production else {
      throw .invalidApp(
        "stage paytheory (production) takes cards, ACH and cash from attested mobile apps alone"
      )
    }
  }

  /// The credentials that GraphQL takes for `purpose`; throws `auth` or `usage` where they or the address are missing.
  func merchant(for purpose: String) throws(Fault) -> (uid: String, secret: SharedSecret) {
    guard let merchantUID, let secretKey else { throw .missingMerchant(purpose) }
    guard !isRedirected || graphQLBase != nil else {
      throw .badAddress(
        "\(purpose) needs TENDER_PAYTHEORY_GRAPHQL_URL, which is not set beside the other addresses",
        hint: "set all that the command needs, or none"
      )
    }
    return (merchantUID, secretKey)
  }

  /// Throws `usage` where addresses are replaced, and one that a payment needs is not: it would reach the real host.
  func checkBases() throws(Fault) {
    guard isRedirected else { return }
    var missing: [String] = []
    if tokenBase == nil { missing.append("TENDER_PAYTHEORY_TOKEN_URL") }
    if socketBase == nil { missing.append("TENDER_PAYTHEORY_SOCKET_URL") }
    guard missing.isEmpty else { throw .basesMissing(missing) }
  }

  /// Where tokens come from (README, 1.2).
  var tokenURL: String {
    (tokenBase ?? "https://\(key.partner).\(key.stage.rawValue).com") + "/pt-token-service/"
  }

  /// Where the socket is, without its token.
  var socketURL: String {
    (socketBase ?? "wss://\(key.partner).secure.socket.\(key.stage.rawValue).com")
      + "/\(key.partner)/"
  }

  /// Where look-ups and reversals go.
  var graphQLURL: String {
    (graphQLBase ?? "https://api.\(key.partner).\(key.stage.rawValue).com") + "/graphql"
  }
}
