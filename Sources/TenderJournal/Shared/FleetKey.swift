private import CSodium
import TenderModel

/// The key that a fleet shares: it seals what `confirm` needs of a held payment, and is never in the database.
///
/// What seals is libsodium's `crypto_secretbox`, under a key that is derived (BLAKE2b) from the file's bytes.
package struct FleetKey: Sendable {
  /// The least that a file of a key holds, in bytes.
  package static let least = 32

  private let sealing: SharedSecret
  /// For the hashes of what is not kept as it was typed.
  let fingerprints: [UInt8]
  /// Tells this key from another, and nothing of it.
  package let name: String

  private static let mark = "fleet:"

  /// A key of a file's content, which is wiped; nil where that is too short.
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

  /// Whether a text is one that was sealed under some fleet's key.
  static func isSealed(_ text: String) -> Bool { text.hasPrefix(mark) }

  /// Seals a text; the same text gives another one each time.
  func seal(_ text: String) -> String? {
    SecretBox.seal(text, under: sealing).map { "\(Self.mark)\(name):\(Base64.encode($0))" }
  }

  /// The text that was sealed; nil where it was sealed under another key.
  func open(_ text: String) -> String? {
    let parts = text.dropFirst(Self.mark.count).split(separator: ":", maxSplits: 1)
    guard Self.isSealed(text), parts.count == 2, parts[0] == name,
      let bytes = Base64.decode(String(parts[1]))
    else { return nil }
    return SecretBox.open(bytes, under: sealing)
  }
}
