internal import TenderCommandLine
package import TenderEngine
package import TenderModel

/// Everything that the adapter depends on.
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

  /// The time by which a request that begins now must be answered.
  var deadline: Deadline { Deadline(in: configuration.timeout, on: clock) }
}

/// The adapter's settings: credentials, addresses, choices.
package struct PayTheoryConfiguration: Sendable {
  package var env: Env
  package var key: APIKey
  package var merchantUID: String?
  package var secretKey: SharedSecret?
  /// Base addresses that replace the provider's scheme, host and port; nil for the real ones.
  package var tokenBase: String?
  package var socketBase: String?
  package var graphQLBase: String?
  /// Whether any base address is set. Then the provider's real hosts must not be used.
  package var isRedirected = false
  /// Whether a payment without a hold runs part 1 with confirmation, and then part 2.
  ///
  /// It is not public which of the two ways a live account accepts.
  package var twoStep = true
  /// The time zone in requests, by its IANA name.
  package var timeZone = "UTC"
  /// The time limit of one request, in milliseconds.
  package var timeout = 30_000

  package init(env: Env, key: APIKey) { (self.env, self.key) = (env, key) }

  /// Throws `auth` or `usage` if an order lacks credentials or addresses. Nil means a look-up.
  func checkReady(for order: OrderOf<PayTheoryOrder>?, of payment: Payment?) throws(Fault) {
    switch order {
    case nil: _ = try merchant(for: "a look-up")
    case .placed(let order)? where order.existingID != nil:
      _ = try merchant(for: "a look-up")
    case .placed(let order)? where order.storedMethod != nil:
      _ = try merchant(for: "charging a stored method")
    case .capture?, .cancel?, .refund?:
      // A hold by a stored method is captured and voided over GraphQL.
      let isStored = payment?.content.text("token") != nil
      if isStored || payment?.state.isCaptured == true {
        let isCapture = if case .capture = order { true } else { false }
        _ = try merchant(for: isCapture ? "a capture" : "a void or refund")
      } else {
        try checkBases()
      }
    case .placed?: try checkInstruments()
    }
  }

  /// Throws `auth` or `usage` if a card or account cannot be charged: by its stage, or without an address.
  func checkInstruments() throws(Fault) {
    try checkBases()
    guard key.stage != .production else {
      throw .invalidApp(
        "stage paytheory (production) takes cards, ACH and cash from attested mobile apps alone"
      )
    }
  }

  /// Whether the credentials for GraphQL are there.
  var hasMerchant: Bool { merchantUID != nil && secretKey != nil }

  /// Returns the GraphQL credentials for `purpose`. Throws `auth` or `usage` if they or the address are
  /// missing.
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

  /// Throws `usage` if some addresses are replaced but not all: a payment would reach the real hosts.
  func checkBases() throws(Fault) {
    guard isRedirected else { return }
    var missing: [String] = []
    if tokenBase == nil { missing.append("TENDER_PAYTHEORY_TOKEN_URL") }
    if socketBase == nil { missing.append("TENDER_PAYTHEORY_SOCKET_URL") }
    guard missing.isEmpty else { throw .basesMissing(missing) }
  }

  /// The address that issues tokens (README, 1.2).
  var tokenURL: String {
    (tokenBase ?? "https://\(key.partner).\(key.stage.rawValue).com") + "/pt-token-service/"
  }

  /// The address of the socket, without its token.
  var socketURL: String {
    (socketBase ?? "wss://\(key.partner).secure.socket.\(key.stage.rawValue).com")
      + "/\(key.partner)/"
  }

  /// The address for look-ups and reversals.
  var graphQLURL: String {
    (graphQLBase ?? "https://api.\(key.partner).\(key.stage.rawValue).com") + "/graphql"
  }
}

/// A Pay Theory API key, `{partner}-{stage}-{id}`. It is a public key, not a secret.
///
/// Partner builds have `new` or `old` between partner and stage (README, 1.1).
package struct APIKey: Sendable, Hashable {
  /// The three stages of the SDKs.
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
  /// Throws a `usage` fault that names the problem.
  package init(_ text: String) throws(Fault) {
    var parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    if parts.count == 4, parts[1] == "new" || parts[1] == "old" { parts.remove(at: 1) }
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
      default: false
      }
    }
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), isPlain, text.utf8.count <= 200
    else {
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

  /// Checks that the stage matches the env.
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
