import TenderDatabase
package import TenderEngine
import TenderJournal
package import TenderModel

/// Reading one attempt, and the latest at a reference.
extension SharedJournal {
  package func count() throws(Fault) -> Int {
    try query([Statement("SELECT count(*) FROM tender.attempt")])[0].first?.first?.integer ?? 0
  }

  package func latest(_ key: ReferenceKey) throws(Fault) -> Attempt? {
    if let fresh, fresh.key == key {
      self.fresh = nil
      return fresh.attempt
    }
    takeInSpool()
    guard !settings.isReading else {
      return try query([Self.latest(key)])[0].first.map { row throws(Fault) in try attempt(row) }
    }
    let answers = try query([Self.latest(key), Self.preparation(of: key)])
    return try attempt(answers[0].first, answers[1].first)
  }

  /// Looks once for outcomes of this machine that wait for the database: they count from here on.
  func takeInSpool() {
    guard !hasLookedForSpool else { return }
    hasLookedForSpool = true
    try? deliver()
  }

  package func attempts(
    matching handle: String,
    filter: AttemptFilter
  ) throws(Fault) -> [Attempt] {
    takeInSpool()
    var statement = Statement(Self.select)
    let mark = statement.bind(handle)
    statement.add(" WHERE (a.reference = \(mark) OR a.id = \(mark))")
    SharedCondition.add(filter, to: &statement)
    statement.add(" ORDER BY a.number DESC, a.created DESC, a.row DESC")
    return try query([statement])[0].map { row throws(Fault) in try attempt(row) }
  }

  package func history(of attempt: Attempt) throws(Fault) -> [HistoryEntry] {
    var statement = Statement("SELECT at, phase, status, note, by FROM tender.history ")
    statement.add("WHERE attempt = \(statement.bind(attempt.row)) ORDER BY number")
    return try query([statement])[0].map { row in
      HistoryEntry(
        at: row[0].integer ?? 0,
        phase: row[1].text ?? "",
        status: row[2].text ?? "",
        note: row[3].text ?? "",
        by: row[4].text.flatMap { $0.isEmpty ? nil : $0 }
      )
    }
  }

  static let select =
    "SELECT a.row, " + AttemptRow.columns.map { "a.\($0)" }.joined(separator: ", ")
    + ", a.sum, floor(extract(epoch FROM clock_timestamp() - a.written) * 1000)::bigint, a.by, a.machine "
    + "FROM tender.attempt a"

  static func latest(_ key: ReferenceKey) -> Statement {
    var statement = Statement(select + " WHERE ")
    statement.add(condition(key, "a", &statement) + " ORDER BY a.number DESC LIMIT 1")
    return statement
  }

  static func preparation(of key: ReferenceKey) -> Statement {
    var statement = Statement(
      "SELECT p.row, p.text FROM tender.preparation p WHERE p.row = "
        + "(SELECT a.row FROM tender.attempt a WHERE "
    )
    statement.add(condition(key, "a", &statement) + " ORDER BY a.number DESC LIMIT 1)")
    return statement
  }

  static func condition(
    _ key: ReferenceKey,
    _ table: String,
    _ statement: inout Statement
  ) -> String {
    let reference = statement.bind(key.reference.text)
    let provider = statement.bind(key.provider.text)
    let env = statement.bind(key.env.rawValue)
    return "\(table).reference = \(reference) AND \(table).provider = \(provider) "
      + "AND \(table).env = \(env)"
  }

  /// The attempt of a row, or what waits to be written there.
  func attempt(_ row: [Database.Value]) throws(Fault) -> Attempt {
    var found = try AttemptRow.attempt(Array(row.dropLast(3)) + [.null])
    found.writer = row[row.count - 2].text
    found.isElsewhere = row[row.count - 1].text.map { $0 != station } ?? false
    let moment = clock.moment
    if let sent = found.sentMoment, sent.boot != moment.boot, let age = row[row.count - 3].integer {
      // Another machine's clock says nothing here: it was written so long ago by the server's.
      let written = max(0, moment.milliseconds - max(0, age))
      found.writtenMoment = Moment(boot: moment.boot, milliseconds: written)
    }
    guard let later = waiting[found.row], later.version > found.version, later.isSameTry(as: found)
    else { return found }
    return later
  }

