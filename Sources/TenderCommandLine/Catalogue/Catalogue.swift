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
