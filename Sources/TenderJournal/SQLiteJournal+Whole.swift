import Synchronization
import TenderDatabase
import TenderEngine
package import TenderModel

/// Whether the journal is all that was written: its place, its rows, its chain, and the mark outside.
extension SQLiteJournal {
  /// Where the history ends; nil in a journal without any.
  func head() throws(Fault) -> HighWaterMark.Position? {
    let last = try database.first("SELECT line, link, at FROM history ORDER BY line DESC LIMIT 1")
    guard let last, let line = last[0].integer else { return nil }
    return HighWaterMark.Position(
      journal: name,
      line: line,
      link: last[1].text ?? "-",
      time: last[2].integer ?? 0,
      isOutside: isOutside.load(ordering: .relaxed)
    )
  }

  /// Looks, when it is opened, whether the journal is behind its mark or has lost its log; what is
  /// found stays written in it until somebody settles it.
  ///
  /// `opening` holds the lock under which the files are made, where this process has it.
  func compareWithMark(isNew: Bool, isLogLost: Bool, opening: Int32?) throws(Fault) {
    name = try database.first("SELECT name FROM journal")?.first?.text ?? ""
    let marked = mark?.read()
    if let marked {
      guard try !reaches(marked) else { return }
      // A simulator's world of this folder alone went with the folder.
      if isNew, !marked.isOutside, !PlainFile.exists(folder + "/simulator.db") {
        mark?.raise(to: try head() ?? nothing, anew: true)
        return
      }
      // Another process may just have made the journal, and raises the mark before it lets go.
      let opening = opening == nil ? try PlainFile.open(folder + "/journal.lock") : nil
      defer { if let opening { PlainFile.close(opening) } }
      if let opening { _ = PlainFile.lock(opening, at: LockFile.opening, waits: true) }
      guard let marked = mark?.read(), try !reaches(marked) else { return }
      try note(loss: "behind \(marked.line) \(marked.time)")
    } else if isLogLost {
      try note(loss: "log")
    }
  }

  /// Whether a journal is in a folder, or should be: payments that others know of were written there.
  package static func isExpected(in folder: String) -> Bool {
    PlainFile.exists(folder + "/journal.db") || HighWaterMark(of: folder).read() != nil
  }

  private var nothing: HighWaterMark.Position {
    HighWaterMark.Position(journal: name, line: 0, link: "-", time: 0, isOutside: false)
  }

  /// Whether the history has the line of a mark.
  private func reaches(_ marked: HighWaterMark.Position) throws(Fault) -> Bool {
    guard marked.journal == name else { return false }
    guard marked.line > 0 else { return true }
    let newest = try database.first("SELECT line, link FROM history ORDER BY line DESC LIMIT 1")
    guard let newest, let last = newest[0].integer, last >= marked.line else { return false }
    let found =
      last == marked.line
      ? newest
      : try database.first("SELECT line, link FROM history WHERE line = ?", [.integer(marked.line)])
    // A line that was pruned since says nothing; that later ones are there does.
    guard let found else { return true }
    return found[1].text ?? "-" == marked.link
  }

  private func note(loss: String) throws(Fault) {
    try database.query("UPDATE journal SET loss = ? WHERE loss IS NULL", [.text(loss)])
  }

  package func checkWhole() throws(Fault) {
    guard let loss = try database.first("SELECT loss FROM journal")?.first?.text else { return }
    throw .forgot(folder, loss)
  }

  /// Takes the journal as it is for whole again: somebody has looked after what it had forgotten.
  ///
  /// `time` in milliseconds since 1970. Throws `conflict` where it has forgotten nothing.
  package func settleLoss(reason: String, at time: Int) throws(Fault) {
    guard let loss = try database.first("SELECT loss FROM journal")?.first?.text else {
      throw Fault(
        .conflict,
        code: "nothing_forgotten",
        "the journal is whole: there is nothing to settle",
        hint: "for one attempt: tender journal settle REF --as STATUS --reason TEXT"
      )
    }
    try commit(.power) { () throws(Fault) in
      try database.query("UPDATE journal SET loss = NULL")
      try addLine(0, nil, "settled as restored (\(loss)): \(redactor.redact(reason))", "", at: time)
    }
    if let head = try head() { mark?.raise(to: head, anew: true) }
  }

  /// Throws where the files are no longer at their paths: what is written to them would be found by
  /// nobody.
  func checkPlace() throws(Fault) {
    let path = folder + "/journal.db"
    guard file == nil || PlainFile.identity(at: path) == file else { throw .moved(path) }
    try checkLockFile()
  }

  /// Reads everything and compares it with its checksums; gives what is wrong, in words.
  package func verify() throws(Fault) -> [String] {
    var problems: [String] = []
    try database.query("PRAGMA integrity_check(10)") { row in
      if let text = row.first?.text, text != "ok" { problems.append("the database: \(text)") }
      return problems.count < 100
    }
    let redacted = redactor
    try database.query(AttemptRow.select) { row in
      let values = Array(row.dropFirst().dropLast(2))
      if let sum = row[row.count - 2].text,
        sum != AttemptRow.sum(of: values, preparation: row.last?.text)
      {
        let name = redacted.redact(row[3].text ?? "").quotedForMessage
        problems.append("the row of \(name) does not match its checksum")
      }
      return problems.count < 100
    }
    problems += try chainProblems()
    let orphans = try database.first(
      """
      SELECT count(DISTINCT attempt) FROM history
      WHERE attempt > 0 AND attempt NOT IN (SELECT row FROM attempt)
      """
    )
    if let count = orphans?.first?.integer, count > 0 {
      problems.append("\(count) attempts of the history are missing")
    }
    if problems.isEmpty { problems += try termProblems() }
    if let loss = try database.first("SELECT loss FROM journal")?.first?.text {
      problems.append(Fault.forgot(folder, loss).message)
    }
    if let mark, mark.read() == nil, try head() != nil {
      problems.append("there is no mark at \(mark.path): a loss of the whole folder is not noticed")
    }
    return problems
  }

