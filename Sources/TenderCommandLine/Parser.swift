package import TenderModel
internal import TenderModule

/// Words on a command line become an invocation, or a `usage` fault that names the word.
package struct Parser {
  private let catalogue: Catalogue

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
      return tokens.values["version"] != nil ? .version(nil) : .help([])
    }
    var name = [first]
    if catalogue.groups.contains(first) {
      if tokens.values["help"] != nil, words.count == 1 { return .help([first]) }
      guard words.count > 1 else { throw .missingWord(first, catalogue) }
      name.append(words[1])
    }
    guard let command = catalogue.command(name) else {
      throw name.count == 2
        ? .unknownWord(name[0], name[1], catalogue) : .unknownCommand(first, catalogue)
    }
    words.removeFirst(name.count)
    if tokens.values["help"] != nil { return .help(name) }
    if command.name == "help" { return .help(words) }
    try checkOptions(tokens, command)
    let ids = tokens.values["id"] ?? []
    let operands = words + ids
    try checkOperands(operands, command)
    let invocation = Invocation(
      command: command,
      values: tokens.values,
      operands: operands,
      exemptIDs: ids
    )
    if command.name == "version" || tokens.values["version"] != nil {
      return .version(invocation)
    }
    return .run(invocation)
  }

  private func checkOptions(_ tokens: Tokens, _ command: Command) throws(Fault) {
    let allowed = Set(command.options.map(\.name))
    for name in tokens.order where !allowed.contains(name) {
      throw .notForCommand(name, command)
    }
  }

  private func checkOperands(_ operands: [String], _ command: Command) throws(Fault) {
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
  var values: [String: [String]] = [:]
  var order: [String] = []
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
    var value = given ?? ""
    switch option.value {
    case .flag: if given != nil { throw .unwantedValue(typed) }
    case .optional: if given?.isEmpty == true { throw .missingValue(typed, option) }
    case .required:
      if given == nil {
        guard let next = rest.popFirst() else { throw .missingValue(typed, option) }
        value = next
      }
      if value.isEmpty { throw .missingValue(typed, option) }
    }
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
