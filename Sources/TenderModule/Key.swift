package import TenderModel
internal import TenderWire

/// One option, or several that belong together, as a command lists them.
package protocol OptionKey: Sendable {
  /// The definitions, in the order in which help shows them.
  var options: [Option] { get }
}

/// An option together with the type of its value: the definition parses, the command reads a value.
package struct Key<Value>: OptionKey {
  package let option: Option
  /// Reads what was typed; the second text is the option as it is typed.
  fileprivate let parse: @Sendable (_ text: String, _ option: String) throws(Fault) -> Value

  package var options: [Option] { [option] }

  /// An option whose text becomes a value.
  ///
  /// `parse` throws `usage`.
  package init(
    _ option: Option,
    parse: @escaping @Sendable (_ text: String, _ option: String) throws(Fault) -> Value
  ) {
    self.option = option
    self.parse = parse
  }
}

extension Key where Value == Bool {
  /// A flag.
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
  /// An option whose value is any text.
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
where Value: CaseIterable & RawRepresentable & SendableMetatype, Value.RawValue == String {
  /// An option whose value is one of an enumeration.
  package init(
    _ name: String,
    _ group: Option.Group,
    _ placeholder: String,
    _ summary: String
  ) {
    let choices = Value.allCases.map(\.rawValue)
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
  /// An option whose value is a whole number of a range.
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

  /// An option whose value is a length of time, in milliseconds.
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

  /// An option whose value is a time, in milliseconds since 1970.
  package static func time(
    _ name: String,
    _ group: Option.Group,
    example: String,
    _ summary: String
  ) -> Key {
    Key(Option(name, group, .required("TIME"), summary)) { text, option throws(Fault) in
      guard let time = Timestamp.read(text) else { throw .badValue(option, text, hint: example) }
      return time
    }
  }
}

extension Key where Value == Reference {
  /// An option whose value is a reference.
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

  /// The option for the amount as people write it, and the one for minor units.
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

extension Invocation {
  /// The text of an option; nil where it was not given.
  package subscript(_ key: Key<String>) -> String? { text(key) }

  /// The value of an option; nil where it was not given.
  ///
  /// An option that was given without its value has the one that help names.
  ///
  /// Throws `usage` for a text that is no such value.
  package func value<Value>(_ key: Key<Value>) throws(Fault) -> Value? {
    guard has(key) else { return nil }
    let option = key.option
    if let text = text(key) { return try key.parse(text, "--" + option.name) }
    guard case .optional(let usual) = option.value else { return nil }
    return try key.parse(usual, "--" + option.name)
  }

  /// The text of an option as it was typed, for messages and for what hands it on.
  package func text(_ key: any OptionKey) -> String? {
    key.options.lazy.compactMap { text($0) }.first
  }

  /// The text of an option by its definition; nil where it was not given, or given without.
  package func text(_ option: Option) -> String? {
    guard let value = values[option.name]?.last, !value.isEmpty else { return nil }
    return value
  }

  /// Whether an option, or one of several that belong together, was given.
  package func has(_ key: any OptionKey) -> Bool {
    key.options.contains { values[$0.name] != nil }
  }

  /// Every text of an option that may be repeated.
  package func all(_ key: Key<String>) -> [String] { values[key.option.name] ?? [] }

  /// Those of some options that were given, in the order of the definitions.
  package func given(among keys: [any OptionKey]) -> [Option] {
    keys.flatMap(\.options).filter { values[$0.name] != nil }
  }
}
