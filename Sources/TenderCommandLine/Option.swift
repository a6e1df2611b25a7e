package import TenderModel

/// The definition of one option: parser, help, manual and completions all read it.
package struct Option: Sendable, Hashable {
  /// What stands behind the name.
  package enum Value: Sendable, Hashable {
    /// Nothing: it is there or not.
    case flag
    /// A value, shown in help under this name.
    case required(String)
    /// A value that may be left out and is only taken with `=`.
    case optional(String)
  }

  /// What completions offer for the value.
  package enum Completion: Sendable, Hashable { case nothing, files, folders }

  /// Where help lists it.
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
  /// The only values that are taken, where they are an enumeration.
  package let choices: [String]
  package let completion: Completion
  /// The providers that know it; empty where all do.
  package let providers: [String]
  package let summary: String

  init(
    _ name: String,
    short: Character? = nil,
    _ group: Group,
    _ value: Value,
    repeats: Bool = false,
    choices: [String] = [],
    completion: Completion = .nothing,
    providers: [String] = [],
    _ summary: String
  ) {
    self.name = name
    self.short = short
    self.value = value
    self.group = group
    self.repeats = repeats
    self.choices = choices
    self.completion = completion
    self.providers = providers
    self.summary = summary
  }

  /// A flag.
  init(
    _ name: String,
    short: Character? = nil,
    _ group: Group,
    providers: [String] = [],
    _ summary: String
  ) {
    self.init(name, short: short, group, .flag, providers: providers, summary)
  }

  /// The same option, known to these providers alone.
  func only(_ providers: String...) -> Option { copy(choices: choices, providers: providers) }

  /// The same option without some of its values.
  func without(_ values: [String]) -> Option {
    copy(choices: choices.filter { !values.contains($0) }, providers: providers)
  }

  private func copy(choices: [String], providers: [String]) -> Option {
    Option(
      name,
      short: short,
      group,
      value,
      repeats: repeats,
      choices: choices,
      completion: completion,
      providers: providers,
      summary
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

/// The definition of one command.
package struct Command: Sendable {
  /// What stands behind the command besides options.
  package struct Operand: Sendable, Hashable {
    package let name: String
    package let isOptional: Bool
    package let repeats: Bool
    package let choices: [String]

    init(_ name: String, optional: Bool = false, repeats: Bool = false, choices: [String] = []) {
      self.name = name
      isOptional = optional
      self.repeats = repeats
      self.choices = choices
    }
  }

  /// A line to type, and what it does.
  package struct Example: Sendable, Hashable {
    package let line: String
    package let meaning: String

    init(_ line: String, _ meaning: String) {
      self.line = line
      self.meaning = meaning
    }

    /// The line as a shell takes it over several: parted before options, so that it fits 80 columns.
    var lines: [String] {
      var lines: [String] = []
      var current = ""
      for word in line.split(separator: " ") {
        if current.count + word.count > 60, word.hasPrefix("-") {
          lines.append(current + " \\")
          current = "  " + word
        } else {
          current += current.isEmpty ? String(word) : " " + word
        }
      }
      return lines + [current]
    }
  }

  /// The words that name it: `["journal", "list"]`.
  package let words: [String]
  package let summary: String
  /// Paragraphs, wrapped by whoever prints them.
  package let description: [String]
  package let operands: [Operand]
  /// The names of its options, the general ones left out.
  package let optionNames: [String]
  package let examples: [Example]
  /// The exit statuses that it can give, besides 0, 1 and 2.
  package let exits: [Fault.Kind]
  /// Values of its options that it answers with a reason of its own, and that help does not offer.
  let unoffered: [String: [String]]

  init(
    _ words: String,
    _ summary: String,
    description: [String],
    operands: [Operand] = [],
    options: [String] = [],
    examples: [Example],
    exits: [Fault.Kind] = [],
    unoffered: [String: [String]] = [:]
  ) {
    self.words = words.split(separator: " ").map(String.init)
    self.summary = summary
    self.description = description
    self.operands = operands
    optionNames = options
    self.examples = examples
    self.exits = exits + (options.contains("wait") ? [.pending] : [])
    self.unoffered = unoffered
  }

  /// The words with a space between.
  package var name: String { words.joined(separator: " ") }

  /// Its own options, then the general ones.
  package var options: [Option] {
    let own = optionNames.compactMap { name in Catalogue.options.first { $0.name == name } }
    return own + Catalogue.options.filter { $0.group == .general }
  }

  /// The options as help shows them.
  package var shownOptions: [Option] {
    options.map { option in
      unoffered[option.name].map { option.without($0) } ?? option
    }
  }

  /// The line that shows how it is called.
  package var usage: String {
    let operands = operands.map { operand in
      let text = operand.name + (operand.repeats ? "..." : "")
      // Those that --id may stand for are optional to the parser alone.
      return operand.isOptional && !optionNames.contains("id") ? "[\(text)]" : text
    }
    return (["tender", name, "[OPTIONS]"] + operands).joined(separator: " ")
  }
}
