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

  /// What every command is before its providers add to it.
  ///
  /// Each is made when it is asked for: a short command must not wait for the rest.
  private let definitions: [@Sendable () -> Command]

  /// The catalogue of a program that has these commands and speaks to these providers.
  package init(_ commands: [@Sendable () -> Command], _ modules: [any ProviderModule]) {
    definitions = commands + [{ Self.help }, { Self.versionCommand }]
    self.modules = modules
    options = Self.options(modules)
  }

  /// Every command, in the order in which help lists them.
  package var commands: [Command] { definitions.map { $0().used(by: modules, among: options) } }

  /// The command of some words; nil where there is none.
  ///
  /// `journal settle` is the name that `journal resolve` had.
  package func command(_ words: [String]) -> Command? {
    let words = words == ["journal", "settle"] ? ["journal", "resolve"] : words
    let found = definitions.lazy.map { $0() }.first { $0.words == words }
    return found?.used(by: modules, among: options)
  }

  /// The first words of two-word commands.
  package var groups: [String] {
    var groups: [String] = []
    for command in definitions.map({ $0() })
    where command.words.count == 2 && !groups.contains(command.words[0]) {
      groups.append(command.words[0])
    }
    return groups
  }

  /// Returns the option of a long name, or of a name that other tools use for it.
  package func option(_ name: String) -> Option? {
    let known = Synonyms.options[name] ?? name
    return options.first { $0.name == known }
  }

  /// The commands that the parser answers itself.
  static let help = Command(
    .local(.nothing),
    """
    help: explain a command or a topic
    Shows the help of a command, or a topic; without either, the overview.
    $ tender help transact # a command
    $ tender help exit-status # a topic
    """,
    operands: [.init("TOPIC", optional: true, repeats: true)]
  )
  static let versionCommand = Command(
    .local(.nothing),
    """
    version: print the version
    Prints the version.
    $ tender version --json # the version as a record
    """
  )
}
