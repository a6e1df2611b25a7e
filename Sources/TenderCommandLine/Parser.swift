package import TenderModel

/// The result of parsing a command line.
package enum ParsedLine: Sendable {
  case run(Invocation)
  /// Help for a command or a topic, or the start page without words. The options choose the provider that it
  /// is about.
  case help([String], Invocation)
  /// The version. The invocation is that of the command `version`; nil for the option.
  case version(Invocation?)
}

/// Turns command-line arguments into an invocation, or into a `usage` fault that names the wrong argument.
package struct Parser {
  private let catalogue: Catalogue
  /// The name of the overview among the pages of help.
  private static let program = "tender"

  package init(_ catalogue: Catalogue) { self.catalogue = catalogue }

  /// Parses the arguments after the program's name.
  ///
  /// Options may come anywhere. `--` ends them.
  ///
  /// The card-number guard checks every argument before anything else.
  package func parse(_ arguments: [String]) throws(Fault) -> ParsedLine {
    try CardNumberGuard.check(arguments)
    let tokens = try Tokens(arguments, catalogue)
    var words = tokens.operands
    func help(_ words: [String]) -> ParsedLine {
      .help(words, Invocation(command: Catalogue.help, values: tokens.typed, operands: words))
    }
    guard let first = words.first else {
      // A script with an empty variable for the command must not read help as a success.
      let display = [Keys.output.option, Keys.json.option, Keys.color.option, Keys.quiet.option]
        .map(\.name)
      let isAsked = tokens.typed.has(Keys.help) || tokens.typed.has(Keys.version)
      if !isAsked, let option = tokens.typed.names.first(where: { !display.contains($0) }) {
        throw .usage(
          "unknown_command",
          "--\(option) is given without a command",
          "such as: tender transact --amount 10.50 --test-card visa; see: tender help"
        )
      }
      return tokens.typed.has(Keys.version)
        ? .version(nil) : help(tokens.typed.has(Keys.help) ? [Self.program] : [])
    }
    var name = [first]
    var command = catalogue.command(name)
    if command == nil, catalogue.groups.contains(first) {
      if tokens.typed.has(Keys.help), words.count == 1 { return help([first]) }
      guard words.count > 1 else { throw .unknownWord(first, nil, catalogue) }
      name.append(words[1])
      command = catalogue.command(name)
    }
    guard let command else {
      throw name.count == 2
        ? .unknownWord(name[0], name[1], catalogue) : .unknownCommand(first, catalogue)
    }
    words.removeFirst(name.count)
    if tokens.typed.has(Keys.help) { return help(name) }
    let invocation = try Self.invocation(of: command, tokens.typed, operands: words)
    if command.words == Catalogue.help.words {
      return help(words.isEmpty ? [Self.program] : words)
    }
    if command.words == Catalogue.versionCommand.words { return .version(invocation) }
    return tokens.typed.has(Keys.version) ? .version(nil) : .run(invocation)
  }

  /// Creates an invocation of a command from options or from the members of a batch's line.
  ///
  /// `exempt` has more values that only look like card numbers. Throws `usage` for an option that the command does not
  /// have.
  package static func invocation(
    of command: Command,
    _ typed: OptionValues,
    operands: [String],
    inherited: [String] = [],
    exempt: [String] = []
  ) throws(Fault) -> Invocation {
    for name in typed.names {
      guard let option = command.options.first(where: { $0.isNamed(name) }) else {
        throw .usage(
          "unknown_option",
          "--\(name) cannot be used with \(command.name)",
          hint(for: name, command)
        )
      }
      // Arguments are read before the command is known. Another option of this name may be repeatable.
      guard typed[name]?.count == 1 || option.isFlag || option.repeats else {
        throw .usage("bad_value", "--\(name) was given twice", "give it once")
      }
    }
    let ids = typed[Keys.id.option.name] ?? []
    // An id that is also somewhere else, such as in a file, is only said to be no card number.
    let isInFile =
      typed[Keys.metadataFile.option.name] != nil
      || command.operands.contains { $0.completion == .files }
    let named = isInFile ? [] : ids.filter { !operands.contains($0) && !typed.has(id: $0) }
    let operands = operands + named
    try checkOperands(operands, command)
    let invocation = Invocation(
      command: command,
      values: typed,
      operands: operands,
      exemptIDs: ids + exempt,
      inherited: inherited
    )
    try invocation.checkStandardInput()
    return invocation
  }

  /// The next step after an option that a command does not have. `--all` means one of two things.
  private static func hint(for name: String, _ command: Command) -> String {
    guard name == Keys.all.option.name, command.options.contains(where: { $0 === fields })
    else { return "see: tender help \(command.name)" }
    let other =
      switch command.work {
      case .changes(.refund): "to refund all that is left: --\(Keys.rest.option.name)"
      case .changes: "for the whole amount, leave --amount out"
      case .makes, .looksUp, .local: "for every payment: tender journal list --\(name)"
      }
    return "to show every field: --\(fields.name); \(other)"
  }

  private static let fields = Keys.allFields.option

  private static func checkOperands(_ operands: [String], _ command: Command) throws(Fault) {
    let definitions = command.operands
    if definitions.isEmpty, let extra = operands.first { throw .extraOperand(extra, command) }
    for (index, operand) in operands.enumerated() {
      if operand.isEmpty, !command.runsProgram || index == 0 {
        let hint = "an empty variable in a script leaves it empty"
        throw .usage("bad_operand", "an operand of \(command.name) is empty", hint)
      }
      let definition = index < definitions.count ? definitions[index] : definitions.last
      guard let definition, index < definitions.count || definition.repeats else {
        throw .extraOperand(operand, command)
      }
      if !definition.choices.isEmpty, !definition.choices.contains(operand) {
        throw .badChoice(definition.name, operand, definition.choices)
      }
    }
    if operands.count < definitions.filter({ !$0.isOptional }).count {
      let name = definitions[operands.count].name
      throw .usage("bad_operand", "\(command.name) needs \(name)", "usage: \(command.usage)")
    }
  }
}

