import TenderDatabase
package import TenderEngine
import TenderJournal
package import TenderModel

/// Every write: one statement, versioned, checksummed, and under the fence of the lease that it belongs to.
extension SharedJournal {
  /// What is written of an attempt.
  struct Write {
    var key: ReferenceKey
    var attempt: Attempt
    var stored: String?
    var values: [Database.Value]
    var sum: String
    var note: String
    /// Nil for a write outside of a lock, which takes the reference for itself alone.
    var lease: Lease?
    /// How long the reference is lent from now on, in milliseconds: 0 gives it back.
    var lends: Int
    /// The user and machine of its line of history.
    var by: String
    /// Whether a lock of this machine's kernel is held: what another process of it left is taken over.
    var isLocked = false
  }

  private func write(
    of attempt: Attempt,
    stored: String?,
    _ note: String,
    lends: Int
  ) -> Write {
    let redacted = attempt.redacted(by: redactor)
    // PostgreSQL's text has no NUL.
    let values = AttemptRow.values(redacted).map { value in
      value.text.map { Database.Value.text($0.replacing("\0", with: "\u{FFFD}")) } ?? value
    }
    let key = ReferenceKey(
      env: attempt.env,
      provider: attempt.provider,
      reference: attempt.reference
    )
    let lease = leases[key]
    return Write(
      key: key,
      attempt: redacted,
      stored: stored,
      values: values,
      sum: AttemptRow.sum(of: values, preparation: nil),
      note: note.replacing("\0", with: "\u{FFFD}"),
      lease: lease,
      lends: lease == nil ? 0 : lends,
      by: settings.by
    )
  }

  package func insert(_ attempt: Attempt, _ durability: Durability) throws(Fault) -> Attempt {
    let write = try opening(attempt)
    defer { (fresh, opened) = (nil, nil) }
    var row =
      opened?.write.key == write.key && opened?.write.sum == write.sum ? opened?.row : nil
    if row == nil {
      row = try perform(inserting(write), write) { () throws(Fault) in try rowsMade(by: write) }
        .first?[0].integer
    }
    guard let row else { throw try lost(write) }
    var written = attempt
    written.version = 1
    written.row = row
    written.writer = settings.by
    known[written.row] = Known(
      terms: SearchTerm.all(of: write.attempt),
      preparation: written.preparation,
      stored: write.stored,
      written: (write.values, clock.uptime)
    )
    return written
  }

  /// What a new attempt is written as.
  func opening(_ attempt: Attempt) throws(Fault) -> Write {
    var attempt = attempt
    attempt.version = 1
    let stored = try stored(attempt.preparation)
    return write(of: attempt, stored: stored, "opened", lends: leaseTime)
  }

  package func update(
    _ attempt: inout Attempt,
    note: String,
    _ durability: Durability
  ) throws(Fault) {
    if durability == .process, isPassing(attempt) { return }
    let isSending = attempt.phase == .sent
    if isSending { try aside.take(for: attempt.row) }
    let begun = clock.moment
    try update(&attempt, note, lends: leaseTime)
    if isSending {
      let key = ReferenceKey(
        env: attempt.env,
        provider: attempt.provider,
        reference: attempt.reference
      )
      if leases[key] != nil { lend(from: begun) }
    } else {
      permit?.lend(nil)
      aside.leave(attempt.row)
    }
  }

  /// How long a state of a sale that is under way must last before it is written by itself, in milliseconds.
  private static let moment = 1000
  /// What such a state changes.
  private static let passing: Set<String> = ["result", "updated"]

  /// Whether nothing is new but a state for who looks meanwhile, right after another write: the next has it too.
  private func isPassing(_ attempt: Attempt) -> Bool {
    guard attempt.phase == .prepared, let before = known[attempt.row],
      let written = before.written, clock.uptime - written.at < Self.moment,
      before.preparation == attempt.preparation
    else { return false }
    let values = AttemptRow.values(attempt.redacted(by: redactor))
    return zip(AttemptRow.columns, zip(values, written.values)).allSatisfy { column, pair in
      Self.passing.contains(column) || pair.0 == pair.1
    }
  }

