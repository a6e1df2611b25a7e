package import TenderEngine
package import TenderModel

/// The adapter's settings: ids, keys, addresses, time limits.
///
/// Toro publishes none of the values, so the operator sets them all (README, 1.2 and 11). On the simulator
/// all have working defaults.
package struct ToroConfiguration: Sendable {
  package var env: Env
  package var gatewayBase: String?
  /// The name of the HTTP header with the API key. It is not public.
  package var apiKeyHeader = "api-key"
  package var apiKey: SharedSecret?
  /// The passphrase from which the message key is derived.
  package var passphrase: SharedSecret?
  package var derivation = KeyDerivation()
  package var keyID = "SpecV1TestKey"
  package var keyVersion = "1"
  /// The id and version of the key with which readers encrypt card data.
  package var cardKeyID: String?
  package var cardKeyVersion: String?
  package var acquirerID = ""
  package var acquirerParameters = "1"
  package var merchantID = ""
  package var merchantName: String?
  package var merchantCategory = ""
  package var poiID = ""
  /// The recipient of messages; left out if it is not known.
  package var recipientID: String?
  package var latitude: String?
  package var longitude: String?
  package var device = "simulator"
  /// The path for authorizations, which Toro does not publish (README, 3.1); nil for the path that the
  /// others suggest.
  package var authorisationPath: String?
  /// The time limit of one request, in milliseconds.
  package var timeout = 30_000
  /// The time limit for a card, a choice or a PIN, in milliseconds.
  package var cardTimeout = 60_000

  /// Readers that must not be used for this sale; nil for none.
  package var refusedReaders: RefusedReaders?

  /// Data that identify a simulated reader.
  package struct RefusedReaders: Sendable, Hashable {
    /// Serial numbers (tag 9F1E).
    package var serials: Set<String>
    /// The first five bytes of the serial numbers of their keys (tags DFAE03, DFAE05).
    package var keySets: Set<[UInt8]>
  }

  package init(env: Env) { self.env = env }

  /// The gateway's address (README, 1.1).
  var gatewayURL: String {
    gatewayBase
      ?? (env == .live ? "https://api.torogateway.com" : "https://api.torogateway.dev")
  }
}

/// The parameters of PBKDF2 (RFC 8018), which derives the message key. They are not public.
package struct KeyDerivation: Sendable, Hashable {
  /// `SHA1`, `SHA256` or `SHA512`.
  package var digest = "SHA256"
  package var salt = ""
  package var iterations = 0
  /// The key's length in bytes, as AES-CMAC requires.
  package var length = 32

  package init() {}
}

/// The operator's choices for a sale. They are not part of its content.
package struct SaleOptions: Sendable {
  /// The device on which the customer signs.
  package enum SignatureMode: String, Sendable, Hashable, CaseIterable { case device, app }

  package var signatureMode = SignatureMode.app
  /// A picture or other file with the customer's signature.
  package var signature: [UInt8]?
  /// The merchant's answer whether the signature matches; nil to ask.
  package var signatureMatches: Bool?

  package init() {}
}

/// The attendant at the till. The program can ask the attendant.
package protocol Attendant: Sendable {
  /// Whether the attendant can be asked. The simulated attendant signs and agrees by itself.
  var canCompare: Bool { get }
  /// Returns the customer's signature; nil if the customer refuses. Throws after a signal.
  func signature() throws(Fault) -> [UInt8]?
  /// Returns whether the signature matches the card's.
  func signatureMatches() throws(Fault) -> Bool
  /// Shows the state of the current wait, and the milliseconds left.
  func waits(for state: String, left: Int)
}

extension Attendant {
  package func waits(for state: String, left: Int) {}
}

/// Everything that the adapter depends on.
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
  /// Receives trace lines with names, tags and sizes, but no values.
  var watch: (@Sendable (JSONObject) -> Void)?
  /// Reserves a reader by its address while the lock is held; nil if another process uses it.
  package typealias Reservation = @Sendable (String) throws(Fault) -> (any ReferenceLock)?
  package var reserve: Reservation?

  package init(
    configuration: ToroConfiguration,
    options: SaleOptions,
    http: any HTTPExchange,
    devices: any DeviceExchange,
    attendant: any Attendant,
    clock: any Clock,
    randomness: any Randomness,
    interruption: any Interruption,
    redactor: Redactor
  ) {
    (self.configuration, self.options, self.attendant) = (configuration, options, attendant)
    (self.http, self.devices) = (http, devices)
    (self.clock, self.randomness) = (clock, randomness)
    (self.interruption, self.redactor) = (interruption, redactor)
  }

  /// The time by which a request to the gateway that begins now must be answered.
  var deadline: Deadline { Deadline(in: configuration.timeout, on: clock) }
}