/// Arguments, split into options with their values, and operands.
private struct Tokens {
  var typed = OptionValues()
  var operands: [String] = []

  private let catalogue: Catalogue
  private var rest: ArraySlice<String>

  init(_ arguments: [String], _ catalogue: Catalogue) throws(Fault) {
    self.catalogue = catalogue
    rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        operands += rest
        return
      }
      if argument.hasPrefix("--") {
        try takeLong(argument)
      } else if argument.hasPrefix("-"), argument != "-" {
        try takeShort(argument)
      } else {
        operands.append(argument)
      }
    }
  }

  private mutating func takeLong(_ argument: String) throws(Fault) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let typed = String(parts[0])
    guard let option = catalogue.option(String(typed.dropFirst(2))) else {
      throw .unknownOption(typed, operands, catalogue)
    }
    try take(option, given: parts.count > 1 ? String(parts[1]) : nil, typed: typed)
  }

  /// Short flags may share a dash. The last of them may have a value.
  private mutating func takeShort(_ argument: String) throws(Fault) {
    var letters = argument.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = catalogue.options.first(where: { $0.short == letter }) else {
        throw .unknownOption("-\(letter)", operands, catalogue)
      }
      var given: String?
      if option.value != .flag, !letters.isEmpty {
        given = String(letters.hasPrefix("=") ? letters.dropFirst() : letters)
        letters = ""
      }
      try take(option, given: given, typed: "-\(letter)")
    }
  }

  private mutating func take(_ option: Option, given: String?, typed: String) throws(Fault) {
    var value = given
    if given == nil, case .required = option.value {
      // An empty shell variable puts the next option in place of the value.
      if let next = rest.first, next.hasPrefix("-"), next != "-" {
        throw .usage(
          "bad_value",
          "\(typed) needs a value, and \(next.quotedForMessage) begins with a dash",
          "write a value with a dash as \(typed)=VALUE; an empty variable in a script leaves the value out"
        )
      }
      value = rest.popFirst()
    }
    // An optional value comes after `=`. A separate word that can only be the value is accepted too.
    if given == nil, case .optional = option.value, let next = rest.first,
      next.last?.isLetter == true, (try? TimeText.milliseconds(next, option: typed)) != nil
    {
      value = rest.popFirst()
    }
    try self.typed.add(option, value, typed: typed)
  }
}

extension OptionValues {
  fileprivate func has(_ flag: Key<Bool>) -> Bool { self[flag.option.name] != nil }

