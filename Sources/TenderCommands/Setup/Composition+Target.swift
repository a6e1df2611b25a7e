internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

extension RecordSubject {
  mutating func take(_ target: Target) {
    provider = target.module.name
    env = target.env
  }
}

/// Which provider and env a command is about.
extension Composition {
  /// The one provider that has mandates, for a command about them; nil for any other command, or where
  /// there are several.
  private var mandateModule: (any ProviderModule)? {
    guard invocation.command.kind == .mandate else { return nil }
    let having = providers.modules.filter { $0.takes(invocation.command) }
    return having.count == 1 ? having[0] : nil
  }

  /// Where a command runs when the journal has no say: option, environment, profile, default.
  func target() throws(Fault) -> Target {
    if let usual { return usual }
    let found = try findTarget()
    usual = found
    return found
  }

  private func findTarget() throws(Fault) -> Target {
    let env = try settings.env().flatMap { Env(rawValue: $0.text) } ?? .simulator
    if let provider = try settings.provider() {
      return Target(module: try module(provider.text), env: env)
    }
    // Only who has mandates can be meant by a command about them.
    if let only = mandateModule { return Target(module: only, env: env) }
    guard env == .simulator else {
      let names = providers.modules.map(\.name.text)
      throw .missingOption(
        "--env \(env.rawValue) needs a provider",
        hint: "add --provider \(names.dropLast().joined(separator: ", ")) or \(names.last ?? ""), "
          + "or set TENDER_PROVIDER"
      )
    }
    return Target(module: providers.modules[0], env: env)
  }

  /// The payment of a reference where an order for it runs; nil where there is none.
  func payment(_ reference: Reference, _ target: Target) throws(Fault) -> Payment? {
    let filter = PaymentFilter(env: target.env, provider: target.module.name)
    return try journal().payments(matching: reference.text, filter: filter)
      .first { $0.reference == reference }
  }

  /// Where a command on a reference or id runs: options, else the journal, else as `target`.
  ///
  /// Throws `conflict` where the journal knows several and the options do not choose.
  func target(of handle: String) throws(Fault) -> Target {
    var filter = PaymentFilter()
    filter.env = try invocation.value(Keys.env)
    filter.provider = invocation[Keys.provider].map(ProviderName.init)
    let found = try journal().payments(matching: handle, filter: filter)
    guard let newest = found.first else { return try target() }
    let places = Set(found.map { "\($0.provider.text) on \($0.env.rawValue)" })
    guard places.count == 1 else {
      throw .conflict(
        "ambiguous_reference",
        "\(handle.quotedForMessage) is known to \(places.sorted().joined(separator: " and "))",
        "choose with --provider and --env"
      )
    }
    return Target(module: try module(newest.provider.text), env: newest.env, payment: newest)
  }
}
