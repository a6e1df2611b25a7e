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

extension Key where Value == Bool {
  /// Creates a flag.
  package init(
    _ name: String,
    short: Character? = nil,
    _ group: Option.Group,
    readsStandardInput: Bool = false,
    _ summary: String
  ) {
    let option = Option(
      name,
      short: short,
      group,
      .flag,
      readsStandardInput: readsStandardInput,
      summary
    )
    self.init(option) { _, _ in true }
  }
}

extension Key where Value == String {
  /// Creates an option with any text as its value.
  package init(
    _ name: String,
    short: Character? = nil,
    _ group: Option.Group,
    _ placeholder: String,
    repeats: Bool = false,
    choices: [String] = [],
    completion: Option.Completion = .nothing,
    readsStandardInput: Bool = false,
    _ summary: String
  ) {
    let option = Option(
      name,
      short: short,
      group,
      .required(placeholder),
      repeats: repeats,
      choices: choices,
      completion: completion,
      readsStandardInput: readsStandardInput,
      summary
    )
    self.init(option) { text, _ in text }
  }
}

extension Key
where
  Value: CaseIterable & RawRepresentable & SendableMetatype, Value.RawValue == String,
  Value.AllCases == [Value]
{
  /// Creates an option with a value of an enumeration.
  package init(
    _ name: String,
    _ group: Option.Group,
    _ placeholder: String,
    _ summary: String
  ) {
    // A key path would be slower: making one in a generic function takes longer than all other work here.
    let choices = Value.allCases.map { $0.rawValue }
    self.init(Option(name, group, .required(placeholder), choices: choices, summary)) {
      text,
      option throws(Fault) in
      guard let value = Value(rawValue: text) else {
        throw .badValue(option, text, hint: "one of \(choices.joined(separator: ", "))")
      }
      return value
    }
  }
}

extension Key where Value == Int {
  /// Creates an option with a whole number of a range.
  package init(
    _ name: String,
    _ group: Option.Group,
    _ placeholder: String,
    _ range: ClosedRange<Int>,
    _ summary: String
  ) {
    self.init(Option(name, group, .required(placeholder), summary)) { text, option throws(Fault) in
      guard let number = Int(text), range.contains(number) else {
        throw .badValue(
          option,
          text,
          hint: "a whole number from \(range.lowerBound) to \(range.upperBound)"
        )
      }
      return number
    }
  }

  /// Creates an option with a duration, in milliseconds.
  package static func duration(
    _ name: String,
    _ group: Option.Group,
    _ value: Option.Value,
    _ summary: String
  ) -> Key {
    Key(Option(name, group, value, summary)) { text, option throws(Fault) in
      try TimeText.milliseconds(text, option: option)
    }
  }
}

extension Key where Value == Reference {
  package init(
    _ name: String,
    _ group: Option.Group,
    _ placeholder: String,
    _ summary: String
  ) {
    self.init(Option(name, group, .required(placeholder), summary)) { text, _ throws(Fault) in
      try Reference(text)
    }
  }
}

/// An amount of money as two options that exclude each other: `--NAME` and `--NAME-minor`.
package struct MoneyKey: OptionKey {
  let decimal: Key<String>
  let minor: Key<String>

  package var options: [Option] { decimal.options + minor.options }

  /// Creates the option for the decimal amount, and the one for minor units.
  package init(
    _ name: String,
    _ group: Option.Group,
    _ summary: String,
    minor: String
  ) {
    decimal = Key<String>(name, group, "AMOUNT", summary)
    self.minor = Key<String>(name + "-minor", group, "UNITS", minor)
  }
}
