import TenderModel

/// Manual pages in the man macros, from the catalogue.
package enum ManPage {
  /// The file name of each page and its text.
  package static var all: [(file: String, text: String)] {
    [("tender.1", overview), ("tender-figures.7", figures), ("tender-security.7", security)]
      + Catalogue.commands.map { command in
        ("tender-\(command.words.joined(separator: "-")).1", page(command))
      }
  }

  private static func header(_ title: String) -> String {
    ".TH \(title.uppercased()) 1 \"\" \"tender \(Catalogue.version)\" \"User Commands\"\n"
  }

  /// What was measured, a table for each kind of proof.
  private static var figures: String {
    var text = ".TH TENDER-FIGURES 7 \"\" \"tender \(Catalogue.version)\" \"Miscellaneous\"\n"
    text += section("NAME") + "tender\\-figures \\- what was counted when tender was proven\n"
    for figure in Figures.all {
      text += section(figure.title.uppercased())
      for part in figure.body { text += paragraph(part) }
      text += ".PP\n.nf\n\(escaped(figure.lines.joined(separator: "\n")))\n.fi\n"
    }
    text += section("SEE ALSO") + ".BR tender (1)\n"
    return text
  }

  /// The threat model: who could do what, and the test that shows it.
  private static var security: String {
    var text = ".TH TENDER-SECURITY 7 \"\" \"tender \(Catalogue.version)\" \"Miscellaneous\"\n"
    text += section("NAME") + "tender\\-security \\- who could do what to a payment by tender\n"
    for threat in Threats.all {
      text += section(threat.who.uppercased()) + paragraph(threat.about)
      for (title, lines) in [("They cannot", threat.cannot), ("They can", threat.can)] {
        text += paragraph(title + ":")
        for line in lines {
          let proof = line.test.map { " (test: \($0))" } ?? ""
          text += ".IP \\(bu 2\n\(escaped(line.text + proof))\n"
        }
      }
    }
    text += section("NOTES")
    for note in Threats.notes { text += paragraph(note) }
    text +=
      section("REPORTING")
      + paragraph(
        "Report an error that could harm somebody to the project's maintainers in private, before it "
          + "is public."
      )
    text += section("SEE ALSO") + ".BR tender (1),\n.BR tender\\-figures (7)\n"
    return text
  }

  private static var overview: String {
    var text = header("tender")
    text += section("NAME") + "tender \\- payments from the command line\n"
    text += section("SYNOPSIS") + ".B tender\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
    text += section("DESCRIPTION")
    text += paragraph(
      "tender takes, holds, looks up and undoes payments through one vocabulary, prints tables or "
        + "JSON lines, and writes every attempt into a journal before it is sent. The providers' "
        + "other side is inside the binary as a simulator, which is the default: everything works "
        + "offline."
    )
    text += section("COMMANDS")
    for command in Catalogue.commands {
      text += ".TP\n.BR tender\\-\(escaped(command.words.joined(separator: "-"))) (1)\n"
      text += escaped(command.summary) + "\n"
    }
    text += section("OPTIONS") + entries(Catalogue.generalOptions)
    text += section("EXIT STATUS")
    text += ".TP\n.B 0\nwhat was asked for was reached, or looked up\n"
    for kind in Fault.Kind.allCases.sorted(by: { $0.exitStatus < $1.exitStatus }) {
      text += ".TP\n.B \(kind.exitStatus)\n\(escaped(kind.meaning))\n"
    }
    text += ".TP\n.B 141\na look\\-up whose reader closed the pipe\n"
    for topic in Topic.all where topic.name != "exit-status" {
      text += section(topic.name.uppercased())
      for part in topic.body {
        text += part.hasPrefix(" ") ? ".PP\n.nf\n\(escaped(part))\n.fi\n" : paragraph(part)
      }
    }
    text += section("EXAMPLES")
    for command in Catalogue.paymentCommands.prefix(5) {
      guard let example = command.examples.first else { continue }
      text +=
        ".PP\n\(escaped(example.meaning)):\n.PP\n.nf\n.RS\n\(escaped(example.lines.joined(separator: "\n")))\n.RE\n.fi\n"
    }
    text += section("SEE ALSO")
    text += ".BR tender\\-figures (7),\n.BR tender\\-security (7),\n"
    let names = Catalogue.commands.map { "tender-" + $0.words.joined(separator: "-") }
    for (index, name) in names.enumerated() {
      text += ".BR \(escaped(name)) (1)\(index == names.count - 1 ? "" : ",")\n"
    }
    return text
  }

  private static func page(_ command: Command) -> String {
    let title = "tender-" + command.words.joined(separator: "-")
    var text = header(title)
    text += section("NAME") + "\(escaped(title)) \\- \(escaped(command.summary))\n"
    text += section("SYNOPSIS") + ".B tender \(escaped(command.name))\n[\\fIOPTIONS\\fR]"
    for operand in command.operands {
      let name = "\\fI\(operand.name)\\fR" + (operand.repeats ? "..." : "")
      let isFree = operand.isOptional && !command.optionNames.contains("id")
      text += isFree ? " [\(name)]" : " \(name)"
    }
    text += "\n" + section("DESCRIPTION")
    for part in command.description { text += paragraph(part) }
    let own = command.shownOptions.filter { $0.group != .general }
    if !own.isEmpty { text += section("OPTIONS") + entries(own) }
    text += paragraph("The general options are in \\fBtender\\fR(1).", isMarkedUp: true)
    text += section("EXIT STATUS") + ".TP\n.B 0\ndone\n"
    let exits = ([.internal, .usage] + command.exits).sorted { $0.exitStatus < $1.exitStatus }
    for kind in exits { text += ".TP\n.B \(kind.exitStatus)\n\(escaped(kind.meaning))\n" }
    text += section("EXAMPLES")
    for example in command.examples {
      text +=
        ".PP\n\(escaped(example.meaning)):\n.PP\n.nf\n.RS\n\(escaped(example.lines.joined(separator: "\n")))\n.RE\n.fi\n"
    }
    text += section("SEE ALSO") + ".BR tender (1)\n"
    return text
  }

  private static func entries(_ options: [Option]) -> String {
    var text = ""
    for option in options {
      var summary = option.summary
      if !option.choices.isEmpty {
        summary += " (\(option.choices.joined(separator: ", ")))"
      }
      if option.repeats { summary += "; may be repeated" }
      text += ".TP\n.B \(escaped(option.usage))\n\(escaped(summary))\n"
    }
    return text
  }

  private static func section(_ title: String) -> String { ".SH \(title)\n" }

  private static func paragraph(_ text: String, isMarkedUp: Bool = false) -> String {
    ".PP\n\(isMarkedUp ? text : escaped(text))\n"
  }

  /// Backslashes and dashes as roff wants them, no line that begins with a control character.
  private static func escaped(_ text: String) -> String {
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
