internal import TenderEngine
package import TenderModel
import TenderSystem

/// The storage of the simulated world: entries by kind and id, in `simulator.db`.
package final class Ledger {
  private let database: Database

  /// Opens the file, or creates it.
  ///
  /// Throws `state` if it cannot be used.
  package init(path: String) throws(Fault) {
    database = try Database(path: path, isDurable: false)
    // It has no real data. So it must survive a killed process, but not a power failure.
    try database.execute("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 16")
    guard try database.first("PRAGMA user_version")?.first?.integer == 0 else {
      try database.refuseObjects(
        otherThan: ["thing", "thing_by_reference", "thing_by_parent"]
      )
      return
    }
    try database.useLog()
    try database.transaction { () throws(Fault) in
      try database.execute(
        """
        CREATE TABLE IF NOT EXISTS thing (
          kind TEXT NOT NULL, id TEXT NOT NULL, reference TEXT, parent TEXT, body TEXT NOT NULL,
          PRIMARY KEY (kind, id)
        );
        CREATE INDEX IF NOT EXISTS thing_by_reference ON thing (kind, reference)
          WHERE reference IS NOT NULL;
        CREATE INDEX IF NOT EXISTS thing_by_parent ON thing (kind, parent)
          WHERE parent IS NOT NULL;
        PRAGMA user_version = 1
        """
      )
    }
  }

  /// Deletes everything except the signing key, which clients have.
  package func reset() throws(Fault) {
    try database.execute("DELETE FROM thing WHERE kind <> '\(SimulatedSigner.kind)'; VACUUM")
  }

  /// The number of entries, for ids that a seed generates.
  package func count() throws(Fault) -> Int {
    try database.first(
      "SELECT count(*) FROM thing WHERE kind NOT IN ('fault', 'clock', '\(SimulatedSigner.kind)')"
    )?.first?.integer ?? 0
  }

  /// The time that the simulated clock is ahead of the machine's, in milliseconds.
  package func ahead() throws(Fault) -> Int {
    try database.first("SELECT CAST(body AS INTEGER) FROM thing WHERE kind = 'clock'")?.first?
      .integer ?? 0
  }

  /// Moves the simulated clock. It only moves forward.
  func setAhead(_ milliseconds: Int) throws(Fault) {
    try database.query(
      "INSERT INTO thing (kind, id, body) VALUES ('clock', '', ?) ON CONFLICT (kind, id) DO UPDATE "
        + "SET body = max(CAST(body AS INTEGER), CAST(excluded.body AS INTEGER))",
      [.integer(milliseconds)]
    )
  }

  /// Moves the simulated clock forward. Returns the time that it is then ahead.
  ///
  /// Throws `usage` if that is too much.
  package func advance(by milliseconds: Int) throws(Fault) -> Int {
    try transaction { () throws(Fault) in
      let ahead = try ahead() + milliseconds
      guard ahead <= SimulatedTime.mostAhead else {
        throw Fault(
          .usage,
          code: "bad_value",
          "the simulated clock cannot be more than 100 years ahead",
          hint: "tender simulator reset starts afresh"
        )
      }
      try setAhead(ahead)
      return ahead
    }
  }

  /// Counts one more, and returns the count; nil if the limit was reached before.
  package func count(_ kind: String, _ id: String, upTo limit: Int) throws(Fault) -> Int? {
    try database.first(
      "INSERT INTO thing (kind, id, body) VALUES (?, ?, '1') ON CONFLICT (kind, id) DO UPDATE "
        + "SET body = CAST(body AS INTEGER) + 1 WHERE CAST(body AS INTEGER) < ? RETURNING CAST(body AS TEXT)",
      [.text(kind), .text(id), .integer(limit)]
    )?.first?.text.flatMap { Int($0) }
  }

  /// Runs `body` without changes by other processes.
  package func transaction<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    try database.transaction(body)
  }

  /// Returns an entry by its kind and id; nil if there is none.
  package func find(_ kind: String, _ id: String) throws(Fault) -> JSONObject? {
    let row = try database.first(
      "SELECT body FROM thing WHERE kind = ? AND id = ?",
      [.text(kind), .text(id)]
    )
    return row?.first?.text.flatMap { JSONReader.read($0)?.object }
  }

  /// Returns the entries of a kind, by one indexed column or all of them, oldest first.
  package func list(
    _ kind: String,
    column: String? = nil,
    value: String = ""
  ) throws(Fault) -> [JSONObject] {
    var found: [JSONObject] = []
    let condition = column.map { " AND \($0) = ?" } ?? ""
    try database.query(
      "SELECT body FROM thing WHERE kind = ?\(condition) ORDER BY rowid",
      [.text(kind)] + (column == nil ? [] : [.text(value)])
    ) { row in
      if let body = row[0].text.flatMap({ JSONReader.read($0)?.object }) { found.append(body) }
      return true
    }
    return found
  }

  /// Writes an entry; false if one with that id exists and `replacing` is false.
  @discardableResult
  package func put(
    _ kind: String,
    _ id: String,
    _ body: JSONObject,
    reference: String? = nil,
    parent: String? = nil,
    replacing: Bool = true
  ) throws(Fault) -> Bool {
    if !replacing, try find(kind, id) != nil { return false }
    try database.query(
      "INSERT INTO thing (kind, id, reference, parent, body) VALUES (?, ?, ?, ?, ?) "
        + "ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body",
      [
        .text(kind), .text(id), Database.Value(reference), Database.Value(parent),
        .text(JSONWriter.text(.object(body))),
      ]
    )
    return true
  }
}
