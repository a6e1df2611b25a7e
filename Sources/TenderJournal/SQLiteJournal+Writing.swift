import Synchronization
package import TenderDatabase
package import TenderEngine
package import TenderModel
import TenderWire

/// Every write: versioned, checksummed, chained, and marked outside of the folder.
extension SQLiteJournal {
  package func insert(
    _ attempt: Attempt,
    _ durability: Durability
  ) throws(Fault) -> Attempt {
    try checkWhole()
    var written = attempt
    written.version = 1
    let redacted = written.redacted(by: redactor)
    written.row = try commit(durability) { () throws(Fault) in
      let values = AttemptRow.values(redacted)
      let sum = AttemptRow.sum(of: values, preparation: nil)
      try database.query(AttemptRow.insert, values + [.text(sum)])
      let row = database.lastRow
      var indexed = redacted
      indexed.row = row
      try index(indexed, instead: [])
      try addLine(row, redacted, "opened", sum)
      return row
    }
    return written
  }

  package func update(
    _ attempt: inout Attempt,
    note text: String,
    _ durability: Durability
  ) throws(Fault) {
    try makeRoom(for: attempt.row)
    if attempt.phase == .sent {
      try checkPlace()
      try aside.take(for: attempt.row)
    } else if durability == .power {
      try checkPlace()
    }
    var written = attempt
    written.version += 1
    let before = attempt
    let gone = try commit(durability) { () throws(Fault) in
      try write(written, over: before.version, text)
    }
    attempt = written
    waiting[attempt.row] = nil
    if attempt.phase != .sent { aside.leave(attempt.row) }
    if let gone { forget(gone) }
  }

  package func setAside(_ attempt: inout Attempt, note text: String) throws(Fault) {
    try checkPlace()
    var written = attempt
    written.version += 1
    let redacted = written.redacted(by: redactor)
    // What waits already stands on what the database has.
    let over = bases[attempt.row] ?? attempt.version
    let fields: JSONObject = [
      "journal": .string(name), "row": .integer(written.row), "over": .integer(over),
      "note": .string(text), "preparation": .bool(written.preparation != nil),
      "values": .array(AttemptRow.values(redacted).map(\.json)),
    ]
    try aside.write(.object(fields), for: written.row)
    attempt = written
    waiting[written.row] = written
    bases[written.row] = over
  }

  /// Writes what waits for a row in its place, before anything else is written there.
  private func makeRoom(for row: Int) throws(Fault) {
    guard waiting[row] != nil else { return }
    takeInWhatWaits()
    // Another may have taken it in since it was seen here.
    if let base = bases[row], try version(of: row) > base { forgetWaiting(row) }
    guard waiting[row] == nil else {
      throw .unusable(folder + "/journal.db", "an earlier outcome could not be written there yet")
    }
  }

  private func version(of row: Int) throws(Fault) -> Int {
    let found = try database.first("SELECT version FROM attempt WHERE row = ?", [.integer(row)])
    return found?.first?.integer ?? 0
  }

  private func forgetWaiting(_ row: Int) {
    waiting[row] = nil
    bases[row] = nil
  }

  /// Clears a slot whose content another has taken in: once that is on the disk, which a thread of this process
  /// may still wait for.
  private func clear(_ slot: Int, _ sum: String, of row: Int) {
    forgetWaiting(row)
    if database.syncLog() { aside.clear(slot, sum) }
  }

  /// Writes what was set aside in its place, where the database takes it by now.
  func takeInWhatWaits() {
    for (slot, sum, entry) in aside.entries() {
      guard entry["journal"]?.text == name, let row = entry["row"]?.wholeNumber,
        let over = entry["over"]?.wholeNumber, let note = entry["note"]?.text,
        let values = entry["values"]?.array.map({ $0.map(Database.Value.init(json:)) })
      else { continue }
      let preparation =
        entry["preparation"] == true
        ? try? database.first("SELECT text FROM preparation WHERE row = ?", [.integer(row)])?.first
        : nil
      let text = preparation ?? nil
      guard
        let found = try? AttemptRow.attempt([.integer(row)] + values + [.null, text ?? .null])
      else { continue }
      guard var attempt = try? opened(found) else { continue }
      // Several may have been set aside, one over the other.
      let later = max(found.version, over + 1)
      attempt.version = over
      do throws(Fault) {
        let current = try version(of: row)
        guard current == over else {
          // An older copy of the database says nothing about it.
          if current > over { clear(slot, sum, of: row) }
          continue
        }
        let gone = try commit(.power) { () throws(Fault) in
          var written = attempt
          written.version = later
          return try write(written, over: over, note)
        }
        aside.clear(slot, sum)
        forgetWaiting(row)
        if let gone { forget(gone) }
      } catch {
        // Somebody else may have been faster; the next that opens the journal clears the slot.
        if let current = try? version(of: row), current > over {
          forgetWaiting(row)
          continue
        }
        attempt.version = later
        waiting[row] = attempt
        bases[row] = over
      }
    }
  }

