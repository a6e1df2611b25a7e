import TenderEngine
import TenderModel
import TenderSystem

/// A payment as the database has it.
package struct Stored {
  /// The columns of an operation, and its preparation as stored.
  struct Operation {
    let sequence: Int
    var row: Row
    var preparation: String?
  }

  var row: Row
  /// Its operations by sequence. There are few, and a dictionary costs a run thousands of instructions.
  var operations: [Operation] = []
  /// Its search terms; nil if it was read.
  var terms: Set<String>?
  /// When this process wrote it, by the clock's uptime; nil if it was read.
  var writtenAt: Int?

  subscript(sequence: Int) -> Operation? {
    // Most payments have the sequences 1, 2, 3 without a gap.
    if operations.indices.contains(sequence - 1), operations[sequence - 1].sequence == sequence {
      return operations[sequence - 1]
    }
    return operations.first { $0.sequence == sequence }
  }

  /// Returns the payment with its preparations as stored, or as `unseal` gives them. Those without a key stay sealed.
  func payment(
    _ unseal: (String) -> TenderEngine.Operation.Preparation? = { .init(stored: $0) }
  ) throws(Fault) -> Payment {
    let payment = try PaymentRow.payment(row, operations.map { $0.row })
    guard operations.contains(where: { $0.preparation != nil }) else { return payment }
    return payment.with(
      payment.operations.map { operation in
        guard let text = self[operation.sequence]?.preparation else { return operation }
        var operation = operation
        operation.preparation = unseal(text)
        operation.isSealed = operation.preparation == nil
        return operation
      }
    )
  }
}

/// Selects payments `a` with their operations: one row of results for each operation. One
/// statement reads one state of the database.
struct Selection: Sendable {
  typealias Column = (name: String, kind: Columns.Kind, sql: String)

  private let payment: Columns
  private let operation: Columns
  private let list: String
  private let joins: String

  /// Creates a selection with more columns of payments and operations. `preparation` joins a preparation `x`; without
  /// it, none is read.
  init(
    _ schema: String,
    payment others: [Column] = [],
    operation more: [Column] = [],
    preparation: String?
  ) {
    payment = PaymentRow.columns.with(
      first: [("row", .number)],
      last: others.map { ($0.name, $0.kind) }
    )
    operation = OperationRow.columns.with(last: more.map { ($0.name, $0.kind) })
    let names = ["a.row", PaymentRow.columns.names.list("a")] + others.map { $0.sql }
    let last = preparation == nil ? "NULL" : "x.text"
    list = (names + [OperationRow.columns.names.list("o")] + more.map { $0.sql } + [last]).list()
    joins =
      " a LEFT JOIN \(schema)operation o ON o.payment = a.row"
      + (preparation.map { " LEFT JOIN \(schema)preparation x ON \($0)" } ?? "")
  }

  /// Selects payments of a table or a statement in parentheses.
  func from(_ source: Statement) -> Statement {
    "SELECT \(sql: list) FROM \(source)\(sql: joins)"
  }

  /// Returns the payments of rows. The rows of one are together.
  func stored(_ rows: Rows) -> [Stored] {
    var all: [Stored] = []
    let count = payment.names.count
    for values in rows {
      if all.last?.row.values[0] != values[0],
        let row = Row(payment, read: Array(values.prefix(count)))
      {
        all.append(Stored(row: row))
      }
      guard let row = Row(operation, read: Array(values.dropFirst(count).dropLast())),
        let sequence = row.number("sequence")
      else { continue }
      all[all.count - 1].operations.append(
        .init(sequence: sequence, row: row, preparation: values.last?.text)
      )
    }
    for index in all.indices where all[index].operations.count > 1 {
      all[index].operations.sort { $0.sequence < $1.sequence }
    }
    return all
  }
}
