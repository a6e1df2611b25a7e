import TenderModel
import TenderSystem

/// One statement of SQL with its parameters, which never become part of its text.
struct Statement {
  private(set) var sql: String
  private(set) var values: [Database.Value] = []

  init(_ sql: String = "") { self.sql = sql }

  /// Adds text.
  mutating func add(_ text: String) { sql += text }

  /// Takes a parameter of a type in; gives its placeholder.
  private mutating func bind(_ value: Database.Value, as type: String) -> String {
    values.append(value)
    return "$\(values.count)::\(type)"
  }

  /// Takes a text in; gives its placeholder, as the others do.
  mutating func bind(_ text: String) -> String { bind(.text(text.withoutNUL), as: "text") }

  mutating func bind(_ number: Int) -> String { bind(.integer(number), as: "bigint") }

  /// Takes a list of numbers in.
  mutating func bind(_ numbers: [Int]) -> String {
    bind(.text("{" + numbers.map(String.init).joined(separator: ",") + "}"), as: "bigint[]")
  }

  /// Takes a list of texts in.
  mutating func bind(_ texts: [String]) -> String {
    let quoted = texts.map { text in
      "\"" + text.withoutNUL.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
    return bind(.text("{" + quoted.joined(separator: ",") + "}"), as: "text[]")
  }

  /// Takes rows in, as JSON by the names of their columns.
  mutating func bind(_ rows: [JSONObject]) -> String {
    bind(.text(JSONWriter.text(.array(rows.map(JSON.object)))), as: "json")
  }
}

/// The rows that a statement gave.
typealias Rows = [[Database.Value]]

extension String {
  /// The text without NUL, which PostgreSQL's text cannot have.
  var withoutNUL: String { replacing("\0", with: "\u{FFFD}") }
}
