import PayTheory
import TenderModel

/// The box with a key pair from a given seed, for published vectors only.
enum BoxVectors {
  /// The public key of a seed.
  static func publicKey(seed: [UInt8]) -> [UInt8] { KeyPair(seed: seed).publicKey }

  /// `nonce ‖ tag ‖ ciphertext`, as `Box.seal`.
  static func seal(
    _ text: [UInt8],
    nonce: [UInt8],
    to publicKey: [UInt8],
    seed: [UInt8]
  ) -> [UInt8]? {
    var text = text
    return Box.seal(
      Secret(consuming: &text),
      nonce: nonce,
      to: publicKey,
      from: KeyPair(seed: seed)
    )
  }

  /// The text, as `Box.open`.
  static func open(_ sealed: [UInt8], from publicKey: [UInt8], seed: [UInt8]) -> [UInt8]? {
    Box.open(sealed, from: publicKey, to: KeyPair(seed: seed))
  }
}
