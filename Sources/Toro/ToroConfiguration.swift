package import TenderEngine
package import TenderModel

/// What the adapter has been told: ids, keys, addresses, time limits.
///
/// Toro publishes none of the values: each of them is the operator's to set (README, 1.2 and 11).
/// On the simulator all have working defaults.
package struct ToroConfiguration: Sendable {
  package var env: Env
  package var gatewayBase: String?
  /// The name of the HTTP header that carries the API key, which is not public.
  package var apiKeyHeader = "api-key"
  package var apiKey: SharedSecret?
  /// The passphrase of which the message key is made.
  package var passphrase: SharedSecret?
  package var derivation = KeyDerivation()
  package var keyID = "SpecV1TestKey"
  package var keyVersion = "1"
  /// The key that readers encrypt card data under; its id and version in messages.
  package var cardKeyID: String?
  package var cardKeyVersion: String?
  package var acquirerID = ""
  package var acquirerParameters = "1"
  package var merchantID = ""
  package var merchantName: String?
  package var merchantCategory = ""
  package var poiID = ""
  /// Whom messages are addressed to; left out where it is not known.
  package var recipientID: String?
  package var latitude: String?
  package var longitude: String?
  package var device = "simulator"
  /// Where authorisations are sent: the one path that Toro does not publish (README, 3.1);
  /// nil for what the others suggest.
  package var authorisationPath: String?
  /// How long one request may take, in milliseconds.
  package var timeout = 30_000
  /// How long a card, a choice or a PIN is awaited, in milliseconds.
  package var cardTimeout = 60_000

  /// Readers that must not take this sale; nil for none.
  package var refusedReaders: RefusedReaders?

  /// Readers of a simulator, by what they tell of themselves.
  package struct RefusedReaders: Sendable, Hashable {
    /// Serial numbers (tag 9F1E).
    package var serials: Set<String>
    /// The first five bytes of the serial numbers of their keys (tags DFAE03, DFAE05).
    package var keySets: Set<[UInt8]>
  }

  package init(env: Env) { self.env = env }

  /// Where the gateway is (README, 1.1).
  var gatewayURL: String {
    gatewayBase
      ?? (env == .live ? "https://api.torogateway.com" : "https://api.torogateway.dev")
  }
}

/// How the message key is made of the passphrase: PBKDF2 (RFC 8018), its parameters not public.
package struct KeyDerivation: Sendable, Hashable {
  /// `SHA1`, `SHA256` or `SHA512`.
  package var digest: String
  package var salt: String
  package var iterations: Int
  /// In bytes: what CMAC under AES takes.
  package var length: Int

  package init(
    digest: String = "SHA256",
    salt: String = "",
    iterations: Int = 0,
    length: Int = 32
  ) {
    self.digest = digest
    self.salt = salt
    self.iterations = iterations
    self.length = length
  }
}

/// What the operator chose for a sale; none of it makes the sale another one.
package struct SaleOptions: Sendable {
  /// Where the customer signs.
  package enum SignatureMode: String, Sendable, Hashable, CaseIterable { case device, app }

  package var signatureMode = SignatureMode.app
  /// A picture or other file that holds the customer's signature.
  package var signature: [UInt8]?
  /// The merchant's answer to whether the signature matches; nil to ask.
  package var signatureMatches: Bool?

  package init() {}
}

/// Somebody at the till who can be asked.
package protocol Attendant: Sendable {
  /// Whether anybody can be asked; the simulated till signs and agrees by itself.
  var canCompare: Bool { get }
  /// The customer's signature; nil where the customer would not sign. Throws where a signal came.
  func signature() throws(Fault) -> [UInt8]?
  /// Whether the signature matches the card's.
  func signatureMatches() throws(Fault) -> Bool
  /// Hears what is awaited, by its state, and for how many milliseconds more.
  func waits(for state: String, left: Int)
}

extension Attendant {
  package func waits(for state: String, left: Int) {}
}

/// What the adapter works with: all of it passed in.
package struct ToroContext: Sendable {
  let configuration: ToroConfiguration
  let options: SaleOptions
  let http: any HTTPExchange
  let devices: any DeviceExchange
  let attendant: any Attendant
  let clock: any Clock
  let randomness: any Randomness
  let interruption: any Interruption
  let redactor: Redactor
  /// Takes lines of the trace: names, tags and sizes, no values.
  let watch: (@Sendable (JSONObject) -> Void)?
  /// Takes a reader, by its address, for as long as the lock is held; nil where another has it.
  package typealias Reservation = @Sendable (String) throws(Fault) -> (any ReferenceLock)?
  let reserve: Reservation?

  package init(
    configuration: ToroConfiguration,
    options: SaleOptions,
    http: any HTTPExchange,
    devices: any DeviceExchange,
    attendant: any Attendant,
    clock: any Clock,
    randomness: any Randomness,
    interruption: any Interruption,
    redactor: Redactor,
    watch: (@Sendable (JSONObject) -> Void)? = nil,
    reserve: Reservation? = nil
  ) {
    self.configuration = configuration
    self.options = options
    self.http = http
    self.devices = devices
    self.attendant = attendant
    self.clock = clock
    self.randomness = randomness
    self.interruption = interruption
    self.redactor = redactor
    self.watch = watch
    self.reserve = reserve
  }
}
