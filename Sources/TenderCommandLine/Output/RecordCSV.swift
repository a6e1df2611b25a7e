internal import TenderEngine
package import TenderModel

/// Records as rows of a CSV file (RFC 4180): commas, quotes if needed, lines that end with CR and LF.
///
/// Amounts are decimals in their currency, such as `10.50`. A text that a spreadsheet would read as a formula
/// begins with an apostrophe.
package enum RecordCSV {
  /// The columns of payments. They are always the same, and unused ones are empty.
  package static let payments = [
    "line", "provider", "env", "reference", "attempt", "replayed", "id", "status",
    "provider_status", "final", "amount", "requested_amount", "captured_amount", "released_amount",
    "voided_amount", "refunded_amount", "refunding_amount", "returned_amount", "currency",
    "original", "source", "brand", "last_four", "created_at", "updated_at", "error.code",
    "error.message", "group",
  ]

  /// Returns the first row.
  package static func head(_ columns: [String]) -> String { row(columns.map(quoted)) }

  /// Returns a record's row. A column is a path such as `error.code`.
  package static func row(_ record: Record, _ columns: [String]) -> String {
    let object = RecordLine.whole(record)
    let currency = record.fields.text("currency").flatMap(Currency.init(code:))
    return row(
      columns.map { path in
        guard let value = object.value(at: path), value != .null else { return "" }
        let name = path.split(separator: ".").last.map(String.init) ?? ""
        if let text = value.text { return quoted(harmless(Printable.text(text))) }
        if case .integer(let number) = value, let currency, TableCell.isMoney(name) {
          return Money(minorUnits: number, currency: currency).decimalText
        }
        return value.plainText ?? quoted(JSONWriter.text(value))
      }
    )
  }

  private static func row(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }

  /// Returns a text that no spreadsheet reads as a formula.
  private static func harmless(_ text: String) -> String {
    guard let first = text.unicodeScalars.first, "=+-@＝＋－＠".unicodeScalars.contains(first) else {
      return text
    }
    return "'" + text
  }

  private static func quoted(_ text: String) -> String {
    let needsQuotes =
      text.hasPrefix(" ") || text.hasSuffix(" ")
      || text.utf8.contains { byte in
        byte < 0x20 || [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\"")].contains(byte)
      }
    guard needsQuotes else { return text }
    return "\""
      + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}