  /// Writes an attempt's row, its preparation and a line of its history; gives the text of a secret
  /// that must go from the files.
  private func write(
    _ attempt: Attempt,
    over version: Int,
    _ note: String
  ) throws(Fault) -> String? {
    let row = Database.Value.integer(attempt.row)
    let before = try database.first(AttemptRow.select + " WHERE a.row = ?", [row])
    guard let before else {
      throw .conflict(
        "the journal has no attempt at \(attempt.reference.quotedForMessage) any more"
      )
    }
    let found = try AttemptRow.attempt(before)
    guard found.version == version else {
      throw .conflict("another command changed \(attempt.reference.quotedForMessage) meanwhile")
    }
    let redacted = attempt.redacted(by: redactor)
    let (preparation, gone) = try writePreparation(redacted.preparation, before: found, row)
    let sum = AttemptRow.sum(of: AttemptRow.values(redacted), preparation: preparation)
    // The columns that changed: an index costs pages for every column of its that is set.
    let changes =
      AttemptRow.changes(from: before, to: redacted) + [(column: "sum", value: .text(sum))]
    let columns = changes.map { "\($0.column) = ?" }.joined(separator: ", ")
    try database.query(
      "UPDATE attempt SET \(columns) WHERE row = ?",
      changes.map(\.value) + [row]
    )
    try index(redacted, instead: SearchTerm.all(of: found))
    try addLine(attempt.row, redacted, note, sum)
    return gone
  }

  /// Writes a preparation in the place of another; gives the text that the file has now, and the text of
  /// a secret that it had.
  private func writePreparation(
    _ preparation: Attempt.Preparation?,
    before found: Attempt,
    _ row: Database.Value
  ) throws(Fault) -> (stored: String?, gone: String?) {
    let stored = found.preparation?.stored
    if let preparation, try opened(found).preparation == preparation { return (stored, nil) }
    let secret = found.preparation?.secret
    if let secret {
      try burn(secret)
      // Where the mark cannot be made, the erasing after the commit is all there is.
      if !SealingKeys.isSealed(secret) { try? unfinished.make() }
    }
    guard let preparation else {
      if stored != nil { try database.query("DELETE FROM preparation WHERE row = ?", [row]) }
      return (nil, secret)
    }
    let text = try sealed(preparation)
    try database.query(
      "INSERT INTO preparation (row, text) VALUES (?, ?) "
        + "ON CONFLICT (row) DO UPDATE SET text = excluded.text",
      [row, .text(text)]
    )
    return (text, secret)
  }

  /// Makes a secret that was taken out unreadable: its key goes, or its bytes where it was not sealed.
  private func forget(_ secret: String) {
    if SealingKeys.isSealed(secret) { keys.destroy(of: secret) } else { eraseOrPutOff() }
  }

  private func eraseOrPutOff() {
    // Another process may have finished its own meanwhile.
    try? unfinished.make()
    mustEraseLater.store(true, ordering: .relaxed)
    // The state is written by now: that the bytes of the old one cannot be erased yet, since somebody
    // reads, is no failure to write it.
    if !sharesWork { try? finishErasing() }
  }

  /// Writes the terms by which an attempt is found, instead of those that it had.
  func index(_ attempt: Attempt, instead before: Set<String>) throws(Fault) {
    let terms = SearchTerm.all(of: attempt)
    try forget(before.subtracting(terms), of: attempt)
    for term in terms.subtracting(before).sorted() {
      try database.query(
        "INSERT OR IGNORE INTO term (text, created, attempt) VALUES (?, ?, ?)",
        [.text(term), .integer(attempt.createdAt), .integer(attempt.row)]
      )
    }
  }

  /// Takes out terms of an attempt.
  func forget(_ terms: Set<String>, of attempt: Attempt) throws(Fault) {
    for term in terms.sorted() {
      try database.query(
        "DELETE FROM term WHERE text = ? AND created = ? AND attempt = ?",
        [.text(term), .integer(attempt.createdAt), .integer(attempt.row)]
      )
    }
  }

  /// Adds a line to the history, chained to the one before.
  func addLine(
    _ row: Int,
    _ attempt: Attempt?,
    _ text: String,
    _ sum: String,
    at time: Int? = nil
  ) throws(Fault) {
    let last = try database.first("SELECT line, link FROM history ORDER BY line DESC LIMIT 1")
    let line = (last?[0].integer ?? 0) + 1
    let values: [Database.Value] = [
      .integer(line), .integer(row), .integer(attempt?.updatedAt ?? time ?? 0),
      .text(attempt?.phase.rawValue ?? "done"), .text(attempt?.shownStatus.rawValue ?? ""),
      .text(text), .text(sum), by.isEmpty ? .null : .text(by),
    ]
    try append(values, after: last?[1].text)
  }

