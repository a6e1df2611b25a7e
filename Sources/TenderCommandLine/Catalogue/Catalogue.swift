internal import TenderModel

/// All commands and options. Parser, help, completions and manual read this one definition.
///
/// It joins the shared definitions and those of each provider's module.
package struct Catalogue: Sendable {
  /// This version of the program.
  package static let version = "0.2.0"

  package let modules: [any ProviderModule]

  package let options: [Option]

  /// The commands without the additions of their providers.
  ///
  /// Each is made on demand, so that a short command does not wait for the others.
  private let definitions: [@Sendable () -> Command]

  /// Creates the catalogue of a program with these commands and providers.
  package init(_ commands: [@Sendable () -> Command], _ modules: [any ProviderModule]) {
    definitions = commands + [{ Self.help }, { Self.versionCommand }]
    self.modules = modules
    options = Self.options(modules)
  }

  /// Every command, in the order in which help lists them.
  package var commands: [Command] { definitions.map { $0().used(by: modules, among: options) } }

  /// Returns a command with the additions of one provider, or of all; nil if there is none.
  ///
  /// `journal settle` is the old name of `journal resolve`.
  package func command(
    _ words: [String],
    for module: (any ProviderModule)? = nil
  ) -> Command? {
    let words = words == ["journal", "settle"] ? ["journal", "resolve"] : words
    let found = definitions.lazy.map { $0() }.first { $0.words == words }
    return found?.used(by: module.map { [$0] } ?? modules, among: options)
  }

  /// The first words of commands with two words.
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
    let known = Synonyms.option(for: name)
    return options.first { $0.isNamed(known) }
  }

  /// The commands that the parser answers itself.
  static let help = Command(
    .local(.nothing),
    """
    help: explain a command or a topic
    Shows the page of a command, or a topic; without either, the overview. The page of a command
    has the options of one provider: that of --provider, else that of the profile.
    $ tender help transact # a command
    $ tender help exit-status # a topic
    """,
    operands: [.init("TOPIC", optional: true, repeats: true)]
  )
  static let versionCommand = Command(
    .local(.nothing),
    """
    version: print the version
    Prints the version. With --verbose it also prints the commit and the compiler of this build.
    It then names each system library that was found, with its version.
    $ tender version --verbose # the build, and the libraries
    $ tender version --json # the version as a record
    """
  )
}
