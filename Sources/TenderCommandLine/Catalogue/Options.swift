import TenderModel

extension Catalogue {
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
      Keys.status, Keys.outcome, Keys.operation, Keys.finish, Keys.reason, Keys.lastFour,
      Keys.customer, Keys.limit, Keys.orderBy, Keys.duplicates, Keys.traceID, Keys.failure,
      Keys.all, Keys.online, Keys.jobs, Keys.rate, Keys.resume, Keys.csv, Keys.map, Keys.check,
      Keys.ordered, Keys.stopOnError, Keys.junit, Keys.list, Keys.receipt, Keys.port, Keys.envFile,
      Keys.trustKey, Keys.retain, Keys.exit, Keys.unmatched, Keys.follow, Keys.idempotencyKey,
      Keys.newAttempt, Keys.allowPartial, Keys.wait, Keys.interval, Keys.expect, Keys.events,
      Keys.dryRun, Keys.id,
    ] + simulation

  private static let general: [any OptionKey] = [
    Keys.env, Keys.profile, Keys.output, Keys.json, Keys.fields, Keys.quiet, Keys.verbose,
    Keys.trace, Keys.color, Keys.noInput, Keys.yes, Keys.config, Keys.stateDir, Keys.timeout,
    Keys.deadline, Keys.help, Keys.version,
  ]
}
