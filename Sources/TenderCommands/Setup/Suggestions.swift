internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// Writes suggested steps, so that each command finds the journal and the payment of this one.
extension Composition {
  /// Returns a fault whose hint has its steps.
  func written(_ fault: Fault) -> Fault {
    var fault = fault
    (fault.hint, fault.next) = (text(fault.hint, fault.next), [])
    return fault
  }

  /// Returns a hint and the steps behind it; nil without both.
  func text(_ hint: String?, _ steps: [Next]) -> String? {
    let isRefused = settings.readOnlyProfile != nil && steps.contains(where: \.isWrite)
    return Next.text(hint, steps, options(for:)).map { text in
      isRefused ? text + "; this needs a profile that is not read-only" : text
    }
  }

  /// The options by which the command of a step finds this journal, and its payment where a reference alone does
  /// not.
  private func options(for step: Next) -> [String] {
    let isRefused = settings.readOnlyProfile != nil && step.isWrite
    let typed = [Keys.stateDir, Keys.config] + (isRefused ? [] : [Keys.profile])
    let places = typed.compactMap { key in
      invocation.text(key).map { "--\(key.option.name)=\($0.shellQuoted)" }
    }
    return choice(of: step) + places
  }

  private func choice(of step: Next) -> [String] {
    guard let place = step.place else { return [] }
    let (provider, env) = ("--provider \(place.provider)", "--env \(place.env)")
    if step.command.hasPrefix("transact ") {
      // It makes a payment, so the journal chooses nothing.
      let usual = (try? settings.env())??.text ?? Env.simulator.rawValue
      let isUsual = !invocation.has(Keys.env) && usual == place.env
      return isUsual ? [provider] : [provider, env]
    }
    guard hasJournal else { return [] }
    if !isListing { learnPlaces(of: place.reference) }
    return places[place.reference] == 1 ? [] : [provider, env]
  }

  /// Counts the providers and envs that have a payment with a reference. It looks once.
  func learnPlaces(of reference: String) {
    guard places[reference] == nil,
      let found = try? journal().payments(matching: reference, filter: PaymentFilter())
    else { return }
    places[reference] = Set(found.map { "\($0.provider.text) \($0.env.rawValue)" }).count
  }
}
