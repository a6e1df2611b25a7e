import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel

/// The statements of every write: what depends on the fence stands in one statement with it.
extension SharedJournal {
  func importing(_ write: Write, _ lines: [HistoryEntry]) -> Statement {
    var statement = Statement("WITH ")
    statement.add("held AS (\(held(write, &statement))), \(made(write, &statement))")
    let by = lines.map { $0.by ?? "" }
    let lists = [
      statement.bind(Array(1...lines.count)), statement.bind(lines.map(\.at)),
      statement.bind(lines.map(\.phase)), statement.bind(lines.map(\.status)),
      statement.bind(lines.map(\.note)), statement.bind(by),
    ]
    statement.add(
      ", line AS (INSERT INTO tender.history (attempt, number, at, phase, status, note, by, sum) "
        + "SELECT made.row, l.number, l.at, l.phase, l.status, l.note, l.by, "
        + "CASE WHEN l.number = \(statement.bind(lines.count)) "
        + "THEN \(statement.bind(write.sum)) END FROM made, "
        + "unnest(\(lists.joined(separator: ", "))) AS l (number, at, phase, status, note, by))"
    )
    addTerms(SearchTerm.all(of: write.attempt), write, from: "made", &statement)
    addPreparation(nil, write, from: "made", &statement)
    statement.add(" SELECT row FROM made")
    return statement
  }

  /// The part of a statement that gives a row only where the reference is this process's.
  private func held(_ write: Write, _ statement: inout Statement) -> String {
    let until = "clock_timestamp() + \(statement.bind(write.lends)) * interval '1 millisecond'"
    if let lease = write.lease {
      let key = Self.condition(write.key, "l", &statement)
      return "UPDATE tender.lease l SET until = \(until) WHERE \(key)"
        + Self.fence(lease, &statement) + " RETURNING 1"
    }
    let values = [
      statement.bind(write.key.env.rawValue), statement.bind(write.key.provider.text),
      statement.bind(write.key.reference.text), statement.bind(machine + "/alone"),
      statement.bind(machine), statement.bind(settings.by),
    ]
    return """
      INSERT INTO tender.lease AS l
        (env, provider, reference, holder, machine, by, fence, until)
      VALUES (\(values.joined(separator: ", ")), 1, \(until))
      ON CONFLICT (reference, provider, env) DO UPDATE
      SET holder = excluded.holder, machine = excluded.machine, by = excluded.by,
        fence = l.fence + 1, until = excluded.until
      WHERE l.until <= clock_timestamp()\(write.isLocked ? " OR l.machine = excluded.machine" : "")
      RETURNING 1
      """
  }

  func inserting(_ write: Write) -> Statement {
    inserting(write) { statement in held(write, &statement) }
  }

  /// Writes the first attempt at a reference that was taken just before, where there is none.
  func opening(_ write: Write, _ holder: String) -> Statement {
    inserting(write) { statement in
      "SELECT 1 FROM tender.lease l WHERE " + Self.condition(write.key, "l", &statement)
        + " AND l.holder = \(statement.bind(holder)) AND NOT EXISTS "
        + "(SELECT 1 FROM tender.attempt a WHERE "
        + Self.condition(write.key, "a", &statement) + ")"
    }
  }

  private func inserting(_ write: Write, held: (inout Statement) -> String) -> Statement {
    var statement = Statement("WITH ")
    statement.add("held AS (\(held(&statement))), ")
    statement.add(made(write, &statement))
    addLine(write, from: "made", &statement)
    addTerms(SearchTerm.all(of: write.attempt), write, from: "made", &statement)
    addPreparation(nil, write, from: "made", &statement)
    statement.add(" SELECT row FROM made")
    return statement
  }

