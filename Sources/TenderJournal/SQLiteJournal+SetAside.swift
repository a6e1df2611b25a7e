package import TenderEngine
package import TenderModel
import TenderSystem

/// Outcomes that the database could not store: set aside by the names of their fields, and stored later.
extension SQLiteJournal {
  package func setAside(
    _ payment: inout Payment,
    _ sequence: Int,
    note: String
  ) throws(Fault) {
    try checkPlace()
    let before = waiting[payment.row]
    var next = payment
    next.version += 1
    // An outcome that already waits is based on the database's version.
    let waits = Waiting(
      payment: next,
      over: before?.over ?? payment.version,
      changed: payment.changed.union(before?.changed ?? []),
      seen: (before?.seen ?? []) + payment.unwritten
    )
    let redacted = next.redacted(by: redactor)
    let entry = AsideEntry(
      payment: redacted,
      over: waits.over,
      sequence: sequence,
      note: note,
      operations: redacted.operations.filter { waits.changed.contains($0.sequence) }
        .map { ($0, $0.preparation != nil) },
      seen: waits.seen
    )
    try aside.write(.object(entry.json(name)), for: payment.row)
    next.settled()
    payment = next
    waiting[next.row] = waits.settled
  }

  /// Writes a waiting outcome of a payment before anything else is written there.
  func makeRoom(for row: Int) throws(Fault) {
    guard let waits = waiting[row] else { return }
    takeInWhatWaits()
    // Another process may have stored it meanwhile.
    if try version(of: row) > waits.over { waiting[row] = nil }
    guard waiting[row] == nil else {
      throw .unusable(folder + "/journal.db", "an earlier outcome could not be written there yet")
    }
  }

  private func version(of row: Int) throws(Fault) -> Int {
    try number("SELECT version FROM payment WHERE row = \(row)") ?? 0
  }

  /// Stores set-aside outcomes if the database accepts them now.
  func takeInWhatWaits() {
    for (slot, sum, values) in aside.entries() {
      guard let json = values.object, json.text("journal") == name, let entry = try? entry(json)
      else { continue }
      let row = entry.payment.row
      guard let current = try? version(of: row) else { continue }
      // An older copy of the database does not have that version.
      guard current >= entry.over else { continue }
      if current > entry.over {
        waiting[row] = nil
        // Another thread stored it, and may still wait for its sync.
        if database.syncLog() { aside.clear(slot, sum) }
        continue
      }
      guard let waits = try? waits(entry) else { continue }
      do throws(Fault) {
        var next = waits.payment
        let written = try commit(.power) { () throws(Fault) in
          try write(next, entry.sequence, entry.note, over: entry.over)
        }
        aside.clear(slot, sum)
        finish(written, &next)
      } catch {
        // Another process may have stored it first. The next process that opens the journal clears the slot.
        let isTakenIn = (try? version(of: row)).map { $0 > entry.over } ?? false
        waiting[row] = isTakenIn ? nil : waits.settled
      }
    }
  }

  private func entry(_ json: JSONObject) throws(Fault) -> AsideEntry? {
    if let values = json["values"]?.array { return try legacyEntry(json, values) }
    return AsideEntry(json)
  }

  /// Returns the outcome to write in place of the database's version.
  private func waits(_ entry: AsideEntry) throws(Fault) -> Waiting? {
    guard let row = try row("p.row = \(entry.payment.row)") else { return nil }
    let found = try opened(
      try PaymentRow.payment(row, try operations(of: entry.payment.row))
    )
    var next = entry.payment.with(found.operations, found.observed)
    for (operation, isPrepared) in entry.operations {
      if found[operation.sequence] == nil { next.append(operation) }
      try next.change(operation.sequence) { made throws(Fault) in
        let before = made
        made = operation
        made.row = before.row
        made.preparation = isPrepared ? before.preparation : nil
      }
    }
    for seen in entry.seen { next.add(seen) }
    // Several outcomes may have been set aside, one based on the other.
    next.version = max(next.version, entry.over + 1)
    return Waiting(payment: next, over: entry.over, changed: next.changed, seen: next.unwritten)
  }

  /// Converts an entry of a version before 7, with an attempt's values in column order.
  ///
  /// The attempt's row is an operation's row now, and its payment has the attempt's version.
  private func legacyEntry(_ json: JSONObject, _ values: [JSON]) throws(Fault) -> AsideEntry? {
    guard let number = json["row"]?.wholeNumber, let over = json["over"]?.wholeNumber,
      let note = json["note"]?.text,
      let row = try row("p.row = (SELECT payment FROM operation WHERE row = \(number))"),
      let told = LegacyAttempt(values: values, preparation: nil)?.payment
    else { return nil }
    let found = try PaymentRow.payment(row, try operations(of: row.number("row") ?? 0))
    let start = found.operations.first { $0.row == number }?.sequence ?? 1
    var payment = told.with([], found.observed)
    (payment.row, payment.createdAt) = (found.row, found.createdAt)
    let operations = told.operations.enumerated().map { index, operation in
      var moved = operation
      moved.sequence = start + index
      moved.number = found[moved.sequence]?.number ?? operation.number
      return (moved, json["preparation"] == true)
    }
    return AsideEntry(
      payment: payment,
      over: over,
      sequence: start + operations.count - 1,
      note: note,
      operations: operations,
      seen: []
    )
  }
}

extension SQLiteJournal.Waiting {
  /// The entry for readers, who must not write it.
  fileprivate var settled: Self {
    var shown = self
    shown.payment.settled()
    return shown
  }
}

/// A set-aside outcome: the difference from the database's version of a payment.
private struct AsideEntry {
  /// The redacted payment. After reading it has no operations.
  var payment: Payment
  var over: Int
  var sequence: Int
  var note: String
  /// The operations, each with whether its preparation stays.
  var operations: [(Operation, isPrepared: Bool)]
  var seen: [Observation]
}

extension AsideEntry {
  /// Returns the entry as stored.
  func json(_ journal: String) -> JSONObject {
    [
      "journal": .string(journal), "row": .integer(payment.row), "over": .integer(over),
      "sequence": .integer(sequence), "note": .string(note),
      "payment": .object(PaymentRow.values(payment).json),
      "operations": .array(
        operations.map { operation, isPrepared in
          var json = OperationRow.values(operation).json
          json["prepared"] = .bool(isPrepared)
          return .object(json)
        }
      ), "observations": .array(seen.map { .object(ObservationRow.values($0).json) }),
    ]
  }

  /// Reads a stored entry; nil if it is invalid.
  init?(_ json: JSONObject) {
    guard let row = json["row"]?.wholeNumber, let over = json["over"]?.wholeNumber,
      let sequence = json["sequence"]?.wholeNumber, let note = json["note"]?.text,
      let fields = json["payment"]?.object,
      var payment = try? PaymentRow.payment(Row(PaymentRow.columns, json: fields), []),
      let list = json["operations"]?.array
    else { return nil }
    payment.row = row
    let operations = list.compactMap { json -> (Operation, isPrepared: Bool)? in
      guard let json = json.object,
        let operation = try? OperationRow.operation(Row(OperationRow.columns, json: json))
      else { return nil }
      return (operation, json["prepared"] == true)
    }
    guard operations.count == list.count else { return nil }
    let seen = (json["observations"]?.array ?? []).compactMap { json in
      json.object.flatMap { ObservationRow.observation(Row(ObservationRow.columns, json: $0)) }
    }
    self.init(
      payment: payment,
      over: over,
      sequence: sequence,
      note: note,
      operations: operations,
      seen: seen
    )
  }
}
