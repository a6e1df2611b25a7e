package import TenderEngine
package import TenderModel
import TenderSystem

/// Operators' work on a shared journal: verify, prune, accept, import.
extension SharedJournal {
  package func verify() throws(Fault) -> [String] {
    var problems: [String] = []
    var last = 0
    while problems.count < 100 {
      let next: Statement = """
        SELECT a.row FROM tender.payment a WHERE a.row > \(last) ORDER BY a.row LIMIT 1000
        """
      let answers = try query([
        "\(select("b.row IN (\(next))")) ORDER BY a.row",
        """
        SELECT h.payment, count(*), max(h.line), (array_agg(h.sum ORDER BY h.line DESC))[1]
        FROM tender.event h WHERE h.payment IN (\(next))
        GROUP BY h.payment
        """,
      ])
      var histories: [Int: [Database.Value]] = [:]
      for line in answers[1] { histories[line[0].integer ?? 0] = line }
      let page = selection.stored(answers[0])
      guard !page.isEmpty else { break }
      for found in page {
        let row = found.row.number("row") ?? .max
        last = max(last, row)
        if let problem = problem(of: found, histories[row]) {
          problems.append(problem(name(found.row)))
        }
      }
    }
    problems += try strayRows()
    if let loss = try loss() { problems.append(loss.fault.message) }
    return problems
  }

  /// Returns the problem of a payment as a text around its name.
  private func problem(
    of found: Stored,
    _ line: [Database.Value]?
  ) -> ((String) -> String)? {
    guard let payment = try? found.payment() else {
      return { "the row of \($0) cannot be read" }
    }
    guard PaymentRow.values(payment).changes(from: found.row).isEmpty else {
      return { "the row of \($0) does not match its operations" }
    }
    guard line?[1].integer == payment.version, line?[2].integer == payment.version else {
      return { "the history of \($0) has not the lines that were written" }
    }
    guard line?[3].text == found.row.text("sum") else {
      return { "the row of \($0) is not what its history says was written last" }
    }
    return nil
  }

  package func backUp(to path: String) throws(Fault) {
    throw Fault(
      .unsupported,
      code: "journal_unsupported",
      "the journal is on PostgreSQL: a copy is made there",
      hint: "pg_dump --schema=tender, or your server's own backups"
    )
  }

  // MARK: A database that was restored to an earlier time

  package func loss() throws(Fault) -> JournalLoss? {
    missing.map { (.forgot(settings.address.masked, $0.time), isOutside, true) }
  }

  package var markProblem: String? { mark.problem }

  /// Stores the last write on this machine: the event's place and the write's name, at its time.
  func raiseMark(_ write: LeasedWrite, _ row: Int) {
    var written = write.content.payment
    written.row = row
    mark.raise(to: position(of: written, write.name), latest: clock.now)
  }

  /// Stores the last event that was read. If a later database lacks it, it was restored.
  func raiseMarkToSeen() {
    // While something is missing, the mark is not replaced.
    guard let seen, missing == nil else { return }
    mark.raise(to: seen, latest: clock.now)
  }

  /// Returns the mark of the event of a payment's last write, by the write's name.
  ///
  /// An event in the future counts as written now. A clock that was ahead, here or on another machine, must
  /// not hide later events.
  func position(of payment: Payment, _ write: String) -> HighWaterMark.Position {
    let time = min(payment.updatedAt, clock.now)
    let link = "\(payment.row).\(payment.version).\(write)"
    return .init(journal: name, line: time, link: link, time: time, isReal: isOutside)
  }

