package import TenderEngine
package import TenderModel

/// The definition of one command.
package struct Command: Sendable {
  /// An argument of the command that is not an option.
  package struct Operand: Sendable, Hashable {
    package let name: String
    package let isOptional: Bool
    /// Whether --id may replace it. Then only the parser treats it as optional.
    package let orID: Bool
    package let repeats: Bool
    package let choices: [String]
    package let completion: Option.Completion

    /// Creates an operand with its name in help. `choices` are the only accepted words.
    package init(
      _ name: String,
      optional: Bool = false,
      orID: Bool = false,
      repeats: Bool = false,
      choices: [String] = [],
      completion: Option.Completion = .nothing
    ) {
      self.completion = completion
      self.name = name
      isOptional = optional || orID
      self.orID = orID
      self.repeats = repeats
      self.choices = choices
    }
  }

  /// A line to type, with its effect. It works unchanged, on a fresh home.
  package struct Example: Sendable, Hashable {
    package let line: String
    package let meaning: String

    /// The line split for a shell. It is split before options, so that it fits 80 columns.
    package var lines: [String] {
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

  /// The effect of the command at a provider.
  package enum Work: Sendable, Hashable {
    /// It makes a payment or mandate, or a stored payment method (`storedMethod`).
    case makes(Payment.Kind)
    /// It continues a payment or undoes it.
    case changes(Change)
    case looksUp(Payment.Kind)
    /// It asks no provider by itself, and uses the files of this machine.
    case local(Files)

    /// Whether it asks no provider by itself.
    package var isLocal: Bool { if case .local = self { true } else { false } }

    /// Whether it only looks or reads.
    package var reads: Bool {
      switch self {
      case .looksUp, .local(.nothing), .local(.reads): true
      case .makes, .changes, .local(.changes), .local(.writes): false
      }
    }

    /// Whether it may move money or make something.
    package var writes: Bool {
      switch self {
      case .makes, .changes: true
      case .looksUp, .local: false
      }
    }
  }

  /// The access of a command to this machine's journal and simulator.
  ///
  /// A process with a command that needs neither is not contained, because it reads no data of others.
  package enum Files: Sendable, Hashable {
    case nothing, reads
    /// It changes what is recorded, and creates no folder.
    case changes
    case writes
  }

  /// The resources that a command may reach, besides the files that its arguments and its profile name.
  package enum Bounds: Sendable, Hashable {
    case world
    /// The simulated world, and the ports of `simulator serve`.
    case servedWorld
    /// The journal, and its providers with `--online`.
    case journal
    /// The journal, and the provider of any payment in it, in any environment.
    case providers
    /// The journal, and the provider that its arguments and its profile choose.
    case chosenProviders
    /// The journal, any file, and the resources that any profile names.
    case anyProfile

    var reachesProviders: Bool {
      switch self {
      case .providers, .chosenProviders, .anyProfile: true
      case .world, .servedWorld, .journal: false
      }
    }
  }

  private struct User {
    let provider: String
    let options: [Option]

    func takes(_ option: String) -> Bool { options.contains { $0.isNamed(option) } }
  }

  /// The change of an existing payment.
  package enum Change: Sendable, Hashable { case confirm, cancel, refund }

  package let work: Work
  /// The kind of payment that it makes or looks up; nil for any other command.
  package var kind: Payment.Kind? {
    switch work {
    case .makes(let kind), .looksUp(let kind): kind
    case .changes, .local: nil
    }
  }
  /// The words that name it: `["journal", "list"]`.
  package let words: [String]
  /// Its page of help. Only help reads more of it than the name.
  private let page: HelpPage
  private var uses: [CommandUse] = []
  package let operands: [Operand]
  /// The names of its options, without the general ones.
  package private(set) var optionNames: [String] = []
  /// The options that it has for every provider.
  private let keys: [any OptionKey]
  /// Its options, then the general ones; empty until a catalogue has added the providers.
  package private(set) var options: [Option] = []
  /// The options that only some providers use, by provider.
  private var users: [User] = []
  private let ownExits: [Fault.Kind]
  /// Values of its options that help does not offer: it explains them only, or they are old names. An option
  /// without values is not shown.
  let unoffered: [String: [String]]
  /// The meaning of an option for this command, if it differs from the definition.
  private let meanings: [String: String]
  package let bounds: Bounds
  /// The columns of `--output csv`; empty if the command has no such output.
  package let csv: [String]

  /// Creates a command from its page of help, with the options that it has for every provider. Providers add
  /// more.
  ///
  /// The page's first line has the command and its summary.
  package init(
    _ work: Work,
    _ page: String,
    operands: [Operand] = [],
    options: [any OptionKey] = [],
    exits: [Fault.Kind] = [],
    unoffered: [String: [String]] = [:],
    meanings: [String: String] = [:],
    bounds: Bounds? = nil,
    csv: [String] = []
  ) {
    self.csv = csv
    self.bounds = bounds ?? (work.isLocal ? .journal : .providers)
    self.work = work
    self.page = HelpPage(page)
    words = page.utf8.prefix { $0 != UInt8(ascii: ":") }.split(separator: UInt8(ascii: " "))
      .map { String(decoding: $0, as: UTF8.self) }
    self.operands = operands
    keys = options
    ownExits = exits
    self.unoffered = unoffered
    self.meanings = meanings
  }

  /// Whether its operands are a program of the user's and its arguments.
  package var runsProgram: Bool { operands.first?.completion == .program }

  package var summary: String { String(page.head.dropFirst(name.count + 2)) }

  /// The paragraphs. The caller wraps them.
  package var description: [String] { page.paragraphs + uses.flatMap(\.page.paragraphs) }

  package var examples: [Example] { page.examples + uses.flatMap(\.page.examples) }

  /// The exit statuses that it can have, besides 0, 1 and 2.
  package var exits: [Fault.Kind] {
    let waits = keys.flatMap(\.options).contains { $0 === Keys.wait.option }
    return ownExits + (waits ? [.pending] : [])
  }

  /// The words with a space between.
  package var name: String { words.joined(separator: " ") }

  /// Returns the command with the additions of its providers.
  package func used(by modules: [any ProviderModule], among known: [Option]) -> Command {
    var command = self
    let keyed = keys.flatMap(\.options)
    var own = keyed
    let ownName = name
    for module in modules {
      guard let use = module.uses.first(where: { $0.command == ownName }) else { continue }
      command.uses.append(use)
      let used = use.options.flatMap(\.options)
      for option in used where !own.contains(where: { $0.isNamed(option.name) }) {
        own.append(option)
      }
      command.users.append(User(provider: module.name.text, options: used))
    }
    // A name such as --limit can have several meanings: a command's option comes before others of that name.
    let meant = keyed.filter { option in known.contains { $0 === option } } + known
    own = own.compactMap { option in meant.first { $0.isNamed(option.name) } }
    let ineffective = ineffective(among: known)
    let options = Option.Group.allCases.flatMap { group in
      (group == .general ? known : own).filter {
        $0.group == group && !ineffective.contains($0.name)
      }
    }
    command.options = options
    command.optionNames = own.map(\.name)
    return command
  }

  /// The general options without an effect on this command, which the parser refuses.
  private func ineffective(among known: [Option]) -> [String] {
    let own = keys.flatMap(\.options).map(\.name)
    // The parser answers these two, and opens no file but the configuration.
    let more: [any OptionKey]? =
      switch name {
      case "help": [Keys.provider, Keys.profile, Keys.config]
      case "version": [Keys.verbose]
      default: nil
      }
    if let more {
      let shared: [any OptionKey] = [
        Keys.output, Keys.json, Keys.color, Keys.quiet, Keys.help, Keys.version,
      ]
      let used = (shared + more).flatMap(\.options).map(\.name)
      return known.filter { $0.group == .general }.map(\.name).filter { !used.contains($0) }
    }
    let asks =
      !work.isLocal || bounds.reachesProviders || own.contains(Keys.online.option.name)
    var names = asks ? [] : [Keys.trace.option.name]
    let isAboutProgram = work == .local(.nothing) && words[0] != "config" && words[0] != "help"
    if bounds == .world || bounds == .servedWorld || isAboutProgram {
      names += [Keys.timeout.option.name, Keys.provider.option.name, Keys.env.option.name]
    }
    // The program has standard output, and a new state folder.
    if runsProgram { names += [Keys.stateDir.option.name, Keys.fields.option.name] }
    return names.filter { !own.contains($0) }
  }

  /// The providers that use an option of this command; nil if all do.
  package func users(of option: String) -> [String]? {
    let users = users.filter { $0.takes(option) }.map(\.provider)
    return users.isEmpty ? nil : users
  }

  /// Whether a provider uses an option that only some use.
  func isOwn(_ option: String, of provider: String) -> Bool {
    users.first { $0.provider == provider }?.takes(option) ?? false
  }

  package var shownOptions: [Option] {
    options.filter { unoffered[$0.name] != [] }.map { option in
      let shown = unoffered[option.name].map { option.without($0) } ?? option
      return meanings[option.name].map { shown.with(summary: $0) } ?? shown
    }
  }

  package var usage: String {
    let operands = operands.map { operand in
      let text = operand.name + (operand.repeats ? "..." : "")
      return operand.isOptional && !operand.orID ? "[\(text)]" : text
    }
    return (["tender", name, "[OPTIONS]"] + operands).joined(separator: " ")
  }
}
