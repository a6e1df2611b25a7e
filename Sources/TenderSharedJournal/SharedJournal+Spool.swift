import TenderDatabase
package import TenderEngine
import TenderJournal
package import TenderModel
import TenderWire

/// Outcomes that the database could not take: kept durably in a file of this machine, and delivered by its next
/// command.
extension SharedJournal {
  package func setAside(_ attempt: inout Attempt, note: String) throws(Fault) {
    var written = attempt
    written.version += 1
    let redacted = written.redacted(by: redactor)
    let key = attempt.key
    let fields: JSONObject = [
      "journal": .string(name), "row": .integer(written.row), "over": .integer(attempt.version),
      "note": .string(note), "by": .string(settings.by),
      "values": .array(AttemptRow.values(redacted).map(\.json)),
      "isPrepared": .bool(written.preparation != nil),
    ]
    try aside.write(.object(fields), for: written.row)
    attempt = written
    waiting[written.row] = written
    // The reference is lent to nobody any longer than it must be; who comes finds the outcome or finds out.
    leases[key]?.isOver = true
  }

  /// Delivers what waits on this machine, where the database takes it.
  ///
  /// What another has found out by itself is let go.
  ///
  /// `held` is the reference whose lock on this machine is this process's already.
  func deliver(holding held: ReferenceKey? = nil) throws(Fault) {
    guard !isDelivering else { return }
    let entries = aside.entries()
    guard !entries.isEmpty else { return }
    isDelivering = true
    defer { isDelivering = false }
    if name.isEmpty { _ = try query([Statement("SELECT 1")]) }
    for (slot, sum, entry) in entries {
      guard let (known, over, note, by) = Self.attempt(of: entry, in: name) else { continue }
      var attempt = known
      let key = attempt.key
      waiting[attempt.row] = attempt
      // Whoever set it aside may still be at work with it.
      let local =
        key == held
        ? nil : try lockHere(key, by: Deadline(in: 0, on: clock), NeverInterrupted())
      guard key == held || local != nil else { continue }
      defer { withExtendedLifetime(local) {} }
      do throws(Fault) {
        // A database that was put back to an earlier time says nothing about it: it waits on.
        guard let current = try version(of: attempt, over), current.number >= over else { continue }
        guard !current.isKnown else {
          aside.clear(slot, sum)
          waiting[attempt.row] = nil
          continue
        }
        // Who came since has learned nothing.
        attempt.version = current.number + 1
        try deliver(attempt, keepsPreparation: entry["isPrepared"] == true, note, by)
        aside.clear(slot, sum)
        waiting[attempt.row] = nil
      } catch {
        // Another has the reference, or the database is away again: it waits on.
        waiting[attempt.row] = attempt
      }
    }
  }

  /// The version that the database has of an attempt, and whether more is known of it there than an outcome
  /// over a version says; nil where it does not have it.
  private func version(
    of attempt: Attempt,
    _ over: Int
  ) throws(Fault) -> (number: Int, isKnown: Bool)? {
    var statement = Statement("SELECT a.version, (SELECT count(*) FROM tender.history h ")
    statement.add("WHERE h.attempt = a.row AND h.number > \(statement.bind(over)) ")
    statement.add("AND (h.phase <> 'sent' OR a.operation <> ")
    statement.add(
      "\(statement.bind(attempt.operation.rawValue)))) FROM tender.attempt a WHERE a.row = "
    )
    statement.add(
      "\(statement.bind(attempt.row)) AND a.number = \(statement.bind(attempt.number)) "
    )
    statement.add("AND a.created = \(statement.bind(attempt.createdAt)) AND ")
    let key = attempt.key
    statement.add(Self.condition(key, "a", &statement))
    guard let row = try query([statement])[0].first else { return nil }
    return (row[0].integer ?? 0, (row[1].integer ?? 0) > 0)
  }

  /// An attempt that was set aside for a journal of this name.
  private static func attempt(
    of entry: JSON,
    in name: String
  ) -> (attempt: Attempt, over: Int, note: String, by: String)? {
    guard entry["journal"]?.text == name, let row = entry["row"]?.wholeNumber,
      let over = entry["over"]?.wholeNumber, let note = entry["note"]?.text,
      let by = entry["by"]?.text,
      let values = entry["values"]?.array.map({ $0.map(Database.Value.init(json:)) }),
      let attempt = try? AttemptRow.attempt([.integer(row)] + values + [.null, .null])
    else { return nil }
    return (attempt, over, note, by)
  }

  /// Waits for what is there to be written, before anything else is written there.
  func makeRoom(for row: Int) throws(Fault) {
    guard waiting[row] != nil else { return }
    try deliver()
    guard waiting[row] == nil else {
      throw .unusable(aside.path, "an earlier outcome could not be delivered yet")
    }
  }
}
