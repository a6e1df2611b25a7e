package import TenderModel

/// One option, or several related ones, as a command lists them.
package protocol OptionKey: Sendable {
  /// The definitions, in the order in which help shows them.
  var options: [Option] { get }
}

/// An option with the type of its value. The definition parses, and the command reads a value.
package struct Key<Value>: OptionKey {
  package let option: Option
  private let parse: @Sendable (_ text: String, _ option: String) throws(Fault) -> Value

  package var options: [Option] { [option] }

  /// Creates an option with a parsed value.
  ///
  /// `parse` throws `usage`.
  package init(
    _ option: Option,
    parse: @escaping @Sendable (_ text: String, _ option: String) throws(Fault) -> Value
  ) {
    self.option = option
    self.parse = parse
  }

  /// Returns the value of a typed text.
  ///
  /// Throws `usage`.
  package func read(_ text: String) throws(Fault) -> Value { try parse(text, "--" + option.name) }
}

extension Key {
  /// Creates an option whose texts `parse` reads; nil is refused with a hint.
  package init(
    _ option: Option,
    _ hint: @escaping @autoclosure @Sendable () -> String,
    parse: @escaping @Sendable (_ text: String) -> Value?
  ) {
    self.init(option) { text, option throws(Fault) in
      guard let value = parse(text) else { throw .badValue(option, text, hint: hint()) }
      return value
    }
  }
}

extension Key where Value == Bool {
  /// Creates a flag.
  package init(_ option: Option) { self.init(option) { _, _ in true } }
}

extension Key where Value == String {
  /// Creates an option with any text as its value.
  package init(_ option: Option) { self.init(option) { text, _ in text } }
}

extension Key
where
  Value: CaseIterable & RawRepresentable & SendableMetatype, Value.RawValue == String,
  Value.AllCases == [Value]
{
  /// Creates an option with a value of an enumeration.
  package init(_ option: Option) {
    // A key path would be slower: making one in a generic function takes longer than all other work here.
    let option = option.with(choices: Value.allCases.map { $0.rawValue })
    self.init(option, "one of \(option.choices.joined(separator: ", "))") { Value(rawValue: $0) }
  }
}

extension Key where Value == Int {
  /// Creates an option with a whole number of a range.
  package init(_ option: Option, _ range: ClosedRange<Int>) {
    self.init(option, "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// Creates an option with a duration, in milliseconds.
  package static func duration(_ option: Option) -> Key {
    Key(option) { text, option throws(Fault) in try TimeText.milliseconds(text, option: option) }
  }
}

extension Key where Value == Reference {
  package init(_ option: Option) {
    self.init(option) { text, _ throws(Fault) in try Reference(text) }
  }
}

extension Key where Value == TimeExpression {
  /// Creates a filter with a time in any form that people write.
  package init(_ option: Option) {
    self.init(
      option,
      "such as 2026-11-20, 2026-11-20T17:19, an RFC 3339 time, yesterday, monday or 24h"
    ) { TimeExpression($0) }
  }
}

/// An amount of money as two options that exclude each other: `--NAME` and `--NAME-minor`.
package struct MoneyKey: OptionKey {
  package let decimal: Key<String>
  package let minor: Key<String>

  package var options: [Option] { decimal.options + minor.options }

  /// Creates the option for the decimal amount, and the one for minor units.
  package init(_ option: Option, minor: String) {
    decimal = Key<String>(option)
    self.minor = Key<String>(Option(option.group, "\(option.name)-minor UNITS: \(minor)"))
  }
}
