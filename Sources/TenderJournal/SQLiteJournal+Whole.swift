package import TenderEngine
package import TenderModel
import TenderSystem

/// Checks whether the journal is complete: its place, its chain, and the mark outside.
extension SQLiteJournal {
  /// Returns the end of the history; nil if there is none.
  func head() throws(Fault) -> HighWaterMark.Position? {
    let last = try database.first(
      "SELECT line, link, at, (SELECT name FROM journal) FROM event ORDER BY line DESC LIMIT 1"
    )
    guard let last, let line = last[0].integer else { return nil }
    return HighWaterMark.Position(
      journal: last[3].text ?? name,
      line: line,
      link: last[1].text ?? "-",
      time: last[2].integer ?? 0,
      isReal: isReal
    )
  }

  /// The columns of the journal's only row, in the order of the one statement that reads them. It is compiled once.
  enum OwnColumn: Int { case name, place, loss, copied }

  func value(_ column: OwnColumn) throws(Fault) -> Database.Value {
    let row = try database.first("SELECT name, place, loss, copied FROM journal")
    return row?[column.rawValue] ?? .null
  }

  /// Checks at opening whether the journal is behind its mark. A loss is recorded in it until the operator accepts
  /// it.
  ///
  /// `opening` is the lock for creating the files, if this process holds it.
  func compareWithMark(isNew: Bool, opening: Int32?) throws(Fault) {
    name = try value(.name).text ?? ""
    guard let marked = mark?.read(), try !reaches(marked) else { return }
    if isNew, !Self.isLoss(of: marked, in: folder) {
      mark?.raise(to: try head() ?? nothing, anew: true)
      return
    }
    // Another process may just have created the journal. It raises the mark before it releases this lock.
    let opening = opening == nil ? try PlainFile.open(folder + "/journal.lock") : nil
    defer { if let opening { Environment.close(opening) } }
    if let opening { _ = PlainFile.lock(opening, at: LockFile.opening, upTo: 5000) }
    guard let marked = mark?.read(), try !reaches(marked) else { return }
    try note(loss: "behind \(marked.line) \(marked.time)")
  }

  /// Returns whether a folder has a journal, or should have one because payments were recorded there.
  package static func isExpected(in folder: String, markFolder: String? = nil) -> Bool {
    Environment.exists(folder + "/journal.db")
      || HighWaterMark(of: folder, in: markFolder).read() != nil
  }

  /// Returns whether a folder has no journal and lost none: one with only simulated payments may be removed.
  package static func isVacant(_ folder: String, markFolder: String? = nil) -> Bool {
    guard !Environment.exists(folder + "/journal.db") else { return false }
    return HighWaterMark(of: folder, in: markFolder).read().map { !isLoss(of: $0, in: folder) }
      ?? true
  }

  /// Whether a folder without the journal of a mark lost payments. One with simulated payments lost none if it was
  /// removed as a whole: then the files beside the journal are gone too.
  private static func isLoss(of marked: HighWaterMark.Position, in folder: String) -> Bool {
    marked.isReal
      || ["simulator.db", "journal.key"].contains { Environment.exists("\(folder)/\($0)") }
  }

  /// The reason why there can be no mark; nil if there can. Without a mark, the loss of the whole folder is
  /// not noticed.
  package var markProblem: String? {
    guard let mark else { return nil }
    if let problem = mark.problem { return problem }
    guard place.birth == nil else { return nil }
    return "a copy looks the same, because the time of its creation cannot be read"
  }

  private var nothing: HighWaterMark.Position {
    HighWaterMark.Position(journal: name, isReal: false)
  }

  /// Returns whether the history has the line of a mark.
  private func reaches(_ marked: HighWaterMark.Position) throws(Fault) -> Bool {
    guard marked.journal == name else { return false }
    guard marked.line > 0 else { return true }
    let found = try database.first(
      "SELECT max(line), (SELECT link FROM event WHERE line = ?) FROM event",
      [.integer(marked.line)]
    )
    guard let found, let last = found[0].integer, last >= marked.line else { return false }
    // If the line was pruned, later lines prove that the history continued.
    return found[1].text.map { $0 == marked.link } ?? true
  }

  private func note(loss: String) throws(Fault) {
    try run("UPDATE journal SET loss = \(loss) WHERE loss IS NULL")
  }

  /// Checks at opening whether this is the file that was last opened. If it was put there since, or the
  /// original still exists elsewhere, this is a copy.
  ///
  /// A journal that was moved, or is reached by another path, is not a copy.
  func compareWithPlace() throws(Fault) {
    let own = place
    let last = try value(.place).text
    guard let last else {
      try run("UPDATE journal SET place = \(own.text)")
      // The place is moved to the database file. So a copy of that file alone is recognized as a copy.
      _ = try database.first("PRAGMA wal_checkpoint(PASSIVE)")
      return
    }
    guard last != own.text else { return }
    let before = Place(text: last)
    // Without a time there is nothing to compare. The known one stays, for an opening that can read it.
    if own.birth == nil, before.birth != nil, own.folder == before.folder { return }
    if let time = own.birth, let other = before.birth, time != other {
      return try note(loss: "copy")
    }
    let isMoved = before.folder != own.folder
    if isMoved, isJournal(at: before.folder + "/journal.db") {
      return try note(loss: "copy \(before.folder)")
    }
    try run("UPDATE journal SET place = \(own.text)")
  }

