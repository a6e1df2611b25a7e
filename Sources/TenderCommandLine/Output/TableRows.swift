package import TenderModel

/// Rows under a head. They are measured one by one, then shown one by one, so that a million rows need no
/// memory.
///
/// If the width is too small, columns are left out, first those without values. Last columns without room go
/// to a separate line below their row. No value is cut.
package struct TableRows: Sendable {
  private var columns: [String]
  private var widths: [Int]
  /// The values of each column: none, one in all rows, or several.
  private var values: [(first: String?, differs: Bool)]
  /// The columns with values that have no room.
  package private(set) var leftOut: [String] = []
  private var below = 0
  private let style: TableStyle

  package init(columns: [String], style: TableStyle) {
    self.columns = columns
    self.style = style
    widths = columns.map { Self.heading($0).count }
    values = columns.map { _ in (nil, false) }
  }

  private func cells(_ record: Record) -> [String] {
    let currency = record.fields.text("currency").flatMap(Currency.init(code:))
    return columns.map { column in
      record.fields[column].map { TableCell.text($0, column, currency) } ?? ""
    }
  }

  /// Returns the members of a record that this table shows, or needs.
  package func shown(of record: Record) -> Record {
    var shown = record
    shown.fields = JSONObject(
      record.fields.members.filter { columns.contains($0.key) || $0.key == "currency" }
    )
    return shown
  }

  /// Widens the columns for a record. Call it before `settle`.
  package mutating func measure(_ record: Record) {
    for (index, cell) in cells(record).enumerated() {
      widths[index] = max(widths[index], DisplayWidth.columns(cell))
      if values[index].first == nil { values[index].first = cell }
      if values[index].first != cell { values[index].differs = true }
    }
  }

  /// Decides which columns are shown. Columns without values are dropped first, then those of `spare`, in
  /// their order. Those of `dear` are dropped only if the last column is already below its row.
  ///
  /// A `spare` column `env` with several values counts as a dear one: live and simulated rows must not look
  /// alike.
  package mutating func settle(spare: [String] = [], dear: [String] = []) {
    let isMixed = columns.firstIndex(of: "env").map { values[$0].differs } ?? false
    let empty = zip(columns, values).filter { ($1.first ?? "").isEmpty && !$1.differs }.map { $0.0 }
    var rest = (spare + dear).filter { empty.contains($0) }
    rest += spare.filter { !isMixed || $0 != "env" }
    while width > style.width, !rest.isEmpty { remove(rest.removeFirst()) }
    below = width > style.width && columns.count > 1 ? 1 : 0
    rest = dear + (isMixed ? ["env"] : [])
    while width > style.width, !rest.isEmpty { remove(rest.removeFirst()) }
    while width > style.width, below < columns.count - 1 { below += 1 }
  }

  /// The width of the measured rows.
  package var width: Int {
    widths.dropLast(below).reduce(2 * (columns.count - 1 - below), +)
  }

  private mutating func remove(_ column: String) {
    guard let index = columns.firstIndex(of: column) else { return }
    columns.remove(at: index)
    widths.remove(at: index)
    let dropped = values.remove(at: index)
    if dropped.differs || !(dropped.first ?? "").isEmpty { leftOut.append(column) }
  }

  /// The headings, with those of the columns below on a second line.
  package var head: String {
    let lower = zip(columns, values).suffix(below)
      .filter { !($1.first ?? "").isEmpty || $1.differs }
      .map { Self.heading($0.0) }.joined(separator: "  ")
    return row(columns.dropLast(below).map(Self.heading)) { TableCell.dim($0, style) }
      + (lower.isEmpty ? "" : "    \(TableCell.dim(lower, style))\n")
  }

  /// Returns the line or lines of a measured record.
  package func text(_ record: Record) -> String {
    let cells = cells(record)
    var column = 0
    var text = row(Array(cells.dropLast(below))) { shown in
      defer { column += 1 }
      return TableCell.paint(columns[column], shown, style)
    }
    let rest = cells.suffix(below).filter { !$0.isEmpty }.joined(separator: "  ")
    if !rest.isEmpty {
      // Words stay whole.
      let lines = HelpText.wrapped(rest, indent: 4, width: style.width)
      text += lines.joined(separator: "\n") + "\n"
    }
    return text
  }

  private static func heading(_ column: String) -> String {
    column.uppercased().replacing("_", with: " ")
  }

  /// Returns cells side by side, with two spaces between them.
  private func row(_ cells: [String], _ paint: (String) -> String) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      // A value that changed since the measuring may be wider.
      let padding = max(2, widths[index] - DisplayWidth.columns(cell) + 2)
      line += paint(cell)
      if index < cells.count - 1 { line += String(repeating: " ", count: padding) }
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line + "\n"
  }
}
