import TenderEngine
package import TenderModel
package import TenderSystem

/// An SQL statement with its parameters. Interpolated values are bound, and never become part of its text.
///
/// A parameter is `$1::bigint`. PostgreSQL reads a number and a type, and SQLite the name of a parameter.
package struct Statement: ExpressibleByStringInterpolation, StringInterpolationProtocol {
  private enum Part {
    case text(String)
    /// A value, with PostgreSQL's name of its type.
    case value(Database.Value, String)
  }

  private var parts: [Part] = []

  package init(literalCapacity: Int = 0, interpolationCount: Int = 0) {}

  package init(stringLiteral text: String) { appendLiteral(text) }

  package init(stringInterpolation statement: Statement) { self = statement }

  var sql: String {
    var sql = ""
    var count = 0
    for part in parts {
      switch part {
      case .text(let text): sql += text
      case .value(_, let type):
        count += 1
        sql += "$\(count)::" + type
      }
    }
    return sql
  }

  var values: [Database.Value] {
    parts.compactMap { if case .value(let value, _) = $0 { value } else { nil } }
  }

  static func += (one: inout Statement, other: Statement) { one.parts += other.parts }

  package mutating func appendLiteral(_ text: String) {
    if !text.isEmpty { parts.append(.text(text)) }
  }

  var isEmpty: Bool { parts.isEmpty }

  /// Adds SQL text of this program unchanged.
  package mutating func appendInterpolation(sql text: some CustomStringConvertible) {
    appendLiteral(text.description)
  }

  package mutating func appendInterpolation(_ other: Statement) { self += other }

  package mutating func appendInterpolation(_ text: String) {
    parts.append(.value(.text(text), "text"))
  }

  package mutating func appendInterpolation(_ number: Int) {
    parts.append(.value(.integer(number), "bigint"))
  }

  package mutating func appendInterpolation(_ value: Database.Value, _ kind: Columns.Kind) {
    parts.append(.value(value, kind == .number ? "bigint" : "text"))
  }

  /// Adds the values of a row as an SQL list.
  mutating func appendInterpolation(values row: Row) {
    for (index, value) in row.values.enumerated() {
      if index > 0 { appendLiteral(", ") }
      appendInterpolation(value, row.columns.kinds[index])
    }
  }

  /// Adds statements with a separator.
  package mutating func appendInterpolation(_ all: [Statement], by separator: String) {
    for (index, one) in all.enumerated() {
      if index > 0 { appendLiteral(separator) }
      self += one
    }
  }

  /// Adds texts as an SQL list.
  package mutating func appendInterpolation(each texts: [String]) {
    appendInterpolation(texts.map { "\($0)" }, by: ", ")
  }

  /// Adds JSON, such as rows by the names of their columns.
  package mutating func appendInterpolation(json: [JSON]) {
    parts.append(.value(.text(JSONWriter.text(.array(json))), "json"))
  }

  /// Adds the test that a row of a table, by its alias, has a payment's key.
  package mutating func appendInterpolation(_ table: String, has key: ReferenceKey) {
    self += """
      \(sql: table).reference = \(key.reference.text) AND \(sql: table).provider = \(key.provider.text)
      AND \(sql: table).env = \(key.env.rawValue)
      """
  }
}

extension Row {
  /// Returns the assignments of the values that differ from those of an earlier row; nil if none does.
  func settings(from before: Row) -> Statement? {
    let settings: [Statement] = changes(from: before).map { name, value in
      "\(sql: name) = \(value, columns.kind(name))"
    }
    return settings.isEmpty ? nil : "\(settings, by: ", ")"
  }
}

package typealias Rows = [[Database.Value]]

extension String {
  /// The text without NUL, which PostgreSQL cannot store.
  var withoutNUL: String { replacing("\0", with: "\u{FFFD}") }
}
