package import TenderModel

/// Words on a command line become an invocation, or a `usage` fault that names the word.
package struct Parser {
  private let catalogue: Catalogue
  /// The overview's name among the pages of help.
  private static let program = "tender"

  /// A parser of what a catalogue defines.
  package init(_ catalogue: Catalogue) { self.catalogue = catalogue }

  /// Parses the arguments behind the program's name.
  ///
  /// Options may stand anywhere; `--` ends them.
  ///
  /// The card-number guard looks at every argument before anything else.
  package func parse(_ arguments: [String]) throws(Fault) -> ParsedLine {
    try CardNumberGuard.check(arguments)
    let tokens = try Tokens(arguments, catalogue)
    var words = tokens.operands
    guard let first = words.first else {
      return tokens.typed.has(Keys.version)
        ? .version(nil) : .help(tokens.typed.has(Keys.help) ? [Self.program] : [])
    }
    var name = [first]
    var command = catalogue.command(name)
    if command == nil, catalogue.groups.contains(first) {
      if tokens.typed.has(Keys.help), words.count == 1 { return .help([first]) }
      guard words.count > 1 else { throw .missingWord(first, catalogue) }
      name.append(words[1])
      command = catalogue.command(name)
    }
    guard let command else {
      throw name.count == 2
        ? .unknownWord(name[0], name[1], catalogue) : .unknownCommand(first, catalogue)
    }
    words.removeFirst(name.count)
    if tokens.typed.has(Keys.help) { return .help(name) }
    if command.name == "help" { return .help(words.isEmpty ? [Self.program] : words) }
    let invocation = try Self.invocation(of: command, tokens.typed, operands: words)
    return command.name == "version" || tokens.typed.has(Keys.version)
      ? .version(invocation) : .run(invocation)
  }

  /// An invocation of a command, whether its options were words or members of a batch's line.
  ///
  /// Throws `usage` for what the command does not take.
  package static func invocation(
    of command: Command,
    _ typed: TypedOptions,
    operands: [String],
    inherited: Set<String> = []
  ) throws(Fault) -> Invocation {
    for name in typed.order where !command.options.contains(where: { $0.name == name }) {
      throw .notForCommand(name, command)
    }
    let ids = typed.values[Keys.id.option.name] ?? []
    try checkOperands(operands + ids, command)
    return Invocation(
      command: command,
      values: typed.values,
      operands: operands + ids,
      exemptIDs: ids,
      inherited: inherited
    )
  }

  private static func checkOperands(_ operands: [String], _ command: Command) throws(Fault) {
    let definitions = command.operands
    if definitions.isEmpty, let extra = operands.first { throw .extraOperand(extra, command) }
    for (index, operand) in operands.enumerated() {
      let definition = index < definitions.count ? definitions[index] : definitions.last
      guard let definition, index < definitions.count || definition.repeats else {
        throw .extraOperand(operand, command)
      }
      if !definition.choices.isEmpty, !definition.choices.contains(operand) {
        throw .badChoice(definition.name, operand, definition.choices)
      }
    }
    if operands.count < definitions.filter({ !$0.isOptional }).count {
      throw .missingOperand(definitions[operands.count].name, command)
    }
  }
}

/// Arguments taken apart into options with their values, and operands.
private struct Tokens {
  var typed = TypedOptions()
  var operands: [String] = []

  private let catalogue: Catalogue

  init(_ arguments: [String], _ catalogue: Catalogue) throws(Fault) {
    self.catalogue = catalogue
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        operands += rest
        return
      }
      if argument.hasPrefix("--") {
        try takeLong(argument, &rest)
      } else if argument.hasPrefix("-"), argument != "-" {
        try takeShort(argument, &rest)
      } else {
        operands.append(argument)
      }
    }
  }

  private mutating func takeLong(_ argument: String, _ rest: inout ArraySlice<String>) throws(Fault)
  {
    let body = argument.dropFirst(2)
    let parts = body.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = catalogue.option(name) else {
      throw .unknownOption("--" + name, catalogue)
    }
    let given = parts.count > 1 ? String(parts[1]) : nil
    try take(option, given: given, typed: "--" + name, &rest)
  }

  /// Short flags may share a dash; the last of them may take a value.
  private mutating func takeShort(
    _ argument: String,
    _ rest: inout ArraySlice<String>
  ) throws(Fault) {
    var letters = argument.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = catalogue.options.first(where: { $0.short == letter }) else {
        throw .unknownOption("-\(letter)", catalogue)
      }
      var given: String?
      if option.value != .flag, !letters.isEmpty {
        given = String(letters.hasPrefix("=") ? letters.dropFirst() : letters)
        letters = ""
      }
      try take(option, given: given, typed: "-\(letter)", &rest)
    }
  }

  private mutating func take(
    _ option: Option,
    given: String?,
    typed: String,
    _ rest: inout ArraySlice<String>
  ) throws(Fault) {
    var value = given
    if given == nil, case .required = option.value { value = rest.popFirst() }
    // An optional value stands behind =; one that can be nothing else is taken for it all the same.
    if given == nil, case .optional = option.value, let next = rest.first,
      next.last?.isLetter == true, (try? TimeText.milliseconds(next, option: typed)) != nil
    {
      value = rest.popFirst()
    }
    try self.typed.add(option, value, typed: typed)
  }
}