  private func append(_ values: [Database.Value], after link: String?) throws(Fault) {
    try database.query(
      "INSERT INTO history (line, attempt, at, phase, status, note, sum, by, link) "
        + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      values + [.text(Self.link(values, after: link))]
    )
  }

  package func take(_ attempt: Attempt, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    try checkWhole()
    let there = try database.first(
      AttemptRow.select + " WHERE reference = ? AND provider = ? AND env = ? AND number = ?",
      [
        .text(attempt.reference.text), .text(attempt.provider.text), .text(attempt.env.rawValue),
        .integer(attempt.number),
      ]
    )
    if let there {
      guard AttemptRow.isSame(try self.attempt(there), attempt) else { throw .taken(attempt) }
      return false
    }
    try commit(.power) { () throws(Fault) in
      let values = AttemptRow.values(attempt)
      let stored = attempt.preparation?.plain == nil ? nil : attempt.preparation?.stored
      let sum = AttemptRow.sum(of: values, preparation: stored)
      try database.query(AttemptRow.insert, values + [.text(sum)])
      var taken = attempt
      taken.row = database.lastRow
      if let stored {
        try database.query(
          "INSERT INTO preparation (row, text) VALUES (?, ?)",
          [.integer(taken.row), .text(stored)]
        )
      }
      try index(taken, instead: [])
      for (index, entry) in history.enumerated() {
        let last = try database.first("SELECT line, link FROM history ORDER BY line DESC LIMIT 1")
        let values: [Database.Value] = [
          .integer((last?[0].integer ?? 0) + 1), .integer(taken.row), .integer(entry.at),
          .text(entry.phase), .text(entry.status), .text(entry.note),
          index == history.count - 1 ? .text(sum) : .text(""), Database.Value(entry.by),
        ]
        try append(values, after: last?[1].text)
      }
    }
    return true
  }

  /// The link of a line: who wrote it counts where that is written down, since version 6.
  static func link(_ values: [Database.Value], after link: String?) -> String {
    let known = values.last == .null && values.count == 8 ? Array(values.dropLast()) : values
    return Checksum.of(known + [Database.Value(link)])
  }

  /// Runs a transaction; what must survive the power is on the disk and marked when it returns.
  func commit<Result>(
    _ durability: Durability,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    let setsSync = durability == .process && !sharesWork
    if setsSync { try database.execute("PRAGMA synchronous = NORMAL") }
    defer { if setsSync { try? database.execute("PRAGMA synchronous = \(ownSync)") } }
    let sharesSync = durability == .power && sharesWork
    let (result, head) = try database.transaction(sharesSync: sharesSync) { () throws(Fault) in
      let result = try body()
      return (result, durability == .power && mark != nil ? try self.head() : nil)
    }
    if let head { mark?.raise(to: head) }
    return result
  }

  package func fingerprints(of content: JSONObject) throws(Fault) -> JSONObject {
    var prints: JSONObject = [:]
    for member in content.members where redactor.redact(member.value) != member.value {
      let random = try database.first("SELECT hex(randomblob(32))")?.first?.text ?? ""
      let key = try FingerprintKey(path: folder + "/journal.key").bytes(
        making: Hex.decode(random) ?? []
      )
      var sum = Checksum()
      sum.add(member.key)
      sum.add(member.value.canonicalText)
      prints[member.key] = .string(sum.text(key: key))
    }
    return prints
  }
}

extension Database.Value {
  /// The value in JSON.
  package var json: JSON {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let text): .string(text)
    }
  }

  /// The value that JSON writes: text stays text, also where it is all digits.
  package init(json: JSON) {
    switch json {
    case .string(let text): self = .text(text)
    case .integer, .number: self = Database.Value(json.wholeNumber)
    case .null, .bool, .array, .object: self = .null
    }
  }
}

extension Fault {
  /// An attempt of another journal whose place has another.
  package static func taken(_ attempt: Attempt) -> Fault {
    Fault(
      .conflict,
      code: "import_conflict",
      "attempt \(attempt.number) at \(attempt.reference.quotedForMessage) (\(attempt.provider.text), "
        + "\(attempt.env.rawValue)) is in the journal with another content",
      hint: "nothing of it was changed; compare: tender journal show \(attempt.reference)"
    )
  }

  fileprivate static func conflict(_ why: String) -> Fault {
    Fault(
      .state,
      code: "journal_conflict",
      cause: .changedMeanwhile,
      why,
      hint: "run the same command again"
    )
  }
}
