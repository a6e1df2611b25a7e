internal import TenderCommandLine
package import TenderEngine
package import TenderModel

/// What the adapter works with: all of it passed in.
package struct PayTheoryContext: Sendable {
  let configuration: PayTheoryConfiguration
  var http: any HTTPExchange
  var sockets: any SocketExchange
  let clock: any Clock
  let randomness: any Randomness
  var redactor: Redactor

  package init(
    configuration: PayTheoryConfiguration,
    http: any HTTPExchange,
    sockets: any SocketExchange,
    clock: any Clock,
    randomness: any Randomness,
    redactor: Redactor
  ) {
    (self.configuration, self.http, self.sockets) = (configuration, http, sockets)
    (self.clock, self.randomness, self.redactor) = (clock, randomness, redactor)
  }

  /// Who pays into which account, and where it is reached.
  var account: String {
    [configuration.tokenURL, configuration.socketURL, configuration.key.text].joined(
      separator: "\n"
    )
  }
}

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
  package var timeZone = "UTC"
  /// How long one request may take, in milliseconds.
  package var timeout = 30_000

  package init(
    env: Env,
    key: APIKey,
    merchantUID: String? = nil,
    secretKey: SharedSecret? = nil,
    twoStep: Bool = true
  ) {
    (self.env, self.key, self.twoStep) = (env, key, twoStep)
    (self.merchantUID, self.secretKey) = (merchantUID, secretKey)
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
        _ = try merchant(for: order?.kind == .capture ? "a capture" : "a void or refund")
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

/// A Pay Theory API key, `{partner}-{stage}-{id}`: a public key, not a secret.
///
/// Partner builds carry `new` or `old` between partner and stage (README, 1.1).
package struct APIKey: Sendable, Hashable {
  /// The three stages that SDKs know.
  package enum Stage: String, Sendable, Hashable, CaseIterable {
    case production = "paytheory"
    case study = "paytheorystudy"
    case lab = "paytheorylab"
  }

  package let text: String
  package let partner: String
  package let stage: Stage

  /// Checks the shape.
  ///
  /// Throws a `usage` fault that names what is wrong.
  package init(_ text: String) throws(Fault) {
    var parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    if parts.count == 4, parts[1] == "new" || parts[1] == "old" { parts.remove(at: 1) }
    let plain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), plain, text.utf8.count <= 200 else {
      throw .usage(
        "bad_api_key",
        "the Pay Theory API key has the wrong shape",
        "it is {partner}-{stage}-{id}, as the Pay Theory portal shows it"
      )
    }
    guard let stage = Stage(rawValue: parts[1]) else {
      throw .usage(
        "bad_api_key",
        "the Pay Theory API key has the unknown stage \(parts[1].quotedForMessage)",
        "stages are paytheory, paytheorystudy and paytheorylab"
      )
    }
    self.text = text
    self.stage = stage
    partner = parts[0]
  }

  /// Checks that the stage fits the env.
  ///
  /// Throws a `usage` fault.
  package func check(fits env: Env) throws(Fault) {
    let fits =
      switch env {
      case .simulator: true
      case .sandbox: stage != .production
      case .live: stage == .production
      }
    guard fits else {
      throw .usage(
        "stage_mismatch",
        "the API key's stage \(stage.rawValue) does not fit --env \(env.rawValue)",
        "sandbox takes paytheorystudy and paytheorylab, live takes paytheory"
      )
    }
  }
}
