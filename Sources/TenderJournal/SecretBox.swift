private import CSodium
package import TenderModel

/// A text sealed under a key of 32 bytes: libsodium's `crypto_secretbox`, its nonce in front.
package enum SecretBox {
  private static let nonceSize = 24
  private static let tagSize = 16

  /// Bytes that the shortest box has.
  static let least = nonceSize + tagSize

  /// Seals a text; the same text gives another box each time.
  package static func seal(_ text: String, under key: SharedSecret) -> [UInt8]? {
    var nonce = [UInt8](repeating: 0, count: nonceSize)
    unsafe randombytes_buf(&nonce, nonce.count)
    var plain = Array(text.utf8)
    defer { plain.wipe() }
    var box = [UInt8](repeating: 0, count: plain.count + tagSize)
    let status = unsafe key.secret.withBytes { key -> Int32 in
      guard let key = unsafe key.bindMemory(to: UInt8.self).baseAddress else { return -1 }
      return unsafe crypto_secretbox_easy(&box, plain, UInt64(plain.count), nonce, key)
    }
    return status == 0 ? nonce + box : nil
  }

  /// The text of a box; nil where it was sealed under another key.
  package static func open(_ bytes: [UInt8], under key: SharedSecret) -> String? {
    guard bytes.count >= least else { return nil }
    let nonce = Array(bytes.prefix(nonceSize))
    let box = Array(bytes.dropFirst(nonceSize))
    var plain = [UInt8](repeating: 0, count: box.count - tagSize)
    defer { plain.wipe() }
    let status = unsafe key.secret.withBytes { key -> Int32 in
      guard let key = unsafe key.bindMemory(to: UInt8.self).baseAddress else { return -1 }
      return unsafe crypto_secretbox_open_easy(&plain, box, UInt64(box.count), nonce, key)
    }
    return status == 0 ? String(decoding: plain, as: UTF8.self) : nil
  }
}
