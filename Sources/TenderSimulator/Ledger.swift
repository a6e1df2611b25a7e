internal import TenderEngine
package import TenderModel
import TenderSystem

/// The storage of the simulated world: entries by kind and id, in `simulator.db`.
package final class Ledger {
  private let database: Database
  private let isShared: Bool
  private var isInTransaction = false
  /// Whether a change was planned since this was asked for.
  var hasNewChanges = false
  /// The most things of a kind that `latest` returns.
  var mostListed = 1000

  /// The process that opens a ledger: a command, a batch whose workers share one connection, or a server.
  package enum Use { case command, batch, server }

  /// Threads of a batch open the connection that they share one after the other.
  private static let opening = ThreadLock()

  /// Opens the file, or creates it.
  ///
  /// Throws `state` if it cannot be used.
  package init(path: String, for use: Use = .command) throws(Fault) {
    isShared = use == .batch
    Self.opening.take()
    defer { Self.opening.end() }
    let isFirst: Bool
    (database, isFirst) =
      isShared
      ? try Database.shared(path: path, busyTimeout: 30_000)
      : (try Database(path: path, isDurable: false), true)
    guard isFirst else { return }
    // It has no real data. So it must survive a killed process, but not a power failure.
    // A command reads the whole log when it opens the file, so the log is short.
    let isShort = use == .command
    try database.execute(
      "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = \(isShort ? 16 : 1000); "
        + "PRAGMA cache_size = -\(isShort ? 64 : 8192)"
    )
    database.shortensLog = isShared
    try Self.prepare(database)
  }

  private static func prepare(_ database: Database) throws(Fault) {
    guard try database.first("PRAGMA user_version")?.first?.integer == 0 else { return }
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
    try clear()
    try database.execute("VACUUM")
  }

  /// Deletes everything but the signing key and the number of the last exchange, from which a client goes on.
  func clear() throws(Fault) {
    try database.execute("DELETE FROM thing WHERE kind NOT IN ('\(SimulatedSigner.kind)', 'log')")
  }

  /// Returns the number of payments, and of other things that a client made.
  package func count() throws(Fault) -> Int {
    try database.first("SELECT count(*) \(Self.made)")?.first?.integer ?? 0
  }

  /// Returns a number that was not returned for a use before: the number of things, or a higher one.
  func number(for use: String) throws(Fault) -> Int {
    try transaction { () throws(Fault) in
      try database.first(
        "INSERT INTO thing (kind, id, body) SELECT 'counter', ?, count(*) \(Self.made) "
          + "ON CONFLICT (kind, id) DO UPDATE SET body = max(CAST(body AS INTEGER) + 1, "
          + "CAST(excluded.body AS INTEGER)) RETURNING CAST(body AS INTEGER)",
        [.text(use)]
      )?.first?.integer ?? 0
    }
  }

  private static let made =
    "FROM thing WHERE kind NOT IN ('fault', 'clock', 'counter', 'exchange', 'log', 'due', 'event', "
    + "'delivery', 'line', 'settlement', 'funding', 'dispute', '\(SimulatedSigner.kind)')"

  /// Deletes the payments of some kinds but the latest, with the things that came before them.
  ///
  /// `passing` are the kinds that are deleted; `owned` are kinds of which only things with a parent are.
  package func forget(
    butLatest number: Int,
    of payments: [String],
    _ passing: [String],
    owned: [String]
  ) throws(Fault) {
    func list(_ kinds: [String]) -> String { kinds.map { "'\($0)'" }.joined(separator: ", ") }
    try transaction { () throws(Fault) in
      let oldest = try database.first(
        "SELECT rowid FROM thing NOT INDEXED WHERE kind IN (\(list(payments))) "
          + "ORDER BY rowid DESC LIMIT 1 OFFSET ?",
        [.integer(number)]
      )
      guard let oldest = oldest?.first?.integer else { return }
      try database.query(
        "DELETE FROM thing WHERE rowid <= ? AND (kind IN (\(list(passing + [PublishedEvent.kind, EventDelivery.kind]))) "
          + "OR kind IN (\(list(owned))) AND parent IS NOT NULL)",
        [.integer(oldest)]
      )
    }
  }

  /// The time that the simulated clock is ahead of the machine's, in milliseconds.
  package func ahead() throws(Fault) -> Int {
    try text("clock", "").flatMap { Int($0) } ?? 0
  }

  /// Moves the simulated clock. It only moves forward.
  func setAhead(_ milliseconds: Int) throws(Fault) {
    try write(
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
        throw .usage(
          "bad_value",
          "the simulated clock cannot be more than 100 years ahead",
          "tender simulator reset starts afresh"
        )
      }
      try setAhead(ahead)
      return ahead
    }
  }

  /// Counts one more, and returns the count; nil if the limit was reached before.
  package func count(_ kind: String, _ id: String, upTo limit: Int) throws(Fault) -> Int? {
    // With RETURNING, SQLite would create a table in memory each time.
    try transaction { () throws(Fault) -> Int? in
      let count = try text(kind, id).flatMap { Int($0) } ?? 0
      guard count < limit else { return nil }
      try put(kind, id, String(count + 1), nil, nil)
      return count + 1
    }
  }

  /// Runs `body` without changes by other processes. A transaction within another one is a part of it.
  package func transaction<Result>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    guard !isInTransaction else { return try body() }
    isInTransaction = true
    defer { isInTransaction = false }
    return try database.transaction(body)
  }

  /// Runs a statement that changes something. It is committed when this returns, except within a transaction.
  private func write(_ sql: String, _ values: [Database.Value]) throws(Fault) {
    // On a shared connection, a statement alone would be a part of another thread's transaction.
    guard isShared else { return try database.query(sql, values) }
    try transaction { () throws(Fault) in try database.query(sql, values) }
  }

  /// Returns an entry by its kind and id; nil if there is none.
  package func find(_ kind: String, _ id: String) throws(Fault) -> JSONObject? {
    try text(kind, id).flatMap { JSONReader.read($0)?.object }
  }

  /// Every reader of one entry has this statement, so a command compiles it once.
  private func text(_ kind: String, _ id: String) throws(Fault) -> String? {
    try database.first(
      "SELECT body FROM thing WHERE kind = ? AND id = ?",
      [.text(kind), .text(id)]
    )?.first?.text
  }

  private static func body(_ row: [Database.Value]) -> JSONObject? {
    row[0].text.flatMap { JSONReader.read($0)?.object }
  }

  private func bodies(
    _ condition: String,
    _ values: [Database.Value]
  ) throws(Fault) -> [JSONObject] {
    try database.all("SELECT body FROM thing WHERE " + condition, values).compactMap(Self.body)
  }

  /// Returns the entries of a kind, by one indexed column, by a text in them, or all of them, oldest first.
  package func list(
    _ kind: String,
    column: String? = nil,
    value: String = "",
    having text: String? = nil
  ) throws(Fault) -> [JSONObject] {
    let condition = column.map { " AND \($0) = ?" } ?? ""
    return try bodies(
      "kind = ?\(condition)" + (text == nil ? "" : " AND instr(body, ?) > 0") + " ORDER BY rowid",
      [.text(kind)] + (column == nil ? [] : [.text(value)]) + (text.map { [.text($0)] } ?? [])
    )
  }

  /// Returns the things of a kind whose id is greater, in the order of their ids.
  func list(_ kind: String, after id: String) throws(Fault) -> [JSONObject] {
    try bodies("kind = ? AND id > ? ORDER BY id", [.text(kind), .text(id)])
  }

  /// Returns the first thing of a kind in the order of their parents, oldest first; nil if its parent is greater.
  func first(
    _ kind: String,
    parentUpTo last: String?,
    lacking text: String?
  ) throws(Fault) -> JSONObject? {
    try database.first(
      "SELECT body FROM thing WHERE kind = ? AND parent <= ? AND instr(body, ?) = 0 "
        + "ORDER BY parent, rowid LIMIT 1",
      [.text(kind), .text(last ?? "~"), .text(text ?? "\u{0}")]
    ).flatMap(Self.body)
  }

  func delete(_ kind: String, upTo id: String) throws(Fault) {
    try write("DELETE FROM thing WHERE kind = ? AND id <= ?", [.text(kind), .text(id)])
  }

  func delete(_ kind: String, _ id: String) throws(Fault) {
    try write("DELETE FROM thing WHERE kind = ? AND id = ?", [.text(kind), .text(id)])
  }

  /// A number as an id, in the order of the numbers.
  static func sorted(_ number: Int, digits: Int = 12) -> String {
    String(repeating: "0", count: max(0, digits - String(number).utf8.count)) + String(number)
  }

  /// Returns the latest things of a kind, or those with an id or a reference, oldest first.
  func latest(_ kind: String, about name: String?) throws(Fault) -> [JSONObject] {
    let condition = name == nil ? "" : " AND (id = ? OR reference = ?)"
    return try bodies(
      "kind = ?\(condition) ORDER BY rowid DESC LIMIT \(mostListed)",
      [.text(kind)] + (name.map { [.text($0), .text($0)] } ?? [])
    ).reversed()
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
    try put(kind, id, JSONWriter.text(.object(body)), reference, parent)
    return true
  }

  private func put(
    _ kind: String,
    _ id: String,
    _ text: String,
    _ reference: String?,
    _ parent: String?
  ) throws(Fault) {
    try write(
      "INSERT INTO thing (kind, id, reference, parent, body) VALUES (?, ?, ?, ?, ?) "
        + "ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body",
      [.text(kind), .text(id), Database.Value(reference), Database.Value(parent), .text(text)]
    )
  }
}

