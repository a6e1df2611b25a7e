import TenderEngine
import TenderModel
import TenderSystem

/// An outcome that version 0.2.0 stored in a file because its database could not be written.
///
/// The first command after an upgrade adds it to the journal.
struct WaitingOutcome {
  /// The payment with only its changed operations.
  let payment: Payment
  /// When the payment's first operation was recorded. It tells the payment from a later one with its reference.
  private let first: Int
  /// The database's version that it replaces.
  private let over: Int
  /// The operations, by sequence, whose stored preparations stay.
  private let prepared: [Int]
  let sequence: Int
  let note: String
  let by: String

  /// Reads an entry of the journal with this name; nil if it is invalid or of another journal.
  private init?(_ entry: JSON, of journal: String) {
    guard entry["journal"]?.text == journal, let first = entry["first"]?.wholeNumber,
      let over = entry["over"]?.wholeNumber, let note = entry["note"]?.text,
      let payment = entry["payment"]?.object.flatMap(PaymentRow.payment),
      let sequence = entry["sequence"]?.wholeNumber
    else { return nil }
    (self.payment, self.first, self.over, self.sequence) = (payment, first, over, sequence)
    (self.note, by) = (note, entry["by"]?.text ?? "")
    prepared = (entry["prepared"]?.array ?? []).compactMap(\.wholeNumber)
  }

  /// Reads a file of slots. Each has a first line with a checksum and a length, and an entry. An incomplete slot
  /// counts as empty.
  static func all(at path: String, of journal: String) -> [WaitingOutcome] {
    let slotSize = 65_536
    guard let bytes = PlainFile.read(path, limit: 256 * slotSize) else { return [] }
    return stride(from: 0, to: bytes.count, by: slotSize).compactMap { position in
      let slot = bytes[position..<min(position + slotSize, bytes.count)]
      guard let end = slot.firstIndex(of: 0x0a) else { return nil }
      let parts = String(decoding: slot[..<end], as: UTF8.self).split(separator: " ")
      guard parts.count == 3, parts[0] == "tender-aside-1", let count = Int(parts[2]),
        (1..<slot.endIndex - end).contains(count)
      else { return nil }
      let text = String(decoding: slot[(end + 1)...end + count], as: UTF8.self)
      var sum = Checksum()
      sum.add(text)
      guard sum.text() == parts[1] else { return nil }
      return JSONReader.read(text).flatMap { WaitingOutcome($0, of: journal) }
    }
  }

  /// Returns the stored payment with this outcome; nil if it has the outcome already, or is not the payment.
  func added(to stored: Payment?) throws(Fault) -> Payment? {
    guard var found = stored, found.operations.first?.createdAt == first, found.version >= over
    else { return nil }
    if found.version > over, let current = found[sequence] {
      guard current.isUnknown, payment[sequence]?.isUnknown == false else { return nil }
    }
    for known in payment.operations {
      if found[known.sequence] == nil { found.append(known) }
      let keeps = prepared.contains(known.sequence)
      try found.change(known.sequence) { operation throws(Fault) in
        var next = known
        (next.row, next.number) = (operation.row, operation.number)
        next.fingerprints = operation.fingerprints
        if keeps, next.preparation == nil {
          (next.preparation, next.isSealed) = (operation.preparation, operation.isSealed)
        }
        operation = next
      }
    }
    PaymentRow.learn(from: payment, &found)
    found.updatedAt = max(found.updatedAt, payment.updatedAt)
    if payment.observed != found.observed, let seen = ObservationRow.all(of: payment) {
      found.add(seen)
    }
    return found
  }
}

extension SQLiteJournal {
  /// Adds the outcomes that version 0.2.0 left beside the database, and removes their file. If the database cannot
  /// be written, the next command tries again.
  func addWaitingOutcomes() {
    let path = folder + "/journal.aside"
    guard Environment.exists(path) else { return }
    do throws(Fault) {
      for outcome in WaitingOutcome.all(at: path, of: name) {
        guard var payment = try outcome.added(to: try payment(outcome.payment.key)) else {
          continue
        }
        try update(&payment, outcome.sequence, note: outcome.note, .power)
      }
      PlainFile.remove(path)
    } catch {
      return
    }
  }
}

extension SharedJournal {
  /// Adds the outcomes that version 0.2.0 left on this machine, and removes their file. If one cannot be written,
  /// the next command tries again.
  func addWaitingOutcomes() throws(Fault) {
    let path = settings.folder + "/journal.spool"
    guard Environment.exists(path) else { return }
    if name.isEmpty { try reach() }
    do throws(Fault) {
      for outcome in WaitingOutcome.all(at: path, of: name) {
        let stored = try payment(query([select(outcome.payment.key)])[0].first)
        guard let payment = try outcome.added(to: stored) else { continue }
        let line = { [HistoryEntry($0, outcome.sequence, note: outcome.note, by: outcome.by)] }
        let write = try write(of: payment, line, lends: 0)
        guard try perform(write) != nil else { throw try lost(write) }
        known[payment.row] = nil
      }
      PlainFile.remove(path)
    } catch {
      return
    }
  }
}