/// Options with their values, each checked against its definition as it comes.
package struct TypedOptions: Sendable {
  fileprivate private(set) var values: [String: [String]] = [:]
  /// The names in the order in which they came first.
  fileprivate private(set) var order: [String] = []

  package init() {}

  fileprivate func has(_ flag: Key<Bool>) -> Bool { values[flag.option.name] != nil }

  /// Takes an option with its value, nil where none was given; `typed` is the option as it was typed.
  ///
  /// Throws `usage`.
  package mutating func add(
    _ option: Option,
    _ given: String?,
    typed: String
  ) throws(Fault) {
    switch option.value {
    case .flag: if given != nil { throw .unwantedValue(typed) }
    case .optional: if given?.isEmpty == true { throw .missingValue(typed, option) }
    case .required: if given?.isEmpty ?? true { throw .missingValue(typed, option) }
    }
    let value = given ?? ""
    if !option.choices.isEmpty, !option.choices.contains(value) {
      throw .badChoice("--" + option.name, value, option.choices)
    }
    if values[option.name] != nil, !option.repeats, option.value != .flag {
      throw .repeated(typed)
    }
    if values[option.name] == nil { order.append(option.name) }
    values[option.name, default: []].append(value)
  }
}

extension Fault {
  private static func usage(_ code: String, _ message: String, _ hint: String?) -> Fault {
    Fault(.usage, code: code, message, hint: hint)
  }

  fileprivate static func unknownOption(_ typed: String, _ catalogue: Catalogue) -> Fault {
    let names = catalogue.options.map { "--" + $0.name }
    let nearest = Suggestion.nearest(to: typed, among: names)
    return usage(
      "unknown_option",
      "unknown option \(typed.quotedForMessage)",
      nearest.map { "did you mean \($0)?" } ?? "see: tender help"
    )
  }

  fileprivate static func unknownCommand(_ typed: String, _ catalogue: Catalogue) -> Fault {
    if let meant = Synonyms.command(for: typed) {
      return usage(
        "unknown_command",
        "no command \(typed.quotedForMessage)",
        "use: tender \(meant)"
      )
    }
    let names = catalogue.commands.map { $0.words[0] }
    let nearest = Suggestion.nearest(to: typed, among: names)
    return usage(
      "unknown_command",
      "unknown command \(typed.quotedForMessage)",
      nearest.map { "did you mean \($0)?" } ?? "see: tender help"
    )
  }

  fileprivate static func unknownWord(
    _ group: String,
    _ typed: String,
    _ catalogue: Catalogue
  ) -> Fault {
    let names = catalogue.commands.filter { $0.words[0] == group }.map { $0.words[1] }
    let nearest = Suggestion.nearest(to: typed, among: names)
    return usage(
      "unknown_command",
      "\(group) has no \(typed.quotedForMessage)",
      (nearest.map { "did you mean \(group) \($0)? " } ?? "")
        + "it has \(names.joined(separator: ", "))"
    )
  }

  fileprivate static func missingWord(_ group: String, _ catalogue: Catalogue) -> Fault {
    let names = catalogue.commands.filter { $0.words[0] == group }.map { $0.words[1] }
    return usage(
      "unknown_command",
      "\(group) needs one of \(names.joined(separator: ", "))",
      "such as: tender \(group) \(names[0])"
    )
  }

  fileprivate static func notForCommand(_ name: String, _ command: Command) -> Fault {
    usage(
      "unknown_option",
      "--\(name) does not go with \(command.name)",
      "see: tender help \(command.name)"
    )
  }

  fileprivate static func extraOperand(_ typed: String, _ command: Command) -> Fault {
    usage(
      "bad_operand",
      "\(command.name) does not take \(typed.quotedForMessage)",
      "usage: \(command.usage)"
    )
  }

  fileprivate static func missingOperand(_ name: String, _ command: Command) -> Fault {
    usage("bad_operand", "\(command.name) needs \(name)", "usage: \(command.usage)")
  }

  fileprivate static func unwantedValue(_ typed: String) -> Fault {
    usage("bad_value", "\(typed) takes no value", "write \(typed) alone")
  }

  fileprivate static func missingValue(_ typed: String, _ option: Option) -> Fault {
    usage("bad_value", "\(typed) needs a value", "usage: \(option.usage)")
  }

  fileprivate static func repeated(_ typed: String) -> Fault {
    usage("bad_value", "\(typed) was given twice", "give it once")
  }

  fileprivate static func badChoice(_ what: String, _ typed: String, _ choices: [String]) -> Fault {
    let nearest = Suggestion.nearest(to: typed, among: choices)
    return usage(
      "bad_value",
      "\(what) cannot be \(typed.quotedForMessage)",
      (nearest.map { "did you mean \($0)? " } ?? "")
        + "it is one of \(choices.joined(separator: ", "))"
    )
  }
}
