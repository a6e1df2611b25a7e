import PayTheory
import TenderEngine
import TenderModel
import Testing

/// Vectors that PyNaCl computed with libsodium (PayTheory/README, 3.4).
@Suite struct BoxTests {
  static let clientSeed = (1...32).map { UInt8($0) }
  static let serverKey = "VxR2nRFr92Q2rnS8eT0sMK0ZA8WaxSc4BcfiaYtBDDY="

  @Test func `makes the public key of the vector`() {
    #expect(
      Base64.encode(BoxVectors.publicKey(seed: Self.clientSeed))
        == "B6N8vBQgk8i3VdwbEOhstCY3StFqqFPtC9/AsrhtHHw="
    )
  }

  @Test func `seals the request of the vector byte for byte`() throws {
    let plain = #"{"payment_intent_id":"pi_1","sessionKey":"abc=","timing":1700000000000}"#
    let key = try #require(Base64.decode(Self.serverKey))
    let nonce = (0..<24).map { UInt8($0) }
    let sealed = BoxVectors.seal(Array(plain.utf8), nonce: nonce, to: key, seed: Self.clientSeed)
    #expect(
      Base64.encode(try #require(sealed))
        == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXP9CgWvLb6IHp2B01HCY7gnFzcRc8hfH52OE0JcA5V+BbTyv21u2T/WVr"
        + "ZMCRWDMwcsoMZerUMAEWQgZ1qBLRVT0Pf7Y2sn7lAZpamiAjldvAr711mzEf"
    )
  }

  @Test func `opens the reply of the vector, and nothing that was changed`() throws {
    let body = try #require(
      Base64.decode(
        "GBkaGxwdHh8gISIjJCUmJygpKissLS4vDx1YMxfHqe8ZEpOa3Ilz0+yQgnMKF5B9phVZBSEPklCW4akaqvEt9R+kAxCO"
          + "r4IK/6nOvyZN7/uIr0nx/6zo"
      )
    )
    let key = try #require(Base64.decode(Self.serverKey))
    let opened = BoxVectors.open(body, from: key, seed: Self.clientSeed)
    #expect(opened == Array(#"{"state":"FAILURE","type":"INSUFFICIENT_FUNDS"}"#.utf8))
    for index in [0, 24, 40, body.count - 1] {
      var changed = body
      changed[index] ^= 1
      #expect(BoxVectors.open(changed, from: key, seed: Self.clientSeed) == nil)
    }
    for length in [0, 23, 24, 39] {
      #expect(BoxVectors.open(Array(body.prefix(length)), from: key, seed: Self.clientSeed) == nil)
    }
  }
}
