import TenderEngine
import TenderModel

/// The tables that both journals create from tables of fields, in SQLite and in PostgreSQL.
///
/// Columns are only added (`Field.init(added:)`). Older rows have null there. A program that does not know a column
/// refuses the journal by its version, also if the column was added while it was running.
enum StoredTables {
  static let all: [(name: String, columns: Columns)] = [
    ("payment", PaymentRow.columns), ("operation", OperationRow.columns),
    ("observation", ObservationRow.columns), ("event", EventRow.columns),
  ]

  /// The number of changes since the first versions (7 of the files, 2 of the shared tables): two added tables, the
  /// checksums that were dropped, and the added columns.
  static let added = all.reduce(3) { $0 + $1.columns.added.count }

  /// Returns the statements of a file that create the tables and indexes that a journal lacks.
  static func script(_ path: String, _ dialect: Dialect) -> String {
    var text = EmbeddedText.named("TenderJournal/" + path)
    for (name, columns) in all {
      // Both files have the line of an event, which is another key in each.
      let own = columns.names.filter { $0 != "line" }.map { dialect.definition($0, columns) }
      text = text.replacing("{\(name)}", with: own.list())
    }
    return text.replacing("{settled}", with: settledStatus)
  }

  /// Claims the ids of the operations that a journal has. If records of an earlier version share an id, the first
  /// one gets it. Ids of simulators are not claimed, because a simulator in the process may have reused them.
  ///
  /// `schema` is the prefix of the tables' names.
  static func claims(_ schema: String) -> String {
    """
    INSERT INTO \(schema)claim (id, thing, provider, env, merchant, payment, sequence)
    SELECT o.id, CASE o.kind WHEN 'create_mandate' THEN 'mandate' WHEN 'refund' THEN 'refund' ELSE 'payment' END,
      p.provider, p.env, coalesce(p.merchant, ''), p.row,
      CASE WHEN o.kind = 'refund' AND o.content IS NULL THEN o.sequence ELSE 0 END
    FROM \(schema)operation o JOIN \(schema)payment p ON p.row = o.payment
    WHERE o.id IS NOT NULL AND p.env <> 'simulator'
      AND o.kind IN ('charge', 'authorize', 'create_mandate', 'refund')
      AND (o.link IS NULL OR o.content IS NOT NULL)
    ORDER BY p.row, o.sequence
    ON CONFLICT DO NOTHING
    """
  }

  /// Selects ids that several records have, and the number of these records.
  static func sharedIDs(_ schema: String) -> Statement {
    """
    SELECT id, count(*) FROM (
      SELECT DISTINCT o.id, p.env, p.provider, o.kind = 'refund' AS is_refund, p.row
      FROM \(sql: schema)operation o JOIN \(sql: schema)payment p ON p.row = o.payment
      WHERE o.id IS NOT NULL AND o.state <> 'failed'
        AND o.kind IN ('charge', 'authorize', 'create_mandate', 'refund')
        AND (o.link IS NULL OR o.content IS NOT NULL)
    ) held GROUP BY id, env, provider, is_refund HAVING count(*) > 1 ORDER BY id LIMIT 100
    """
  }

  /// The condition of the files' index on statuses, unchanged since the first of this version. Payments with other
  /// statuses are found by a term.
  ///
  /// A status that is added later is in the index, final or not.
  static let settledStatus =
    "status NOT IN ('requires_confirmation', 'requires_action', 'pending', 'unknown')"

  /// Returns whether the index has payments with a status.
  static func isIndexed(_ status: Status) -> Bool {
    !settledStatus.contains("'\(status.rawValue)'")
  }
}
