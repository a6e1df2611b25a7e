import CLibraries
import Foundation
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// `Tl-Signature` against the vector that TrueLayer publishes (TrueLayer/README, 2.1).
@Suite struct SignatureTests {
  static func file(_ name: String) throws -> String {
    let path = Project.path("Tests/TrueLayerTests/Answers/truelayer-signing/" + name)
    return try String(contentsOfFile: path, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  static let path = "/merchant_accounts/a61acaef-ee05-4077-92f3-25543a11bd8d/sweeping"
  static let key = "idemp-2076717c-9005-4811-a321-9e0787fa0382"
  static let body = #"{"currency":"GBP","max_amount_in_minor":5000000,"name":"Foo???"}"#
  static let keyID = "45fc75cf-5649-4134-84b3-192c2c78e990"
  static let payload =
    "UE9TVCAvbWVyY2hhbnRfYWNjb3VudHMvYTYxYWNhZWYtZWUwNS00MDc3LTkyZjMtMjU1NDNhMTFiZDhkL3N3ZWVwaW5n"
    + "CklkZW1wb3RlbmN5LUtleTogaWRlbXAtMjA3NjcxN2MtOTAwNS00ODExLWEzMjEtOWUwNzg3ZmEwMzgyCnsiY3Vy"
    + "cmVuY3kiOiJHQlAiLCJtYXhfYW1vdW50X2luX21pbm9yIjo1MDAwMDAwLCJuYW1lIjoiRm9vPz8_In0"

  static func payload(body: String = body, path: String = path) -> [UInt8] {
    RequestSignature.payload(
      method: "post",
      path: path,
      headers: [("Idempotency-Key", key)],
      body: Array(body.utf8)
    )
  }

  static func verifies(_ signature: String, _ input: String, key pem: String) -> Bool {
    guard let bytes = Base64.decodeURL(signature), bytes.count == 132 else { return false }
    let text = Array(input.utf8)
    let key = Array(pem.utf8)
    return unsafe tender_crypto_verify_es512(key, key.count, text, text.count, bytes) == 1
  }

  @Test func `signs the very bytes of the published vector`() throws {
    let payload = Self.payload()
    #expect(payload.count == 194)
    #expect(Base64.encodeURL(payload) == Self.payload)
  }

  @Test func `the published signature verifies, and nothing beside it`() throws {
    #expect(unsafe tender_crypto_open() == nil)
    let published = try Self.file("tl-signature.txt")
    let parts = published.components(separatedBy: "..")
    try #require(parts.count == 2)
    let key = try Self.file("ec512-public.pem")
    #expect(Self.verifies(parts[1], parts[0] + "." + Self.payload, key: key))
    let other = Base64.encodeURL(Self.payload(body: Self.body + " "))
    #expect(!Self.verifies(parts[1], parts[0] + "." + other, key: key))
    let elsewhere = Base64.encodeURL(Self.payload(path: Self.path + "/"))
    #expect(!Self.verifies(parts[1], parts[0] + "." + elsewhere, key: key))
  }

  @Test func `writes the header as the vector has it, and 132 bytes that verify`() throws {
    let published = try Self.file("tl-signature.txt").components(separatedBy: "..")
    let (privateKey, publicKey) = try Self.newKey()
    // Numbers shorter than 66 bytes must be padded. One in 128 is.
    for _ in 0..<300 {
      let value = try RequestSignature.value(
        method: "POST",
        path: Self.path,
        headers: [("Idempotency-Key", Self.key)],
        body: Array(Self.body.utf8),
        keyID: Self.keyID,
        key: SharedSecret(privateKey)
      )
      let parts = value.components(separatedBy: "..")
      try #require(parts.count == 2)
      #expect(parts[0] == published[0])
      #expect(Base64.decodeURL(parts[1])?.count == 132)
      #expect(Self.verifies(parts[1], parts[0] + "." + Self.payload, key: publicKey))
    }
  }

  @Test func `takes PKCS 8 too, and names what is no key`() throws {
    let (sec1, publicKey) = try Self.newKey()
    let pkcs8 = try Self.openssl(["pkcs8", "-topk8", "-nocrypt"], input: sec1)
    #expect(pkcs8.contains("BEGIN PRIVATE KEY"))
    let p256 = try Self.openssl(["ecparam", "-genkey", "-name", "prime256v1", "-noout"])
    func sign(_ key: String) throws(Fault) -> String {
      try RequestSignature.value(
        method: "POST",
        path: "/x",
        headers: [],
        body: [],
        keyID: "k",
        key: SharedSecret(key)
      )
    }
    let parts = try sign(pkcs8).components(separatedBy: "..")
    let input = parts[0] + "." + Base64.encodeURL(Array("POST /x\n".utf8))
    #expect(Self.verifies(parts[1], input, key: publicKey))
    for (key, word) in [
      (p256, "another curve"), ("not a key", "no private key"), (publicKey, "no private key"),
    ] {
      let fault = #expect(throws: Fault.self) { _ = try sign(key) }
      #expect(fault?.code == "sdk_misconfigured")
      #expect(fault?.exitStatus == 2)
      #expect(fault?.message.contains(word) == true)
    }
  }

  /// Returns a new P-521 key, private and public, from the openssl command.
  static func newKey() throws -> (String, String) {
    let key = try openssl(["ecparam", "-genkey", "-name", "secp521r1", "-noout"])
    return (key, try openssl(["ec", "-pubout"], input: key))
  }

  static func openssl(_ arguments: [String], input: String = "") throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    let (into, out) = (Pipe(), Pipe())
    process.standardInput = into
    process.standardOutput = out
    process.standardError = FileHandle.nullDevice
    try process.run()
    into.fileHandleForWriting.write(Data(input.utf8))
    try into.fileHandleForWriting.close()
    let text = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
  }
}
