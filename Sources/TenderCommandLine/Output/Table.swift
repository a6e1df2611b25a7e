package import TenderModel

/// Records as tables for people: one record as names and values, several as rows.
package enum Table {
  /// Returns the record as lines of `name  value`, with nested members indented. `fields` chooses some.
  ///
  /// `hidden` members of the first level are left out if no fields were chosen.
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
      let value = TableCell.paint(line.name, Self.folded(line, column, style.width), style)
      return line.value.isEmpty ? line.name : TableCell.dim(name, style) + value
    }.joined(separator: "\n") + "\n"
  }

  /// Returns a sentence, or an entry of a list, on several lines without broken words. A command stays on one
  /// line, so that it can be pasted.
  private static func folded(
    _ line: (name: String, value: String),
    _ column: Int,
    _ width: Int
  ) -> String {
    let name = line.name.drop { $0 == " " }
    let isEntry = name == "-" || name.allSatisfy(\.isNumber)
    guard isEntry || prose.contains(String(name)),
      DisplayWidth.columns(line.value) > width - column
    else { return line.value }
    let lines = HelpText.wrapped(
      line.value,
      indent: column,
      width: width,
      at: isEntry ? "  " : " "
    )
    return String(lines.joined(separator: "\n").dropFirst(column))
  }

  /// Members whose values are sentences.
  private static let prose: Set<String> = [
    "message", "explanation", "meaning", "note", "detail", "remedy", "advice", "warning",
  ]

  private static func collect(
    _ object: JSONObject,
    indent: Int,
    _ currency: Currency?,
    _ style: TableStyle,
    into lines: inout [(name: String, value: String)]
  ) {
    let margin = String(repeating: "  ", count: indent)
    // The members of a payment are in its currency, unless they name another.
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
        for (index, element) in elements.enumerated() {
          // A number or a Boolean has no meaning without its name.
          let text = element.object?.members.filter { $0.key != "number" && $0.value.truth == nil }
            .map { TableCell.text($0.value, $0.key, currency) }.joined(separator: "  ")
          // The operator chooses an operation by its position: `--operation N`.
          let mark = member.key == "operations" ? String(index + 1) : "-"
          lines.append((margin + "  " + mark, text ?? TableCell.text(element, "", nil)))
        }
      default:
        var value = TableCell.text(member.value, member.key, currency)
        if member.key == "at" || member.key.hasSuffix("_at"), let local = style.localTime?(value) {
          value += "  (\(local))"
        }
        if !value.isEmpty { lines.append((name, value)) }
      }
    }
  }
}

/// A fault as at most three plain lines.
package enum FaultText {
  /// Returns `tender: message`, the known effect on money, and the next step. A command that only reads
  /// (`reads`) never moves money, and does not say so.
  package static func text(_ fault: Fault, isColoured: Bool, reads: Bool = false) -> String {
    let label = isColoured ? "\u{1b}[31mtender:\u{1b}[0m" : "tender:"
    var lines = ["\(label) \(Printable.text(fault.message))"]
    if let hint = fault.hint, !hint.isEmpty { lines.append("  \(Printable.text(hint))") }
    // This holds for this command alone. An earlier one may have moved money.
    let isSaid =
      reads || fault.kind == .usage
      || (fault.message + (fault.hint ?? "")).contains("nothing was sent")
    let effect =
      fault.effect == .unknown
      ? "the money may have moved; " : isSaid ? "" : "this command moved no money; "
    lines.append(
      "  \(effect)exit \(fault.exitStatus) (\(fault.code)); see: tender explain \(fault.code)"
    )
    return lines.joined(separator: "\n") + "\n"
  }
}
