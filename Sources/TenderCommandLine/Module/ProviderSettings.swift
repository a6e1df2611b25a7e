internal import TenderEngine
package import TenderModel

/// One provider's settings: its variables, its section of the profile, and on the simulator what the
/// simulated side was given.
package struct ProviderSettings {
  package let session: any Session
  package let name: ProviderName
  package let env: Env
  /// Its section of the profile; empty where there is none.
  package let section: JSONObject
  /// What the simulated side was given; empty elsewhere.
  package let simulated: JSONObject

  /// The settings of a provider in an env.
  package init(_ session: any Session, _ name: ProviderName, _ env: Env) {
    self.session = session
    self.name = name
    self.env = env
    section = session.settings.profile[name.text]?.object ?? [:]
    simulated = env == .simulator ? session.simulated(name) : [:]
  }

  /// A text of the section.
  package func text(_ key: String) -> String? { section.text(key) ?? simulated.text(key) }

  /// A credential by its key: profile, variable, simulator.
  ///
  /// Throws `usage` where its source cannot be read, and what a signal asks for.
  package func credential(_ key: String) throws(Fault) -> String? {
    try session.settings.credential(name.text, key, session.signals) ?? simulated.text(key)
  }

  /// The name of the source that gives a credential; empty for the simulator's own.
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

  /// A base address by the end of its variable's name, such as `api_url`.
  ///
  /// Throws `usage` for anything else than a scheme of these, host and port.
  package func base(_ key: String, _ schemes: [String]) throws(Fault) -> String? {
    try session.settings.base(variable(key), schemes)
  }

  /// The name of a variable: `TENDER_PROVIDER_KEY`.
  package func variable(_ key: String) -> String { "TENDER_\(name.text)_\(key)".uppercased() }
}
