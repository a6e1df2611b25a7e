private import Synchronization
package import TenderEngine
package import TenderModel

/// The adapter's settings: credentials, addresses, time limits.
package struct TrueLayerConfiguration: Sendable {
  package var env: Env
  package var clientID: String?
  package var clientSecret: SharedSecret?
  /// The id of the signing key, as TrueLayer's Console shows it.
  package var keyID: String?
  /// The signing key, P-521, as PEM text (SEC 1 or PKCS #8).
  package var privateKey: SharedSecret?
  /// The token of one payment or mandate, as its creation returned it.
  package var resourceToken: SharedSecret?
  /// The address that the payer's browser opens after the bank. It is registered in TrueLayer's Console.
  package var redirectURL = Self.defaultRedirectURL
  /// The scope to request, if the documented ones do not fit the account.
  package var scope: String?
  package var apiBase: String?
  package var authBase: String?
  /// The time limit of one request, in milliseconds.
  package var timeout = 30_000

  package init(env: Env) { self.env = env }

  /// The address that TrueLayer's own samples register (README, 4.6).
  package static let defaultRedirectURL = "http://localhost:3000/callback"

  /// The address of the API (README, 1.1).
  var apiURL: String {
    apiBase
      ?? (env == .live ? "https://api.truelayer.com" : "https://api.truelayer-sandbox.com")
  }

  /// The address that issues access tokens (README, 1.1).
  var authURL: String {
    authBase
      ?? (env == .live ? "https://auth.truelayer.com" : "https://auth.truelayer-sandbox.com")
  }

  /// Whether the client's own credentials are set, which allow reads.
  var hasClient: Bool { clientID != nil && clientSecret != nil }

  /// Whether the client's own requests can be signed.
  var hasKey: Bool { keyID != nil && privateKey != nil }
}

/// The operator's choices for a flow. They are not part of a payment's content.
package struct FlowOptions: Sendable {
  /// The country whose banks are offered first, ISO 3166-1 alpha-2.
  package var country: String?
  /// The country of the user's locale, used if the first one has no banks.
  package var localeCountry: String?
  package var bank: String?
  package var branch: String?
  package var scheme: String?
  /// `new`, or the id of a saved account.
  package var account: String?
  /// Whether the payer agrees that account data is read too.
  package var consentsToAccountData = false
  /// Whether a failed authorization may be started again.
  package var retries = false
  /// The address to which the bank returned the payer, passed in by the operator.
  package var returnURL: String?
  /// The time limit for the payer, in milliseconds: the lifetime of a payment (README, 1.3).
  package var patience = 900_000
  /// The pause between looks, in milliseconds.
  package var interval = 2000

  package init() {}
}

/// The client's own access tokens. They are cached in memory until they expire, and never stored.
final class AccessTokens: Sendable {
  private let known = Mutex<[String: (token: String, until: Int)]>([:])

  /// Returns the token of a client, address and scope, if it is still valid.
  func token(_ name: String, at now: Int) -> String? {
    known.withLock { $0[name] }.flatMap { $0.until > now ? $0.token : nil }
  }

  func keep(_ token: String, _ name: String, until: Int) {
    known.withLock { $0[name] = (token, until) }
  }

  func forget(_ name: String) { known.withLock { $0[name] = nil } }
}

/// Answers the questions of a flow that the options leave open. It asks a person at a terminal if there is
/// one.
package protocol FlowGuide: Sendable {
  /// Asks for one of several choices and returns its id; nil if there is no terminal.
  ///
  /// The subject is `bank`, `branch`, `scheme` or `account`. Throws `cancelled` if the person gives up,
  /// `interrupted` at Ctrl-C.
  func choose(_ subject: String, among choices: [Choice]) throws(Fault) -> String?
  /// Returns the values of a form by id, from options and files.
  func given(_ inputs: [FormInput]) throws(Fault) -> [String: String]
  /// Asks for one value; nil if there is no terminal. Throws as `choose` does.
  func ask(_ input: FormInput) throws(Fault) -> String?
  /// Shows the address that the payer must open.
  func show(_ address: String, isAwaited: Bool) throws(Fault)
  func note(_ text: String)
  /// Shows the milliseconds left for the payer.
  func waits(left: Int)
}

extension FlowGuide {
  package func waits(left: Int) {}
}

/// Everything that the adapter depends on.
package struct TrueLayerContext: Sendable {
  let configuration: TrueLayerConfiguration
  let options: FlowOptions
  let http: any HTTPExchange
  /// The listener for the payer's return; nil if the payer returns to another address.
  let redirects: (any RedirectListener)?
  let guide: any FlowGuide
  let clock: any Clock
  let randomness: any Randomness
  let interruption: any Interruption
  let redactor: Redactor
  /// The module sets those that all runs of this process share.
  var tokens = AccessTokens()

  package init(
    configuration: TrueLayerConfiguration,
    options: FlowOptions,
    http: any HTTPExchange,
    redirects: (any RedirectListener)?,
    guide: any FlowGuide,
    clock: any Clock,
    randomness: any Randomness,
    interruption: any Interruption,
    redactor: Redactor
  ) {
    (self.configuration, self.options, self.guide) = (configuration, options, guide)
    (self.http, self.redirects) = (http, redirects)
    (self.clock, self.randomness) = (clock, randomness)
    (self.interruption, self.redactor) = (interruption, redactor)
  }
}
