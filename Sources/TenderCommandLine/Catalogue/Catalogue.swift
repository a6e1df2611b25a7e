internal import TenderModel

/// Everything that can be typed: the one definition that all else derives from.
///
/// It is made of what every provider shares and what each module adds.
package struct Catalogue: Sendable {
  /// This version of the program.
  package static let version = "0.1.0"

  /// Every provider that this program speaks to.
  package let modules: [any ProviderModule]

  /// Every option, whichever command takes it.
  package let options: [Option]

  /// The catalogue of a program that speaks to these providers.
  package init(_ modules: [any ProviderModule]) {
    self.modules = modules
    options = Self.options(modules)
  }

  /// What every command is before its providers add to it.
  private static let definitions = paymentCommands + supportCommands

  /// Every command, in the order in which help lists them.
  package var commands: [Command] { Self.definitions.map { $0.used(by: modules, among: options) } }

  /// The command of some words; nil where there is none.
  ///
  /// `journal settle` is the name that `journal resolve` had.
  package func command(_ words: [String]) -> Command? {
    let words = words == ["journal", "settle"] ? ["journal", "resolve"] : words
    // One alone, and payments first: a short command must not wait for the rest.
    let found =
      Self.paymentCommands.first { $0.words == words }
      ?? Self.supportCommands.first { $0.words == words }
    return found?.used(by: modules, among: options)
  }

  /// The first words of two-word commands.
  package var groups: [String] {
    var groups: [String] = []
    for command in Self.definitions
    where command.words.count == 2 && !groups.contains(command.words[0]) {
      groups.append(command.words[0])
    }
    return groups
  }

  /// The option of a long name; nil where there is none.
  package func option(_ name: String) -> Option? { options.first { $0.name == name } }
}

extension Command {
  /// A command by its page of help.
  ///
  /// Its first line has the words and what they do. The paragraphs follow, an empty line between two, then
  /// the examples, each as `$ LINE # MEANING`.
  init(
    _ work: Work,
    _ page: String,
    operands: [Operand] = [],
    options: [any OptionKey] = [],
    exits: [Fault.Kind] = [],
    unoffered: [String: [String]] = [:]
  ) {
    // By bytes: to go through a page by characters takes longer than the rest of a short command.
    var lines = page.utf8.split(separator: 10, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let head = lines.removeFirst().split(separator: ": ", maxSplits: 1).map(String.init)
    var parts = [""]
    for line in lines {
      if line.isEmpty || line.hasPrefix("$ ") {
        parts.append(line)
      } else {
        parts[parts.count - 1] += parts[parts.count - 1].isEmpty ? line : " " + line
      }
    }
    self.init(
      head[0],
      head[1],
      work,
      description: parts.filter { !$0.hasPrefix("$ ") },
      operands: operands,
      options: options,
      examples: parts.filter { $0.hasPrefix("$ ") }.map { example in
        let halves = example.dropFirst(2).split(separator: " # ").map(String.init)
        return Example(halves[0], halves[1])
      },
      exits: exits,
      unoffered: unoffered
    )
  }
}
