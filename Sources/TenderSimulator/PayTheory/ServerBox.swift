private import CLibraries

/// The provider's side of NaCl's box: a key pair for each socket.
struct ServerBox {
  let publicKey: [UInt8]
  private let secretKey: [UInt8]
  private let agreement = Agreement()

  /// The last shared key, and the client's key.
  private final class Agreement {
    var client: [UInt8] = []
    var key = [UInt8](repeating: 0, count: 32)
  }

  /// Returns the shared key; nil if the client's key is not a valid point.
  private func key(with client: [UInt8]) -> [UInt8]? {
    if agreement.client != client {
      agreement.client = []
      guard unsafe crypto_box_beforenm(&agreement.key, client, secretKey) == 0 else { return nil }
      agreement.client = client
    }
    return agreement.key
  }

  /// Creates a key pair from 32 random bytes.
  init(seed: [UInt8]) {
    var point = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_scalarmult_base(&point, seed)
    publicKey = point
    secretKey = seed
  }

  /// Opens `nonce ‖ tag ‖ ciphertext`; nil if it is not for this key.
  func open(_ bytes: [UInt8], from client: [UInt8]) -> [UInt8]? {
    guard client.count == 32, bytes.count > 40, let key = key(with: client) else { return nil }
    var plain = [UInt8](repeating: 0, count: bytes.count - 40)
    let cipher = Array(bytes[24...])
    let nonce = Array(bytes[..<24])
    let ok = unsafe crypto_box_open_easy_afternm(
      &plain,
      cipher,
      UInt64(cipher.count),
      nonce,
      key
    )
    return ok == 0 ? plain : nil
  }

  /// Opens the sealed box of Android's SDK; nil if it is not for this key.
  func openSealed(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count > 48 else { return nil }
    var plain = [UInt8](repeating: 0, count: bytes.count - 48)
    let ok = unsafe crypto_box_seal_open(&plain, bytes, UInt64(bytes.count), publicKey, secretKey)
    return ok == 0 ? plain : nil
  }

  /// Seals a text for a client under a nonce of 24 bytes.
  func seal(_ plain: [UInt8], nonce: [UInt8], for client: [UInt8]) -> [UInt8]? {
    guard client.count == 32, nonce.count == 24, let key = key(with: client) else { return nil }
    var cipher = [UInt8](repeating: 0, count: plain.count + 16)
    let ok = unsafe crypto_box_easy_afternm(&cipher, plain, UInt64(plain.count), nonce, key)
    return ok == 0 ? nonce + cipher : nil
  }
}
