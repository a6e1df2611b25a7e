package import TenderEngine
package import TenderModel
import TenderSystem

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A reference that is lent to one process at a time, by a row that says to whom and until when.
extension SharedJournal {
  /// One taking of a reference.
  struct Lease {
    let holder: String
    let fence: Int
    /// Whether it was given back with the last outcome.
    var isOver = false
  }

  /// A held lock; letting it go gives the reference back.
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
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    try lock(key, opening: nil, by: deadline, interruption)
  }

  package func lock(
    opening payment: Payment,
    _ terms: OpeningTerms,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    try lock(payment.key, opening: try opening(payment, terms), by: deadline, interruption)
  }

  private func lock(
    _ key: ReferenceKey,
    opening write: Write?,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    // Processes of this machine exclude each other by a lock of its kernel, which ends with them.
    guard
      let local = try locks.take(key.description, by: deadline, interruption: interruption)
    else { return nil }
    try deliver(holding: key)
    // Where an outcome still waits, there is a payment already, or there should be.
    let write = waiting[key] == nil ? write : nil
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

  package func lockDevice(
    _ address: String,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any ReferenceLock)? {
    try locks.take("device/\(address)", by: deadline, interruption: interruption)
  }

  /// Takes a reference that is free, whose time is over, or that a process of this machine left behind; nil where
  /// another has it.
  ///
  /// Reads its payment in the same round trip, and opens it where there is none.
  private func take(_ key: ReferenceKey, opening write: Write?) throws(Fault) -> Lease? {
    let holder = machine + "/" + Checksum.random()
    let lending = taking(
      key,
      holder: holder,
      for: leaseTime,
      where: "l.until <= clock_timestamp() OR l.machine = excluded.machine"
    )
    // A new statement sees what was committed while the one before it waited.
    var statements = write.map(locks) ?? []
    let first = statements.count
    statements += [lending, select(key), Self.wish(key)]
    if let write { statements.append(opening(write, holder)) }
    let answers = try asked(statements)[first...].map(\.self)
    guard let fence = answers[0].first?[0].integer else { return nil }
    let lease = Lease(holder: holder, fence: fence)
    leases[key] = lease
    stops[key] = (!answers[2].isEmpty, clock.uptime)
    let payment = try payment(answers[1].first)
    raiseMarkToSeen()
    fresh = (key, payment)
    opened = nil
    if let outcome = waiting[key], outcome.standing(in: payment) == .forgot {
      giveBack(key, lease)
      throw .forgotten(key.reference, aside.path)
    }
    do throws(Fault) {
      try checkWhole()
    } catch {
      giveBack(key, lease)
      throw error
    }
    guard let write else { return lease }
    if let row = answers[3].first?[0].integer {
      opened = (write, row)
    } else if let payment, let row = answers[1].first, !payment.isElsewhere,
      Found(row).row.text("sum") == write.sum
    {
      // An answer was lost, and this is what was opened then.
      opened = (write, payment.row)
      fresh = (key, nil)
    }
    return lease
  }

  /// The longest time that a lease can have left on a server whose clock goes on, in milliseconds: another machine may
  /// wait for its provider for longer than this one.
  private var longestLease: Int { max(600_000, 2 * leaseTime) }

  /// Ends a lease sooner that the server's clock, which was set back meanwhile, would let last for the whole step.
  ///
  /// Its holder may still be at work: it has the longest time that it can have asked for from now on.
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

  /// Asks what comes before anything is sent: here alone a stop says that nothing was.
  ///
  /// The fault of a later write is the journal's, since a request may have left by then.
  private func asked(_ statements: [Statement]) throws(Fault) -> [Rows] {
    do throws(PostgresConnection.Failure) {
      return try ask(statements, by: deadline())
    } catch {
      guard error.isStopped, let kind = interruption.kind else { throw fault(error) }
      throw .stopped(by: kind, underWay: "the journal's server had not answered; nothing was sent")
    }
  }

  /// Gives a reference back, unless that was done with its last outcome; where it cannot, its time ends.
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
    return "\(by), who has it for another \(left) s at most"
      + (wasSetBack ? " (the clock of the journal's server was set back)" : "")
  }

  /// Whether a shared journal was ever written to from a state folder.
  package static func wasUsed(in folder: String) -> Bool {
    PlainFile.exists(folder + machineFile)
  }

  private static let machineFile = "/journal.machine"

  /// This machine and this folder, in a name that no copy of the folder has; empty where it has none yet.
  static func station(in folder: String, makes: Bool) throws(Fault) -> String {
    let path = folder + machineFile
    if !PlainFile.exists(path) {
      guard makes else { return "" }
      let draft = path + "-" + Checksum.random()
      defer { PlainFile.remove(draft) }
      try PlainFile.write(Array(Checksum.random().utf8), to: draft)
      PlainFile.link(draft, as: path)
    }
    guard let bytes = PlainFile.read(path, limit: 256), !bytes.isEmpty,
      let identity = PlainFile.identity(at: path)
    else { throw .unusable(path, "it is no name of a machine") }
    var name = [CChar](repeating: 0, count: 256)
    _ = unsafe gethostname(&name, name.count - 1)
    let host = String(
      decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
      as: UTF8.self
    )
    return Checksum.of([
      .text(String(decoding: bytes, as: UTF8.self)), .text(host), .text(identity.text),
    ])
  }

  // MARK: A wish to stop

  package func requestStop(_ key: ReferenceKey) throws(Fault) {
    _ = try query([
      """
      INSERT INTO tender.stop (reference, provider, env)
      VALUES (\(key.reference.text), \(key.provider.text), \(key.env.rawValue)) ON CONFLICT DO NOTHING
      """
    ])
    stops[key] = nil
  }

  private static func wish(_ key: ReferenceKey) -> Statement {
    "SELECT 1 FROM tender.stop s WHERE \("s", has: key)"
  }

  /// How long an answer about a wish to stop counts, in milliseconds.
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

  package func forgetStop(_ key: ReferenceKey) {
    // The lock was taken together with a look at it.
    if let known = stops[key], !known.isAsked { return }
    _ = try? query(["DELETE FROM tender.stop s WHERE \("s", has: key)"])
    stops[key] = nil
  }
}

extension Fault {
  /// A database that was put back to an earlier time, and an outcome that is known on this machine.
  fileprivate static func forgotten(_ reference: Reference, _ path: String) -> Fault {
    Fault(
      .state,
      code: "journal_forgot",
      "the database does not have the payment \(reference.quotedForMessage) whose result lies in \(path)",
      hint: "it was put back to an earlier time; see: tender help journal"
    )
  }
}
