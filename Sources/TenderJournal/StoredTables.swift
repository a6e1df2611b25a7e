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

  /// The way in which a database defines columns.
  struct Dialect {
    let number: String
    let text: String
    /// The columns that must not be null, by their first names.
    let required: Set<String>

    func list(_ columns: Columns, without left: String = "") -> String {
      columns.names.filter { $0 != left }.map { definition($0, columns) }.joined(separator: ", ")
    }

    func definition(_ name: String, _ columns: Columns) -> String {
      let type = columns.kind(name) == .number ? number : text
      let isRequired = required.contains(name) && !columns.added.contains(name)
      return "\(name) \(type)" + (isRequired ? " NOT NULL" : "")
    }
  }
}

extension Redactor {
  /// The problem of an id that several records have.
  func sharedID(_ id: String?, _ count: Int?) -> String {
    let id = redact(id ?? "")
    return "\(id) is the id of \(count ?? 0) records, which find shows; "
      + "journal resolve --as holder chooses one"
  }
}
