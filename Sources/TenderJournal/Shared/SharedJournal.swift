package import TenderEngine
package import TenderModel
import TenderSystem

/// The journal in PostgreSQL, which a fleet of machines shares.
///
/// It depends on no session state: no lock and no setting. A prepared statement may be lost at any time. A row
/// (`lease`) leases a reference, and every write of a payment names the fence of its lease.
package final class SharedJournal: TableJournal, @unchecked Sendable {
  // Unchecked: one thread uses a journal and its connection.

  /// The settings of a shared journal.
  package struct Settings {
    package var address: PostgresAddress
    /// The folder of this machine's files: locks, keys and the machine's name.
    package var folder: String
    /// The folder of the mark; nil for the parent of `folder`.
    package var markFolder: String?
    /// A file of root certificates; nil for libpq's default.
    package var roots: String?
    package var key: JournalKey?
    /// The time limit of one request to a provider, in milliseconds.
    package var timeout = 30_000
    /// Whether only look-ups are needed.
    package var isReading = false
    /// Whether this machine's own files are used; a change of the tables needs none.
    package var usesFiles = true
    /// The user and machine in the history: `USER@MACHINE`.
    package var by: String
    package var variable: (String) -> String? = { _ in nil }

    package init(address: PostgresAddress, folder: String, by: String) {
      (self.address, self.folder, self.by) = (address, folder, by)
    }
  }

  let settings: Settings
  let selection: Selection
  package let redactor: Redactor
  let clock: any Clock
  let interruption: any Interruption
  /// A name for this machine and state folder that no copy of the folder has.
  let station: String
  /// Whether only this machine has the key.
  let hasOwnKey: Bool
  /// The same name, with the time when this machine was started.
  let machine: String
  let locks: LockFile
  let mark: HighWaterMark
  /// A position in the mark that the database lacks; nil once the operator has accepted it.
  var missing: HighWaterMark.Position?
  package private(set) var isOutside = false
  /// The time until which a request that can move money may be sent.
  private let sendWindow: SendWindow
  private var connection: PostgresConnection?
  /// Whether the tables' version was checked since the last lock was taken.
  var isChecked = false
  /// Whether a wait for the database failed. Later waits are shorter then.
  private var isAway = false
  /// The journal's name, created with its tables.
  private(set) var name = ""
  /// The database's state of payments in use, by row.
  var known: [Int: Stored] = [:]
  /// The payment of a reference when its lock was taken. It is used once.
  var fresh: (key: ReferenceKey, payment: Payment?)?
  /// The payment that was opened when the lock was taken, and its row.
  var opened: (write: LeasedWrite, row: Int)?
  var leases: [ReferenceKey: Lease] = [:]
  /// Whether a lease showed that the server's clock was set back.
  var wasSetBack = false
  /// The newest state that was read, as a mark.
  var seen: HighWaterMark.Position?
  /// The last known requests to stop, by reference.
  var stops: [ReferenceKey: (isAsked: Bool, at: Int)] = [:]

  /// Creates a journal that connects on first use.
  ///
  /// Throws `state` if this machine's files cannot be used. Without a key of the fleet, secrets are sealed
  /// with this machine's key (`journal.key`). Then no other machine can unseal them.
  package init(
    _ settings: Settings,
    redactor: Redactor,
    clock: any Clock,
    interruption: any Interruption = NeverInterrupted()
  ) throws(Fault) {
    var settings = settings
    hasOwnKey = settings.key == nil
    if settings.key == nil, !settings.isReading, settings.usesFiles {
      var bytes = try FingerprintKey.bytes(at: settings.folder + "/journal.key")
      settings.key = JournalKey(consuming: &bytes)
    }
    self.settings = settings
    selection = Self.selection(isReading: settings.isReading)
    self.redactor = redactor
    self.clock = clock
    self.interruption = interruption
    locks = LockFile(path: settings.folder + "/journal.lock")
    sendWindow = SendWindow(clock: clock)
    mark = HighWaterMark(of: settings.folder, in: settings.markFolder, isShared: true)
    let makesFiles = !settings.isReading && settings.usesFiles
    station = try Self.station(in: settings.folder, makes: makesFiles)
    machine = Checksum.of([.text(station), .text(clock.moment.boot)])
  }

  package var window: SendWindow? { sendWindow }

  package var by: String { settings.by }

  package var key: JournalKey? { settings.key }

  package func reachesOutside(_ env: Env) { isOutside = true }

  /// The length of a lease in milliseconds: the time limit of a request, and the time before it.
  var leaseTime: Int { settings.timeout + slack }

  /// The maximum time from the lease to the first byte of the request, in milliseconds.
  var slack: Int { min(10_000, max(1000, settings.timeout / 3)) }

  /// The time for which one operation retries while the database is unreachable, in milliseconds.
  private var patience: Int {
    min(settings.isReading ? 5000 : 30_000, max(2000, settings.timeout))
  }

  func deadline() -> Deadline { Deadline(in: isAway ? min(patience, 1000) : patience, on: clock) }

  // MARK: Queries

  /// Runs statements as one transaction. The first one checks the tables' version.
  ///
  /// Transient failures are retried. With `isOnce`, statements whose answer was lost are not sent again,
  /// because the caller looks first. Throws `PostgresConnection.Failure`.
  func ask(
    _ statements: [Statement],
    by deadline: Deadline,
    isOnce: Bool = false
  ) throws(PostgresConnection.Failure) -> [Rows] {
    var pause = 20
    var wasUnconfirmed = false
    // A failed query with a short deadline does not shorten other waits.
    let isPatient = deadline.remaining + 1000 > patience
    while true {
      do throws(PostgresConnection.Failure) {
        let connection = try connected(by: deadline)
        let marked = isChecked ? nil : mark.read()
        let first = isChecked ? [] : [check(marked)]
        var answers = try connection.run(first + statements, by: deadline)
        if !isChecked {
          guard let row = answers.removeFirst().first, row[0].integer == SharedSchema.version else {
            throw PostgresConnection.Failure(code: Self.older, text: "the tables have no version")
          }
          name = row[1].text ?? ""
          if let marked, marked.journal == name, marked.time > row[3].integer ?? 0,
            row[4].integer != 1
          {
            missing = marked
          }
          isChecked = true
        }
        isAway = false
        return answers
      } catch {
        // Tables of the first version lack what the check reads.
        if error.isOtherVersion || error.isMissing && !isChecked {
          throw try otherVersion(by: deadline)
        }
        if error.isLost || connection?.isBroken == true || error.isReadOnly { disconnect() }
        let mayRepeat = (!isOnce || !error.isLost) && interruption.kind == nil
        // A look-up does not need a server that accepts writes.
        let isEnough = settings.isReading && error.isReadOnly
        guard error.isPassing, mayRepeat, !isEnough, deadline.remaining > pause else {
          isAway = isAway || isPatient && error.isPassing && deadline.remaining <= pause
          var failure = error
          failure.isStopped = error.isPassing && interruption.kind != nil
          failure.isUnconfirmed = failure.isUnconfirmed || wasUnconfirmed
          throw failure
        }
        wasUnconfirmed = wasUnconfirmed || error.isUnconfirmed
        // A lease may expire during the pause. The database checks its fence.
        try? clock.pause(milliseconds: pause)
        pause = min(500, pause * 2)
      }
    }
  }

  /// Selects the version, the name, the time until which it was accepted, and whether it has a mark's event.
  ///
  /// If the version differs, the transaction ends without effect.
  private func check(_ marked: HighWaterMark.Position?) -> Statement {
    let parts = marked?.link.split(separator: ".") ?? []
    let numbers = parts.compactMap { Int($0) }
    return """
      SELECT max(version), max(name),
        1 / CASE WHEN max(version) = \(sql: SharedSchema.version) THEN 1 ELSE 0 END, max(accepted),
        (SELECT 1 FROM tender.event WHERE payment = \(numbers.first ?? 0)
          AND line = \(numbers.dropFirst().first ?? 0) AND sum = \(String(parts.last ?? "")))
      FROM tender.journal
      """
  }

  private func otherVersion(
    by deadline: Deadline
  ) throws(PostgresConnection.Failure) -> PostgresConnection.Failure {
    let rows = try connected(by: deadline)
      .run(["SELECT max(version) FROM tender.journal"], by: deadline)
    let found = rows[0].first?[0].integer ?? 0
    guard found >= SharedSchema.firstVersion else {
      return PostgresConnection.Failure(code: Self.ancient, text: "\(found)")
    }
    return PostgresConnection.Failure(
      code: found > SharedSchema.version ? Self.newer : Self.older,
      text: "the tables are of version \(found)"
    )
  }

  /// Our own codes, in a class that SQLSTATE leaves to applications.
  static let newer = "T0001"
  static let older = "T0002"
  /// Its text is the version of the tables, from before there were operations.
  static let ancient = "T0003"

  func connected(by deadline: Deadline) throws(PostgresConnection.Failure) -> PostgresConnection {
    if let connection { return connection }
    let options: [(keyword: String, value: String)]
    do throws(Fault) {
      options = try settings.address.options(
        roots: settings.roots,
        writes: !settings.isReading,
        seconds: max(2, deadline.remaining / 1000),
        settings.variable
      )
    } catch {
      throw PostgresConnection.Failure(code: PostgresConnection.Failure.here, text: error.message)
    }
    let made = try PostgresConnection(options, by: deadline, clock, interruption)
    connection = made
    return made
  }

  func disconnect() { connection = nil }

  /// Runs statements that change nothing, or that can be repeated.
  ///
  /// Throws `state`.
  func query(_ statements: [Statement]) throws(Fault) -> [Rows] {
    do throws(PostgresConnection.Failure) {
      return try ask(statements, by: deadline())
    } catch {
      throw fault(error)
    }
  }

  /// Checks the server and the tables' version.
  ///
  /// Throws `state`, with the cause `journalUnreachable` if there is no server.
  package func reach() throws(Fault) { _ = try query([]) }

  /// Returns the fault for a failure of the database. Nothing was sent to a provider.
  func fault(_ failure: PostgresConnection.Failure) -> Fault {
    let place = settings.address.masked
    let text = redactor.redact(failure.text, foreign: true)
    if failure.code == Self.newer {
      return .state(
        "journal_newer",
        "the journal in \(place) was made by a newer version of tender",
        "use that version"
      )
    }
    if failure.code == Self.ancient { return .older(place, version: Int(failure.text) ?? 0) }
    if failure.isMissing || failure.code == Self.older {
      return .state(
        "journal_unmigrated",
        "the journal in \(place) has no tables of this version",
        "make or upgrade them, as their owner: tender journal migrate"
      )
    }
    if failure.isUnconfirmed, !settings.isReading { return .unconfirmed }
    if failure.isDenied {
      return .state(
        "journal_denied",
        "the journal in \(place) does not let this user do that: \(text)",
        "see: tender journal grants"
      )
    }
    return Fault(
      .state,
      code: "journal_unreachable",
      cause: .journalUnreachable,
      "the journal in \(place) cannot be used: \(text)",
      hint:
        "nothing was sent; check the address, the database's name, the user's password (~/.pgpass), and "
        + "that the server runs"
    )
  }
}
