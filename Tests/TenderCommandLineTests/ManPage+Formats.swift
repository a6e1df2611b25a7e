import TenderCommandLine
import TenderModel

/// Pages about what programs read: the configuration file, the records, the exit status.
extension ManPage {
  /// `tender-config(5)`.
  var configuration: String {
    var text = Self.head(
      "tender-config",
      5,
      "File Formats",
      "the configuration file of tender and its variables"
    )
    text += Self.section("DESCRIPTION") + body(of: "files")
    text += Self.section("KEYS OF A PROFILE")
    for (name, meaning) in Self.profileKeys { text += Self.entry(name, meaning) }
    for module in catalogue.modules {
      let name = module.name.text
      text += Self.section("KEYS OF \(name.uppercased())")
      text += Self.paragraph("Within \"\(name)\" of a profile:")
      for key in module.section.keys {
        let variable = "TENDER_\(name)_\(key.name)".uppercased()
        switch key.kind {
        case .credential, .secret:
          text += Self.entry(
            key.members.joined(separator: ", "),
            "one of: the value, a file that holds it, a program that prints it, a variable that holds it; without "
              + "them \(variable) or \(variable)_FILE"
          )
        case .variable:
          text += Self.entry(variable, "in the environment alone; also \(variable)_FILE")
        case .text: text += Self.entry(key.name, "text")
        case .value: text += Self.entry(key.name, "see the page about this provider in tender(1)")
        }
      }
    }
    text += Self.section("ENVIRONMENT") + body(of: "environment")
    return text + Self.section("SEE ALSO") + ".BR tender (1),\n.BR tender\\-config\\-show (1)\n"
  }

  private static let profileKeys = [
    ("provider", "the provider"), ("env", "simulator, sandbox or live"),
    ("mode", "read-only refuses every write; read-write is the default"),
    ("output", "auto, table or jsonl"),
    ("timeout", "how long one request may take, such as 30s"),
    (
      "max_amount",
      "the largest amount of each currency that moves without a typed confirmation, such as {\"USD\": \"500.00\"}"
    ),
    ("look_first", "false: no look-up of a typed reference before its first charge"),
    ("late_window", "for how long after a request its effect may still appear: see above"),
    ("mark_dir", "the folder of the mark that tells a journal from its copies"),
    ("_comment", "anything; it is not read"),
  ]

  /// `tender-jsonl(5)`.
  var formats: String {
    var text = Self.head(
      "tender-jsonl",
      5,
      "File Formats",
      "the JSON lines that tender prints, and the lines that a batch reads"
    )
    text += Self.section("DESCRIPTION") + body(of: "output")
    for kind in Record.Kind.allCases {
      text += Self.section("RECORD \(kind.rawValue.uppercased())")
      for field in RecordSchema.fields(kind) {
        let always = field.isAlways ? ", always" : ""
        text += Self.entry(field.name, "\(field.meaning) (\(field.type)\(always))")
      }
    }
    for module in catalogue.modules {
      text += Self.section("RESULTS OF \(module.name.text.uppercased())")
      text += Topic.words(module).map(Self.part).joined()
    }
    text += Self.section("LINES OF A BATCH")
    for part in catalogue.command(["batch"])?.description ?? [] { text += Self.paragraph(part) }
    return text + Self.section("SEE ALSO") + ".BR tender (1),\n.BR tender\\-schema (1)\n"
  }

  /// `tender-exit-codes(7)`.
  var exitCodes: String {
    var text = Self.head(
      "tender-exit-codes",
      7,
      "Miscellaneous",
      "the exit status of tender, and the error codes behind each"
    )
    text += Self.section("DESCRIPTION")
    text += Self.paragraph(
      "Effect comes first: once a request that can move money was sent and its effect is unknown, "
        + "the exit is 9, whatever the error is called. tender explain CODE says more about a code."
    )
    let general = errors + catalogue.modules.flatMap(\.explanations)
    for kind in Fault.Kind.allCases.sorted(by: { $0.exitStatus < $1.exitStatus }) {
      text += Self.section("EXIT \(kind.exitStatus)") + Self.paragraph(kind.meaning + ".")
      var seen: Set<String> = []
      for page in general where page.kind == kind && seen.insert(page.code).inserted {
        text += Self.entry(page.code, page.meaning)
      }
    }
    text += Self.section("EXIT 141") + Self.paragraph("A look-up whose reader closed the pipe.")
    text += Self.section("RETRY")
    text += Self.paragraph(
      "error.retry.class of a record says what a program that repeats failed commands does. Some errors say "
        + "otherwise than their exit."
    )
    for retry in Fault.Retry.allCases {
      text += Self.entry(retry.rawValue, "\(retry.meaning) (\(retry.exits)).")
    }
    return text + Self.section("SEE ALSO") + ".BR tender (1),\n.BR tender\\-explain (1)\n"
  }

  private func body(of topic: String) -> String {
    catalogue.topics.filter { $0.name == topic }.flatMap(\.body)
      .map(Self.part).joined()
  }

  private static func head(
    _ title: String,
    _ number: Int,
    _ volume: String,
    _ summary: String
  ) -> String {
    header(title, number, volume) + section("NAME") + "\(escaped(title)) \\- \(escaped(summary))\n"
  }

  private static func entry(_ name: String, _ meaning: String) -> String {
    ".TP\n.B \(escaped(name))\n\(escaped(meaning))\n"
  }
}
