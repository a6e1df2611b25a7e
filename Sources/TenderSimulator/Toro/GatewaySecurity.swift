private import CLibraries
import TenderModel

/// The simulated gateway's side of the security trailer.
enum GatewaySecurity {
  /// The key of the published passphrase under the simulator's own parameters, derived beforehand.
  ///
  /// PBKDF2 with HMAC-SHA-256, salt `SpecV1TestKey`, 10,000 rounds, 32 bytes.
  private static let key: [UInt8] = [
    0x70, 0x0d, 0x78, 0x83, 0xce, 0xa2, 0xb2, 0x7b, 0x5f, 0xc6, 0x54, 0x45, 0x2d, 0x7a, 0x37, 0x95,
    0xaf, 0xc0, 0x22, 0x62, 0x2e, 0x4b, 0x92, 0x9d, 0x0d, 0x34, 0x86, 0xf1, 0xa4, 0xa2, 0xd6, 0x2e,
  ]

  static func mac(_ body: [UInt8]) -> [UInt8]? {
    guard unsafe tender_crypto_open() == nil else { return nil }
    var mac = [UInt8](repeating: 0, count: 16)
    guard unsafe tender_crypto_cmac(key, key.count, body, body.count, &mac) == 1 else { return nil }
    return mac
  }

  /// The sent body: all bytes between header and trailer.
  static func body(of document: [UInt8]) -> [UInt8]? {
    guard let start = document[...].range(ofText: "</Hdr>")?.upperBound,
      let end = document[start...].range(ofText: "<SctyTrlr>")?.lowerBound
    else { return nil }
    return Array(document[start..<end])
  }

  /// The reason to refuse a trailer; nil if it is right.
  static func problem(_ trailer: XMLElement?, document: [UInt8]) -> String? {
    guard let trailer else { return "there is no security trailer" }
    guard trailer.text("CnttTp") == "AUTH",
      trailer.text("AuthntcdData/Rcpt/KeyIdr/KeyId") == ToroCatalog.keyID,
      trailer.text("AuthntcdData/Rcpt/KeyIdr/KeyVrsn") == ToroCatalog.keyVersion
    else { return "the key is not known" }
    guard trailer.text("AuthntcdData/MACAlgo/Algo") == "CCA3" else {
      return "the algorithm is not supported"
    }
    guard let body = body(of: document), let right = mac(body),
      trailer.text("AuthntcdData/MAC") == Base64.encode(right)
    else { return "the MAC does not fit the body" }
    return nil
  }
}

/// The ids and keys that the simulated gateway accepts (Toro/README, 10.3). They are invented or public test
/// values, and none is a customer's.
package enum ToroCatalog {
  /// Keys are derived from it; the specification's own example.
  package static let passphrase = "ToroGatewayNexoV1PassphraseDevOnly"
  /// It is valid only at the simulator.
  package static let apiKey = "gateway-simulator-opens-nothing-else"
  /// The name of the key.
  package static let keyID = "SpecV1TestKey"
  /// The version of that key.
  package static let keyVersion = "1"
  /// The version of the key that seals card data.
  package static let cardKeyVersion = "2010060715"
  /// The salt of the derivation.
  package static let salt = "SpecV1TestKey"
  /// The rounds of the derivation.
  package static let iterations = 10_000
  /// The length of the derived key, in bytes.
  package static let keyLength = 32
  /// The simulated acquirer.
  package static let acquirerID = "9287351"
  /// The simulated merchant.
  package static let merchantID = "TOROMER001"
  /// The merchant, as receipts show it.
  package static let merchantName = "Test Merchant"
  /// An ISO 18245 code: restaurants.
  package static let merchantCategory = "5812"
  /// The simulated terminal.
  package static let poiID = "66000001"
  /// The addressee of messages.
  package static let recipientID = "toro-gateway"
  /// The serial number that every simulated reader tells.
  package static let readerSerial = "12345678"
  /// The first five bytes of its keys' serial numbers: the key set of the nexo sample's reader, a public
  /// test value.
  package static let readerKeySet: [UInt8] = [0x39, 0x87, 0x25, 0xa5, 0x01]

  /// The outcomes by amount, in minor units. All other amounts are approved.
  package static let outcomes: [(amount: Int, scenario: String, meaning: String)] = [
    (9001, "gateway:refer", "declined: refer to the issuer (01)"),
    (9005, "gateway:decline", "declined: do not honour (05)"),
    (9010, "gateway:partial", "half of the amount is approved"),
    (9051, "gateway:insufficient_funds", "declined: insufficient funds (51)"),
    (9054, "gateway:expired_card", "declined: the card has expired (54)"),
    (9055, "gateway:wrong_pin", "declined: incorrect PIN (55)"),
    (9068, "gateway:suspended", "received, and not processed yet"),
    (9091, "gateway:technical", "the issuer cannot be reached (91)"),
  ]
}