extension Ledger {
  /// The version of a saved world.
  private static let version = 1
  /// The kinds that are not saved.
  private static let ownKinds = [SimulatedSigner.kind, EventDelivery.kind, "exchange", "log"]

  /// Hands over the world as lines of text: a head, then a line for each thing.
  ///
  /// The signing key and the exchanges are left out: the key is a secret of this folder's clients.
  package func save(_ write: (String) -> Bool) throws(Fault) {
    let kinds = Self.ownKinds.map { "'\($0)'" }.joined(separator: ", ")
    let things = "FROM thing WHERE kind NOT IN (\(kinds))"
    try database.atOneMoment { () throws(Fault) in
      let size = try database.first("SELECT count(*) \(things)")?.first?.integer ?? 0
      let head: JSON = ["tender_simulator": .integer(Self.version), "things": .integer(size)]
      guard write(JSONWriter.text(head) + "\n") else { return }
      try database.query(
        "SELECT kind, id, reference, parent, CAST(body AS TEXT) \(things) ORDER BY rowid"
      ) { row in
        var thing: JSONObject = [:]
        for (name, value) in zip(["kind", "id", "reference", "parent"], row) {
          thing[name] = value.text?.json
        }
        thing["body"] = JSONReader.read(row[4].text ?? "")
        return write(JSONWriter.text(.object(thing)) + "\n")
      }
    }
  }

