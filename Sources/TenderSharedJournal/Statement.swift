import TenderDatabase

/// One statement of SQL with its parameters, which never become part of its text.
struct Statement {
  private(set) var sql: String
  private(set) var values: [Database.Value] = []

  init(_ sql: String = "") { self.sql = sql }

  /// What a parameter is to the server.
  enum Kind: String { case text, bigint }

  /// Adds text.
  mutating func add(_ text: String) { sql += text }

  /// Takes a parameter in, and gives what stands for it in the text.
  mutating func bind(_ value: Database.Value, _ kind: Kind) -> String {
    values.append(value)
    return "$\(values.count)::\(kind.rawValue)"
  }

  mutating func bind(_ text: String) -> String { bind(.text(text), .text) }

  mutating func bind(_ number: Int) -> String { bind(.integer(number), .bigint) }

  /// Takes a list of numbers in.
  mutating func bind(_ numbers: [Int]) -> String {
    values.append(.text("{" + numbers.map(String.init).joined(separator: ",") + "}"))
    return "$\(values.count)::bigint[]"
  }

  /// Takes a list of texts in.
  mutating func bind(_ texts: [String]) -> String {
    let quoted = texts.map { text in
      "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
    values.append(.text("{" + quoted.joined(separator: ",") + "}"))
    return "$\(values.count)::text[]"
  }
}

/// The rows that a statement gave.
typealias Rows = [[Database.Value]]
