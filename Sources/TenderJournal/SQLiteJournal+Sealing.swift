import TenderEngine
package import TenderModel
import TenderSystem

/// Seals preparations with a secret, each with a separate key, and tracks unused and used keys.
///
/// A key moves from the table `fresh` into the sealed text. The transaction that deletes the text adds the
/// key to `burnt`. The key file is overwritten afterwards. If the process is killed in between, the next one
/// does it.
extension SQLiteJournal {
  /// Returns the payment with its preparations unsealed, without those whose key is gone.
  ///
  /// Throws `state` if the keys cannot be read.
  func opened(_ payment: Payment) throws(Fault) -> Payment {
    var operations = payment.operations
    for index in operations.indices {
      guard let found = operations[index].preparation else { continue }
      operations[index].preparation = try opened(found)
    }
    return payment.with(operations)
  }

  /// Returns the unsealed preparation; nil if its key is gone.
  func opened(_ preparation: Operation.Preparation) throws(Fault) -> Operation.Preparation? {
    guard let text = preparation.secret, SealingKeys.isSealed(text) else { return preparation }
    return try keys.open(text).map(Operation.Preparation.init(stored:))
  }

  /// Returns the text to store for a preparation. Call it within a transaction.
  func sealed(_ preparation: Operation.Preparation) throws(Fault) -> String {
    guard let secret = preparation.secret else { return preparation.stored }
    for _ in 0..<3 {
      guard let slot = try number("SELECT slot FROM fresh LIMIT 1") else {
        try makeKeys()
        continue
      }
      if let text = try keys.seal(secret, slot) {
        try database.query("DELETE FROM fresh WHERE slot = ?", [.integer(slot)])
        return text
      }
      // An older copy of the journal may list keys as unused that are used or whose file is gone.
      for slot in try slots("fresh") where !keys.has(slot) {
        try database.query("DELETE FROM fresh WHERE slot = ?", [.integer(slot)])
      }
    }
    throw .unusable(keys.path, "it has no key that can be used")
  }

  /// The number of keys that are created at a time.
  private static let keysAtOnce = 64

  /// Creates keys in the places of used ones, and in new places if there are too few.
  private func makeKeys() throws(Fault) {
    var slots = try slots("burnt")
    let atOnce = sharesWork ? 4 * Self.keysAtOnce : Self.keysAtOnce
    if slots.count < atOnce {
      var next = try keys.count()
      // The file may be gone while its numbers are still in use.
      try database.query("SELECT text FROM preparation") { row in
        if let slot = row.first?.text.flatMap(SealingKeys.slot) { next = max(next, slot + 1) }
        return true
      }
      slots = Array(Set(slots + (next..<next + atOnce - slots.count)))
    }
    for slot in try keys.make(slots.sorted()) {
      try database.query("DELETE FROM burnt WHERE slot = ?", [.integer(slot)])
      try database.query("INSERT OR IGNORE INTO fresh (slot) VALUES (?)", [.integer(slot)])
    }
  }

  private func slots(_ table: String) throws(Fault) -> [Int] {
    try database.all("SELECT slot FROM \(table)").compactMap(\.[0].integer)
  }

  /// Marks the key of a text for destruction, in the transaction that deletes the text.
  func burn(_ text: String) throws(Fault) {
    guard let slot = SealingKeys.slot(of: text) else { return }
    try database.query("INSERT OR IGNORE INTO burnt (slot) VALUES (?)", [.integer(slot)])
  }

  /// Destroys used keys that a killed process or a power cut left.
  func destroyBurntKeys() {
    guard let burnt = try? slots("burnt"), burnt.contains(where: keys.has) else { return }
    // During the transaction, no other process can create a key in the same place.
    try? database.transaction { () throws(Fault) in
      for slot in try slots("burnt") { keys.destroy(slot) }
    }
  }

  package func fingerprints(
    of content: JSONObject,
    instrument: String?
  ) throws(Fault) -> JSONObject {
    try content.fingerprints(instrument, redactor) { () throws(Fault) in
      let key = try FingerprintKey.bytes(at: folder + "/journal.key")
      return (String(Checksum.fingerprint("key", "", key).prefix(8)), key)
    }
  }
}
