package import TenderEngine
package import TenderModel
package import TenderSystem

/// Reads payments by their rows, which a search finds first.
extension SQLiteJournal {
  /// The file's dialect.
  package static var dialect: Dialect { .sqlite }

  static let selection = Selection("", preparation: "x.row = o.row")

  /// Selects one payment. The statement is compiled once.
  private static let one = selection.from("payment").sql + " WHERE a.row = ?"

  package func each(
    _ statement: Statement,
    _ body: ([Database.Value]) -> Bool
  ) throws(Fault) { try database.query(statement.sql, statement.values, body) }

  /// Runs a statement without rows.
  func run(_ statement: Statement) throws(Fault) {
    try database.query(statement.sql, statement.values)
  }

  /// Returns the payment of a row as the file has it.
  func stored(_ row: Int) throws(Fault) -> Stored? {
    Self.selection.stored(try database.all(Self.one, [.integer(row)])).first
  }

  package func payment(row: Int) throws(Fault) -> Payment? {
    try stored(row).map(read)
  }

  package func payment(_ key: ReferenceKey) throws(Fault) -> Payment? {
    guard let row = try number("SELECT a.row FROM payment a WHERE \("a", has: key)"),
      let found = try stored(row)
    else { return nil }
    return try PaymentRow.whole(read(found), found.row)
  }

  package func each(_ filter: PaymentFilter, _ body: (Payment) -> Bool) throws(Fault) {
    let search = Self.search(filter)
    var problem: Fault?
    func show(_ row: Int) -> Bool {
      do throws(Fault) {
        guard let found = try payment(row: row), filter.lets(found) else { return true }
        return body(found)
      } catch {
        problem = error
        return false
      }
    }
    var found: [(created: Int, row: Int)] = []
    try each(search.ordered) { values in
      guard let row = values[0].integer else { return true }
      if search.isSorted { return show(row) }
      found.append((values[1].time, row))
      return true
    }
    for (_, row) in found.sorted(by: >) where !show(row) { break }
    if let problem { throw problem }
  }

  /// The name is the whole name or the machine.
  package static func writer(_ by: String) -> Statement {
    "(h.by = \(by) OR \(dialect.matches("h.by", ["", "@" + by])))"
  }
}
