import TenderCommandLine
import TenderCommands
import TenderModel

/// The program's commands and options.
let catalogue = Providers().catalogue

extension Table {
  /// The records as rows under a head. All are measured before the first is shown.
  static func rows(
    _ records: [Record],
    columns: [String],
    spare: [String] = [],
    style: TableStyle
  ) -> String {
    var rows = TableRows(columns: columns, style: style)
    for record in records { rows.measure(record) }
    rows.settle(spare: spare)
    return records.reduce(into: rows.head) { $0 += rows.text($1) }
  }
}