  /// The server's time in milliseconds.
  private static let serverNow = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  /// This counts for all machines. Their marks of earlier times are ignored from now on.
  package func accept(reason: String, at time: Int) throws(Fault) {
    // The time is not after now, because later writes must not be accepted as lost.
    _ = try query([
      """
      WITH taken AS (
        UPDATE tender.journal SET accepted = greatest(accepted, \(sql: Self.serverNow))
      ) INSERT INTO tender.event (payment, line, at, operation, state, status, note, by)
      SELECT 0, coalesce(max(line), 0) + 1, \(time), '', '', '',
        \("accepted: " + redactor.redact(reason)), \(settings.by)
      FROM tender.event WHERE payment = 0
      """
    ])
    missing = nil
    mark.raise(to: HighWaterMark.Position(journal: name, isReal: isOutside), anew: true)
  }

  package func take(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    do throws(Fault) {
      return try takeOver(payment, history)
    } catch {
      // Another process wrote the same payment.
      guard error.cause == .changedMeanwhile else { throw error }
      return try takeOver(payment, history)
    }
  }

  private func takeOver(_ payment: Payment, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    guard let taken = try merged(payment) else { return false }
    let write = LeasedWrite(try write(importing: taken, history, over: known[taken.row]))
    guard try perform(write) != nil else { throw try reason(for: write) }
    known[taken.row] = nil
    return true
  }

  // MARK: Pruning

  /// The number of payments deleted in one statement. Other processes write in between.
  private static let slice = 200

  package func prune(_ filter: PaymentFilter) throws(Fault) -> Int {
    // Without a time, no payment is unneeded.
    guard filter.unneededBefore != nil else { return 0 }
    let columns = Columns([
      ("row", .number), ("env", .text), ("provider", .text), ("reference", .text),
    ])
    var count = 0
    while true {
      var named: [JSON] = []
      let slice = try rows(
        """
        SELECT \(sql: columns.names.list("a")) FROM tender.payment a WHERE a.row IN (
          SELECT row FROM (\(Self.search(filter).statement)) found LIMIT \(sql: Self.slice)
        )
        """
      )
      for values in slice {
        var hash: String?
        if let key = Row(columns, read: values)?.key { hash = try print(of: key) }
        named.append(["row": values[0].json, "print": hash?.json ?? .null])
      }
      let gone = try named.isEmpty ? 0 : forget(named, filter)
      count += gone
      guard gone > 0 else { return count }
    }
  }

  /// Deletes payments that may still be deleted, and records the hashes of their references. Returns their number.
  private func forget(_ rows: [JSON], _ filter: PaymentFilter) throws(Fault) -> Int {
    // A mark of a deleted payment is no longer compared.
    let pruned: Statement = """
      UPDATE tender.journal
      SET accepted = greatest(accepted, least(\(filter.unneededBefore ?? 0), \(sql: Self.serverNow)))
      """
    var statement: Statement = """
      WITH going AS (\(Self.search(filter).statement)), named AS (
        SELECT r.* FROM json_to_recordset(\(json: rows)) r (row bigint, print text)
      ), gone AS (
        DELETE FROM tender.payment a USING going g, named n
        WHERE g.row = a.row AND n.row = a.row AND a.updated < \(filter.unneededBefore ?? 0)
        RETURNING a.row, a.reference, a.provider, a.env, n.print
      ), prints AS (
        INSERT INTO tender.pruned (print) SELECT print FROM gone WHERE print IS NOT NULL
        ON CONFLICT DO NOTHING
      ), leases AS (
        DELETE FROM tender.lease l USING gone g
        WHERE l.reference = g.reference AND l.provider = g.provider AND l.env = g.env
          AND l.until <= clock_timestamp()
      )
      """
    for table in ["operation", "observation", "event", "preparation", "term", "claim"] {
      statement += """
        , \(sql: table)s AS (
          DELETE FROM tender.\(sql: table) t USING gone WHERE t.payment = gone.row
        )
        """
    }
    statement += " SELECT count(*) FROM gone"
    return try query([statement, pruned])[0].first?[0].integer ?? 0
  }

  // MARK: Facts for `doctor`