  /// Replaces the world by a saved one; the signing key stays.
  ///
  /// Throws `usage` for lines that are not a whole saved world. Nothing is changed then.
  package func load(_ next: () throws(Fault) -> String?) throws(Fault) {
    try transaction { () throws(Fault) in
      let head = try next().flatMap { JSONReader.read($0) }
      guard head?["tender_simulator"]?.wholeNumber == Self.version,
        let count = head?["things"]?.wholeNumber
      else { throw .notSaved("it does not begin as a saved world does") }
      try clear()
      var line = 1
      while let text = try next() {
        line += 1
        guard let thing = JSONReader.read(text)?.object, let kind = thing.text("kind"),
          let id = thing.text("id"), let body = thing["body"], !Self.ownKinds.contains(kind)
        else { throw .notSaved("line \(line) is not of a saved world") }
        try database.query(
          "INSERT OR REPLACE INTO thing (kind, id, reference, parent, body) VALUES (?, ?, ?, ?, ?)",
          [
            .text(kind), .text(id), Database.Value(thing.text("reference")),
            Database.Value(thing.text("parent")), .text(JSONWriter.text(body)),
          ]
        )
      }
      guard line == count + 1 else {
        throw .notSaved("it has \(line - 1) things, and \(count) were saved")
      }
      // A server sends only what is published from now on.
      try handOnAll()
    }
  }
}

extension Fault {
  fileprivate static func notSaved(_ problem: String) -> Fault {
    .badFile("the saved world: \(problem)", hint: "tender simulator save FILE writes such a file")
  }
}
