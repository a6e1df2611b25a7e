package import TenderModel
internal import TenderSystem

extension ProviderSettings {
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
