package import TenderEngine
package import TenderModel

/// The definition of one command.
package struct Command: Sendable {
  /// What stands behind the command besides options.
  package struct Operand: Sendable, Hashable {
    package let name: String
    package let isOptional: Bool
    /// Whether --id may stand for it: then it is optional to the parser alone.
    package let orID: Bool
    package let repeats: Bool
    package let choices: [String]
    package let completion: Option.Completion

    /// An operand as help names it; `choices` are the only words that are taken.
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

  /// A line to type, and what it does.
  package struct Example: Sendable, Hashable {
    package let line: String
    package let meaning: String

    /// A line that works as it stands, on a fresh home.
    package init(_ line: String, _ meaning: String) {
      self.line = line
      self.meaning = meaning
    }

    /// The line as a shell takes it over several: parted before options, so that it fits 80 columns.
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

  /// What it does at a provider.
  package enum Work: Sendable, Hashable {
    /// It makes a payment or mandate, or a stored payment method (`storedMethod`).
    case makes(Payment.Kind)
    /// It goes on with what was made, or undoes it.
    case changes(Change)
    case looksUp(Payment.Kind)
    /// It asks no provider by itself, and uses the files of this machine.
    case local(Files)

    /// Whether it asks no provider by itself.
    package var isLocal: Bool { if case .local = self { true } else { false } }

    /// Whether it may move money or make something.
    package var writes: Bool {
      switch self {
      case .makes, .changes: true
      case .looksUp, .local: false
      }
    }
  }

  /// What a command needs of this machine's journal and simulator.
  ///
  /// A process whose command needs nothing of them is not contained: it reads nothing that others wrote.
  package enum Files: Sendable, Hashable { case nothing, reads, writes }

  /// What a command may reach besides the files that its words and its profile name.
  package enum Bounds: Sendable, Hashable {
    /// The simulated world.
    case world
    /// The simulated world, and ports on which programs are served.
    case servedWorld
    /// The journal, and its providers with `--online`.
    case journal
    /// The journal, and the provider of a payment in it, whatever its environment.
    case providers
    /// The journal, and the provider that its words and its profile choose.
    case chosenProviders
    /// The journal, any file, and what any profile names.
    case anyProfile

    /// Whether a provider may be asked.
    var reachesProviders: Bool {
      switch self {
      case .providers, .chosenProviders, .anyProfile: true
      case .world, .servedWorld, .journal: false
      }
    }
  }

  /// What becomes of what was made.
  package enum Change: Sendable, Hashable { case confirm, cancel, refund }

  package let work: Work
  /// What it makes or looks up; nil for any other command.
  package var kind: Payment.Kind? {
    switch work {
    case .makes(let kind), .looksUp(let kind): kind
    case .changes, .local: nil
    }
  }
  /// The words that name it: `["journal", "list"]`.
  package let words: [String]
  /// Its page of help, of which only help reads more than the words.
  private let page: String
  /// What providers add to the page.
  private var uses: [CommandUse] = []
  package let operands: [Operand]
  /// The names of its options, the general ones left out.
  package private(set) var optionNames: [String] = []
  /// The options that it takes whoever is asked.
  private let keys: [any OptionKey]
  /// Its own options, then the general ones; empty until a catalogue has given it its providers.
  package private(set) var options: [Option] = []
  /// Who uses an option that not every provider uses.
  private var users: [String: [String]] = [:]
  private let ownExits: [Fault.Kind]
  /// Values of its options that help does not offer, since it only explains them or they are old names; an
  /// option without any is not shown at all.
  let unoffered: [String: [String]]
  /// What an option means to this command, where it is not what its definition says.
  private let meanings: [String: String]
  package let bounds: Bounds
  /// The columns of `--output csv`; empty if the command has no such output.
  package let csv: [String]

  /// A command by its page of help, with the options that it takes whoever is asked; providers add their own.
  ///
  /// The page's first line has the words and what they do. The paragraphs follow, an empty line between two, then
  /// the examples, each as `$ LINE # MEANING`.
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
    self.page = page
    words = page.utf8.prefix { $0 != UInt8(ascii: ":") }.split(separator: UInt8(ascii: " "))
      .map { String(decoding: $0, as: UTF8.self) }
    self.operands = operands
    keys = options
    ownExits = exits
    self.unoffered = unoffered
    self.meanings = meanings
  }

  /// The lines of the page; the first one has the words.
  private var lines: [Substring] {
    page.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// What it does, in one line.
  package var summary: String { String(lines[0].trimmingPrefix(name + ": ")) }

  /// The page's paragraphs and examples, each on one line.
  private var parts: [String] {
    lines.dropFirst().reduce(into: [""]) { parts, line in
      if line.isEmpty || line.hasPrefix("$ ") {
        parts.append(String(line))
      } else {
        parts[parts.count - 1] += (parts.last == "" ? "" : " ") + line
      }
    }
  }

  /// Paragraphs, wrapped by whoever prints them.
  package var description: [String] {
    parts.filter { !$0.hasPrefix("$ ") } + uses.flatMap(\.description)
  }

  package var examples: [Example] {
    parts.filter { $0.hasPrefix("$ ") }.map { example in
      let halves = example.dropFirst(2).split(separator: " # ").map(String.init)
      return Example(halves[0], halves[1])
    } + uses.flatMap(\.examples)
  }

  /// The exit statuses that it can give, besides 0, 1 and 2.
  package var exits: [Fault.Kind] {
    let waits = keys.flatMap(\.options).contains { $0 === Keys.wait.option }
    return ownExits + (waits ? [.pending] : [])
  }

  /// The words with a space between.
  package var name: String { words.joined(separator: " ") }

  /// The same command with what its providers add to it.
  package func used(by modules: [any ProviderModule], among known: [Option]) -> Command {
    var command = self
    command.optionNames = keys.flatMap(\.options).map(\.name)
    for module in modules {
      guard let use = module.uses.first(where: { $0.command == name }) else { continue }
      command.uses.append(use)
      for option in use.options.flatMap(\.options).map(\.name) {
        if !command.optionNames.contains(option) { command.optionNames.append(option) }
        command.users[option, default: []].append(module.name.text)
      }
    }
    // By place: an option is large, and each comparison of a copy takes all of its parts along.
    // A name such as --limit has another meaning for some commands: a command's own option comes first.
    let keyed = keys.flatMap(\.options)
    let own = command.optionNames.compactMap { name in
      known.indices.first { place in
        known[place].name == name && keyed.contains { $0 === known[place] }
      } ?? known.indices.first { known[$0].name == name }
    }
    var options: [Option] = []
    for group in Option.Group.allCases {
      for place in group == .general ? Array(known.indices) : own where known[place].group == group
      {
        options.append(known[place])
      }
    }
    command.options = options
    command.optionNames = own.map { known[$0].name }
    return command
  }

  /// Those that use an option with this command; nil where whoever is asked does.
  package func users(of option: String) -> [String]? { users[option] }

  /// The options as help shows them.
  package var shownOptions: [Option] {
    options.filter { unoffered[$0.name] != [] }.map { option in
      let shown = unoffered[option.name].map { option.without($0) } ?? option
      return meanings[option.name].map { shown.with(summary: $0) } ?? shown
    }
  }

  /// The line that shows how it is called.
  package var usage: String {
    let operands = operands.map { operand in
      let text = operand.name + (operand.repeats ? "..." : "")
      return operand.isOptional && !operand.orID ? "[\(text)]" : text
    }
    return (["tender", name, "[OPTIONS]"] + operands).joined(separator: " ")
  }
}