  /// The attempt of a row with its preparation, as one that will be written.
  func attempt(
    _ row: [Database.Value]?,
    _ preparation: [Database.Value]?
  ) throws(Fault) -> Attempt? {
    guard let row else { return nil }
    var found = try attempt(row)
    let stored = preparation?[0].integer == found.row ? preparation?[1].text : nil
    let opened = stored.flatMap(open)
    if waiting[found.row] == nil {
      found.preparation = opened
      found.isSealed = stored != nil && opened == nil
    }
    known[found.row] = Known(
      terms: SearchTerm.all(of: found),
      preparation: opened,
      stored: stored
    )
    return found
  }

  /// A preparation as it was before it was stored; nil where its key is not here.
  private func open(_ stored: String) -> Attempt.Preparation? {
    guard FleetKey.isSealed(stored) else { return Attempt.Preparation(stored: stored) }
    return settings.key?.open(stored).map(Attempt.Preparation.init(stored:))
  }
}

/// Going through many attempts: in pages, each a statement of its own, so that nothing stays open meanwhile.
extension SharedJournal {
  /// Attempts of one page: few at first, since most want the newest alone.
  private static let pages = (first: 60, further: 1000)

  package func each(_ filter: AttemptFilter, _ body: (Attempt) -> Bool) throws(Fault) {
    takeInSpool()
    var after: (created: Int, row: Int)?
    var size = Self.pages.first
    while true {
      let rows = try query([page(filter, after: after, size)])[0]
      for row in rows {
        let found = try attempt(row)
        after = (found.createdAt, found.row)
        guard !filter.lets(found) || body(found) else { return }
      }
      guard rows.count == size else { return }
      size = Self.pages.further
    }
  }

  /// The newest that a filter may let through, after those of the page before.
  private func page(
    _ filter: AttemptFilter,
    after: (created: Int, row: Int)?,
    _ size: Int
  ) -> Statement {
    var statement = Statement(Self.select)
    // An index of one term is in the order of time already: no other has to be sorted.
    if case .exactly(let term)? = filter.query {
      statement.add(" JOIN tender.term t ON t.attempt = a.row WHERE t.text = ")
      statement.add(statement.bind(term))
      addPlace("t.created", "t.attempt", after, &statement)
      SharedCondition.add(filter, to: &statement)
      statement.add(" ORDER BY t.created DESC, t.attempt DESC LIMIT \(size)")
      return statement
    }
    statement.add(" WHERE true")
    addPlace("a.created", "a.row", after, &statement)
    SharedCondition.add(filter, to: &statement)
    SharedCondition.addTerms(filter, to: &statement)
    statement.add(" ORDER BY a.created DESC, a.row DESC LIMIT \(size)")
    return statement
  }

  private func addPlace(
    _ created: String,
    _ row: String,
    _ after: (created: Int, row: Int)?,
    _ statement: inout Statement
  ) {
    guard let after else { return }
    statement.add(
      " AND (\(created), \(row)) < (\(statement.bind(after.created)), \(statement.bind(after.row)))"
    )
  }

  package func count(_ filter: AttemptFilter, upTo limit: Int) throws(Fault) -> Int {
    takeInSpool()
    guard filter.isOfColumns, waiting.isEmpty else { return try counted(filter, upTo: limit) }
    var statement = Statement("SELECT count(*) FROM (SELECT 1 FROM tender.attempt a WHERE true")
    SharedCondition.add(filter, to: &statement)
    statement.add(" LIMIT \(statement.bind(limit))) counted")
    return try query([statement])[0].first?[0].integer ?? 0
  }

  package func checkWhole() throws(Fault) {}

  package func reachesOutside() {}

