package import TenderModel

/// Help as text of at most 80 columns: the overview, a command, a topic.
package struct HelpText {
  private let catalogue: Catalogue
  /// The provider whose options a command's page shows; nil for the first one that the command supports.
  private let provider: String?

  package init(_ catalogue: Catalogue, for provider: String? = nil) {
    self.catalogue = catalogue
    self.provider = provider
  }

  /// The number of columns of a page.
  package static let width = 79

  /// The text of `tender` without arguments: a first try, and every command, on one screen of 24 lines.
  package var start: String {
    var lines = [
      "tender: take, hold, look up and undo payments from the command line",
      "",
      "Try it, offline and without an account:",
      "  tender transact --amount 10.50 --test-card visa --reference ORDER-1042",
      "  tender payment-status ORDER-1042",
      "  tender refund ORDER-1042 --amount 3",
      "  tender find --amount 10.50",
      "",
    ]
    let support = catalogue.groups + ["providers", "explain", "doctor", "schema", "completion"]
    for (title, names) in [
      ("Pay", ["transact", "confirm", "cancel", "refund", "tokenize", "batch"]),
      ("Look up", ["payment-status", "mandate-status", "find", "explain"]),
      ("Set up", support.filter { $0 != "explain" }),
      ("Topics", catalogue.topics.map(\.name)),
    ] {
      lines += Self.wrapped(
        Self.padded(title + ":", to: 10) + names.joined(separator: " "),
        indent: 0,
        hang: 10
      )
    }
    lines += [
      "", "tender help lists them all; tender help COMMAND or TOPIC says more.",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Every command and topic, each with one line.
  package var overview: String {
    let lines =
      ["Usage: tender COMMAND [OPTIONS]", "", "Commands:"]
      + Self.list(catalogue.commands.map { ($0.name, $0.summary) }) + ["", "Topics:"]
      + Self.list(catalogue.topics.map { ($0.name, $0.summary) })
      + ["", "tender help COMMAND explains one of them; man tender has it all."]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Names with their summaries beside them.
  private static func list(_ entries: [(name: String, summary: String)]) -> [String] {
    let width = (entries.map(\.name.count).max() ?? 0) + 2
    return entries.map { "  " + padded($0.name, to: width) + $0.summary }
  }

  /// The subject of a page.
  private enum Page {
    case start, overview
    case command(Command)
    case group([Command], Topic?)
    case topic(Topic)
  }

  /// Finds the page of a command, of a group or of a topic.
  ///
  /// Throws `usage` with the nearest name for anything else.
  private func page(for words: [String]) throws(Fault) -> Page {
    if words.isEmpty { return .start }
    let words = words.flatMap { $0.split(separator: " ").map(String.init) }
    if let command = catalogue.command(words) { return .command(command) }
    let typed = words.joined(separator: " ")
    let topics = catalogue.topics
    let topic = topics.first { $0.name == typed || $0.aliases.contains(typed) }
    if catalogue.groups.contains(typed) {
      return .group(catalogue.commands.filter { $0.words[0] == typed }, topic)
    }
    if let topic { return .topic(topic) }
    if typed == "tender" { return .overview }
    let names = catalogue.commands.map(\.name) + topics.map(\.name)
    // The last word that names a page answers a question such as "where is my refund".
    let small = words.map { $0.lowercased() }
    if words.count > 1, Suggestion.nearest(to: typed, among: names) == nil,
      let found = small.reversed().lazy.compactMap({ try? page(for: [$0]) }).first
    {
      return found
    }
    let meant = Synonyms.command(for: typed).map { "use: tender \($0)" }
    throw .usage(
      "unknown_command",
      "no help for \(typed.quotedForMessage)",
      meant ?? Suggestion.hint(for: typed, among: names, else: "see: tender help")
    )
  }

  /// Returns the help of a command, of a group or of a topic.
  ///
  /// Throws `usage` with the nearest name for anything else.
  package func text(for words: [String]) throws(Fault) -> String {
    switch try page(for: words) {
    case .start: return start
    case .overview: return overview
    case .topic(let topic): return topic.text
    case .group(let commands, let topic):
      let lines =
        ["Usage: tender \(commands[0].words[0]) COMMAND [OPTIONS]", "", "Commands:"]
        + Self.list(commands.map { ($0.name, $0.summary) })
      return lines.joined(separator: "\n") + "\n" + (topic.map { "\n" + $0.text } ?? "")
    case .command(let command):
      let users = catalogue.modules.filter { $0.takes(command) }
      let user = users.first { $0.name.text == provider } ?? users.first
      let others = users.map(\.name.text).filter { $0 != user?.name.text }
      let page = catalogue.command(command.words, for: user) ?? command
      return text(page, for: user?.name.text, others)
    }
  }

  /// Returns the same help for programs: a record of each command with the options of all providers, or of a topic.
  ///
  /// Without words it is every command. Throws as `text`.
  package func records(
    for words: [String]
  ) throws(Fault) -> [(kind: Record.Kind, fields: JSONObject)] {
    switch try page(for: words) {
    case .start, .overview: catalogue.commands.map { (.command, $0.record) }
    case .command(let command): [(.command, command.record)]
    case .group(let commands, let topic):
      commands.map { (.command, $0.record) } + (topic.map { [(.topic, $0.record)] } ?? [])
    case .topic(let topic): [(.topic, topic.record)]
    }
  }

  /// The page of a command with the options for one provider. `others` are providers with another page.
  private func text(_ command: Command, for provider: String?, _ others: [String]) -> String {
    var lines = ["tender \(command.name): \(command.summary)", "", "Usage: \(command.usage)", ""]
    lines.append("Examples:")
    for example in command.examples {
      lines += Self.wrapped("# " + example.meaning, indent: 2)
      lines += example.lines.map { "  " + $0 }
    }
    for paragraph in command.description { lines += [""] + Self.wrapped(paragraph, indent: 0) }
    let isSimulated = command.shownOptions.contains { $0.group == .simulator }
    lines += [
      "", "Shared options: tender help options" + (isSimulated ? ", tender help simulator" : ""),
    ]
    if let provider, !others.isEmpty {
      lines.append("Options for \(provider) follow; for another provider:")
      lines += others.map { "  tender \(command.name) --provider \($0) --help" }
    }
    for group in Option.Group.allCases where group != .general && group != .simulator {
      let options = command.shownOptions.filter { $0.group == group }
      guard !options.isEmpty else { continue }
      lines += ["", "\(group.title):"]
      for option in options { lines += Self.entry(option) }
    }
    let exits = [Fault.Kind.internal, .usage] + command.exits
    lines += ["", "Exit status: 0 done"]
    for kind in exits.sorted(by: { $0.exitStatus < $1.exitStatus }) where !kind.isStop {
      lines += Self.wrapped(
        "\(Self.padded(String(kind.exitStatus), to: 4))\(kind.meaning)",
        indent: 2,
        hang: 4
      )
    }
    if exits.contains(where: \.isStop) {
      lines.append(
        "  129 stopped by SIGHUP, 130 by Ctrl-C, 143 by SIGTERM; journal consistent"
      )
    }
    return lines.joined(separator: "\n") + "\n"
  }

  static func entry(_ option: Option) -> [String] {
    var text = option.summary
    if !option.choices.isEmpty, option.choices.count <= 6 {
      text += " (\(option.choices.joined(separator: ", ")))"
    }
    if option.repeats { text += "; may be repeated" }
    let head = "  " + (option.short == nil ? "    " : "") + option.usage
    let column = 32
    let body = Self.wrapped(text, indent: column)
    guard head.count < column - 1 else { return [head] + body }
    return [Self.padded(head, to: column) + (body.first?.dropFirst(column) ?? "")]
      + body.dropFirst()
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// The text in lines. Each line has an indent, and each further line also the hanging one.
  package static func wrapped(
    _ text: String,
    indent: Int,
    hang: Int = 0,
    width: Int = Self.width,
    at separator: String = " "
  ) -> [String] {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isEmpty = true
    let words = text.replacing(separator, with: "\0").split(
      separator: "\0",
      omittingEmptySubsequences: false
    )
    for word in words {
      if !isEmpty, line.count + separator.count + word.count > width {
        lines.append(line)
        line = String(repeating: " ", count: indent + hang)
        isEmpty = true
      }
      line += isEmpty ? String(word) : separator + word
      isEmpty = false
    }
    return lines + [line]
  }
}

extension Topic {
  fileprivate var record: JSONObject {
    ["name": .string(name), "summary": .string(summary), "text": .string(text)]
  }
}

extension Command {
  fileprivate var record: JSONObject {
    let codes = [0] + ([.internal, .usage] + exits).map { Int($0.exitStatus) }
    return [
      "name": .string(name), "summary": .string(summary), "usage": .string(usage),
      "description": .string(description.joined(separator: "\n\n")),
      "operands": .array(operands.map { .object($0.record) }),
      "options": .array(shownOptions.map { .object(record(of: $0)) }),
      "exits": .array(Set(codes).sorted().map { .integer($0) }),
      "examples": .array(
        examples.map { ["line": .string($0.line), "meaning": .string($0.meaning)] }
      ),
    ]
  }

  private func record(of option: Option) -> JSONObject {
    var record: JSONObject = ["name": .string("--" + option.name)]
    record["short"] = option.short.map { .string("-\($0)") }
    switch option.value {
    case .flag: record["type"] = "flag"
    case .required(let value), .optional(let value):
      record["type"] = ["N", "UNITS"].contains(value) ? "integer" : "string"
      record["value"] = .string(value)
    }
    if case .optional = option.value { record["optional"] = true }
    if !option.choices.isEmpty { record["choices"] = .array(option.choices.map { .string($0) }) }
    if option.repeats { record["repeats"] = true }
    record["providers"] = users(of: option.name).map { .array($0.map { .string($0) }) }
    record["summary"] = .string(option.summary)
    return record
  }
}

extension Command.Operand {
  fileprivate var record: JSONObject {
    [
      "name": .string(name), "required": .bool(!isOptional || orID),
      "repeats": repeats ? true : nil,
      "choices": choices.isEmpty ? nil : .array(choices.map { .string($0) }),
    ]
  }
}
