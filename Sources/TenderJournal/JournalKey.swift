private import CLibraries
import TenderModel

/// The key that seals what `confirm` needs of a held payment: of a state folder (`journal.key`), or of the file that
/// the machines of a shared journal have. It is never in the database.
///
/// Texts are sealed with libsodium's `crypto_secretbox`, with a key derived (BLAKE2b) from the file's bytes.
package struct JournalKey: Sendable {
  /// The minimum size of a key file, in bytes.
  package static let least = 32

  private let sealing: SharedSecret
  /// The key for hashes of values that are not stored as typed.
  let fingerprints: [UInt8]
  /// A name that distinguishes keys and reveals nothing about them.
  package let name: String

  private static let mark = "fleet:"

  /// Creates a key from a file's content, which is wiped; nil if it is too short.
  package init?(consuming bytes: inout [UInt8]) {
    defer { bytes.wipe() }
    while let last = bytes.last, bytes.count > Self.least, last == 10 || last == 13 {
      bytes.removeLast()
    }
    guard bytes.count >= Self.least else { return nil }
    var key = Self.derive(bytes, "tender journal preparations")
    sealing = SharedSecret(Secret(consuming: &key))
    fingerprints = Self.derive(bytes, "tender journal fingerprints")
    name = Hex.encode(Array(Self.derive(bytes, "tender journal key name").prefix(4)))
  }

  private static func derive(_ bytes: [UInt8], _ purpose: String) -> [UInt8] {
    var derived = [UInt8](repeating: 0, count: 32)
    var material = Array(purpose.utf8) + [0] + bytes
    defer { material.wipe() }
    _ = unsafe crypto_generichash(&derived, 32, material, UInt64(material.count), nil, 0)
    return derived
  }

  /// Returns whether a text was sealed with any key of this kind.
  static func isSealed(_ text: String) -> Bool { text.hasPrefix(mark) }

  /// Seals a text. The same text gives a different result each time.
  func seal(_ text: String) -> String? {
    SecretBox.seal(text, under: sealing).map { "\(Self.mark)\(name):\(Base64.encode($0))" }
  }

  /// Unseals a text; nil if it was sealed with another key.
  func open(_ text: String) -> String? {
    let parts = text.dropFirst(Self.mark.count).split(separator: ":", maxSplits: 1)
    guard Self.isSealed(text), parts.count == 2, parts[0] == name,
      let bytes = Base64.decode(String(parts[1]))
    else { return nil }
    return SecretBox.open(bytes, under: sealing)
  }
}

/// A text sealed with a 32-byte key: libsodium's `crypto_secretbox` after its nonce.
enum SecretBox {
  private static let nonceSize = 24
  private static let tagSize = 16

  /// Seals a text. The same text gives a different box each time.
  static func seal(_ text: String, under key: SharedSecret) -> [UInt8]? {
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

  /// Opens a box; nil if it was sealed with another key.
  static func open(_ bytes: [UInt8], under key: SharedSecret) -> String? {
    guard bytes.count >= nonceSize + tagSize else { return nil }
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