  private var place: Place {
    Place(
      folder: PlainFile.resolved(folder),
      birth: PlainFile.birth(at: folder + "/journal.db")
    )
  }

  /// The place where a journal was opened, and when its file was created there, in nanoseconds since 1970.
  private struct Place {
    var folder: String
    var birth: Int?

    init(folder: String, birth: Int?) { (self.folder, self.birth) = (folder, birth) }

    /// Reads the stored text: a folder's whole path, after the time if it was known.
    init(text: String) {
      let parts = text.split(separator: " ", maxSplits: 1)
      birth = text.hasPrefix("/") ? nil : parts.first.flatMap { Int($0) }
      folder = birth == nil ? text : String(parts.last ?? "")
    }

    var text: String { birth.map { "\($0) " + folder } ?? folder }
  }

  /// Returns whether another file at a path is a journal with the same name, or may be one.
  ///
  /// A bounded process sees that the file exists but cannot open it.
  private func isJournal(at path: String) -> Bool {
    guard let other = PlainFile.identity(at: path), other != file else { return false }
    do throws(Fault) {
      let database = try Database(path: path, busyTimeout: 100, isDurable: false)
      return try database.first("SELECT name FROM journal")?.first?.text == name
    } catch {
      return true
    }
  }

  package func loss() throws(Fault) -> JournalLoss? {
    if let loss = try value(.loss).text {
      let isCopy = loss.hasPrefix("copy")
      return (.forgot(folder, loss), isOutside || !isCopy, isCopy)
    }
    return try value(.copied).integer.map {
      (.copied(folder, "from \(Timestamp.text(Timestamp.clamped($0)))"), isOutside, true)
    }
  }

  package func accept(reason: String, at time: Int) throws(Fault) {
    guard let problem = try loss()?.fault else {
      throw .conflict(
        "nothing_forgotten",
        "the journal is whole, and not a copy: there is nothing to accept",
        "journal resolve ends a single payment"
      )
    }
    try commit(.power) { () throws(Fault) in
      // Of two journals with one name, each would take the other for the original.
      try run(
        """
        UPDATE journal SET loss = NULL, copied = NULL, place = \(place.text), name = CASE
        WHEN copied IS NULL AND loss NOT LIKE 'copy%' THEN name ELSE lower(hex(randomblob(16))) END
        """
      )
      try addLine("accepted (\(problem.message)): \(redactor.redact(reason))", at: time)
    }
    name = try value(.name).text ?? ""
    if let head = try head() { mark?.raise(to: head, anew: true) }
  }

  /// Throws if the files are no longer at their paths. Later commands would not find anything written to
  /// them.
  func checkPlace() throws(Fault) {
    let path = folder + "/journal.db"
    guard file == nil || PlainFile.identity(at: path) == file else { throw .moved(path) }
    // If the lock file was replaced, other processes may be working on the same references.
    let lock = locks.path
    guard lockFile == nil || PlainFile.identity(at: lock) == lockFile else { throw .moved(lock) }
  }

  /// Writes a consistent copy of the journal into a new file, while other processes continue.
  ///
  /// Throws `state` if it fails, `usage` if the file exists.
  package func backUp(to path: String) throws(Fault) {
    let isInside = Environment.isInside(path, folder)
    guard !path.isEmpty, !isInside, PlainFile.identity(at: path) == nil else {
      throw .badFile(
        isInside
          ? "\(path.quotedForMessage) is in the journal's own folder"
          : "\(path.quotedForMessage) is there already, or is no file name",
        hint: "name a new file elsewhere"
      )
    }
    // The file is readable by its owner only before anything is in it.
    let descriptor = try PlainFile.open(path, exclusively: true)
    defer { Environment.close(descriptor) }
    do throws(Fault) {
      try database.query("VACUUM INTO ?", [.text(path)])
      try Database(path: path, isDurable: false).execute(
        "UPDATE journal SET copied = CAST(strftime('%s', 'now') AS INTEGER) * 1000, place = NULL"
      )
      guard PlainFile.sync(descriptor) else { throw .unusable(path, PlainFile.problem) }
    } catch {
      PlainFile.remove(path)
      throw error
    }
  }
}

extension Fault {
  static func moved(_ path: String) -> Fault {
    .state(
      "journal_moved",
      "\(path) was moved, removed or replaced while it was in use",
      "put it back; then run the same command again"
    )
  }

  /// The journal lost something.
  fileprivate static func forgot(_ folder: String, _ loss: String) -> Fault {
    let parts = loss.split(separator: " ", maxSplits: 1)
    if parts.first == "copy" {
      return .copied(folder, parts.count > 1 ? "of the one in \(parts[1])" : "that was put there")
    }
    return .state(
      "journal_forgot",
      "the journal in \(folder) is behind what was written there: it is an old copy, is damaged, or was removed",
      "put the newest copy back, or look the missing payments up at the provider"
    ).then([.accept])
  }

  fileprivate static func copied(_ folder: String, _ what: String) -> Fault {
    .state(
      "journal_copy",
      "the journal in \(folder) is a copy \(what): payments made since may be missing in it",
      "use the original, or look the missing payments up at the provider"
    ).then([.accept])
  }
}
