import TenderEngine
package import TenderModel
package import TenderSystem

/// An SQL statement with its parameters. Interpolated values are bound, and never become part of its text.
package struct Statement: ExpressibleByStringInterpolation, StringInterpolationProtocol {
  /// The text as SQLite reads it, with `?` for each parameter and nowhere else.
  package private(set) var sql = ""
  package private(set) var values: [Database.Value] = []
  /// PostgreSQL's names of the values' types.
  private var types: [StaticString] = []

  package init(literalCapacity: Int = 0, interpolationCount: Int = 0) {
    sql.reserveCapacity(literalCapacity + 16 * interpolationCount)
  }

  package init(stringLiteral text: String) { sql = text }

  package init(stringInterpolation statement: Statement) { self = statement }

  /// The text as PostgreSQL reads it, with the number and the type of each parameter.
  var numbered: String {
    let parts = sql.utf8.split(separator: UInt8(ascii: "?"), omittingEmptySubsequences: false)
    var numbered = String(parts.first.map(Substring.init) ?? "")
    for (index, part) in parts.dropFirst().enumerated() {
      numbered += "$\(index + 1)::\(types[index])\(Substring(part))"
    }
    return numbered
  }

  static func += (one: inout Statement, other: Statement) {
    one.sql += other.sql
    one.values += other.values
    one.types += other.types
  }

  package mutating func appendLiteral(_ text: String) { sql += text }

  var isEmpty: Bool { sql.isEmpty }

  private mutating func bind(_ value: Database.Value, _ type: StaticString) {
    sql += "?"
    values.append(value)
    types.append(type)
  }

  /// Adds SQL text of this program unchanged.
  package mutating func appendInterpolation(sql text: some CustomStringConvertible) {
    appendLiteral(text.description)
  }

  package mutating func appendInterpolation(_ other: Statement) { self += other }

  package mutating func appendInterpolation(_ text: String) {
    bind(.text(text), "text")
  }

  package mutating func appendInterpolation(_ number: Int) {
    bind(.integer(number), "bigint")
  }

  package mutating func appendInterpolation(_ value: Database.Value, _ kind: Columns.Kind) {
    bind(value, kind == .number ? "bigint" : "text")
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
    bind(.text(JSONWriter.text(.array(json))), "json")
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
