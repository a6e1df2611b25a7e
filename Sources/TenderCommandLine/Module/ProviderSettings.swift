internal import TenderEngine
package import TenderModel
internal import TenderSystem

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

  /// Returns a base address by the end of its variable's name, such as `api_url`. Its scheme, host and port
  /// replace those of the provider.
  ///
  /// Throws `usage` for anything else, and for an address outside of this machine without encryption.
  package func base(_ key: String, _ schemes: [String]) throws(Fault) -> String? {
    let variable = variable(key)
    guard let text = session.environment[variable] else { return nil }
    guard let address = WebAddress(text), schemes.contains(address.scheme),
      address.target.isEmpty || address.target == "/"
    else {
      throw .badAddress(  // A name and password may stand in it: the text is not shown.
        "\(variable) is no base address",
        hint: "such as \(schemes[0])://127.0.0.1:8085, without a path"
      )
    }
    guard address.isEncrypted || address.isLoopback else {
      throw .badAddress(
        "\(variable): plain \(address.scheme) goes to this machine only, not to \(address.host)",
        hint: "use \(schemes[1])"
      )
    }
    return "\(address.scheme)://\(address.authority)"
  }
}

extension Settings {
  /// Whether base addresses may be set for an env. They never may for live money.
  ///
  /// Only a build for tests can send the live path to this machine, if a test asks for that. A release does
  /// not have that code.
  package func mayRedirect(_ env: Env) -> Bool {
    #if DEBUG
    if environment["TENDER_TEST_LIVE"] == "loopback" { return true }
    #endif
    return env != .live
  }
}

extension Fault {
  /// Base addresses are for tests and proxies, never for live money.
  package static func basesOnLive(_ variables: String) -> Fault {
    Fault.badAddress(
      "base addresses cannot be used with --env live",
      hint: "unset \(variables)"
    )
  }

  /// Some of the base addresses that a command needs are set. `missing` are not.
  package static func basesMissing(_ missing: [String]) -> Fault {
    Fault.badAddress(
      "some base addresses are set, and \(missing.joined(separator: " and ")) "
        + (missing.count == 1 ? "is not" : "are not"),
      hint: "set all that the command needs, or none"
    )
  }
}
