private import Platform
internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

/// `tender __complete`: completions at the cursor, for a shell.
struct CompleteCommand {
  private typealias Candidate = (word: String, meaning: String)

  let providers: Providers
  let environment: Environment

  private var catalogue: Catalogue { providers.catalogue }

  /// Prints one candidate on each line, with its meaning after a tab. It prints no error, because the shell
  /// would hide it.
  func run(_ arguments: [String]) -> Int32 {
    guard let shell = arguments.first else { return 0 }
    var words = Array(arguments.dropFirst())
    if shell == "bash" { words = Self.words(ofLine: words.first ?? "") }
    let current = words.popLast() ?? ""
    // bash replaces only the text after the last = or :.
    let cut = shell == "bash" ? current.lastIndex { "=:".contains($0) } : nil
    let kept = cut.map { current.distance(from: current.startIndex, to: $0) + 1 } ?? 0
    var text = ""
    for candidate in candidates(for: current, behind: words) {
      let isShells = [Completions.files, Completions.folders].contains(candidate.word)
      guard isShells || candidate.word.hasPrefix(current) else { continue }
      // fish would leave a ~ at the start unquoted, and then read it as a home.
      if shell == "fish", candidate.word.hasPrefix("~") { continue }
      text += Printable.text(isShells ? candidate.word : String(candidate.word.dropFirst(kept)))
      text += candidate.meaning.isEmpty ? "\n" : "\t\(Printable.text(candidate.meaning))\n"
    }
    return Program.put(text)
  }

  /// The arguments of a line after the program's name. The last one may be empty, and is not finished.
  private static func words(ofLine line: String) -> [String] {
    let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    return parts.dropLast().filter { !$0.isEmpty }.dropFirst() + [parts.last ?? ""]
  }

