package import TenderEngine
package import TenderModel
import TenderSystem

/// Leases: a row names the process that may use a reference, and the end of that time.
extension SharedJournal {
  struct Lease {
    let holder: String
    let fence: Int
    /// Whether the last outcome released it.
    var isOver = false
  }

  /// A held lock. It releases the lease with its value.
  private final class Held: ReferenceLock {
    let journal: SharedJournal
    let key: ReferenceKey
    let lease: Lease
    let local: any ReferenceLock

    init(_ journal: SharedJournal, _ key: ReferenceKey, _ lease: Lease, _ local: any ReferenceLock)
    {
      self.journal = journal
      self.key = key
      self.lease = lease
      self.local = local
    }

    deinit { journal.giveBack(key, lease) }
  }

  package func lock(
    _ key: ReferenceKey,
    opening first: Opening?,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    let write = try first.map { first throws(Fault) in try opening(first.payment, first.terms) }
    // Processes of this machine exclude each other by a kernel lock, which ends with them.
    guard
      let local = try locks.take(key.description, by: deadline, interruption: interruption)
    else { return nil }
    // On another machine, the same address is another device.
    if key.isDevice { return local }
    let outcomes = settings.folder + "/journal.spool"
    if Environment.exists(outcomes) {
      if name.isEmpty { try reach() }
      WaitingOutcome.addAll(at: outcomes, of: name, to: self)
    }
    // Another program may have upgraded the tables since the last payment.
    isChecked = false
    var hasLooked = false
    while true {
      if let lease = try take(key, opening: write) { return Held(self, key, lease, local) }
      if !hasLooked { try shorten(key) }
      hasLooked = true
      guard deadline.remaining > 0 else { return nil }
      try interruption.check()
      try clock.pause(milliseconds: min(200, deadline.remaining))
    }
  }

  /// Takes the lease of a reference if it is free, has expired, or was left by a process of this machine. Nil
  /// if another process has it.
  ///
  /// The same round trip reads the payment, and opens it if there is none.
  private func take(_ key: ReferenceKey, opening write: LeasedWrite?) throws(Fault) -> Lease? {
    let holder = machine + "/" + Checksum.random()
    let lending = taking(
      key,
      holder: holder,
      for: leaseTime,
      where: "l.until <= clock_timestamp() OR l.machine = excluded.machine"
    )
    // A new statement sees commits made while the one before it waited.
    var statements = write.map(locks) ?? []
    let first = statements.count
    statements += [lending, select(key), Self.wish(key)]
    if let write { statements.append(opening(write, holder)) }
    let answers = try asked(statements)[first...].map(\.self)
    guard let fence = answers[0].first?[0].integer else { return nil }
    let lease = Lease(holder: holder, fence: fence)
    leases[key] = lease
    stops[key] = (!answers[2].isEmpty, clock.uptime)
    let payment = try remembered(answers[1])
    raiseMarkToSeen()
    fresh = (key, payment)
    opened = nil
    do throws(Fault) {
      try checkWhole()
    } catch {
      giveBack(key, lease)
      throw error
    }
    guard let write else { return lease }
    if let row = answers[3].first?[0].integer {
      opened = (write, row)
    } else if let payment, !payment.isElsewhere,
      selection.stored(answers[1]).first?.row.text("sum") == write.name
    {
      // The answer was lost, and this payment was opened then.
      opened = (write, payment.row)
      fresh = (key, nil)
    }
    return lease
  }

  /// The longest time that a lease can have left if the server's clock was not set back, in milliseconds.
  /// Another machine may have a longer `--timeout` than this one.
  private var longestLease: Int { max(600_000, 2 * leaseTime) }

  /// Shortens a lease that lasts too long because the server's clock was set back.
  ///
  /// Its holder may still be working. It gets the longest time that it can have asked for, from now on.
  private func shorten(_ key: ReferenceKey) throws(Fault) {
    let longest = Self.until(longestLease)
    let shortened = try query([
      """
      UPDATE tender.lease l SET until = \(longest)
      WHERE \("l", has: key) AND l.until > \(longest) RETURNING 1
      """
    ])
    if !shortened[0].isEmpty { wasSetBack = true }
  }

