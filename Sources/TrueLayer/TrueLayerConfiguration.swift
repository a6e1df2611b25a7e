private import Synchronization
package import TenderEngine
package import TenderModel

/// What the adapter has been told: credentials, addresses, time limits.
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
  /// Where the payer's browser goes after the bank; registered in TrueLayer's Console.
  package var redirectURL: String
  /// The scope to ask for, where the documented ones do not fit the account.
  package var scope: String?
  package var apiBase: String?
  package var authBase: String?
  /// How long one request may take, in milliseconds.
  package var timeout: Int

  package init(env: Env, redirectURL: String = Self.defaultRedirectURL, timeout: Int = 30_000) {
    self.env = env
    self.redirectURL = redirectURL
    self.timeout = timeout
  }

  /// The address that TrueLayer's own samples register (README, 4.6).
  package static let defaultRedirectURL = "http://localhost:3000/callback"

  /// Where the API is (README, 1.1).
  var apiURL: String {
    apiBase
      ?? (env == .live ? "https://api.truelayer.com" : "https://api.truelayer-sandbox.com")
  }

  /// Where access tokens come from (README, 1.1).
  var authURL: String {
    authBase
      ?? (env == .live ? "https://auth.truelayer.com" : "https://auth.truelayer-sandbox.com")
  }

  /// Whether requests can be made for the client itself, reads at least.
  var hasClient: Bool { clientID != nil && clientSecret != nil }

  /// Whether such requests can be signed.
  var hasKey: Bool { keyID != nil && privateKey != nil }
}

/// What the operator chose of the flow; none of it makes a payment another one.
package struct FlowOptions: Sendable {
  /// The country whose banks are offered first, ISO 3166-1 alpha-2.
  package var country: String?
  /// The country of the user's locale, where the other one has no banks.
  package var localeCountry: String?
  package var bank: String?
  package var branch: String?
  package var scheme: String?
  /// `new`, or the id of a saved account.
  package var account: String?
  /// Whether the payer lets account data be read beside the payment.
  package var consentsToAccountData = false
  /// Whether a failed authorization may be started again.
  package var retries = false
  /// What the bank returned to, handed in by the operator.
  package var returnURL: String?
  /// How long a payer is awaited, in milliseconds: as long as a payment lives (README, 1.3).
  package var patience = 900_000
  /// How often to look meanwhile, in milliseconds.
  package var interval = 2000

  package init() {}
}

/// The client's own access tokens, kept for as long as they are good; never written down.
package final class AccessTokens: Sendable {
  private let known = Mutex<[String: (token: String, until: Int)]>([:])

  package init() {}

  /// The token of a client, address and scope that is still good at a time.
  func token(_ name: String, at now: Int) -> String? {
    known.withLock { $0[name] }.flatMap { $0.until > now ? $0.token : nil }
  }

  func keep(_ token: String, _ name: String, until: Int) {
    known.withLock { $0[name] = (token, until) }
  }
}

/// Whoever answers what a flow asks and options leave open: a person at a terminal, or nobody.
package protocol FlowGuide: Sendable {
  /// Chooses one of several by its id: a `bank`, `branch`, `scheme` or `account`; nil where nobody can be
  /// asked. Throws `cancelled` where the person gives up, `interrupted` at Ctrl-C.
  func choose(_ subject: String, among choices: [Choice]) throws(Fault) -> String?
  /// The values of a form by id, as far as options and files give them.
  func given(_ inputs: [FormInput]) throws(Fault) -> [String: String]
  /// Asks for one value; nil where nobody can be asked. Throws as `choose` does.
  func ask(_ input: FormInput) throws(Fault) -> String?
  /// Shows the address that the payer must open.
  func show(_ address: String, isAwaited: Bool) throws(Fault)
  /// Says something that is good to know.
  func note(_ text: String)
  /// Hears for how many milliseconds more the payer is awaited.
  func waits(left: Int)
}

extension FlowGuide {
  package func waits(left: Int) {}
}

/// What the adapter works with: all of it passed in.
package struct TrueLayerContext: Sendable {
  let configuration: TrueLayerConfiguration
  let options: FlowOptions
  let http: any HTTPExchange
  /// Nil where the payer comes back to somebody else's address.
  let redirects: (any RedirectListener)?
  let guide: any FlowGuide
  let clock: any Clock
  let randomness: any Randomness
  let interruption: any Interruption
  let redactor: Redactor
  let tokens: AccessTokens

  package init(
    configuration: TrueLayerConfiguration,
    options: FlowOptions,
    http: any HTTPExchange,
    redirects: (any RedirectListener)?,
    guide: any FlowGuide,
    clock: any Clock,
    randomness: any Randomness,
    interruption: any Interruption,
    redactor: Redactor,
    tokens: AccessTokens = AccessTokens()
  ) {
    (self.configuration, self.options, self.guide) = (configuration, options, guide)
    (self.http, self.redirects, self.tokens) = (http, redirects, tokens)
    (self.clock, self.randomness) = (clock, randomness)
    (self.interruption, self.redactor) = (interruption, redactor)
  }
}
