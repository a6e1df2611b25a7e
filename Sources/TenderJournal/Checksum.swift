private import CLibraries
package import TenderModel
import TenderSystem

/// A BLAKE2b hash (RFC 7693) over values, each with its length, in hexadecimal.
struct Checksum {
  private var bytes: [UInt8] = []

  mutating func add(_ text: String) {
    add(length: text.utf8.count)
    bytes += text.utf8
  }

  mutating func add(_ value: Database.Value) {
    switch value {
    case .null: add(length: -1)
    case .integer(let number): add(String(number))
    case .text(let text): add(text)
    }
  }

  private mutating func add(length: Int) {
    unsafe withUnsafeBytes(of: Int64(length).littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Returns the hash with `size` bytes (16 to 64), keyed if a key of that size is given.
  func text(_ size: Int = 16, key: [UInt8]? = nil) -> String {
    var digest = [UInt8](repeating: 0, count: size)
    if let key {
      _ = unsafe crypto_generichash(&digest, size, bytes, UInt64(bytes.count), key, key.count)
    } else {
      _ = unsafe crypto_generichash(&digest, size, bytes, UInt64(bytes.count), nil, 0)
    }
    return Hex.encode(digest)
  }

  /// Returns the hash of several values.
  static func of(_ values: [Database.Value]) -> String {
    var sum = Checksum()
    for value in values { sum.add(value) }
    return sum.text()
  }

  /// Returns the keyed hash of a member that is not stored as typed.
  static func fingerprint(_ name: String, _ text: String, _ key: [UInt8]) -> String {
    var sum = Checksum()
    sum.add(name)
    sum.add(text)
    return sum.text(key: key)
  }

  /// Returns the keyed hash of a deleted payment's reference, in any form of its letters.
  static func fingerprint(_ reference: ReferenceKey, _ key: [UInt8]) -> String {
    var sum = Checksum()
    for text in [reference.env.rawValue, reference.provider.text] { sum.add(text) }
    sum.add(Reference.composed(reference.reference.text))
    return sum.text(key: key)
  }

  /// Returns sixteen random bytes in the form of a checksum.
  static func random() -> String { Hex.encode(SystemRandomness().bytes(16)) }
}

/// The key of the fingerprints, which compare values that the journal does not store as typed.
///
/// It is in a separate file, so that a copied journal reveals nothing.
enum FingerprintKey {
  /// Returns the key in a file, which is created when it is first needed.
  ///
  /// Throws `state` if there is no key and none can be created.
  static func bytes(at path: String) throws(Fault) -> [UInt8] {
    func read() -> [UInt8]? {
      PlainFile.read(path, limit: 64).flatMap { $0.count == 32 ? $0 : nil }
    }
    if let known = read() { return known }
    try PlainFile.make(path, SystemRandomness().bytes(32))
    guard let made = read() else { throw .unusable(path, "it is no key") }
    return made
  }
}

extension JSONObject {
  /// Returns the fingerprints of an order: of each member that a redactor changes, and of the instrument.
  ///
  /// Each begins with its key's name, because hashes with two keys cannot be compared. `key` is called only
  /// if there is something to hash.
  func fingerprints(
    _ instrument: String?,
    _ redactor: Redactor,
    _ key: () throws(Fault) -> (name: String, bytes: [UInt8])
  ) throws(Fault) -> JSONObject {
    var texts = members.filter { redactor.redact($0.value) != $0.value }
      .map { ($0.key, $0.value.canonicalText) }
    if let instrument { texts.append(("instrument", instrument)) }
    guard !texts.isEmpty else { return [:] }
    let key = try key()
    var prints: JSONObject = [:]
    for (name, text) in texts {
      prints[name] = .string("\(key.name):\(Checksum.fingerprint(name, text, key.bytes))")
    }
    return prints
  }
}

extension JSON {
  /// The JSON text with sorted members. Equal values have equal texts.
  package var canonicalText: String { JSONWriter.text(sorted) }

  private var sorted: JSON {
    switch self {
    case .array(let elements): .array(elements.map(\.sorted))
    case .object(let object):
      .object(
        object.members.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { made, member in
          made[member.key] = member.value.sorted
        }
      )
    default: self
    }
  }
}
