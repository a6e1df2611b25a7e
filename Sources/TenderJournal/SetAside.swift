import TenderEngine
package import TenderModel
import TenderSystem

/// A file with allocated slots for outcomes that the database cannot store.
///
/// A process locks a slot before it sends a request, and writes the outcome there if the database fails.
/// Every opening reads the slots, and clears those that the database has stored.
package final class SetAside {
  /// The size of a slot in bytes. It holds one attempt.
  static let slotSize = 65_536
  private static let slotCount = 16
  /// The number of slots. If all are taken, nothing is sent.
  private static let mostSlots = 256
  private static let magic = "tender-aside-1"

  package let path: String
  private var descriptor: Int32?
  private var slots: [(row: Int, slot: Int)] = []
  /// The outcomes that wait for the database, by the references of their payments.
  var waiting: [ReferenceKey: AsideOutcome] = [:]

  package init(path: String) { self.path = path }

  deinit { if let descriptor { Environment.close(descriptor) } }

  private func opened() throws(Fault) -> Int32 {
    if let descriptor { return descriptor }
    let made = try PlainFile.open(path)
    descriptor = made
    return made
  }

  private func slot(of row: Int) -> Int? { slots.first { $0.row == row }?.slot }

  /// Reserves a slot for the outcome of an attempt.
  ///
  /// Throws `state` if there is none.
  package func take(for row: Int) throws(Fault) {
    guard slot(of: row) == nil else { return }
    let file = try opened()
    for slot in 0..<Self.mostSlots {
      let position = slot * Self.slotSize
      guard PlainFile.lock(file, at: position) else { continue }
      if let head = PlainFile.read(file, 1, at: position), head.first ?? 0 == 0 {
        // The space of a long enough file is already allocated.
        let isThere = !(PlainFile.read(file, 1, at: position + Self.slotSize - 1) ?? []).isEmpty
        let count = slot == 0 ? Self.slotCount : 1
        guard isThere || PlainFile.allocate(file, Self.slotSize * count, at: position) else {
          PlainFile.unlock(file, at: position)
          throw .unusable(path, "there is no room for the result of the payment")
        }
        slots.append((row, slot))
        return
      }
      PlainFile.unlock(file, at: position)
    }
    throw .unusable(path, "too many outcomes wait in it for the journal")
  }

  /// Releases an attempt's slot.
  package func leave(_ row: Int) {
    guard let slot = slot(of: row), let descriptor else { return }
    slots.removeAll { $0.row == row }
    PlainFile.unlock(descriptor, at: slot * Self.slotSize)
  }

  /// Writes an operation's outcome into the slot of its payment, which counts as written then. It includes an
  /// outcome that already waits. `name` is that of the journal.
  func write(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String,
    by: String,
    in name: String,
    _ redactor: Redactor
  ) throws(Fault) {
    let earlier = waiting[payment.key]
    let outcome = AsideOutcome(payment, sequence, over: earlier, note: note, by: by, redactor)
    try write(outcome.entry(in: name), for: payment.row)
    if earlier == nil { payment.version += 1 }
    payment.settled()
    waiting[payment.key] = outcome
  }

  /// Returns a payment with the outcome that waits for it, if there is one.
  func added(to payment: Payment) -> Payment { waiting[payment.key]?.added(to: payment) ?? payment }

  /// Writes an attempt into its slot, durably.
  package func write(_ values: JSON, for row: Int) throws(Fault) {
    guard let slot = slot(of: row), let descriptor else {
      throw .unusable(path, "no room was taken in it")
    }
    let text = JSONWriter.text(values)
    var sum = Checksum()
    sum.add(text)
    let bytes = Array("\(Self.magic) \(sum.text()) \(text.utf8.count)\n\(text)".utf8)
    guard bytes.count <= Self.slotSize,
      PlainFile.write(bytes, to: descriptor, at: slot * Self.slotSize), PlainFile.sync(descriptor)
    else { throw .unusable(path, PlainFile.problem) }
  }

  /// Returns the content of the slots with their numbers and checksums. An incomplete slot counts as empty.
  package func entries() -> [(slot: Int, sum: String, values: JSON)] {
    guard Environment.exists(path), let file = try? opened() else { return [] }
    var found: [(slot: Int, sum: String, values: JSON)] = []
    for slot in 0..<Self.mostSlots {
      let position = slot * Self.slotSize
      guard let head = PlainFile.read(file, 128, at: position), !head.isEmpty else { break }
      guard head[0] != 0, let end = head.firstIndex(of: 0x0a) else { continue }
      let parts = String(decoding: head[..<end], as: UTF8.self).split(separator: " ")
      guard parts.count == 3, parts[0] == Self.magic, let count = Int(parts[2]),
        (1...Self.slotSize).contains(count),
        let body = PlainFile.read(file, count, at: position + end + 1), body.count == count
      else { continue }
      let text = String(decoding: body, as: UTF8.self)
      var sum = Checksum()
      sum.add(text)
      guard sum.text() == parts[1], let values = JSONReader.read(text) else { continue }
      found.append((slot, String(parts[1]), values))
    }
    return found
  }

  /// Clears a slot that the database has stored, unless another process uses it.
  package func clear(_ slot: Int, _ sum: String) {
    let position = slot * Self.slotSize
    guard let descriptor else { return }
    let isOwn = slots.contains { $0.slot == slot }
    guard isOwn || PlainFile.lock(descriptor, at: position) else { return }
    defer { if !isOwn { PlainFile.unlock(descriptor, at: position) } }
    // Another process may have stored it, and a third may use the slot now.
    let head = PlainFile.read(descriptor, 128, at: position) ?? []
    guard String(decoding: head, as: UTF8.self).hasPrefix("\(Self.magic) \(sum) ") else { return }
    _ = PlainFile.write([0], to: descriptor, at: position)
  }
}
