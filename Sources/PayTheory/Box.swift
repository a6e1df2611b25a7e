private import CLibraries
package import TenderModel

/// NaCl's `crypto_box`: X25519, HSalsa20, XSalsa20-Poly1305 (README, 3.3).
package enum Box {
  static let keyLength = 32
  static let nonceLength = 24
  static let tagLength = 16

  /// Returns eight hexadecimal digits that identify a text (BLAKE2b).
  static func fingerprint(_ text: String) -> String {
    var digest = [UInt8](repeating: 0, count: 16)
    let bytes = Array(text.utf8)
    _ = unsafe crypto_generichash(&digest, 16, bytes, UInt64(bytes.count), nil, 0)
    return Hex.encode(Array(digest.prefix(4))).lowercased()
  }

  /// Encrypts a text as `nonce ‖ tag ‖ ciphertext`; nil if the public key is not a valid point.
  package static func seal(
    _ text: borrowing Secret,
    nonce: [UInt8],
    to publicKey: [UInt8],
    from keys: KeyPair
  ) -> [UInt8]? {
    guard publicKey.count == keyLength, nonce.count == nonceLength else { return nil }
    let count = text.count
    var sealed = [UInt8](repeating: 0, count: count + tagLength)
    let status = unsafe text.withBytes { text in
      unsafe keys.withAgreement(on: publicKey) { key in
        let text = unsafe text.bindMemory(to: UInt8.self).baseAddress
        return unsafe crypto_box_easy_afternm(&sealed, text, UInt64(count), nonce, key)
      }
    }
    return status == 0 ? nonce + sealed : nil
  }

  /// Decrypts `nonce ‖ tag ‖ ciphertext`; nil if it was encrypted for another key, or changed.
  package static func open(_ sealed: [UInt8], from publicKey: [UInt8], to keys: KeyPair) -> [UInt8]?
  {
    guard publicKey.count == keyLength, sealed.count >= nonceLength + tagLength else { return nil }
    let nonce = Array(sealed.prefix(nonceLength))
    let rest = Array(sealed.dropFirst(nonceLength))
    var text = [UInt8](repeating: 0, count: rest.count - tagLength)
    let status = unsafe keys.withAgreement(on: publicKey) { key in
      unsafe crypto_box_open_easy_afternm(&text, rest, UInt64(rest.count), nonce, key)
    }
    return status == 0 ? text : nil
  }
}

/// A new X25519 key pair. The secret key is wiped when the pair is released.
package final class KeyPair {
  package let publicKey: [UInt8]
  private let secretKey: Secret
  /// The last agreed key, with the public key of the provider.
  private var agreed: (publicKey: [UInt8], key: SharedSecret)?

  /// Creates the pair from 32 random bytes.
  package init(seed: [UInt8]) {
    var secret = seed
    var point = [UInt8](repeating: 0, count: Box.keyLength)
    _ = unsafe crypto_scalarmult_base(&point, secret)
    publicKey = point
    secretKey = Secret(consuming: &secret)
  }

  /// Calls `body` with the key that both sides agree on. It is computed once for each other side.
  ///
  /// Returns the result of `body`; 0 is success, as in the library.
  fileprivate func withAgreement(
    on publicKey: [UInt8],
    _ body: (UnsafePointer<UInt8>) -> Int32
  ) -> Int32 {
    if agreed?.publicKey != publicKey {
      let key = unsafe Secret(capacity: Box.keyLength) { room in
        unsafe secretKey.withBytes { own in
          guard let target = unsafe room.bindMemory(to: UInt8.self).baseAddress,
            let own = unsafe own.bindMemory(to: UInt8.self).baseAddress
          else { return nil }
          return unsafe crypto_box_beforenm(target, publicKey, own) == 0 ? Box.keyLength : nil
        }
      }
      guard let key else { return -1 }
      agreed = (publicKey, SharedSecret(key))
    }
    guard let agreed else { return -1 }
    return unsafe agreed.key.secret.withBytes { bytes in
      guard let key = unsafe bytes.bindMemory(to: UInt8.self).baseAddress else { return -1 }
      return unsafe body(key)
    }
  }
}