  /// Whether an id is the value of another option than `--id`, or that of a pair.
  fileprivate func has(id: String) -> Bool {
    names.contains { name in
      name != Keys.id.option.name
        && self[name]?.contains { $0 == id || $0.hasSuffix("=" + id) } == true
    }
  }

  /// Adds an option with its value; nil without one. `typed` is the option's name as typed.
  ///
  /// It is checked against the definition of the option.
  /// Throws `usage`.
  package mutating func add(_ option: Option, _ given: String?, typed: String) throws(Fault) {
    let value = given ?? ""
    if option.isFlag {
      guard given == nil else {
        throw .usage("bad_value", "\(typed) takes no value", "write \(typed) alone")
      }
    } else if value.isEmpty {
      switch option.value {
      case .optional where given == nil: break
      case .flag, .optional, .required:
        throw .usage("bad_value", "\(typed) needs a value", "usage: \(option.usage)")
      }
    }
    let choices = option.choices
    if !choices.isEmpty, !choices.contains(value) {
      throw .badChoice("--" + option.name, value, choices)
    }
    if self[option.name] != nil, !option.repeats, option.value != .flag {
      throw .usage("bad_value", "\(typed) was given twice", "give it once")
    }
    add(value, to: option.name)
  }
}

extension Fault {
  /// An option that no command has. The hint names the page of the command before it.
  fileprivate static func unknownOption(
    _ typed: String,
    _ operands: [String],
    _ catalogue: Catalogue
  ) -> Fault {
    let command = (1...2).lazy.compactMap { catalogue.command(Array(operands.prefix($0))) }.first
    // An option of a command that does not exist leads to the command.
    if command == nil, let first = operands.first {
      return catalogue.groups.contains(first)
        ? unknownWord(first, operands.dropFirst().first, catalogue)
        : unknownCommand(first, catalogue)
    }
    // A command that changes a payment moves all that is left without a value. So a word that may have limited it
    // leads to no option without one.
    let isChange = if case .changes? = command?.work { true } else { false }
    let options = (command?.options ?? catalogue.options).filter { option in
      guard option.isProposed else { return false }
      if case .required = option.value { return true }
      return !isChange
    }
    let names = options.map { "--" + $0.name }
    let page = "see: tender help" + (command.map { " " + $0.name } ?? "")
    let nearest = Suggestion.nearest(to: typed, among: names).map { "did you mean \($0)? " } ?? ""
    return usage("unknown_option", "unknown option \(typed.quotedForMessage)", nearest + page)
  }

  fileprivate static func unknownCommand(_ typed: String, _ catalogue: Catalogue) -> Fault {
    let word = typed.quotedForMessage
    if let meant = Synonyms.command(for: typed) {
      return usage("unknown_command", "no command \(word)", "use: tender \(meant)")
    }
    let names = catalogue.commands.map { $0.words[0] }
    let hint = Suggestion.hint(for: typed, among: names, else: "see: tender help")
    return usage("unknown_command", "unknown command \(word)", hint)
  }

  /// The second word of a group is missing or unknown.
  fileprivate static func unknownWord(
    _ group: String,
    _ typed: String?,
    _ catalogue: Catalogue
  ) -> Fault {
    let names = catalogue.commands.filter { $0.words[0] == group }.map { $0.words[1] }
    let all = names.joined(separator: ", ")
    guard let typed else {
      let hint = "such as: tender \(group) \(names[0])"
      return usage("unknown_command", "\(group) needs one of \(all)", hint)
    }
    let nearest = Suggestion.nearest(to: typed, among: names)
    let hint = (nearest.map { "did you mean \(group) \($0)? " } ?? "") + "it has \(all)"
    return usage("unknown_command", "\(group) has no \(typed.quotedForMessage)", hint)
  }

  fileprivate static func extraOperand(_ typed: String, _ command: Command) -> Fault {
    let message = "\(command.name) does not take \(typed.quotedForMessage)"
    return usage("bad_operand", message, "usage: \(command.usage)")
  }

  static func badChoice(_ what: String, _ typed: String, _ choices: [String]) -> Fault {
    let nearest = Suggestion.nearest(to: typed, among: choices)
    return usage(
      "bad_value",
      "\(what) cannot be \(typed.quotedForMessage)",
      (nearest.map { "did you mean \($0)? " } ?? "")
        + "it is one of \(choices.joined(separator: ", "))"
    )
  }
}
