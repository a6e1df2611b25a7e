import TenderEngine
package import TenderModel
package import TenderSystem

/// An SQL statement with its parameters. Interpolated values are bound, and never become part of its text.
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
    var count = 0
    return text { type in
      count += 1
      return "$\(count)::\(type)"
    }
  }

  var sqlite: String { text { _ in "?" } }

  private func text(_ placeholder: (_ type: String) -> String) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .value(_, let type): placeholder(type)
      }
    }
    .joined()
  }

  var values: [Database.Value] {
    parts.compactMap { if case .value(let value, _) = $0 { value } else { nil } }
  }

  static func += (one: inout Statement, other: Statement) { one.parts += other.parts }

  package mutating func appendLiteral(_ text: String) { parts.append(.text(text)) }

  /// Adds SQL text of this program unchanged.
  package mutating func appendInterpolation(sql text: some CustomStringConvertible) {
    appendLiteral(text.description)
  }

  package mutating func appendInterpolation(_ other: Statement) { self += other }

  private mutating func bind(_ text: String, as type: String) {
    parts.append(.value(.text(text), type))
  }

  package mutating func appendInterpolation(_ text: String) { bind(text, as: "text") }

  package mutating func appendInterpolation(_ number: Int) {
    parts.append(.value(.integer(number), "bigint"))
  }

  package mutating func appendInterpolation(_ numbers: [Int]) {
    bind("{" + numbers.map(String.init).joined(separator: ",") + "}", as: "bigint[]")
  }

  package mutating func appendInterpolation(_ texts: [String]) {
    let quoted = texts.map { text in
      "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
    bind("{" + quoted.joined(separator: ",") + "}", as: "text[]")
  }

  /// Adds texts as an SQL list.
  package mutating func appendInterpolation(each texts: [String]) {
    for (index, text) in texts.enumerated() { self += index == 0 ? "\(text)" : ", \(text)" }
  }

  /// Adds rows as JSON by the names of their columns.
  package mutating func appendInterpolation(_ rows: [JSONObject]) {
    bind(JSONWriter.text(.array(rows.map(JSON.object))), as: "json")
  }

  /// Adds the test that a row of a table, by its alias, has a payment's key.
  package mutating func appendInterpolation(_ table: String, has key: ReferenceKey) {
    self += """
      \(sql: table).reference = \(key.reference.text) AND \(sql: table).provider = \(key.provider.text)
      AND \(sql: table).env = \(key.env.rawValue)
      """
  }
}

extension Statement {
  /// Creates the tests of a filter on plain columns of payments, by the alias of their table, without the amount.
  /// Each begins with ` AND`.
  init(_ filter: PaymentFilter, of payments: String) {
    self.init()
    let tests: [(String, Statement?)] = [
      ("env =", filter.env.map { "\($0.rawValue)" }),
      ("provider =", filter.provider.map { "\($0.text)" }),
      ("last_four =", filter.lastFour.map { "\($0)" }),
      ("currency =", filter.currency.map { "\($0.code)" }),
      ("created >=", filter.since.map { "\($0)" }), ("created <=", filter.until.map { "\($0)" }),
    ]
    for case (let test, let value?) in tests {
      self += " AND \(sql: payments).\(sql: test) \(value)"
    }
  }
}

package typealias Rows = [[Database.Value]]

extension String {
  /// The text without NUL, which PostgreSQL cannot store.
  var withoutNUL: String { replacing("\0", with: "\u{FFFD}") }
}
