import TenderDatabase
package import TenderEngine
import TenderJournal
package import TenderModel

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

  /// What came of trying to take one.
  private enum Taking {
    case taken(Lease)
    case held
  }

  /// A held lock; letting it go gives the reference back.
  private final class Held: AttemptLock {
    let journal: SharedJournal
    let key: ReferenceKey
    let lease: Lease
    let local: any AttemptLock

    init(_ journal: SharedJournal, _ key: ReferenceKey, _ lease: Lease, _ local: any AttemptLock) {
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
  ) throws(Fault) -> (any AttemptLock)? {
    try lock(key, opening: nil, by: deadline, interruption)
  }

  package func lock(
    opening attempt: Attempt,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    let write = try opening(attempt)
    return try lock(write.key, opening: write, by: deadline, interruption)
  }

  private func lock(
    _ key: ReferenceKey,
    opening write: Write?,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    // Processes of this machine exclude each other by a lock of its kernel, which ends with them.
    guard let local = try lockHere(key, by: deadline, interruption) else { return nil }
    try deliver(holding: key)
    // Where an outcome still waits, there is an attempt already, or there should be.
    let write = waiting.values.contains { $0.key == key } ? nil : write
    while true {
      if case .taken(let lease) = try take(key, opening: write) {
        return Held(self, key, lease, local)
      }
      guard deadline.remaining > 0 else { return nil }
      try interruption.check()
      try clock.pause(milliseconds: min(200, deadline.remaining))
    }
  }

  package func lockDevice(
    _ address: String,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    try locks.take("device/\(address)", by: deadline, interruption: interruption)
  }

  func lockHere(
    _ key: ReferenceKey,
    by deadline: Deadline,
    _ interruption: any Interruption
  ) throws(Fault) -> (any AttemptLock)? {
    try locks.take(
      "\(key.env.rawValue)/\(key.provider.text)/\(key.reference)",
      by: deadline,
      interruption: interruption
    )
  }

  /// Takes a reference where nobody has it, where its time is over, or where who had it was of this machine and
  /// is gone; reads its latest attempt in the same round trip, and opens the first where there is none.
  private func take(_ key: ReferenceKey, opening write: Write?) throws(Fault) -> Taking {
    let holder = machine + "/" + Self.random()
    var taking = Statement("INSERT INTO tender.lease AS l ")
    let values = [
      taking.bind(key.env.rawValue), taking.bind(key.provider.text),
      taking.bind(key.reference.text), taking.bind(holder), taking.bind(machine),
      taking.bind(settings.by),
    ]
    let until = "clock_timestamp() + \(taking.bind(leaseTime)) * interval '1 millisecond'"
    taking.add(
      """
      (env, provider, reference, holder, machine, by, fence, until)
      VALUES (\(values.joined(separator: ", ")), 1, \(until))
      ON CONFLICT (reference, provider, env) DO UPDATE
      SET holder = excluded.holder, machine = excluded.machine, by = excluded.by,
        fence = l.fence + 1, until = excluded.until
      WHERE l.until <= clock_timestamp() OR l.machine = excluded.machine
      RETURNING fence
      """
    )
    var asked = Statement("SELECT 1 FROM tender.stop s WHERE ")
    asked.add(Self.condition(key, "s", &asked))
    // A new statement sees what was committed while the one before it waited.
    var statements = [taking, Self.latest(key), Self.preparation(of: key), asked]
    if let write { statements.append(opening(write, holder)) }
    let answers = try query(statements)
    guard let fence = answers[0].first?[0].integer else { return .held }
    let lease = Lease(holder: holder, fence: fence)
    leases[key] = lease
    stops[key] = (!answers[3].isEmpty, clock.uptime)
    let latest = try attempt(answers[1].first, answers[2].first)
    fresh = (key, latest)
    opened = nil
    let isForgotten = waiting.values.contains { known in
      known.key == key && known.number >= latest?.number ?? 0
        && latest.map { !known.isSameTry(as: $0) } ?? true
    }
    if isForgotten {
      giveBack(key, lease)
      throw .forgotten(key.reference, aside.path)
    }
    guard let write else { return .taken(lease) }
    if let row = answers[4].first?[0].integer {
      opened = (write, row)
    } else if let latest, let row = answers[1].first, row[row.count - 4].text == write.sum,
      !latest.isElsewhere
    {
      // An answer was lost, and this is what was opened then.
      opened = (write, latest.row)
      fresh = (key, nil)
    }
    return .taken(lease)
  }

  /// Gives a reference back, unless that was done with its last outcome; where it cannot, its time ends.
  private func giveBack(_ key: ReferenceKey, _ lease: Lease) {
    if fresh?.key == key { fresh = nil }
    guard let current = leases[key], current.fence == lease.fence else { return }
    leases[key] = nil
    permit?.lend(nil)
    guard !current.isOver else { return }
    var statement = Statement("UPDATE tender.lease l SET until = clock_timestamp() WHERE ")
    statement.add(Self.condition(key, "l", &statement))
    statement.add(Self.fence(lease, &statement))
    _ = try? ask([statement], by: Deadline(in: 2000, on: clock), repeating: .never)
  }

  static func fence(_ lease: Lease, _ statement: inout Statement) -> String {
    " AND l.holder = \(statement.bind(lease.holder)) AND l.fence = \(statement.bind(lease.fence))"
  }

  package func worker(_ key: ReferenceKey) -> String? {
    var statement = Statement(
      """
      SELECT l.by, ceil(extract(epoch FROM l.until - clock_timestamp()))::bigint
      FROM tender.lease l WHERE 
      """
    )
    statement.add(Self.condition(key, "l", &statement))
    guard let row = try? query([statement])[0].first, let by = row[0].text else { return nil }
    guard let left = row[1].integer, left > 0 else { return nil }
    return "\(by), who has it for another \(left) s at most"
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
      let draft = path + "-" + random()
      defer { PlainFile.remove(draft) }
      try PlainFile.write(Array(random().utf8), to: draft)
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

  /// Sixteen random bytes in hexadecimal.
  static func random() -> String { Checksum.random() }

  // MARK: A wish to stop

  package func requestStop(_ key: ReferenceKey) throws(Fault) {
    var statement = Statement("INSERT INTO tender.stop (reference, provider, env) VALUES (")
    let values = [
      statement.bind(key.reference.text), statement.bind(key.provider.text),
      statement.bind(key.env.rawValue),
    ]
    statement.add(values.joined(separator: ", ") + ") ON CONFLICT DO NOTHING")
    _ = try query([statement])
    stops[key] = nil
  }

  /// How long an answer about a wish to stop counts, in milliseconds.
  private static let stopInterval = 1000

  package func isStopRequested(_ key: ReferenceKey) -> Bool {
    if let known = stops[key], known.isAsked || clock.uptime - known.at < Self.stopInterval {
      return known.isAsked
    }
    var statement = Statement("SELECT 1 FROM tender.stop s WHERE ")
    statement.add(Self.condition(key, "s", &statement))
    let answer = try? ask([statement], by: Deadline(in: 2000, on: clock))
    let isAsked = answer.map { !$0[0].isEmpty } ?? false
    stops[key] = (isAsked, clock.uptime)
    return isAsked
  }

  package func forgetStop(_ key: ReferenceKey) {
    // The lock was taken together with a look at it.
    if let known = stops[key], !known.isAsked { return }
    var statement = Statement("DELETE FROM tender.stop s WHERE ")
    statement.add(Self.condition(key, "s", &statement))
    _ = try? query([statement])
    stops[key] = nil
  }
}

extension Fault {
  /// A database that was put back to an earlier time, and an outcome that this machine knows.
  fileprivate static func forgotten(_ reference: Reference, _ path: String) -> Fault {
    Fault(
      .state,
      code: "journal_forgot",
      "the database does not have the attempt at \(reference.quotedForMessage) whose outcome lies in \(path)",
      hint: "it was put back to an earlier time; see: tender help journal"
    )
  }
}

extension Attempt {
  /// Whether two are one try at a reference, as it was at two times.
  func isSameTry(as other: Attempt) -> Bool {
    key == other.key && number == other.number && createdAt == other.createdAt
  }
}
