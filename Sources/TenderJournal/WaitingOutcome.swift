import TenderEngine
import TenderModel
import TenderSystem

/// An outcome that version 0.2.0 stored in a file because its database could not be written.
///
/// The first command after an upgrade adds it to the journal.
struct WaitingOutcome {
  /// The payment with only its changed operations.
  private let payment: Payment
  /// When the payment's first operation was recorded. It tells the payment from a later one with its reference.
  private let first: Int
  private let sequence: Int
  private let note: String

  /// Reads an entry of the journal with this name; nil if it is invalid or of another journal.
  private init?(_ entry: JSON, of journal: String) {
    guard entry["journal"]?.text == journal, let first = entry["first"]?.wholeNumber,
      let note = entry["note"]?.text, let sequence = entry["sequence"]?.wholeNumber,
      let payment = entry["payment"]?.object.flatMap(PaymentRow.payment)
    else { return nil }
    (self.payment, self.first, self.sequence, self.note) = (payment, first, sequence, note)
  }

  /// Adds the outcomes in a file to the journal with a name, and removes the file. If one cannot be written, the next
  /// command tries again.
  static func addAll(at path: String, of name: String, to journal: any TableJournal) {
    // Each slot has a first line with a checksum and a length, and an entry. An incomplete slot counts as empty.
    let slotSize = 65_536
    guard let bytes = PlainFile.read(path, limit: 256 * slotSize) else { return }
    do throws(Fault) {
      for position in stride(from: 0, to: bytes.count, by: slotSize) {
        let slot = bytes[position..<min(position + slotSize, bytes.count)]
        let lines = slot.split(separator: 0x0a, maxSplits: 1)
        let head = String(decoding: lines.first ?? [], as: UTF8.self).split(separator: " ")
        guard head.count == 3, let length = Int(head[2]), length > 0 else { continue }
        let text = String(decoding: lines.last?.prefix(length) ?? [], as: UTF8.self)
        guard Checksum.of([.text(text)]) == head[1],
          let outcome = JSONReader.read(text).flatMap({ WaitingOutcome($0, of: name) }),
          var payment = try outcome.added(to: try journal.payment(outcome.payment.key))
        else { continue }
        try journal.update(&payment, outcome.sequence, note: outcome.note, .power)
      }
      PlainFile.remove(path)
    } catch {
      return
    }
  }

  /// Returns the stored payment with this outcome; nil if it has the outcome already, or is not the payment.
  private func added(to stored: Payment?) throws(Fault) -> Payment? {
    guard var found = stored, found.operations.first?.createdAt == first,
      found[sequence]?.isUnknown == true
    else { return nil }
    for known in payment.operations where found[known.sequence]?.isUnknown == true {
      try found.change(known.sequence) { operation throws(Fault) in
        var next = known
        (next.row, next.number) = (operation.row, operation.number)
        next.fingerprints = operation.fingerprints
        // A hold still needs what was prepared.
        if next.state.name == .waiting { next.preparation = operation.preparation }
        operation = next
      }
    }
    (found.brand, found.lastFour) = (
      payment.brand ?? found.brand, payment.lastFour ?? found.lastFour
    )
    found.updatedAt = max(found.updatedAt, payment.updatedAt)
    if payment.observed != found.observed, let seen = ObservationRow.all(of: payment) {
      found.add(seen)
    }
    return found
  }
}