  /// Attempts that a search would miss, or find by what they are not.
  private func termProblems() throws(Fault) -> [String] {
    var problems: [String] = []
    var fault: Fault?
    var count = 0
    try database.query(AttemptRow.select) { row in
      guard let found = try? AttemptRow.attempt(row) else { return true }
      do throws(Fault) {
        for term in SearchTerm.all(of: found) {
          let there = try database.first(
            "SELECT 1 FROM term WHERE text = ? AND created = ? AND attempt = ?",
            [.text(term), .integer(found.createdAt), .integer(found.row)]
          )
          count += 1
          guard there == nil else { continue }
          let name = redactor.redact(found.reference.text).quotedForMessage
          problems.append("what \(name) is searched by is not what its row says")
          break
        }
      } catch {
        fault = error
      }
      return fault == nil && problems.count < 100
    }
    if let fault { throw fault }
    let all = try database.first("SELECT count(*) FROM term")?.first?.integer ?? 0
    if problems.isEmpty, all != count {
      problems.append("\(all - count) terms that are searched belong to no attempt")
    }
    return problems
  }

  private func chainProblems() throws(Fault) -> [String] {
    var problems: [String] = []
    var count = 0
    var newest = 0
    var before: (line: Int, link: String?)?
    var latest: [Int: String] = [:]
    try database.query(
      "SELECT line, attempt, at, phase, status, note, sum, by, link FROM history ORDER BY line"
    ) { row in
      let line = row[0].integer ?? 0
      let link = row[8].text
      let follows = before.map { $0.line + 1 == line } ?? (line == 1)
      if let link, follows, link != Self.link(Array(row.dropLast()), after: before?.link) {
        problems.append("line \(line) of the history does not follow the one before")
      }
      if let sum = row[6].text, let attempt = row[1].integer { latest[attempt] = sum }
      before = (line, link)
      newest = line
      count += 1
      return problems.count < 100
    }
    try database.query("SELECT row, reference, sum FROM attempt WHERE sum IS NOT NULL") { row in
      if let number = row[0].integer, row[2].text != latest[number] {
        let name = redactor.redact(row[1].text ?? "").quotedForMessage
        problems.append("the row of \(name) is not what its history says was written last")
      }
      return problems.count < 100
    }
    let forgotten = try database.first("SELECT forgotten FROM journal")?.first?.integer ?? 0
    if !(0...max(0, newest)).contains(forgotten) {
      problems.append("the number of lines that were pruned is damaged")
    }
    if problems.isEmpty, count + forgotten != newest {
      problems.append("\(newest - count - forgotten) lines of the history are missing")
    }
    return problems
  }

  /// Writes a consistent copy of the journal into a new file, while others go on.
  ///
  /// Throws `state` where it cannot, `usage` where the file is there already.
  package func backUp(to path: String) throws(Fault) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let place = parts.dropLast().joined(separator: "/")
    let isInside =
      PlainFile.resolved(place.isEmpty && !path.hasPrefix("/") ? "." : place + "/")
      == PlainFile.resolved(folder)
    guard !path.isEmpty, !isInside, PlainFile.identity(at: path) == nil else {
      throw .badFile(
        isInside
          ? "\(path.quotedForMessage) is in the journal's own folder"
          : "\(path.quotedForMessage) is there already, or is no file name",
        hint: "name a new file elsewhere"
      )
    }
    // Made for its owner alone before anything is in it.
    let descriptor = try PlainFile.open(path, exclusively: true)
    defer { PlainFile.close(descriptor) }
    do throws(Fault) {
      try database.query("VACUUM INTO ?", [.text(path)])
      guard PlainFile.sync(descriptor) else { throw .unusable(path, PlainFile.problem) }
    } catch {
      PlainFile.remove(path)
      throw error
    }
  }
}

extension Fault {
  static func moved(_ path: String) -> Fault {
    Fault(
      .state,
      code: "journal_moved",
      "\(path) was moved, removed or replaced while it was in use",
      hint: "put it back; then run the same command again"
    )
  }

  /// What the journal knows of what it does not know any more.
  fileprivate static func forgot(_ folder: String, _ loss: String) -> Fault {
    let parts = loss.split(separator: " ")
    let what =
      parts.first == "behind"
      ? "the journal in \(folder) is behind what was written there: it is an old copy, is damaged, "
        + "or was removed"
      : "the journal in \(folder) is a copy without its log (journal.db-wal)"
    return Fault(
      .state,
      code: "journal_forgot",
      what,
      hint:
        "put the newest copy back, or look the missing payments up at the provider; then: tender "
        + "journal settle --all --as restored --reason TEXT --yes"
    )
  }
}
