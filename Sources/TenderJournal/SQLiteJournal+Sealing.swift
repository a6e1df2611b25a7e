import TenderEngine
package import TenderModel
import TenderSystem

/// Preparations with a secret, sealed under keys of their own: which keys are new, and which are used up.
///
/// A key goes from the table `fresh` into the text that is sealed under it, and with the transaction that
/// takes the text out into the table `burnt`. The file of the keys is overwritten after that; a process that
/// is killed in between leaves it to the next.
extension SQLiteJournal {
  /// The payment with its preparations opened; without those whose key is gone.
  ///
  /// Throws `state` where the keys cannot be read.
  func opened(_ payment: Payment) throws(Fault) -> Payment {
    var operations = payment.operations
    for index in operations.indices {
      guard let found = operations[index].preparation else { continue }
      operations[index].preparation = try opened(found)
    }
    return payment.with(operations)
  }

  /// The preparation opened; nil where its key is gone.
  func opened(_ preparation: Operation.Preparation) throws(Fault) -> Operation.Preparation? {
    guard let text = preparation.secret, SealingKeys.isSealed(text) else { return preparation }
    return try keys.open(text).map(Operation.Preparation.init(stored:))
  }

  /// The text that the journal's file has of a preparation; within a transaction.
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
      // An older copy of the journal takes keys for new that are used up, or whose file is gone.
      for slot in try slots("fresh") where !keys.has(slot) {
        try database.query("DELETE FROM fresh WHERE slot = ?", [.integer(slot)])
      }
    }
    throw .unusable(keys.path, "it has no key that can be used")
  }

  /// Keys that are made when none is left.
  private static let keysAtOnce = 64

  /// Makes keys where used ones were, and in new places where those are few.
  private func makeKeys() throws(Fault) {
    var slots = try slots("burnt")
    let atOnce = sharesWork ? 4 * Self.keysAtOnce : Self.keysAtOnce
    if slots.count < atOnce {
      var next = try keys.count()
      // The file may be gone, and the numbers still be in use.
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

  /// Says that the key of a text is to be destroyed; within the transaction that takes the text out.
  func burn(_ text: String) throws(Fault) {
    guard let slot = SealingKeys.slot(of: text) else { return }
    try database.query("INSERT OR IGNORE INTO burnt (slot) VALUES (?)", [.integer(slot)])
  }

  /// Destroys what somebody who was killed, or a power cut, has left of keys that are used up.
  func destroyBurntKeys() {
    guard let burnt = try? slots("burnt"), burnt.contains(where: keys.has) else { return }
    // Nobody makes a new key in its place meanwhile.
    try? database.transaction { () throws(Fault) in
      for slot in try slots("burnt") { keys.destroy(slot) }
    }
  }

  package func fingerprints(
    of content: JSONObject,
    instrument: String?
  ) throws(Fault) -> JSONObject {
    try content.fingerprints(instrument, redactor) { () throws(Fault) in
      let path = folder + "/journal.key"
      let key = try FingerprintKey(path: path).bytes(making: Checksum.randomBytes(32))
      return (String(Checksum.fingerprint("key", "", key).prefix(8)), key)
    }
  }
}