  package func conclude(
    _ attempt: inout Attempt,
    note: String,
    isLast: Bool
  ) throws(Fault) -> Fault? {
    permit?.lend(nil)
    do throws(Fault) {
      try update(&attempt, note, lends: isLast ? 0 : leaseTime)
      if isLast { end(attempt) }
      aside.leave(attempt.row)
      return nil
    } catch {
      // Another has it now, and finds out by itself.
      guard error.cause != .leaseLost else {
        // Unless that one learns nothing: what is known here is not thrown away.
        var known = attempt
        if known.phase == .done { try? setAside(&known, note: note) }
        throw error
      }
      do throws(Fault) {
        try setAside(&attempt, note: note)
        return .spooled(error, in: aside.path)
      } catch let second {
        _ = second
        throw error
      }
    }
  }

  /// The reference was given back with its last outcome.
  private func end(_ attempt: Attempt) {
    let key = attempt.key
    leases[key]?.isOver = true
    known[attempt.row] = nil
  }

  /// What a lease that was written at a moment, or later, allows.
  private func lend(from begun: Moment) {
    let begin = Moment(boot: begun.boot, milliseconds: begun.milliseconds + slack)
    let end = Moment(boot: begun.boot, milliseconds: begun.milliseconds + leaseTime)
    permit?.lend(SendPermit.Loan(begin: begin, end: end))
  }

  /// Writes an attempt over the version that it was made from.
  private func update(
    _ attempt: inout Attempt,
    _ note: String,
    lends: Int
  ) throws(Fault) {
    try makeRoom(for: attempt.row)
    fresh = nil
    if known[attempt.row] == nil { try learn(attempt) }
    let before = known[attempt.row]
    // What another machine sealed is not thrown away for want of its key.
    if before?.isUnreadable == true, attempt.preparation == nil,
      attempt.phase != .done || attempt.status == .requiresConfirmation
    {
      throw .sealed(settings.address.masked)
    }
    var written = attempt
    written.version += 1
    let isSame = before?.preparation == written.preparation
    let stored = isSame ? before?.stored : try stored(written.preparation)
    let write = write(of: written, stored: stored, note, lends: lends)
    let terms = SearchTerm.all(of: write.attempt)
    let rows = try perform(updating(write, terms, before), write) { () throws(Fault) in
      try isThere(write) ? [[.integer(1)]] : []
    }
    guard rows.first?[0].integer == 1 else { throw try lost(write) }
    attempt = written
    attempt.writer = settings.by
    attempt.isElsewhere = false
    waiting[attempt.row] = nil
    known[attempt.row] = Known(
      terms: terms,
      preparation: written.preparation,
      stored: stored,
      written: (write.values, clock.uptime)
    )
  }

  /// Writes what was set aside over the version that it was made from.
  func deliver(
    _ attempt: Attempt,
    keepsPreparation: Bool,
    _ note: String,
    _ by: String
  ) throws(Fault) {
    try learn(attempt)
    let before = known[attempt.row]
    var write = write(of: attempt, stored: keepsPreparation ? before?.stored : nil, note, lends: 0)
    write.by = by
    write.isLocked = true
    let terms = SearchTerm.all(of: write.attempt)
    let rows = try perform(updating(write, terms, before), write) { () throws(Fault) in
      try isThere(write) ? [[.integer(1)]] : []
    }
    guard rows.first?[0].integer == 1 else { throw try lost(write) }
    known[attempt.row] = nil
  }

  /// Writes an attempt of another journal with its whole history, where nobody has its reference.
  func write(_ attempt: Attempt, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    var taken = attempt
    // Each line is a version.
    taken.version = max(1, history.count)
    let stored = taken.preparation?.plain == nil ? nil : taken.preparation?.stored
    let write = write(of: taken, stored: stored, "taken over", lends: 0)
    var lines = history
    if lines.isEmpty {
      lines.append(
        HistoryEntry(
          at: taken.updatedAt,
          phase: taken.phase.rawValue,
          status: taken.shownStatus.rawValue,
          note: "taken over"
        )
      )
    }
    let statement = importing(write, lines)
    let rows = try perform(statement, write) { () throws(Fault) in try rowsMade(by: write) }
    guard rows.first?[0].integer != nil else { throw try lost(write) }
    return true
  }

  /// Reads what the database has of an attempt that was read without it.
  private func learn(_ attempt: Attempt) throws(Fault) {
    var row = Statement(Self.select + " WHERE a.row = ")
    row.add(row.bind(attempt.row))
    var text = Statement("SELECT p.row, p.text FROM tender.preparation p WHERE p.row = ")
    text.add(text.bind(attempt.row))
    let answers = try query([row, text])
    _ = try self.attempt(answers[0].first, answers[1].first)
  }

