package import TenderEngine
package import TenderModel
import TenderSystem

/// Outcomes that the database could not take: written aside by the names of their fields, and taken in later.
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
    // What waits already is over what the database has.
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

  /// Writes what waits for a payment in its place, before anything else is written there.
  func makeRoom(for row: Int) throws(Fault) {
    guard let waits = waiting[row] else { return }
    takeInWhatWaits()
    // Another may have taken it in since it was seen here.
    if try version(of: row) > waits.over { waiting[row] = nil }
    guard waiting[row] == nil else {
      throw .unusable(folder + "/journal.db", "an earlier outcome could not be written there yet")
    }
  }

  private func version(of row: Int) throws(Fault) -> Int {
    try number("SELECT version FROM payment WHERE row = \(row)") ?? 0
  }

  /// Writes what was set aside in its place, where the database takes it by now.
  func takeInWhatWaits() {
    for (slot, sum, values) in aside.entries() {
      guard let json = values.object, json.text("journal") == name, let entry = try? entry(json)
      else { continue }
      let row = entry.payment.row
      guard let current = try? version(of: row) else { continue }
      // An older copy of the database says nothing about it.
      guard current >= entry.over else { continue }
      if current > entry.over {
        waiting[row] = nil
        // Another has taken it in, which a thread of this process may still wait to have on the disk.
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
        // Another may have been faster; the next that opens the journal clears the slot.
        let isTakenIn = (try? version(of: row)).map { $0 > entry.over } ?? false
        waiting[row] = isTakenIn ? nil : waits.settled
      }
    }
  }

  private func entry(_ json: JSONObject) throws(Fault) -> AsideEntry? {
    if let values = json["values"]?.array { return try legacyEntry(json, values) }
    return AsideEntry(json)
  }

  /// What is to be written in the place of what the database has.
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
    // Several may have been set aside, one over the other.
    next.version = max(next.version, entry.over + 1)
    return Waiting(payment: next, over: entry.over, changed: next.changed, seen: next.unwritten)
  }

  /// The entry of a version before 7, which had the values of an attempt in the order of its columns.
  ///
  /// Its attempt's row is that of an operation now, whose payment has the attempt's version.
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
  /// As readers get it: nothing of it is to be written by them.
  fileprivate var settled: Self {
    var shown = self
    shown.payment.settled()
    return shown
  }
}

/// An outcome in the file of those set aside: what differs from a version of a payment in the database.
private struct AsideEntry {
  /// The payment, redacted; as it is read, without its operations.
  var payment: Payment
  var over: Int
  var sequence: Int
  var note: String
  /// Each with whether it keeps the preparation that it has.
  var operations: [(Operation, isPrepared: Bool)]
  var seen: [Observation]
}

extension AsideEntry {
  /// The entry as the file has it.
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

  /// Reads what the file has; nil where it is no entry.
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
