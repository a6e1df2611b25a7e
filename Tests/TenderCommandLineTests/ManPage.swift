import TenderCommandLine
import TenderModel

/// Manual pages in the man macros, from the catalogue; `make generate` writes them.
struct ManPage {
  let catalogue: Catalogue
  /// Error codes that are not specific to one provider.
  let errors: [Explanation]

  /// The day of this version, for the head of manual pages.
  private static let date = "2026-11-22"

  /// The file name of each page and its text.
  var all: [(file: String, text: String)] {
    let pages =
      [
        ("tender.1", overview), ("tender-config.5", configuration), ("tender-jsonl.5", formats),
        ("tender-exit-codes.7", exitCodes),
      ]
      + catalogue.commands.map { command in
        ("tender-\(command.words.joined(separator: "-")).1", page(command))
      }
    return pages.map { file, text in (file, Self.withoutEmptyParagraphs(text)) }
  }

  /// A section's first paragraph begins with the section.
  private static func withoutEmptyParagraphs(_ text: String) -> String {
    var lines: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == ".PP", lines.last?.hasPrefix(".SH") == true { continue }
      lines.append(line)
    }
    return lines.joined(separator: "\n")
  }

  static func header(
    _ title: String,
    _ number: Int = 1,
    _ volume: String = "User Commands"
  ) -> String {
    ".TH \(title.uppercased()) \(number) \"\(date)\" "
      + "\"tender \(Catalogue.version)\" \"\(volume)\"\n"
  }

  static func part(_ text: String) -> String {
    text.hasPrefix(" ") ? ".PP\n.nf\n\(escaped(text))\n.fi\n" : paragraph(text)
  }

  private var overview: String {
    var text = Self.header("tender")
    text += Self.section("NAME") + "tender \\- payments from the command line\n"
    text += Self.section("SYNOPSIS") + ".B tender\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
    text += Self.section("DESCRIPTION")
    text += Self.paragraph(
      "tender takes, holds, looks up and undoes payments through one vocabulary, prints tables or "
        + "JSON lines, and writes every request into a journal before it is sent. The providers' "
        + "other side is inside the binary as a simulator, which is the default: everything works "
        + "offline."
    )
    text += Self.section("COMMANDS")
    for command in catalogue.commands {
      text += ".TP\n.BR tender\\-\(Self.escaped(command.words.joined(separator: "-"))) (1)\n"
      text += Self.escaped(command.summary) + "\n"
    }
    let general = catalogue.options.filter { $0.group == .general }
    text += Self.section("OPTIONS") + Self.entries(general)
    text += Self.section("EXIT STATUS")
    text += ".TP\n.B 0\ndone, or looked up\n"
    for kind in Fault.Kind.allCases.sorted(by: { $0.exitStatus < $1.exitStatus }) {
      text += ".TP\n.B \(kind.exitStatus)\n\(Self.escaped(kind.meaning))\n"
    }
    text += ".TP\n.B 141\na look\\-up whose reader closed the pipe\n"
    for topic in catalogue.topics where topic.name != "exit-status" {
      text += Self.section(topic.name.uppercased())
      text += topic.body.map(Self.part).joined()
    }
    text += Self.section("EXAMPLES")
    for command in catalogue.commands.prefix(5) {
      guard let example = command.examples.first else { continue }
      text += Self.shown(example)
    }
    text += Self.section("SEE ALSO")
    text += ".BR tender\\-config (5),\n.BR tender\\-jsonl (5),\n.BR tender\\-exit\\-codes (7),\n"
    text += ".BR tender\\-figures (7),\n.BR tender\\-security (7),\n"
    let names = catalogue.commands.map { "tender-" + $0.words.joined(separator: "-") }
    for (index, name) in names.enumerated() {
      text += ".BR \(Self.escaped(name)) (1)\(index == names.count - 1 ? "" : ",")\n"
    }
    return text
  }

  private func page(_ command: Command) -> String {
    let title = "tender-" + command.words.joined(separator: "-")
    var text = Self.header(title)
    text += Self.section("NAME") + "\(Self.escaped(title)) \\- \(Self.escaped(command.summary))\n"
    text += Self.section("SYNOPSIS") + ".B tender \(Self.escaped(command.name))\n[\\fIOPTIONS\\fR]"
    for operand in command.operands {
      let name = "\\fI\(operand.name)\\fR" + (operand.repeats ? "..." : "")
      let isFree = operand.isOptional && !command.optionNames.contains("id")
      text += isFree ? " [\(name)]" : " \(name)"
    }
    text += "\n" + Self.section("DESCRIPTION")
    for part in command.description { text += Self.paragraph(part) }
    let own = command.shownOptions.filter { $0.group != .general }
    if !own.isEmpty { text += Self.section("OPTIONS") + Self.entries(own) }
    text += Self.paragraph("The general options are in \\fBtender\\fR(1).", isMarkedUp: true)
    text += Self.section("EXIT STATUS") + ".TP\n.B 0\ndone\n"
    let exits = ([.internal, .usage] + command.exits).sorted { $0.exitStatus < $1.exitStatus }
    for kind in exits { text += ".TP\n.B \(kind.exitStatus)\n\(Self.escaped(kind.meaning))\n" }
    text += Self.section("EXAMPLES")
    for example in command.examples {
      text += Self.shown(example)
    }
    text += Self.section("SEE ALSO") + ".BR tender (1)\n"
    return text
  }

  private static func shown(_ example: Command.Example) -> String {
    let lines = escaped(example.lines.joined(separator: "\n"))
    return ".PP\n\(escaped(example.meaning)):\n.PP\n.nf\n.RS\n\(lines)\n.RE\n.fi\n"
  }

  private static func entries(_ options: [Option]) -> String {
    var text = ""
    for option in options {
      var summary = option.summary
      if !option.choices.isEmpty {
        summary += " (\(option.choices.joined(separator: ", ")))"
      }
      if option.repeats { summary += "; may be repeated" }
      text += ".TP\n.B \(Self.escaped(option.usage))\n\(Self.escaped(summary))\n"
    }
    return text
  }

  static func section(_ title: String) -> String { ".SH \(title)\n" }

  static func paragraph(_ text: String, isMarkedUp: Bool = false) -> String {
    ".PP\n\(isMarkedUp ? text : Self.escaped(text))\n"
  }

  /// Escapes backslashes and dashes for roff, and control characters at the start of a line.
  static func escaped(_ text: String) -> String {
    let marked = text.map { character -> String in
      switch character {
      case "\\": "\\e"
      case "-": "\\-"
      case "…": "..."
      default: String(character)
      }
    }.joined()
    return marked.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : String(line)
    }.joined(separator: "\n")
  }
}
