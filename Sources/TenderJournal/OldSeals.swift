import TenderModel

/// The keys of version 0.2.0 in `journal.seals`, one for each sealed preparation. An upgrade seals its text anew.
enum OldSeals {
  private static let size = 64
  private static let nameSize = 16
  private static let keySize = 32

  /// Returns whether version 0.2.0 sealed a text.
  static func isSealed(_ text: String) -> Bool { text.hasPrefix("sealed:") }

  /// The keys in the file; empty if it is missing.
  static func read(_ path: String) -> [UInt8] { PlainFile.read(path, limit: 1 << 24) ?? [] }

  /// Unseals a text; nil if its key is gone.
  static func open(_ text: String, _ keys: [UInt8]) -> String? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, let place = Int(parts[1]), (0..<keys.count / size).contains(place),
      let name = Hex.decode(parts[2]), let box = Base64.decode(String(parts[3]))
    else { return nil }
    let entry = keys[(place * size)..<((place + 1) * size)]
    guard entry.prefix(nameSize).elementsEqual(name) else { return nil }
    var key = Array(entry.dropFirst(nameSize).prefix(keySize))
    return SecretBox.open(box, under: SharedSecret(Secret(consuming: &key)))
  }
}
