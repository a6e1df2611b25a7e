private import CLibraries
import TenderEngine
import TenderModel
private import TenderSystem

/// A signing key (P-521) of the simulated client, made for one ledger and stored in it.
struct SimulatedSigner: Booked {
  static let kind = "bank-signer"

  /// The key's id, which signatures name.
  var key = ""
  /// PEM texts.
  var privateKey = ""
  var publicKey = ""

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &key)
    book.needed("private", &privateKey)
    book.needed("public", &publicKey)
  }

  /// Returns the ledger's key, which is made on first use.
  ///
  /// Throws `state`, or `internal` without libcrypto.
  static func own(
    in ledger: Ledger,
    _ randomness: any Randomness
  ) throws(Fault) -> SimulatedSigner {
    try ledger.transaction { () throws(Fault) in
      if let known = try ledger.list(SimulatedSigner.self).first { return known }
      let made = try make(id: randomness.uuid().lowercased())
      try ledger.put(made)
      return made
    }
  }

  /// Makes a key. Throws `internal` without libcrypto.
  static func make(id: String) throws(Fault) -> SimulatedSigner {
    let size = Int(TENDER_ES512_PEM_SIZE)
    var secret = [CChar](repeating: 0, count: size)
    var known = secret
    try unsafe Libraries.need(tender_crypto_open())
    guard unsafe tender_crypto_make_es512(&secret, &known) == 1 else {
      throw Fault(.internal, code: "library_missing", "libcrypto makes no P-521 key")
    }
    return SimulatedSigner(
      key: id,
      privateKey: String(secret.text.dropLast()),
      publicKey: known.text
    )
  }
}

/// A client's public key, in the form `KID=FILE`.
package enum TrustedKey {
  /// The problem of a PEM text that should be a P-521 public key; nil without one.
  package static func problem(_ pem: [UInt8]) -> String? {
    if let problem = unsafe tender_crypto_open() { return unsafe String(cString: problem) }
    return switch unsafe tender_crypto_check_es512(pem, pem.count) {
    case 1: nil
    case -1: "is on another curve than P-521"
    default: "is no public key in PEM text"
    }
  }
}
