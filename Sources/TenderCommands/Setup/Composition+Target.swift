internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

extension RecordSubject {
  mutating func take(_ target: Target) { (provider, env) = (target.module.name, target.env) }
}

/// Finds the provider and env of a command.
extension Composition {
  /// The only provider with mandates, for a command about them; nil for any other command, or if there are
  /// several.
  private var mandateModule: (any ProviderModule)? {
    guard invocation.command.kind == .mandate else { return nil }
    let having = providers.modules.filter { $0.takes(invocation.command) }
    return having.count == 1 ? having[0] : nil
  }

  /// Returns the target from option, environment, profile or default. The journal does not count.
  func target() throws(Fault) -> Target {
    if let usual { return usual }
    let env = try settings.env().flatMap { Env(rawValue: $0.text) } ?? .simulator
    // A command about mandates must mean the only provider that has them.
    let named = try settings.provider().map { value throws(Fault) in try module(value.text) }
    guard let chosen = named ?? mandateModule ?? (env == .simulator ? providers.modules[0] : nil)
    else {
      let names = providers.modules.map(\.name.text)
      throw .missingOption(
        "--env \(env.rawValue) needs a provider",
        hint: "add --provider \(names.dropLast().joined(separator: ", ")) or \(names.last ?? ""), "
          + "or set TENDER_PROVIDER"
      )
    }
    let found = Target(module: chosen, env: env)
    usual = found
    return found
  }

  func payment(_ reference: Reference, _ target: Target) throws(Fault) -> Payment? {
    let filter = PaymentFilter(env: target.env, provider: target.module.name)
    return try journal().payments(matching: reference.text, filter: filter)
      .first { $0.reference == reference }
  }

  /// Returns the target of the one reference or id that the command names, and that name.
  func namedTarget() throws(Fault) -> (target: Target, handle: String) {
    let handle = try invocation.handle()
    subject.reference = handle
    return (try target(of: handle), handle)
  }

  /// Returns the refusal of a payment that the journal does not have. Throws the journal's problem if it lost
  /// entries: the payment may have been one of them.
  func unknown(_ handle: String) throws(Fault) -> Fault {
    try journal().checkWhole()
    return .unknownHandle(handle)
  }

  /// Returns the target of a reference or id: options, else the journal, else as `target`.
  ///
  /// Throws `conflict` if the journal has several and the options do not choose.
  func target(of handle: String) throws(Fault) -> Target {
    var filter = PaymentFilter()
    filter.env = try invocation.value(Keys.env)
    filter.provider = invocation[Keys.provider].map(ProviderName.init)
    var found = try journal().payments(matching: handle, filter: filter)
    // A refund with the card is found by its reference, if no payment has that.
    if found.contains(where: { $0.reference.text == handle }) {
      found.removeAll { $0.cardRefund(named: handle) != nil }
    }
    // The id of a payment may be the reference of another one. --id means the id, if there is one.
    let identified = found.filter {
      $0.reference.text != handle && $0.cardRefund(named: handle) == nil
    }
    let isID = invocation.exemptIDs.contains(handle)
    if isID, !identified.isEmpty { found = identified }
    guard isID || identified.isEmpty || identified.count == found.count else {
      throw .conflict(
        "ambiguous_reference",
        "\(handle.quotedForMessage) is the reference of one payment and the id of another",
        "for the payment with that id: --id \(handle.shellQuoted); for the other one, pass the id of that one"
      )
    }
    guard let newest = found.first else { return try target() }
    let places = Set(found.map { "--provider \($0.provider.text) --env \($0.env.rawValue)" })
    guard places.count == 1 else {
      throw .conflict(
        "ambiguous_reference",
        "\(places.count) payments have the reference \(handle.quotedForMessage)",
        "add \(places.sorted().joined(separator: " or "))"
          + (try settings.provider() == nil
            ? "" : "; TENDER_PROVIDER and profiles do not choose here")
      )
    }
    return Target(module: try module(newest.provider.text), env: newest.env, payment: newest)
  }
}