  /// A server's own data.
  package struct Facts: Sendable {
    package let place: String
    package let server: String
    package let usesTLS: Bool
    /// The verification of its certificate, as libpq names it.
    package let sslMode: String
    package let isStandby: Bool
    /// The milliseconds by which this machine's clock is ahead of the server's, plus or minus `precision`.
    package let skew: Int
    package let precision: Int
    package let synchronousCommit: String
    package let standbys: String
    /// The number of standbys that confirm now; nil if this user may not see it.
    package let replicas: Int?
    /// The rights that this user lacks to make payments.
    package let missing: [String]
    package let payments: Int
    /// Missing parts, and reasons why their loss would not be noticed.
    package let notes: [String]

    /// Whether this user has any right to write.
    package let mayWrite: Bool
    package var isLoopback: Bool { PostgresAddress.isLoopback(place) }
  }

  /// Reads a server's data. `now` is this machine's clock in milliseconds since 1970.
  package func facts() throws(Fault) -> Facts {
    let appends = ["SELECT", "INSERT"]
    let changes = appends + ["UPDATE"]
    let rights: [(table: String, right: String)] = [
      ("journal", ["SELECT"]), ("payment", changes), ("operation", changes), ("lease", changes),
      ("event", appends), ("observation", appends), ("preparation", changes + ["DELETE"]),
      ("term", appends + ["DELETE"]), ("stop", appends + ["DELETE"]),
      ("claim", changes + ["DELETE"]), ("pruned", ["SELECT"]),
    ]
    .flatMap { table, rights in rights.map { (table, $0) } }
    let asked = rights.map { right -> String in
      // UPDATE is granted for some columns only; DELETE applies to whole rows.
      let kind = right.right == "DELETE" ? "table" : "any_column"
      let has = "has_\(kind)_privilege('tender.\(right.table)', '\(right.right)')"
      return "CASE WHEN \(has) THEN 1 ELSE 0 END"
    }
    _ = try query(["SELECT 1"])
    let start = clock.now
    // The number of standbys is null if this user may not see it.
    let rows = try query([
      """
      SELECT \(sql: Self.serverNow), version(), current_setting('synchronous_commit'),
        current_setting('synchronous_standby_names'),
        CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END,
        (SELECT CASE WHEN count(*) = count(sync_state)
          THEN count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) END FROM pg_stat_replication)
      """, "SELECT \(sql: asked.list())", "SELECT count(*) FROM tender.payment",
    ])
    let took = clock.now - start
    let lost = try loss()?.fault.message
    do throws(PostgresConnection.Failure) {
      let connection = try connected(by: deadline())
      let row = rows[0].first ?? []
      let lacking = zip(rights, rows[1].first ?? []).filter { $1.integer != 1 }
      return Facts(
        place: connection.place,
        server: (row[1].text ?? "").split(separator: " ").prefix(2).joined(separator: " "),
        usesTLS: connection.usesTLS,
        sslMode: connection.options["sslmode"] ?? "",
        isStandby: row[4].integer == 1,
        skew: start + took / 2 - (row[0].integer ?? 0),
        precision: took / 2 + 1,
        synchronousCommit: row[2].text ?? "",
        standbys: row[3].text ?? "",
        replicas: row[5].integer,
        missing: lacking.map { "\($0.0.right) on tender.\($0.0.table)" },
        payments: rows[2].first?[0].integer ?? 0,
        notes: [
          lost,
          markProblem.map { "a loss of the journal will not be noticed: \($0)" },
        ].compactMap(\.self),
        mayWrite: zip(rights, rows[1].first ?? []).contains {
          $0.right != "SELECT" && $1.integer == 1
        }
      )
    } catch {
      throw fault(error)
    }
  }
}

extension Fault {
  /// The database lacks an event that this machine wrote.
  fileprivate static func forgot(_ place: String, _ time: Int) -> Fault {
    .state(
      "journal_forgot",
      "the journal in \(place) lacks what this machine wrote there on "
        + "\(Timestamp.text(Timestamp.clamped(time))): it was put back to an earlier time",
      "put the newest copy back, or look the missing payments up at the provider"
    ).then([.accept])
  }
}
