package import TenderModel

/// How tables look: width in columns, and whether colour may be used.
package struct TableStyle: Sendable {
  package var width: Int
  package var isColoured: Bool
  /// A time in the user's own zone, beside UTC; nil where the zone is UTC.
  package var localTime: (@Sendable (String) -> String?)?

  package init(
    width: Int,
    isColoured: Bool,
    localTime: (@Sendable (String) -> String?)? = nil
  ) {
    self.width = width
    self.isColoured = isColoured
    self.localTime = localTime
  }
}

/// Records as tables for people: one record as names and values, many as rows.
package enum Table {
  /// The record as lines of `name  value`, nested members indented; `fields` chooses some.
  ///
  /// `hidden` members of the first level are left out where no fields were chosen.
  package static func text(
    _ record: Record,
    style: TableStyle,
    fields: [String] = [],
    hidden: Set<String> = ["command", "idempotency_key"]
  ) -> String {
    let object = FieldChoice.apply(fields, to: record.fields)
    var lines: [(name: String, value: String)] = []
    let currency = object.text("currency") ?? record.fields.text("currency")
    collect(object, indent: 0, currency.flatMap(Currency.init(code:)), style, into: &lines)
    let isPlain = fields.isEmpty && record.kind != .request
    if isPlain { lines.removeAll { hidden.contains($0.name) } }
    let column = min(28, (lines.map { DisplayWidth.columns($0.name) }.max() ?? 0) + 2)
    return lines.map { line in
      let name =
        line.name + String(repeating: " ", count: max(1, column - DisplayWidth.columns(line.name)))
      let value = paint(line.name, line.value, style)
      return line.value.isEmpty ? line.name : dim(name, style) + value
    }.joined(separator: "\n") + "\n"
  }

  /// The records as rows under a head, the named columns alone.
  ///
  /// Where the width is too small, columns are left out in the order of `spare`; a last column that still
  /// has no room is on a line of its own below its row, and then those of `dear` are left out as well.
  /// Nothing is cut.
  package static func rows(
    _ records: [Record],
    columns: [String],
    spare: [String] = [],
    dear: [String] = [],
    style: TableStyle
  ) -> String {
    var columns = columns
    var cells: [[String]] = []
    var widths: [Int] = []
    func measure() {
      cells = records.map { record in
        columns.map { column in
          record.fields[column].map {
            inline($0, column, record.fields.text("currency").flatMap(Currency.init(code:)))
          } ?? ""
        }
      }
      widths = columns.indices.map { index in
        max(heading(columns[index]).count, cells.map { DisplayWidth.columns($0[index]) }.max() ?? 0)
      }
    }
    measure()
    var rest = spare
    while widths.reduce(2 * (columns.count - 1), +) > style.width, !rest.isEmpty {
      let next = rest.removeFirst()
      columns.removeAll { $0 == next }
      measure()
    }
    let isWide = widths.reduce(2 * (columns.count - 1), +) > style.width
    let below = isWide && columns.count > 1 ? 1 : 0
    rest = dear
    while widths.dropLast(below).reduce(2 * (columns.count - 1 - below), +) > style.width,
      !rest.isEmpty
    {
      let next = rest.removeFirst()
      columns.removeAll { $0 == next }
      measure()
    }
    let inRow = columns.count - below
    var text = row(columns.prefix(inRow).map(heading), widths) { dim($0, style) }
    for cell in cells {
      var column = 0
      text += row(Array(cell.prefix(inRow)), widths) { shown in
        defer { column += 1 }
        return paint(columns[column], shown, style)
      }
      if inRow < columns.count, let last = cell.last, !last.isEmpty { text += "    \(last)\n" }
    }
    return text
  }

  private static func heading(_ column: String) -> String {
    column.uppercased().replacing("_", with: " ")
  }

  /// Cells side by side, two spaces between them.
  private static func row(
    _ cells: [String],
    _ widths: [Int],
    _ paint: (String) -> String
  ) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      let padding = widths[index] - DisplayWidth.columns(cell) + 2
      line += paint(cell)
      if index < cells.count - 1 { line += String(repeating: " ", count: padding) }
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line + "\n"
  }

  private static func collect(
    _ object: JSONObject,
    indent: Int,
    _ currency: Currency?,
    _ style: TableStyle,
    into lines: inout [(name: String, value: String)]
  ) {
    let margin = String(repeating: "  ", count: indent)
    // What stands within a payment is in its currency, unless it says another.
    let currency = object.text("currency").flatMap(Currency.init(code:)) ?? currency
    for member in object.members {
      let name = margin + Printable.text(member.key)
      switch member.value {
      case .object(let inner) where !inner.members.isEmpty:
        lines.append((name, ""))
        let named = Currency(code: member.key)
        collect(inner, indent: indent + 1, named ?? currency, style, into: &lines)
      case .array(let elements) where elements.contains(where: { $0.object != nil }):
        lines.append((name, ""))
        for element in elements {
          // Without its name a number or a yes says nothing.
          let text = element.object?.members.filter { $0.key != "number" && $0.value.truth == nil }
            .map { inline($0.value, $0.key, currency) }.joined(separator: "  ")
          lines.append((margin + "  -", text ?? inline(element, "", nil)))
        }
      default:
        var value = inline(member.value, member.key, currency)
        if member.key == "at" || member.key.hasSuffix("_at"), let local = style.localTime?(value) {
          value += "  (\(local))"
        }
        if !value.isEmpty { lines.append((name, value)) }
      }
    }
  }

  /// Members that are amounts of money in minor units, ours and the providers', and the statuses under
  /// which a batch sums them up.
  private static let moneyNames: Set<String> = Set(
    [
      "amount", "requested_amount", "left", "given_back", "authorisedAmount", "gratuityAmount",
      "service_fee",
      "fee", "fees", "gross_amount", "net_amount", "refunded_amount", "amount_in_minor",
      "maximum_individual_amount", "maximum_amount", "minimum_amount",
    ] + Status.allCases.map(\.rawValue)
  )

  /// One value in one line; amounts of money as people write them.
  private static func inline(_ value: JSON, _ key: String, _ currency: Currency?) -> String {
    switch value {
    case .null: ""
    case .bool(let truth): truth ? "yes" : "no"
    case .integer(let number):
      if moneyNames.contains(key), let currency {
        Money(minorUnits: number, currency: currency).text
      } else {
        String(number)
      }
    case .number(let text): text
    case .string(let text): Printable.text(text)
    case .array(let elements): elements.map { inline($0, "", currency) }.joined(separator: ", ")
    case .object(let inner):
      inner.members.map { "\(Printable.text($0.key))=\(inline($0.value, $0.key, currency))" }
        .joined(
          separator: " "
        )
    }
  }

  private static func dim(_ text: String, _ style: TableStyle) -> String {
    style.isColoured ? "\u{1b}[2m\(text)\u{1b}[0m" : text
  }

  private static func paint(_ name: String, _ value: String, _ style: TableStyle) -> String {
    guard style.isColoured, name == "status", let status = Status(rawValue: value) else {
      return value
    }
    let colour =
      switch status {
      case .succeeded, .authorized: 32
      case .declined, .failed, .expired, .revoked, .returned: 31
      case .unknown: 35
      case .requiresConfirmation, .requiresAction, .pending, .cancelled, .refunded,
        .partiallyRefunded:
        33
      }
    return "\u{1b}[\(colour)m\(value)\u{1b}[0m"
  }
}

/// A fault as at most three plain lines.
package enum FaultText {
  /// `tender: message`, what is known about the money, what to do next.
  package static func text(_ fault: Fault, isColoured: Bool) -> String {
    let label = isColoured ? "\u{1b}[31mtender:\u{1b}[0m" : "tender:"
    var lines = ["\(label) \(Printable.text(fault.message))"]
    if let hint = fault.hint, !hint.isEmpty { lines.append("  \(Printable.text(hint))") }
    let isSaid = fault.kind == .usage || fault.hint?.contains("no money moved") == true
    let effect =
      fault.effect == .unknown ? "the money may have moved; " : isSaid ? "" : "no money moved; "
    lines.append(
      "  \(effect)exit \(fault.exitStatus) (\(fault.code)); see: tender explain \(fault.code)"
    )
    return lines.joined(separator: "\n") + "\n"
  }
}
