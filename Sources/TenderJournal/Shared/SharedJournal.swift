package import TenderEngine
package import TenderModel
import TenderSystem

/// The journal in PostgreSQL, which a fleet of machines shares.
///
/// Nothing of it lives in a session: no lock, no prepared statement, no setting. A reference is lent by a row
/// (`lease`), and every write of a payment names the fence of the taking that it belongs to.
package final class SharedJournal: Journal, @unchecked Sendable {
  // Unchecked: a journal is one thread's, as its connection is.

  /// What it needs to know.
  package struct Settings {
    package var address: PostgresAddress
    /// The folder of this machine's own files: locks, the spool.
    package var folder: String
    /// The folder of the mark; nil for the one that `folder` is in.
    package var markFolder: String?
    /// A file of root certificates; nil for what libpq takes by itself.
    package var roots: String?
    package var key: FleetKey?
    /// How long one request to a provider may take, in milliseconds.
    package var timeout = 30_000
    /// Whether nothing but look-ups is wanted.
    package var isReading = false
    /// The user and the machine, for the history: `USER@MACHINE`.
    package var by: String
    package var variable: (String) -> String? = { _ in nil }

    package init(address: PostgresAddress, folder: String, by: String) {
      (self.address, self.folder, self.by) = (address, folder, by)
    }
  }

  let settings: Settings
  let redactor: Redactor
  let clock: any Clock
  let interruption: any Interruption
  /// This machine and this state folder, in a name that no copy of the folder has.
  let station: String
  /// Whether the key is this machine's alone.
  let hasOwnKey: Bool
  /// The same, since this machine was started.
  let machine: String
  let aside: SetAside
  let locks: LockFile
  let mark: HighWaterMark
  /// What the mark says that the database lacks; nil once the operator has accepted that.
  var missing: HighWaterMark.Position?
  /// Whether requests go to others than the simulator in this process.
  var isOutside = false
  /// Until when a request that can move money may leave.
  private let sendWindow: SendWindow
  private var connection: PostgresConnection?
  private var isChecked = false
  /// Whether the database was waited for in vain: what comes next does not wait as long again.
  private var isAway = false
  /// This journal's own name, made with its tables.
  private(set) var name = ""
  /// What the database has of payments that are worked on, by row.
  var known: [Int: Known] = [:]
  /// The payment of a reference as its lock was taken; read once.
  var fresh: (key: ReferenceKey, payment: Payment?)?
  /// The payment that was opened as the lock was taken, and its row.
  var opened: (write: Write, row: Int)?
  var leases: [ReferenceKey: Lease] = [:]
  /// Whether a lease showed that the server's clock was set back.
  var wasSetBack = false
  /// The newest state of a payment that was read, and the mark that it makes.
  var seen: HighWaterMark.Position?
  /// Whether references are asked to be left alone, as far as was seen.
  var stops: [ReferenceKey: (isAsked: Bool, at: Int)] = [:]
  /// Outcomes that wait for the database.
  var waiting: [ReferenceKey: Spooled] = [:]
  var isDelivering = false
  var hasLookedForSpool = false

  /// What the database has of a payment besides what is in a `Payment`.
  struct Known {
    var createdAt: Int
    var terms: Set<String>
    /// The checksums of its operations, by sequence.
    var sums: [Int: String]
    /// The preparations as they are stored, by sequence; those that can be opened here with their content.
    var prepared: [Int: (text: String, preparation: Operation.Preparation?)]
    /// What this process wrote last, and when.
    var written: (payment: Row, operations: [Int: Row], at: Int)?
  }

  /// A journal that connects when it is first asked.
  ///
  /// Throws `state` where this machine's own files cannot be used.
  ///
  /// Without a key of the fleet what is secret is sealed under this machine's own (`journal.key`), which no
  /// other can open.
  package init(
    _ settings: Settings,
    redactor: Redactor,
    clock: any Clock,
    interruption: any Interruption = NeverInterrupted()
  ) throws(Fault) {
    var settings = settings
    hasOwnKey = settings.key == nil
    if settings.key == nil, !settings.isReading {
      let own = FingerprintKey(path: settings.folder + "/journal.key")
      var bytes = try own.bytes(making: Checksum.randomBytes(32))
      settings.key = FleetKey(consuming: &bytes)
    }
    self.settings = settings
    self.redactor = redactor
    self.clock = clock
    self.interruption = interruption
    locks = LockFile(path: settings.folder + "/journal.lock")
    aside = SetAside(path: settings.folder + "/journal.spool")
    sendWindow = SendWindow(clock: clock)
    mark = HighWaterMark(of: settings.folder, in: settings.markFolder, isShared: true)
    station = try Self.station(in: settings.folder, makes: !settings.isReading)
    machine = Checksum.of([.text(station), .text(clock.moment.boot)])
  }

  package var window: SendWindow? { sendWindow }

  /// How long a reference is lent for, in milliseconds: a request's own time, and what comes before it.
  var leaseTime: Int { settings.timeout + slack }

  /// How long it may take from the lease to the first byte of the request, in milliseconds.
  var slack: Int { min(10_000, max(1000, settings.timeout / 3)) }

  /// For how long one operation tries again while the database is away, in milliseconds.
  private var patience: Int {
    min(settings.isReading ? 5000 : 30_000, max(2000, settings.timeout))
  }

  func deadline() -> Deadline { Deadline(in: isAway ? min(patience, 1000) : patience, on: clock) }

  // MARK: Asking

  /// Runs statements as one transaction, with the tables' version checked before the first.
  ///
  /// Failures that pass are waited out. `isOnce` where what was sent may have been done when its answer did not come:
  /// the caller looks first. Throws `PostgresConnection.Failure`.
  func ask(
    _ statements: [Statement],
    by deadline: Deadline,
    isOnce: Bool = false
  ) throws(PostgresConnection.Failure) -> [Rows] {
    var pause = 20
    var wasUnconfirmed = false
    // A question that may take a moment only says nothing of how long the others may.
    let isPatient = deadline.remaining + 1000 > patience
    while true {
      do throws(PostgresConnection.Failure) {
        let connection = try connected(by: deadline)
        guard isChecked else {
          let marked = mark.read()
          var answers = try connection.run([check(marked)] + statements, by: deadline)
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
          isAway = false
          return answers
        }
        let answers = try connection.run(statements, by: deadline)
        isAway = false
        return answers
      } catch {
        if error.isOtherVersion { throw try otherVersion(by: deadline) }
        if error.isLost || connection?.isBroken == true || error.isReadOnly { disconnect() }
        let mayRepeat = (!isOnce || !error.isLost) && interruption.kind == nil
        // A look-up needs no server that takes writes.
        let isEnough = settings.isReading && error.isReadOnly
        guard error.isPassing, mayRepeat, !isEnough, deadline.remaining > pause else {
          isAway = isAway || isPatient && error.isPassing && deadline.remaining <= pause
          var failure = error
          failure.isStopped = error.isPassing && interruption.kind != nil
          failure.isUnconfirmed = failure.isUnconfirmed || wasUnconfirmed
          throw failure
        }
        wasUnconfirmed = wasUnconfirmed || error.isUnconfirmed
        // A lock may end meanwhile; what it is worth is asked of the database.
        try? clock.pause(milliseconds: pause)
        pause = min(500, pause * 2)
      }
    }
  }

  /// Gives version and name, until when it was accepted, and whether it has the event of a mark; where the version
  /// is another, the transaction ends with nothing done.
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
    return PostgresConnection.Failure(
      code: found > SharedSchema.version ? Self.newer : Self.older,
      text: "the tables are of version \(found)"
    )
  }

  /// Codes of our own, of a class that the server has not (SQLSTATE leaves it to applications).
  static let newer = "T0001"
  static let older = "T0002"

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

  /// Runs statements that change nothing, or nothing more where they are repeated.
  ///
  /// Throws `state`.
  func query(_ statements: [Statement]) throws(Fault) -> [Rows] {
    do throws(PostgresConnection.Failure) {
      return try ask(statements, by: deadline())
    } catch {
      throw fault(error)
    }
  }

  /// Asks the server for nothing but its tables' version.
  ///
  /// Throws `state`, with the cause `journalUnreachable` where there is none.
  package func reach() throws(Fault) { _ = try query([]) }

  /// A failure of the database in this program's words: nothing was sent to a provider.
  func fault(_ failure: PostgresConnection.Failure) -> Fault {
    let place = settings.address.masked
    let text = redactor.redact(failure.text)
    if failure.code == Self.newer {
      return Fault(
        .state,
        code: "journal_newer",
        "the journal in \(place) was made by a newer version of tender",
        hint: "use that version"
      )
    }
    if failure.isMissing || failure.code == Self.older {
      return Fault(
        .state,
        code: "journal_unmigrated",
        "the journal in \(place) has no tables of this version",
        hint: "make or upgrade them, as their owner: tender journal migrate"
      )
    }
    if failure.isUnconfirmed, !settings.isReading { return .unconfirmed }
    if failure.isDenied {
      return Fault(
        .state,
        code: "journal_denied",
        "the journal in \(place) does not let this user do that: \(text)",
        hint: "see: tender journal grants"
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
