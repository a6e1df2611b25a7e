private import CLibraries
package import TenderModel
import TenderSystem

/// A BLAKE2b hash (RFC 7693) over values, each with its length, in hexadecimal.
enum Checksum {
  /// Returns the hash of values, keyed if there is a key.
  static func of(_ values: [Database.Value], key: [UInt8] = []) -> String {
    var bytes: [UInt8] = []
    for value in values {
      let text = value.integer.map(String.init) ?? value.text
      let length = Int64(text?.utf8.count ?? -1).littleEndian
      unsafe withUnsafeBytes(of: length) { unsafe bytes.append(contentsOf: $0) }
      if let text { bytes += text.utf8 }
    }
    var digest = [UInt8](repeating: 0, count: 16)
    _ = unsafe crypto_generichash(&digest, 16, bytes, UInt64(bytes.count), key, key.count)
    return Hex.encode(digest)
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
      let print = Checksum.of([.text(name), .text(text)], key: key.bytes)
      prints[name] = .string("\(key.name):\(print)")
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