  package func fingerprints(of content: JSONObject) throws(Fault) -> JSONObject {
    var prints: JSONObject = [:]
    for member in content.members where redactor.redact(member.value) != member.value {
      guard let key = settings.key else { throw .noFingerprints }
      var sum = Checksum()
      sum.add(member.key)
      sum.add(member.value.canonicalText)
      prints[member.key] = .string(sum.text(key: key.fingerprints))
    }
    return prints
  }

  // MARK: Forgetting

  package func prunable(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int {
    var statement = Statement("SELECT count(*) FROM (")
    addPrunable(before: time, filter, &statement)
    statement.add(") going")
    return try query([statement])[0].first?[0].integer ?? 0
  }

  /// References forgotten in one statement, whole; others write in between.
  private static let slice = 200

  package func prune(before time: Int, _ filter: AttemptFilter) throws(Fault) -> Int {
    var count = 0
    while true {
      var statement = Statement("WITH going AS (")
      addPrunable(before: time, filter, &statement)
      statement.add(
        """
        ), slice AS (
          SELECT DISTINCT g.reference, g.provider, g.env FROM going g LIMIT \(Self.slice)
        ), gone AS (
          DELETE FROM tender.attempt a USING slice s, going g
          WHERE a.reference = s.reference AND a.provider = s.provider AND a.env = s.env
            AND g.row = a.row RETURNING a.row
        ), lines AS (DELETE FROM tender.history h USING gone WHERE h.attempt = gone.row),
        terms AS (DELETE FROM tender.term t USING gone WHERE t.attempt = gone.row),
        prepared AS (DELETE FROM tender.preparation p USING gone WHERE p.row = gone.row),
        leases AS (
          DELETE FROM tender.lease l USING slice s
          WHERE l.reference = s.reference AND l.provider = s.provider AND l.env = s.env
            AND l.until <= clock_timestamp()
        )
        SELECT count(*) FROM gone
        """
      )
      let gone = try query([statement])[0].first?[0].integer ?? 0
      count += gone
      guard gone > 0 else { return count }
    }
  }

  /// The attempts whose references may go: those of `Journal.prune`, that nobody has at the moment.
  private func addPrunable(
    before time: Int,
    _ filter: AttemptFilter,
    _ statement: inout Statement
  ) {
    let unfinished = Status.allCases.filter { !$0.isFinal }.map { "'\($0.rawValue)'" }.sorted()
    let before = statement.bind(time)
    statement.add(
      "SELECT a.row, a.reference, a.provider, a.env FROM tender.attempt a WHERE a.updated < \(before)"
    )
    SharedCondition.add(filter, to: &statement)
    statement.add(
      """
       AND NOT EXISTS (
        SELECT 1 FROM tender.lease l
        WHERE l.reference = a.reference AND l.provider = a.provider AND l.env = a.env
          AND l.until > clock_timestamp()
      ) AND NOT EXISTS (
        SELECT 1 FROM tender.attempt b
        WHERE b.reference = a.reference AND b.provider = a.provider AND b.env = a.env AND (
          b.updated >= \(before) OR b.phase <> 'done' OR b.next_action IS NOT NULL
          OR b.status IN (\(unfinished.joined(separator: ", ")))
          OR (b.kind = \(Attempt.Kind.mandate.rawValue) AND b.status = 'authorized')
          OR (b.content::json ->> 'type' = 'refund' AND EXISTS (
            SELECT 1 FROM tender.attempt o WHERE o.env = b.env AND o.provider = b.provider
              AND o.reference = b.content::json ->> 'original'
          ))
        )
      )
      """
    )
  }
}

extension Fault {
  fileprivate static var noFingerprints: Fault {
    Fault(
      .state,
      code: "journal_key",
      "this order holds what is not kept as it was typed, and the key to tell it apart by is not here; "
        + "nothing was sent",
      hint: "set TENDER_JOURNAL_KEY_FILE; see: tender help journal"
    )
  }
}
