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
