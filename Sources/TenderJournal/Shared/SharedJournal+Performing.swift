import TenderEngine
import TenderModel
import TenderSystem

/// Runs a write, and finds out about a lost answer or a write that changed nothing.
extension SharedJournal {
  /// Runs a write and returns the payment's row. If the answer is lost, the database is read again.
  func perform(_ write: LeasedWrite) throws(Fault) -> Int? {
    let deadline = deadline()
    var mayBeDone = false
    while true {
      do throws(PostgresConnection.Failure) {
        let statements = locks(for: write) + [writing(write)]
        let row = try ask(statements, by: deadline, isOnce: true).last?.first?[0].integer
        guard mayBeDone, row == nil else { return row }
      } catch {
        // A number that exists already may be from this very write.
        let isTaken = error.isTaken
        guard !error.isStopped, error.isLost || isTaken && mayBeDone else {
          throw isTaken ? .changed(write.key.reference) : fault(error)
        }
        mayBeDone = true
      }
      do throws(Fault) {
        if let row = try rowWritten(by: write) {
          try confirmCommits(by: deadline)
          return row
        }
      } catch {
        // The write may be there, although the server cannot be asked any more.
        var fault = error
        if fault.cause == .journalUnreachable { fault.cause = .journalUnconfirmed }
        throw fault
      }
      guard deadline.remaining > 0 else { throw .unconfirmed }
    }
  }

  /// Waits until a later commit is confirmed. Then earlier commits are as durable, on the standby too.
  ///
  /// The transaction writes one logical message to the log and no table (PostgreSQL's manual, "Generic WAL
  /// Functions"). Its commit waits as any other does.
  private func confirmCommits(by deadline: Deadline) throws(Fault) {
    let message: Statement = "SELECT pg_logical_emit_message(true, 'tender', '')"
    var pause = 20
    while true {
      do throws(PostgresConnection.Failure) {
        _ = try ask([message], by: deadline, isOnce: true)
        return
      } catch {
        guard error.isLost, !error.isStopped else { throw fault(error) }
        // If a server ends each wait at once, it is asked again after a pause.
        guard deadline.remaining > pause else { throw .unconfirmed }
        // The meaning of an unconfirmed write depends on the statements sent before, and not on a stop.
        do throws(Fault) { try clock.pause(milliseconds: pause) } catch { throw .unconfirmed }
        pause = min(500, pause * 2)
      }
    }
  }

  /// Returns the payment's row if the write with the lost answer was executed.
  private func rowWritten(by write: LeasedWrite) throws(Fault) -> Int? {
    try number(
      """
      SELECT a.row FROM tender.payment a JOIN tender.event h ON h.payment = a.row
      WHERE \("a", has: write.key) AND h.line = \(write.content.payment.version)
      AND h.sum = \(write.name)
      """
    )
  }

  /// Returns why a write changed nothing.
  func reason(for write: LeasedWrite) throws(Fault) -> Fault {
    if let refusal = try refusal(of: write.content) { return refusal }
    return try lost(write)
  }

  /// Returns why another process prevented a write: it has the reference, or has written meanwhile.
  private func lost(_ write: LeasedWrite) throws(Fault) -> Fault {
    let isLost: Statement =
      write.lease.map { "(l.holder <> \($0.holder) OR l.fence <> \($0.fence))" }
      ?? "l.until > clock_timestamp()"
    let rows = try query([
      "SELECT l.by FROM tender.lease l WHERE \("l", has: write.key) AND \(isLost)"
    ])
    guard let by = rows[0].first?[0].text else {
      return .changed(write.key.reference)
    }
    return Fault(
      .conflict,
      code: "lease_lost",
      cause: .leaseLost,
      "\(by) has taken over reference \(write.key.reference.quotedForMessage)",
      hint: "run the same command again: it finds out what happened to the payment"
    )
  }
}

extension Fault {
  /// The answer to a commit was lost or had a warning, and no later commit confirmed it.
  static var unconfirmed: Fault {
    Fault(
      .state,
      code: "journal_unconfirmed",
      cause: .journalUnconfirmed,
      "the journal's server did not confirm a write in time: its standby may be stalled",
      hint: "nothing was sent; look at the server's standby, then run the same command again"
    )
  }
}
