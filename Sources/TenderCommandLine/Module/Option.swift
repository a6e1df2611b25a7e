import TenderModel

/// The definition of one option. Parser, help, manual and completions read it.
///
/// It is a class, because every command reads the catalogue. Copies of all its parts would take longer than
/// the parsing.
package final class Option: Sendable {
  /// The value after the name.
  package enum Value: Sendable, Hashable {
    /// No value: the option is present or absent.
    case flag
    case required(String)
    /// An optional value, which is accepted only with `=`.
    case optional(String)
  }

  /// The completions of the value. `newFiles` are files that the command creates.
  package enum Completion: Sendable, Hashable { case nothing, files, newFiles, folders }

  package enum Group: String, Sendable, Hashable, CaseIterable {
    case money = "Money"
    case payment = "Payment"
    case instrument = "Instrument"
    case bank = "Bank payments and mandates"
    case reader = "Card present"
    case filter = "Filter"
    case server = "Run"
    case control = "Control"
    case simulator = "Simulator"
    case general = "General"
  }

  package let name: String
  package let short: Character?
  package let value: Value
  package let group: Group
  package let repeats: Bool
  /// The only accepted values of an enumeration; empty for any value.
  package let choices: [String]
  package let completion: Completion
  /// Whether it, or its value `-`, reads standard input.
  package let readsStandardInput: Bool
  package let summary: String

  /// Creates an option with a value. Without `choices`, any value is accepted.
  package init(
    _ name: String,
    short: Character? = nil,
    _ group: Group,
    _ value: Value,
    repeats: Bool = false,
    choices: [String] = [],
    completion: Completion = .nothing,
    readsStandardInput: Bool = false,
    _ summary: String
  ) {
    self.name = name
    self.short = short
    self.value = value
    self.group = group
    self.repeats = repeats
    self.choices = choices
    self.completion = completion
    self.readsStandardInput = readsStandardInput
    self.summary = summary
  }

  /// Returns whether it has a name. Comparing lengths first rules out nearly all options without a call.
  package func isNamed(_ name: String) -> Bool {
    name.utf8.count == self.name.utf8.count && name == self.name
  }

  /// Its name as a member of records and contents.
  package var member: String { name.replacing("-", with: "_") }

  func without(_ values: [String]) -> Option {
    with(choices: choices.filter { !values.contains($0) })
  }

  package func with(summary: String? = nil, choices: [String]? = nil) -> Option {
    Option(
      name,
      short: short,
      group,
      value,
      repeats: repeats,
      choices: choices ?? self.choices,
      completion: completion,
      readsStandardInput: readsStandardInput,
      summary ?? self.summary
    )
  }

  /// The option as help writes it: `-o, --output FORMAT`.
  package var usage: String {
    let long =
      switch value {
      case .flag: "--\(name)"
      case .required(let placeholder): "--\(name) \(placeholder)"
      case .optional(let placeholder): "--\(name)[=\(placeholder)]"
      }
    return short.map { "-\($0), \(long)" } ?? long
  }
}