  /// Runs statements before anything is sent. Only here a stop proves that nothing was sent.
  ///
  /// After a later write, the fault is the journal's, because a request may have been sent by then.
  private func asked(_ statements: [Statement]) throws(Fault) -> [Rows] {
    do throws(PostgresConnection.Failure) {
      return try ask(statements, by: deadline())
    } catch {
      guard error.isStopped, let kind = interruption.kind else { throw fault(error) }
      throw .stopped(by: kind, underWay: "the journal's server had not answered; nothing was sent")
    }
  }

  /// Releases the lease, unless the last outcome did. If it fails, the lease expires.
  private func giveBack(_ key: ReferenceKey, _ lease: Lease) {
    if fresh?.key == key { fresh = nil }
    guard let current = leases[key], current.fence == lease.fence else { return }
    leases[key] = nil
    window?.lend(nil)
    guard !current.isOver else { return }
    let statement: Statement = """
      UPDATE tender.lease l SET until = clock_timestamp() WHERE \("l", has: key)\(Self.fence(lease))
      """
    _ = try? ask([statement], by: Deadline(in: 2000, on: clock), isOnce: true)
  }

  static func fence(_ lease: Lease) -> Statement {
    " AND l.holder = \(lease.holder) AND l.fence = \(lease.fence)"
  }

  package func worker(_ key: ReferenceKey) -> String? {
    let statement: Statement = """
      SELECT l.by, ceil(extract(epoch FROM l.until - clock_timestamp()))::bigint
      FROM tender.lease l WHERE \("l", has: key)
      """
    guard let row = try? query([statement])[0].first, let by = row[0].text else { return nil }
    guard let left = row[1].integer, left > 0 else { return nil }
    return "\(by), for another \(left) s at most"
      + (wasSetBack ? " (the clock of the journal's server was set back)" : "")
  }

  /// Returns whether this state folder was ever used with a shared journal.
  package static func wasUsed(in folder: String) -> Bool {
    Environment.exists(folder + machineFile)
  }

  private static let machineFile = "/journal.machine"

  /// Returns a name for this machine and folder that no copy of the folder has; empty if there is none yet.
  static func station(in folder: String, makes: Bool) throws(Fault) -> String {
    let path = folder + machineFile
    if !Environment.exists(path) {
      guard makes else { return "" }
      try PlainFile.make(path, Array(Checksum.random().utf8))
    }
    guard let bytes = PlainFile.read(path, limit: 256), !bytes.isEmpty,
      let identity = PlainFile.identity(at: path)
    else { throw .unusable(path, "it is no name of a machine") }
    return Checksum.of([
      .text(String(decoding: bytes, as: UTF8.self)), .text(Environment.machine),
      .text(identity.text),
    ])
  }

  // MARK: Requests to stop

  package func setStop(_ key: ReferenceKey, isRequested: Bool) throws(Fault) {
    // Taking the lock read the request to stop as well.
    if !isRequested, let known = stops[key], !known.isAsked { return }
    stops[key] = nil
    let row = [key.reference.text, key.provider.text, key.env.rawValue]
    _ = try query([
      isRequested
        ? "INSERT INTO tender.stop (reference, provider, env) VALUES (\(each: row)) ON CONFLICT DO NOTHING"
        : "DELETE FROM tender.stop s WHERE \("s", has: key)"
    ])
  }

  private static func wish(_ key: ReferenceKey) -> Statement {
    "SELECT 1 FROM tender.stop s WHERE \("s", has: key)"
  }

  /// The time for which the last answer about a request to stop is valid, in milliseconds.
  private static let stopInterval = 1000

  package func isStopRequested(_ key: ReferenceKey) -> Bool {
    if let known = stops[key], known.isAsked || clock.uptime - known.at < Self.stopInterval {
      return known.isAsked
    }
    let answer = try? ask([Self.wish(key)], by: Deadline(in: 2000, on: clock))
    let isAsked = answer.map { !$0[0].isEmpty } ?? false
    stops[key] = (isAsked, clock.uptime)
    return isAsked
  }
}