  private func made(_ write: Write, _ statement: inout Statement) -> String {
    let values = Self.bind(write.values, &statement)
    return "made AS (INSERT INTO tender.attempt (\(AttemptRow.columns.joined(separator: ", ")), "
      + "sum, by, machine) SELECT \(values.joined(separator: ", ")), "
      + "\(statement.bind(write.sum)), \(statement.bind(write.by)), "
      + "\(statement.bind(station)) FROM held RETURNING row)"
  }

  func updating(_ write: Write, _ terms: Set<String>, _ before: Known?) -> Statement {
    var statement = Statement("WITH ")
    statement.add("held AS (\(held(write, &statement))), ")
    let values = Self.bind(write.values, &statement)
    let changes = zip(AttemptRow.columns, values).map { "\($0) = \($1)" }
    statement.add("changed AS (UPDATE tender.attempt a SET \(changes.joined(separator: ", ")), ")
    statement.add(
      "sum = \(statement.bind(write.sum)), by = \(statement.bind(write.by)), "
        + "machine = \(statement.bind(station)), written = clock_timestamp() FROM held "
        + "WHERE a.row = \(statement.bind(write.attempt.row)) "
        + "AND a.reference = \(statement.bind(write.key.reference.text)) "
        + "AND a.version = \(statement.bind(write.attempt.version - 1)) RETURNING a.row)"
    )
    addLine(write, from: "changed", &statement)
    let gone = (before?.terms ?? []).subtracting(terms)
    if !gone.isEmpty {
      statement.add(
        ", gone AS (DELETE FROM tender.term t USING changed WHERE t.attempt = changed.row "
          + "AND t.created = \(statement.bind(write.attempt.createdAt)) "
          + "AND t.text = ANY (\(statement.bind(gone.sorted()))))"
      )
    }
    addTerms(terms.subtracting(before?.terms ?? []), write, from: "changed", &statement)
    addPreparation(before?.stored, write, from: "changed", &statement)
    statement.add(" SELECT count(*) FROM changed")
    return statement
  }

  private static func bind(
    _ values: [Database.Value],
    _ statement: inout Statement
  ) -> [String] {
    zip(AttemptRow.columns, values).map { column, value in
      statement.bind(value, AttemptRow.numbers.contains(column) ? .bigint : .text)
    }
  }

  private func addLine(_ write: Write, from: String, _ statement: inout Statement) {
    let values = [
      statement.bind(write.attempt.version), statement.bind(write.attempt.updatedAt),
      statement.bind(write.attempt.phase.rawValue),
      statement.bind(write.attempt.shownStatus.rawValue), statement.bind(write.note),
      statement.bind(write.by), statement.bind(write.sum),
    ]
    statement.add(
      ", line AS (INSERT INTO tender.history (attempt, number, at, phase, status, note, by, sum) "
        + "SELECT row, \(values.joined(separator: ", ")) FROM \(from))"
    )
  }

  private func addTerms(
    _ terms: Set<String>,
    _ write: Write,
    from: String,
    _ statement: inout Statement
  ) {
    guard !terms.isEmpty else { return }
    let list = statement.bind(terms.sorted())
    let created = statement.bind(write.attempt.createdAt)
    statement.add(
      ", terms AS (INSERT INTO tender.term (text, created, attempt) "
        + "SELECT t, \(created), row FROM \(from), unnest(\(list)) t ON CONFLICT DO NOTHING)"
    )
  }

  private func addPreparation(
    _ before: String?,
    _ write: Write,
    from: String,
    _ statement: inout Statement
  ) {
    guard before != write.stored else { return }
    guard let stored = write.stored else {
      statement.add(
        ", prepared AS (DELETE FROM tender.preparation p USING \(from) WHERE p.row = \(from).row)"
      )
      return
    }
    statement.add(
      ", prepared AS (INSERT INTO tender.preparation (row, text) "
        + "SELECT row, \(statement.bind(stored)) FROM \(from) "
        + "ON CONFLICT (row) DO UPDATE SET text = excluded.text)"
    )
  }
}