  /// What the database has of a preparation: one with a secret is sealed.
  ///
  /// Throws `state` where there is no key to seal it with: nothing was sent.
  private func stored(_ preparation: Attempt.Preparation?) throws(Fault) -> String? {
    guard let preparation else { return nil }
    guard preparation.secret != nil else { return preparation.stored }
    guard let sealed = settings.key?.seal(preparation.stored) else {
      throw .sealed(settings.address.masked)
    }
    return sealed
  }

  // MARK: What a lost answer was

  /// Runs a write; where its answer is lost, what is there says whether it was done.
  private func perform(
    _ statement: Statement,
    _ write: Write,
    _ found: () throws(Fault) -> Rows
  ) throws(Fault) -> Rows {
    let deadline = deadline()
    var mayBeDone = false
    while true {
      do throws(PostgresConnection.Failure) {
        let rows = try ask([statement], by: deadline, repeating: .never)[0]
        guard mayBeDone, rows.first?[0].integer ?? 0 == 0 else { return rows }
      } catch {
        // A number that is taken may be this very write's.
        let isTaken = error.isTaken
        guard error.isLost || isTaken && mayBeDone else {
          throw isTaken ? .changed(write.attempt.reference) : fault(error)
        }
        mayBeDone = true
      }
      let rows = try found()
      guard rows.isEmpty, deadline.remaining > 0 else { return rows }
    }
  }

  /// The row that a write made whose answer was lost.
  private func rowsMade(by write: Write) throws(Fault) -> Rows {
    var statement = Statement("SELECT a.row FROM tender.attempt a WHERE ")
    statement.add(Self.condition(write.key, "a", &statement))
    statement.add(
      " AND a.number = \(statement.bind(write.attempt.number)) "
        + "AND a.sum = \(statement.bind(write.sum)) AND a.machine = \(statement.bind(station))"
    )
    return try query([statement])[0]
  }

  /// Whether a write whose answer was lost is there.
  private func isThere(_ write: Write) throws(Fault) -> Bool {
    var statement = Statement("SELECT 1 FROM tender.history h WHERE h.attempt = ")
    statement.add(
      "\(statement.bind(write.attempt.row)) AND h.number = "
        + "\(statement.bind(write.attempt.version)) AND h.sum = \(statement.bind(write.sum)) "
        + "AND h.by = \(statement.bind(write.by))"
    )
    return try !query([statement])[0].isEmpty
  }

  /// Why a write changed nothing: another has the reference, or has written meanwhile.
  private func lost(_ write: Write) throws(Fault) -> Fault {
    var statement = Statement("SELECT l.by FROM tender.lease l WHERE ")
    statement.add(Self.condition(write.key, "l", &statement))
    if let lease = write.lease {
      statement.add(
        " AND (l.holder <> \(statement.bind(lease.holder)) "
          + "OR l.fence <> \(statement.bind(lease.fence)))"
      )
    } else {
      statement.add(" AND l.until > clock_timestamp()")
    }
    guard let by = try query([statement])[0].first?[0].text else {
      return .changed(write.attempt.reference)
    }
    return Fault(
      .conflict,
      code: "lease_lost",
      cause: .leaseLost,
      "\(by) has taken reference \(write.attempt.reference.quotedForMessage) over meanwhile",
      hint: "run the same command again: it finds out what became of it"
    )
  }
}

extension Fault {
  static func changed(_ reference: Reference) -> Fault {
    Fault(
      .state,
      code: "journal_conflict",
      cause: .changedMeanwhile,
      "another command changed \(reference.quotedForMessage) meanwhile",
      hint: "run the same command again"
    )
  }

  /// A preparation that cannot be sealed, or opened, here.
  fileprivate static func sealed(_ key: String) -> Fault {
    Fault(
      .state,
      code: "journal_key",
      "what this payment needs later is sealed under the key that the fleet of \(key) shares, and that "
        + "key is not here; nothing was sent",
      hint: "set TENDER_JOURNAL_KEY_FILE; see: tender help journal"
    )
  }

  /// The database was gone once the outcome was known, and the outcome lies in the spool.
  fileprivate static func spooled(_ failure: Fault, in path: String) -> Fault {
    Fault(
      .state,
      code: failure.code,
      "the journal could not take the outcome, which lies in \(path): \(failure.message)",
      hint: "the next command on this machine that reaches the journal delivers it"
    )
  }
}
