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
    has the options of one provider: that of --provider, else that of the profile. With --json it
    prints records for programs: each command with its options and exits, or the topic.
    $ tender help transact # a command
    $ tender help exit-status # a topic
    $ tender help --json # every command with its options, for a program
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

  /// Every option of any command, in the order in which help groups them.
  static func options(_ modules: [any ProviderModule]) -> [Option] {
    let currencies = modules.map { "\($0.name.text): \($0.currency)" }.joined(separator: ", ")
    let currency = Keys.currency.option.with(summary: "the ISO 4217 code (\(currencies))")
    let provider = Keys.provider.option.with(choices: modules.map(\.name.text))
    let all =
      Keys.amount.options + [currency] + payment.flatMap(\.options)
      + modules.flatMap { $0.options.flatMap(\.options) }
      + others.flatMap(\.options) + [provider] + general.flatMap(\.options)
    // A provider may list a shared option too. It appears once.
    let identities = all.map { ObjectIdentifier($0) }
    return all.indices.filter { !identities[..<$0].contains(identities[$0]) }.map { all[$0] }
  }

  /// The options of the simulator.
  package static let simulation: [any OptionKey] = [
    Keys.simScenario, Keys.simFault, Keys.simSeed, Keys.simClock,
  ]

  private static let payment: [any OptionKey] = [
    Keys.reference, Keys.metadata, Keys.metadataFile, Keys.hold, Keys.rest,
  ]

  private static let others: [any OptionKey] =
    [
      Keys.refundReference, Keys.by, Keys.groupBy, Keys.shard, Keys.since, Keys.until, Keys.before,
      Keys.status, Keys.outcome, Keys.fromProvider, Keys.operation, Keys.finish, Keys.reason,
      Keys.lastFour,
      Keys.customer, Keys.limit, Keys.orderBy, Keys.duplicates, Keys.traceID, Keys.failure,
      Keys.all, Keys.allFields, Keys.online, Keys.jobs, Keys.rate, Keys.resume, Keys.csv, Keys.map,
      Keys.check,
      Keys.ordered, Keys.stopOnError, Keys.junit, Keys.list, Keys.receipt, Keys.port, Keys.envFile,
      Keys.trustKey, Keys.retain, Keys.webhook, Keys.world, Keys.keep, Keys.expectBooks, Keys.exit,
      Keys.unmatched, Keys.follow, Keys.idempotencyKey,
      Keys.newAttempt, Keys.despitePayment, Keys.despiteRefund, Keys.despiteDispute,
      Keys.allowPartial, Keys.wait, Keys.interval, Keys.expect, Keys.events,
      Keys.dryRun,
    ] + simulation

  private static let general: [any OptionKey] = [
    Keys.env, Keys.profile, Keys.output, Keys.json, Keys.fields, Keys.quiet, Keys.verbose,
    Keys.trace, Keys.color, Keys.noInput, Keys.yes, Keys.config, Keys.stateDir, Keys.timeout,
    Keys.deadline, Keys.id, Keys.help, Keys.version,
  ]
}
