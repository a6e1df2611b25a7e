private import CLibraries
package import TenderModel

/// The message key, and the `SctyTrlr` that it signs for every message (README, 3.7).
package struct MessageKey: Sendable {
  private let key: SharedSecret
  let id: String
  let version: String

  /// Derives the key from a passphrase.
  ///
  /// Throws `usage` for parameters that PBKDF2 or CMAC do not accept.
  package init(
    passphrase: SharedSecret,
    _ derivation: KeyDerivation,
    id: String,
    version: String
  ) throws(Fault) {
    if let problem = unsafe tender_crypto_open() {
      throw .libraryMissing(unsafe String(cString: problem))
    }
    guard [16, 24, 32].contains(derivation.length), (1...10_000_000).contains(derivation.iterations)
    else {
      throw .usage(
        "bad_config",
        "toro.kdf has \(derivation.iterations) iterations and a length of \(derivation.length)",
        "1 to 10,000,000 iterations, and 16, 24 or 32 bytes"
      )
    }
    var secret: [UInt8] = []
    passphrase.secret.append(to: &secret)
    defer { secret.wipe() }
    var bytes = [UInt8](repeating: 0, count: derivation.length)
    let salt = Array(derivation.salt.utf8)
    let worked = unsafe tender_crypto_pbkdf2(
      derivation.digest,
      secret,
      secret.count,
      salt,
      salt.count,
      Int32(derivation.iterations),
      &bytes,
      bytes.count
    )
    guard worked == 1 else {
      throw Fault(.internal, code: "internal", "libcrypto could not derive the message key")
    }
    key = SharedSecret(consuming: &bytes)
    self.id = id
    self.version = version
  }

  /// Returns the MAC of a body: AES-CMAC without a hash before it (`CCA3` with a 32-byte key).
  package func mac(over body: [UInt8]) throws(Fault) -> [UInt8] {
    var bytes: [UInt8] = []
    key.secret.append(to: &bytes)
    defer { bytes.wipe() }
    var mac = [UInt8](repeating: 0, count: 16)
    guard unsafe tender_crypto_cmac(bytes, bytes.count, body, body.count, &mac) == 1 else {
      throw Fault(.internal, code: "internal", "libcrypto could not compute a MAC")
    }
    return mac
  }

  /// The algorithm's name in ISO 20022's code set.
  private var algorithm: String {
    switch key.secret.count {
    case 16: "CCA1"
    case 24: "CCA2"
    default: "CCA3"
    }
  }

  func trailer(over body: [UInt8]) throws(Fault) -> [XMLWriter.Row] {
    [
      ("SctyTrlr/CnttTp", "AUTH"), ("SctyTrlr/AuthntcdData/Rcpt/KeyIdr/KeyId", id),
      ("SctyTrlr/AuthntcdData/Rcpt/KeyIdr/KeyVrsn", version),
      ("SctyTrlr/AuthntcdData/MACAlgo/Algo", algorithm),
      ("SctyTrlr/AuthntcdData/NcpsltdCntt/CnttTp", "DATA"),
      ("SctyTrlr/AuthntcdData/MAC", Base64.encode(try mac(over: body))),
    ]
  }

  /// Returns whether a trailer is valid for a body; false for another algorithm, and without a trailer.
  func fits(_ trailer: XMLElement?, body: [UInt8]) throws(Fault) -> Bool {
    guard let data = trailer?["AuthntcdData"], trailer?.text("CnttTp") == "AUTH",
      data.text("MACAlgo/Algo") == algorithm,
      let text = data.text("MAC"), let given = Base64.decode(text.filter { !$0.isWhitespace })
    else { return false }
    let right = try mac(over: body)
    return given.isSame(inConstantTimeAs: right)
  }
}
