import TenderDatabase
package import TenderEngine
import TenderJournal
package import TenderModel

/// What an operator does with a shared journal: make its tables, check it, take another over.
extension SharedJournal {
  /// Makes the tables, or brings them up to this version; gives what it did, in words.
  ///
  /// Throws `state` (`journal_newer`) where they are of a newer version.
  package func migrate() throws(Fault) -> String {
    let deadline = deadline()
    do throws(PostgresConnection.Failure) {
      let found: Int
      do throws(PostgresConnection.Failure) {
        let connection = try connected(by: deadline)
        let rows = try connection.run(
          [Statement("SELECT version FROM tender.journal")],
          by: deadline
        )[0]
        found = rows.first?[0].integer ?? 0
      } catch {
        guard error.isMissing else { throw error }
        found = 0
      }
      guard found <= SharedSchema.version else {
        throw PostgresConnection.Failure(code: Self.newer, text: "version \(found)")
      }
      guard found < SharedSchema.version else {
        return "the tables are of version \(found), which is this one's: nothing to do"
      }
      var statements = [Statement("CREATE SCHEMA IF NOT EXISTS tender")]
      for step in SharedSchema.steps[found...] { statements += step.map { Statement($0) } }
      var last = Statement("INSERT INTO tender.journal AS j (one, version, name) VALUES (1, ")
      last.add("\(last.bind(SharedSchema.version)), \(last.bind(Self.random()))) ")
      last.add("ON CONFLICT (one) DO UPDATE SET version = excluded.version")
      // Two who migrate at once: one of them finds the tables made, and changes nothing.
      _ = try connected(by: deadline).run(statements + [last], by: deadline)
      return found == 0
        ? "the tables were made, version \(SharedSchema.version)"
        : "the tables were brought from version \(found) to \(SharedSchema.version)"
    } catch {
      throw fault(error)
    }
  }

  /// The rights that each role needs, as SQL.
  package static var grants: String { SharedSchema.grants }

  package func verify() throws(Fault) -> [String] {
    var problems: [String] = []
    var last = 0
    while problems.count < 100 {
      var statement = Statement(Self.select + " WHERE a.row > ")
      statement.add(statement.bind(last) + " ORDER BY a.row LIMIT 1000")
      var lines = Statement(
        "SELECT h.attempt, count(*), max(h.number), "
          + "(array_agg(h.sum ORDER BY h.number DESC))[1] FROM tender.history h "
          + "WHERE h.attempt IN (SELECT a.row FROM tender.attempt a WHERE a.row > "
      )
      lines.add(lines.bind(last) + " ORDER BY a.row LIMIT 1000) GROUP BY h.attempt")
      let answers = try query([statement, lines])
      guard let newest = answers[0].last?[0].integer else { break }
      last = newest
      var histories: [Int: [Database.Value]] = [:]
      for line in answers[1] { histories[line[0].integer ?? 0] = line }
      for row in answers[0] {
        let name = redactor.redact(row[3].text ?? "").quotedForMessage
        do throws(Fault) {
          let found = try AttemptRow.attempt(Array(row.dropLast(3)) + [.null])
          let line = histories[found.row]
          if line?[1].integer != found.version || line?[2].integer != found.version {
            problems.append("the history of \(name) has not the lines that were written")
          } else if line?[3].text != row[row.count - 4].text {
            problems.append("the row of \(name) is not what its history says was written last")
          }
        } catch {
          problems.append("the row of \(name) does not match its checksum")
        }
      }
    }
    let orphans = Statement(
      "SELECT count(DISTINCT h.attempt) FROM tender.history h "
        + "WHERE NOT EXISTS (SELECT 1 FROM tender.attempt a WHERE a.row = h.attempt)"
    )
    if let count = try query([orphans])[0].first?[0].integer, count > 0 {
      problems.append("\(count) attempts of the history are missing")
    }
    return problems
  }

  package func backUp(to path: String) throws(Fault) {
    throw .ofServer("a copy of it is made", "pg_dump --schema=tender, or your server's own backups")
  }

  package func settleLoss(reason: String, at time: Int) throws(Fault) {
    throw .ofServer("whether it is whole is said", "see: tender help journal, Restore")
  }

  package func take(_ attempt: Attempt, _ history: [HistoryEntry]) throws(Fault) -> Bool {
    let key = attempt.key
    var there = Statement(Self.select + " WHERE ")
    there.add(Self.condition(key, "a", &there) + " AND a.number = ")
    there.add(there.bind(attempt.number))
    if let row = try query([there])[0].first {
      let found = try self.attempt(row)
      guard AttemptRow.isSame(found, attempt) else { throw .taken(attempt) }
      return false
    }
    return try write(attempt, history)
  }

  // MARK: What doctor asks

  /// What a server says of itself.
  package struct Facts: Sendable {
    package let place: String
    package let server: String
    package let usesTLS: Bool
    /// How its certificate is checked, in libpq's words.
    package let sslMode: String
    package let isStandby: Bool
    /// Milliseconds that this machine's clock is ahead of the server's, give or take `precision`.
    package let skew: Int
    package let precision: Int
    package let synchronousCommit: String
    package let standbys: String
    /// How many standbys confirm at the moment; nil where this user may not see that.
    package let replicas: Int?
    /// Rights that this user lacks for paying.
    package let missing: [String]
    package let attempts: Int

    /// Whether this user has any right to write.
    package let mayWrite: Bool
    /// Whether the server is on this machine, as far as its address says.
    package var isLoopback: Bool { PostgresAddress.isLoopback(place) }
  }

  /// Asks a server about itself; `now` is the machine's clock in milliseconds since 1970.
  package func facts() throws(Fault) -> Facts {
    let rights: [(table: String, right: String)] = [
      ("journal", "SELECT"), ("attempt", "SELECT"), ("attempt", "INSERT"), ("attempt", "UPDATE"),
      ("lease", "SELECT"), ("lease", "INSERT"), ("lease", "UPDATE"), ("history", "SELECT"),
      ("history", "INSERT"), ("preparation", "SELECT"), ("preparation", "INSERT"),
      ("preparation", "UPDATE"), ("preparation", "DELETE"), ("term", "SELECT"), ("term", "INSERT"),
      ("term", "DELETE"), ("stop", "SELECT"), ("stop", "INSERT"), ("stop", "DELETE"),
    ]
    let asked = rights.map { right in
      "CASE WHEN has_table_privilege('tender.\(right.table)', '\(right.right)') THEN 1 ELSE 0 END"
    }
    _ = try query([Statement("SELECT 1")])
    let start = clock.now
    let rows = try query([
      Statement(
        "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, version(), "
          + "current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), "
          + "CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END, "
          // Null where this user may not see how they stand.
          + "(SELECT CASE WHEN count(*) = count(sync_state) "
          + "THEN count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) END FROM pg_stat_replication)"
      ), Statement("SELECT " + asked.joined(separator: ", ")),
      Statement("SELECT count(*) FROM tender.attempt"),
    ])
    let took = clock.now - start
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
        attempts: rows[2].first?[0].integer ?? 0,
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
  /// What a server does and not this program.
  fileprivate static func ofServer(_ what: String, _ how: String) -> Fault {
    Fault(
      .unsupported,
      code: "journal_unsupported",
      "the journal is on PostgreSQL: \(what) there",
      hint: how
    )
  }
}