  private func candidates(for current: String, behind words: [String]) -> [Candidate] {
    let typed = Typed(words, catalogue)
    if typed.areOptionsOver, let command = typed.command { return operands(of: command, typed) }
    if current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
      let name = current[current.index(current.startIndex, offsetBy: 2)..<equals]
      guard let option = catalogue.option(String(name)) else { return [] }
      return values(of: option, typed).map { candidate in
        candidate.word.hasPrefix(":") && candidate.meaning.isEmpty
          ? candidate : ("--\(option.name)=" + candidate.word, candidate.meaning)
      }
    }
    if let option = typed.open { return values(of: option, typed) }
    guard let command = typed.command else {
      return current.hasPrefix("-") ? general : commands(typed.operands)
    }
    guard !current.hasPrefix("-") else {
      return command.shownOptions
        .filter { $0.repeats || !typed.names.contains($0.name) }
        .map { ("--" + $0.name, $0.summary) }
    }
    return operands(of: command, typed)
  }

  private var general: [Candidate] {
    catalogue.options.filter { $0.group == .general }.map { ("--" + $0.name, $0.summary) }
  }

  /// First words of commands, or the second words of a group.
  private func commands(_ operands: [String]) -> [Candidate] {
    func inGroup(_ group: String) -> [Candidate] {
      catalogue.commands.filter { $0.words.count == 2 && $0.words[0] == group }
        .map { ($0.words[1], $0.summary) }
    }
    if let group = operands.first { return inGroup(group) }
    return catalogue.commands.filter { $0.words.count == 1 }.map { ($0.name, $0.summary) }
      + catalogue.groups.map { ($0, inGroup($0).map(\.word).joined(separator: ", ")) }
  }

  private func operands(of command: Command, _ typed: Typed) -> [Candidate] {
    let given = typed.operands.count - command.words.count
    guard let operand = command.operands.first, given == 0 || operand.repeats else { return [] }
    if let own = Self.own(operand.choices, operand.completion) { return own }
    switch operand.name {
    // One that begins with a dash would be read as an option, unless it is behind --.
    case "REF", "ID":
      return references(typed).filter { typed.areOptionsOver || !$0.word.hasPrefix("-") }
    case "CODE": return codes + references(typed)
    case "TOPIC":
      let topics = catalogue.topics.map { ($0.name, $0.summary) }
      return given == 0 ? commands([]) + topics : commands([typed.operands[command.words.count]])
    default: return []
    }
  }

  /// The values that a definition alone gives; nil if it gives none.
  private static func own(_ choices: [String], _ kind: Option.Completion) -> [Candidate]? {
    if !choices.isEmpty { return choices.map { ($0, "") } }
    switch kind {
    case .files, .newFiles, .program: return [(Completions.files, "")]
    case .folders: return [(Completions.folders, "")]
    case .nothing, .reference: return nil
    }
  }

  private func values(of option: Option, _ typed: Typed) -> [Candidate] {
    if let own = Self.own(option.choices, option.completion) { return own }
    if option.completion == .reference { return references(typed) }
    switch option.name {
    case Keys.profile.option.name:
      let settings = try? Settings(invocation(typed), environment, catalogue.modules)
      return (settings?.config.profiles.keys.sorted() ?? []).map { ($0, "") }
    case Keys.simScenario.option.name:
      return providers.simulated.flatMap(\.scenarios).map { ($0.name, $0.meaning) }
    case Keys.simFault.option.name:
      return providers.simulated.flatMap(\.faults.words).map { ($0.name, $0.meaning) }
    case Keys.expect.option.name:
      return Status.allCases.map { ($0.rawValue, "") }
        + Fault.Kind.allCases.map { ("exit:\($0.exitStatus)", $0.meaning) }
        + codes.map { ("code:\($0.word)", $0.meaning) }
    case Keys.failure.option.name: return codes
    case Keys.currency.option.name: return Currency.codes.map { ($0, "") }
    default: return []
    }
  }

  private var codes: [Candidate] {
    (Explanation.general + catalogue.modules.flatMap(\.explanations))
      .filter { $0.subject == .error }.map { ($0.code, $0.meaning) }
  }

  /// The latest references of the journal. There are none if it cannot be read, or is on a server, which
  /// could be slow.
  private func references(_ typed: Typed) -> [Candidate] {
    guard let invocation = try? invocation(typed),
      let settings = try? Settings(invocation, environment, catalogue.modules),
      settings.journal() == nil, let folder = try? settings.stateFolder().text,
      Environment.exists(folder + "/journal.db")
    else { return [] }
    let containment = Containment.begin(settings)
    guard
      let composition = try? Composition(
        providers,
        settings,
        Redactor(),
        Signals { _exit($0.exitStatus) },
        containment: containment
      ),
      let journal = try? composition.journal()
    else { return [] }
    var found: [Candidate] = []
    try? journal.each(PaymentFilter()) { payment in
      let amount = payment.money.map { "\($0.text) " } ?? ""
      found.append((payment.reference.text, amount + payment.state.status.rawValue))
      return found.count < 100
    }
    return found
  }

  /// Creates an invocation that reads the journal, with the typed options for its place.
  private func invocation(_ typed: Typed) throws(Fault) -> Invocation {
    let line = ["journal", "list", "--json"] + typed.places
    guard case .run(let invocation) = try Parser(catalogue).parse(line) else {
      throw Fault(.internal, code: "internal", "journal list is no command")
    }
    return invocation
  }
}

/// The arguments of an unfinished line.
private struct Typed {
  private(set) var names: Set<String> = []
  private(set) var operands: [String] = []
  private(set) var open: Option?
  /// Whether an argument `--` ended the options.
  private(set) var areOptionsOver = false
  private(set) var command: Command?
  /// The options for the place of journal and configuration, with their values.
  private(set) var places: [String] = []

  init(_ words: [String], _ catalogue: Catalogue) {
    let ofPlaces = [Keys.stateDir, Keys.config].map(\.option.name)
    for word in words {
      if let option = open {
        if ofPlaces.contains(option.name) { places += ["--" + option.name, word] }
        open = nil
      } else if areOptionsOver {
        operands.append(word)
      } else if word == "--" {
        areOptionsOver = true
      } else if word.hasPrefix("-"), word.count > 1 {
        let name = word.drop { $0 == "-" }.prefix(before: "=")
        let option = catalogue.options.first { option in
          option.name == name
            || !word.hasPrefix("--") && option.short.map(String.init) == String(name)
        }
        guard let option else { continue }
        names.insert(option.name)
        if ofPlaces.contains(option.name), word.contains("=") { places.append(word) }
        if case .required = option.value, !word.contains("=") { open = option }
      } else {
        operands.append(word)
      }
    }
    command =
      operands.first.flatMap { catalogue.command([$0]) }
      ?? (operands.count > 1 ? catalogue.command(Array(operands.prefix(2))) : nil)
  }
}
