internal import TenderEngine
package import TenderModel

/// The settings of one provider: its variables, its section of the profile, and on the simulator the
/// simulated credentials.
package struct ProviderSettings {
  package let session: any Session
  package let name: ProviderName
  package let env: Env
  package let section: JSONObject
  /// The settings of the simulated provider; empty outside of the simulator.
  package let simulated: JSONObject

  package init(_ session: any Session, _ name: ProviderName, _ env: Env) {
    self.session = session
    self.name = name
    self.env = env
    section = session.settings.profile[name.text]?.object ?? [:]
    simulated = env == .simulator ? session.simulated(name) : [:]
  }

  /// Returns a text of the section, else of the simulator.
  package func text(_ key: String) -> String? { section.text(key) ?? simulated.text(key) }

  /// Returns a credential by its key: from profile, variable or simulator.
  ///
  /// Throws `usage` if its source cannot be read, and the fault of a signal.
  package func credential(_ key: String) throws(Fault) -> String? {
    let found = try session.settings.credential(name.text, key, session.signals)
    if let found, session.settings.definition(name.text, key)?.isHidden == true {
      try session.invocation.check(secret: found) { session.redactor.learn($0) }
    }
    return found ?? simulated.text(key)
  }

  /// Returns the name of the source of a credential; empty for the simulator's.
  package func source(_ key: String) throws(Fault) -> String {
    try session.settings.sources(name.text, key).first?.name ?? ""
  }

  /// A credential that no output may show.
  package func secret(_ key: String) throws(Fault) -> SharedSecret? {
    try credential(key).map { text in
      session.redactor.learn(text)
      return SharedSecret(text)
    }
  }

  /// The name of a variable: `TENDER_PROVIDER_KEY`.
  package func variable(_ key: String) -> String { "TENDER_\(name.text)_\(key)".uppercased() }
}
