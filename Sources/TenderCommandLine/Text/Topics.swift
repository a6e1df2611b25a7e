internal import TenderEngine
internal import TenderModel

extension Catalogue {
  /// Every topic, in the order in which help lists them.
  package var topics: [Topic] {
    let (modules, options) = (modules, options)
    return PageFile.certain { () throws(PageFile.Flaw) in
      var topics: [Topic] = []
      for module in modules {
        guard let file = module.help.file else { continue }
        topics += try Topic.topics(in: file) { Topic.part($0, [module], options) }
      }
      return try topics
        + Topic.topics(in: .embedded("TenderCommandLine")) { Topic.part($0, modules, options) }
    }
  }
}

extension Topic {
  /// The page, at most 80 columns wide.
  package var text: String {
    var lines = ["\(name): \(summary)"]
    for paragraph in body {
      lines.append("")
      if paragraph.hasPrefix(" ") {
        lines += paragraph.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      } else {
        lines += HelpText.wrapped(paragraph, indent: 0)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The text that replaces a placeholder of a topic; nil for an unknown name.
  fileprivate static func part(
    _ name: String,
    _ modules: [any ProviderModule],
    _ options: [Option]
  ) -> [String]? {
    switch name {
    case "options": [entries(options.filter { $0.group == .general })]
    case "simulator-options": [entries(options.filter { $0.group == .simulator })]
    case "exits": [exits]
    case "retries": [retries]
    case "words": modules.flatMap(words)
    case "variables": [lines(variables + modules.flatMap(variables))]
    case "addresses": [lines(modules.flatMap(\.help.addresses))]
    case "profiles": [profiles(modules)]
    case "late-window": [lateWindow(modules)]
    case "assumptions": modules.flatMap(\.help.assumptions)
    case "simulation": modules.flatMap(\.help.simulation)
    default: nil
    }
  }

  private static func entries(_ options: [Option]) -> String {
    options.flatMap(HelpText.entry).joined(separator: "\n")
  }

  /// Names in lines of at most 76 columns.
  private static func lines(_ names: [String]) -> String {
    var lines: [String] = []
    for name in names {
      if let last = lines.last, last.count + 1 + name.count <= 76 {
        lines[lines.count - 1] = last + " " + name
      } else {
        lines.append("  " + name)
      }
    }
    return lines.joined(separator: "\n")
  }

  private static var exits: String {
    Explanation.exits.map { exit in
      String(repeating: " ", count: 4 - exit.code.count) + exit.code + "  " + exit.meaning
    }.joined(separator: "\n")
  }

  private static var retries: String {
    Fault.Retry.allCases.map { retry in
      let name = retry.rawValue + String(repeating: " ", count: 14 - retry.rawValue.count)
      return "  \(name)\(retry.meaning)\n                (\(retry.exits))"
    }.joined(separator: "\n")
  }

  /// The terms in a provider's results, grouped by the document that defines them.
  package static func words(_ module: any ProviderModule) -> [String] {
    let subjects: [Explanation.Subject] = [.type, .state, .member]
    let pages = module.explanations.filter { subjects.contains($0.subject) }
    let sources = pages.map(\.source).reduce(into: [String]()) { known, source in
      if !known.contains(source) { known.append(source) }
    }
    return sources.flatMap { source in
      let lines = pages.filter { $0.source == source }.flatMap { page in
        HelpText.wrapped("\(page.code): \(page.meaning)", indent: 2, hang: 4)
      }
      return ["Of \(module.name.text), by \(source):", lines.joined(separator: "\n")]
    }
  }

  private static let variables = [
    "TENDER_PROVIDER", "TENDER_PROFILE", "TENDER_ENV", "TENDER_OUTPUT", "TENDER_CONFIG",
    "TENDER_STATE_DIR", "TENDER_TIMEOUT", "TENDER_NO_INPUT", "TENDER_CA_FILE",
    "TENDER_JOURNAL", "TENDER_JOURNAL_KEY_FILE", "TENDER_MARK_DIR",
  ]

  private static func variables(_ module: any ProviderModule) -> [String] {
    module.section.credentials.map { "TENDER_\(module.name.text)_\($0)".uppercased() }
      + module.help.variables
  }

  private static func lateWindow(_ modules: [any ProviderModule]) -> String {
    func text(_ milliseconds: Int) -> String {
      milliseconds > 60_000 ? "\(milliseconds / 60_000)m" : "\(milliseconds / 1000)s"
    }
    return
      "\"late_window\" in a profile is how long an effect can still appear at the provider after its "
      + "request. It is \(text(Settings.usualLateWindow(.live))), or "
      + "\(text(Settings.usualLateWindow(.simulator))) with --env simulator over a network."
      + modules.filter { $0.traits.lateWindow > 0 }
      .map { " With \($0.name.text) it is never less than \(text($0.traits.lateWindow))." }.joined()
  }

  private static func profiles(_ modules: [any ProviderModule]) -> String {
    let profiles =
      modules.flatMap(\.help.profiles) + [#"    "support":{"env":"live", "mode":"read-only"}"#]
    return "  {\"schema\":1, \"default_profile\":\"dev\", \"profiles\":{\n"
      + profiles.joined(separator: ",\n") + "}}"
  }
}
