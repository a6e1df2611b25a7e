import CLibraries
import TenderModel
import TenderSimulator
import Testing
import Toro

/// Published vectors: card keys (DUKPT), the nexo MAC, CMAC, PBKDF2, and the trailers of the constructed
/// messages (origin: `Vectors/README.md`).
@Suite struct CryptoTests {
  static let vectors = (try? Vectors.bytes("crypto.json")).flatMap { JSONReader.read($0) }

  private func card(_ name: String) throws -> [UInt8] {
    let text = Self.vectors?["tdes_dukpt_and_protected_card_data"]?[name]?.text
    return try #require(text.flatMap { Hex.decode($0) })
  }

  @Test func `derives a card's keys`() throws {
    let base = try card("bdk")
    let serial = try card("ksn")
    #expect(CardKeys.initial(base, serial: serial) == (try card("ipek")))
    let current = CardKeys.current(base, serial: serial)
    #expect(current == (try card("current_key")))
    #expect(CardKeys.key(current, for: .pin) == (try card("pin_key")))
    #expect(CardKeys.key(current, for: .requestMAC) == (try card("mac_request_key")))
    #expect(CardKeys.key(current, for: .responseMAC) == (try card("mac_response_key")))
    #expect(CardKeys.key(current, for: .data) == (try card("data_request_key_odd_parity")))
  }

  @Test func `encrypts card data as the sample does`() throws {
    let key = try card("data_request_key_odd_parity")
    let vector = try card("iv")
    let text = Array(
      try #require(Self.vectors?["tdes_dukpt_and_protected_card_data"]?["plaintext"]?.text).utf8
    )
    let encrypted = CardKeys.encrypt(text, key: key, vector: vector)
    #expect(encrypted == (try card("ciphertext_hex")))
    #expect(CardKeys.decrypt(encrypted, key: key, vector: vector) == text)
    #expect(CardKeys.decrypt(Array(encrypted.dropLast()), key: key, vector: vector) == nil)
  }

  /// ISO/IEC 9797-1, algorithm 3, over the SHA-256 of the published body.
  @Test func `computes the MAC of the nexo sample over the body with its tags`() throws {
    let body = try Vectors.bytes("xml/epas-caaa.001.001.02-AuthstnReq-body.xml")
    #expect(body.count == 2981)
    #expect(XMLElement.bytes(of: "AuthstnReq", at: 0, in: [10] + body + [10]) == body)
    let digest = try #require(
      Self.vectors?["nexo_mac_mccs"]?["sha256"]?.text.flatMap { Hex.decode($0) }
    )
    let key = try card("mac_request_key")
    let left = Array(key.prefix(8))
    let padded = digest + [0x80, 0, 0, 0, 0, 0, 0, 0]
    let zero = [UInt8](repeating: 0, count: 8)
    // Single DES in CBC. The last block is then processed with the second half and the first again.
    let chain = CardKeys.tdes(left + left, padded, vector: zero)
    let last = Array(chain.suffix(8))
    let inner = CardKeys.tdes(
      Array(key.suffix(8)) + Array(key.suffix(8)),
      last,
      encrypting: false
    )
    #expect(Hex.encode(CardKeys.tdes(left + left, inner)) == "AA1B0A4521A25EDF")
  }

  private func key(_ change: (inout KeyDerivation) -> Void) throws(Fault) -> MessageKey {
    var derivation = KeyDerivation()
    derivation.salt = ToroCatalog.salt
    derivation.iterations = ToroCatalog.iterations
    derivation.length = ToroCatalog.keyLength
    change(&derivation)
    return try MessageKey(
      passphrase: SharedSecret(ToroCatalog.passphrase),
      derivation,
      id: ToroCatalog.keyID,
      version: ToroCatalog.keyVersion
    )
  }

  static let messages = [
    ("01-authreq-purchase-contact-capture", "AuthstnReq"),
    ("02-authrspn-approved", "AuthstnRspn"), ("03-authrspn-declined", "AuthstnRspn"),
    ("08-authreq-refund", "AuthstnReq"), ("09-completion-advice-capture", "CmpltnAdvc"),
    ("11-completion-advice-response", "CmpltnAdvcRspn"), ("12-cancellation-advice", "CxlAdvc"),
    ("13-cancellation-advice-response", "CxlAdvcRspn"),
  ]

  @Test(arguments: messages)
  func `computes the MAC of a message`(_ file: String, _ body: String) throws {
    let document = try Vectors.bytes("xml/\(file).xml")
    let bytes = try #require(XMLElement.bytes(of: body, at: 2, in: document))
    let root = try #require(try XMLElement.read(document)?.children.first)
    let mac = try #require(root.text("SctyTrlr/AuthntcdData/MAC"))
    #expect(Base64.encode(try key { _ in }.mac(over: bytes)) == mac)
  }

  @Test func `computes CMAC as NIST does`() throws {
    #expect(unsafe tender_crypto_open() == nil)
    let primitive = try #require(Self.vectors?["aes256_cmac_cca3_primitive"])
    let key = try #require(primitive["key"]?.text.flatMap { Hex.decode($0) })
    let rows = try #require(primitive["vectors"]?.array)
    #expect(rows.count == 4)
    for row in rows {
      let message = try #require(row["msg"]?.text.flatMap { Hex.decode($0) })
      var mac = [UInt8](repeating: 0, count: 16)
      let status = unsafe tender_crypto_cmac(key, key.count, message, message.count, &mac)
      #expect(status == 1)
      #expect(Hex.encode(mac).lowercased() == row["mac"]?.text)
    }
  }

  @Test func `derives keys as the RFCs do`() throws {
    #expect(unsafe tender_crypto_open() == nil)
    let rows = try #require(Self.vectors?["pbkdf2_primitive"]?["vectors"]?.array)
    #expect(rows.count == 4)
    for row in rows {
      let password = Array(try #require(row["password"]?.text).utf8)
      let salt = Array(try #require(row["salt"]?.text).utf8)
      var key = [UInt8](repeating: 0, count: try #require(row["dkLen"]?.wholeNumber))
      let status = unsafe tender_crypto_pbkdf2(
        row["prf"]?.text == "HMAC-SHA256" ? "SHA256" : "SHA1",
        password,
        password.count,
        salt,
        salt.count,
        Int32(try #require(row["iterations"]?.wholeNumber)),
        &key,
        key.count
      )
      #expect(status == 1)
      #expect(Hex.encode(key).lowercased() == row["dk"]?.text)
    }
  }

  @Test func `differs with every parameter of the derivation`() throws {
    let body = Array("body".utf8)
    let right = try key { _ in }.mac(over: body)
    #expect(try key { $0.salt = "Other" }.mac(over: body) != right)
    #expect(try key { $0.iterations = 9999 }.mac(over: body) != right)
    #expect(try key { $0.digest = "SHA1" }.mac(over: body) != right)
    #expect(try key { $0.length = 16 }.mac(over: body) != right)
    for bad in [0, 8, 33] {
      #expect(throws: Fault.self) { try key { $0.length = bad } }
    }
    #expect(throws: Fault.self) { try key { $0.iterations = 0 } }
    #expect(throws: Fault.self) { try key { $0.digest = "MD77" } }
  }
}
