package import TenderEngine
package import TenderModel
package import TenderSystem

/// Every setting with its origin: option, environment, profile, default, in that order.
package final class Settings {
  /// The origin of a value.
  package enum Origin: String { case option, environment, profile, `default` }

  /// A value and its source.
  package struct Value {
    package var text: String
    package var origin: Origin
    /// The option, variable or member of the profile with the value; empty for a default.
    package var source = ""
  }

  /// A place with a credential.
  package struct CredentialSource {
    /// The variable, or the member of the profile with its section.
    package let name: String
    package let origin: Origin
    package let form: CredentialForm
    fileprivate let value: JSON
  }

  package let invocation: Invocation
  package let environment: Environment
  package let modules: [any ProviderModule]
  package private(set) var config: ConfigFile
  package let profileName: String?
  package private(set) var profile: JSONObject
  /// The configurations of providers that were made from these settings, by provider and env.
  private var configurations: [String: any Sendable] = [:]

  /// Reads the configuration file and chooses the profile.
  ///
  /// A batch reads the file once for all of its lines: `known`. Throws `usage` for an error in it.
  package init(
    _ invocation: Invocation,
    _ environment: Environment,
    _ modules: [any ProviderModule],
    config known: ConfigFile? = nil
  ) throws(Fault) {
    self.modules = modules
    self.invocation = invocation
    self.environment = environment
    let named = invocation[Keys.config] ?? environment["TENDER_CONFIG"]
    if let known {
      config = known
    } else {
      var path = named ?? ""
      if named == nil, let folder = try? environment.folder("XDG_CONFIG_HOME", below: "/.config") {
        path = folder + "/config.json"
      }
      let limit = named == nil ? nil : try invocation.value(Keys.deadline)
      var config = try ConfigFile(path: path, isNamed: named != nil, within: limit, modules)
      config.sections = try Self.sections(environment, modules)
      self.config = config
    }
    profileName = invocation[Keys.profile] ?? environment["TENDER_PROFILE"] ?? config.defaultProfile
    if let profileName {
      guard let found = config.profiles[profileName] else {
        let names = config.profiles.keys.sorted()
        throw .usage(
          "unknown_profile",
          "no profile \(profileName.quotedForMessage) in the configuration",
          Suggestion.hint(for: profileName, among: names, else: "see: tender help files")
        )
      }
      try config.check(profileName, modules)
      profile = config.adding(to: found)
    } else {
      profile = config.adding(to: [:])
    }
  }

  /// Creates the settings with another profile of the file, which a line of a batch can choose.
  package init(_ settings: Settings, profile name: String) {
    invocation = settings.invocation
    environment = settings.environment
    modules = settings.modules
    config = settings.config
    profileName = name
    profile = config.adding(to: config.profiles[name] ?? [:])
  }

  /// Hides a provider's section of the profile, with its credentials.
  package func hide(_ provider: ProviderName) {
    profile[provider.text] = nil
    configurations = [:]
  }

  /// Returns a provider's configuration, which is made once.
  package func configuration<Configuration: Sendable>(
    of provider: ProviderName,
    _ env: Env,
    _ make: () throws(Fault) -> Configuration
  ) throws(Fault) -> Configuration {
    let name = "\(provider.text) \(env.rawValue)"
    if let known = configurations[name] as? Configuration { return known }
    let made = try make()
    configurations[name] = made
    return made
  }

  /// Starts the helper that runs the programs of credentials, if the command may need one of them.
  ///
  /// Call it before any thread starts.
  package func startPrograms() {
    let command = invocation.command
    guard command.bounds.reachesProviders || invocation.has(Keys.online) else { return }
    let names =
      command.bounds == .anyProfile
      ? config.profiles.keys.sorted() : [profileName].compactMap(\.self)
    let programs = names.flatMap { config.programs(of: $0, modules) }
    if !programs.isEmpty { config.programs = SecretPrograms(programs, environment) }
  }

  /// Returns the members of providers' sections that variables set: `TENDER_PROVIDER_KEY`.
  ///
  /// Credentials are read elsewhere. Throws `usage` for a value that the file could not have.
  private static func sections(
    _ environment: Environment,
    _ modules: [any ProviderModule]
  ) throws(Fault) -> JSONObject {
    var sections: JSONObject = [:]
    for module in modules {
      let name = module.name.text
      var section: JSONObject = [:]
      for key in module.section.keys where key.isPlain {
        let variable = "TENDER_\(name)_\(key.name)".uppercased()
        guard let text = environment[variable] else { continue }
        let value = key.kind == .text ? .string(text) : JSONReader.read(text)
        let problem: ConfigurationSection.Problem? =
          if let value { key.problem(value) } else { .init("is not JSON") }
        guard let value, problem == nil else {
          throw .usage(
            "bad_value",
            "\(variable) \(problem?.text ?? "")",
            problem?.hint ?? "see: tender help \(name)"
          )
        }
        section[key.name] = value
      }
      if !section.members.isEmpty { sections[name] = .object(section) }
    }
    return sections
  }

  /// Returns a setting by its three names; nil if none of them is set.
  package func value(option: (any OptionKey)?, variable: String?, key: String?) -> Value? {
    values(option: option, variable: variable, key: key).first
  }

  /// Returns all values of a setting. The first one is used.
  package func values(option: (any OptionKey)?, variable: String?, key: String?) -> [Value] {
    var found: [Value] = []
    if let option, let text = invocation.text(option) {
      found.append(Value(text: text, origin: .option, source: "--\(option.options[0].name)"))
    }
    if let variable, let text = environment[variable] {
      found.append(Value(text: text, origin: .environment, source: variable))
    }
    if let key, let text = profile.text(key) {
      found.append(Value(text: text, origin: .profile, source: key))
    }
    return found
  }

  /// Returns all values of a text in a provider's section. The first one is used.
  package func values(option: any OptionKey, section: String, key: String) -> [Value] {
    let variable = "TENDER_\(section)_\(key)".uppercased()
    let own = profileName.flatMap { config.profiles[$0]?[section]?[key]?.text }
    return values(option: option, variable: variable, key: nil)
      + [own.map { Value(text: $0, origin: .profile, source: "\(section).\(key)") }]
      .compactMap(\.self)
  }

  /// The provider from option, environment or profile; nil if none names one.
  package func provider() throws(Fault) -> Value? {
    try value(Keys.provider, "provider", among: modules.map(\.name.text))
  }

  /// The env from option, environment or profile; nil if none names one.
  package func env() throws(Fault) -> Value? {
    try value(Keys.env, "env", among: Env.allCases.map(\.rawValue))
  }

  private func value(
    _ option: any OptionKey,
    _ name: String,
    among names: [String]
  ) throws(Fault) -> Value? {
    let value = value(option: option, variable: "TENDER_" + name.uppercased(), key: name)
    guard let value, !names.contains(value.text) else { return value }
    throw .badChoice("\(name) from the \(value.origin.rawValue)", value.text, names)
  }

  /// The time limit of one request, in milliseconds.
  package func timeout() throws(Fault) -> Int {
    let value = value(option: Keys.timeout, variable: "TENDER_TIMEOUT", key: "timeout")
    guard let value else { return 30_000 }
    let name = value.origin == .environment ? "TENDER_TIMEOUT" : "--timeout"
    return try TimeText.milliseconds(value.text, option: name)
  }

  /// The time after a send in which an effect may still appear at a provider, in milliseconds.
  ///
  /// Before that, a missing effect proves nothing. The providers do not publish that time.
  package func lateWindow(_ env: Env) throws(Fault) -> Int {
    try window("late_window") ?? Self.usualLateWindow(env)
  }

  /// The late window of a profile that sets none. A provider can have a longer one.
  static func usualLateWindow(_ env: Env) -> Int { env == .simulator ? 5000 : 60_000 }

  /// The address of a journal that several machines share; nil for the file in the state folder.
  package func journal() -> Value? {
    filled(value(option: nil, variable: "TENDER_JOURNAL", key: "journal"))
  }

  /// The folder of the mark that tells a journal from its copies; nil for the parent of the state folder.
  package func markFolder() -> String? {
    filled(value(option: nil, variable: "TENDER_MARK_DIR", key: "mark_dir"))?.text
  }

  private func filled(_ value: Value?) -> Value? { value?.text.isEmpty == true ? nil : value }

  /// The time before a sale that another machine left is taken over, in milliseconds. An earlier takeover
  /// needs consent.
  package func takeoverWindow() throws(Fault) -> Int {
    try window("takeover_window") ?? 600_000
  }

  /// Whether the provider is asked about a new reference before its first charge.
  package var looksFirst: Bool { profile["look_first"]?.truth ?? true }

  /// The largest amount of each currency that moves without a typed confirmation, in minor units.
  package func maxAmounts() throws(Fault) -> [Currency: Int] { try config.maxAmounts(of: profile) }

  private func window(_ key: String) throws(Fault) -> Int? {
    guard let text = profile.text(key) else { return nil }
    return text == "0s" ? 0 : try TimeText.milliseconds(text, option: key)
  }

  /// The folder of the files of journal and simulator.
  package func stateFolder() throws(Fault) -> Value {
    if let value = value(option: Keys.stateDir, variable: "TENDER_STATE_DIR", key: nil) {
      return value
    }
    return Value(
      text: try environment.folder("XDG_STATE_HOME", below: "/.local/state"),
      origin: .default
    )
  }

  /// Whether questions are forbidden.
  package var asksNobody: Bool {
    invocation.has(Keys.noInput) || environment["TENDER_NO_INPUT"].map { $0 != "0" } ?? isInCI
  }

  /// Whether a CI system runs this. Then no person can answer, even if there is a terminal.
  private var isInCI: Bool {
    environment["CI"].map { !["", "0", "false"].contains($0.lowercased()) } ?? false
  }

  package var isReadOnly: Bool { profile.text("mode") == "read-only" }

  package var readOnlyProfile: String? { isReadOnly ? profileName ?? "" : nil }

  /// Returns the sources of a credential. The first one is used.
  ///
  /// A credential of the profile comes before a variable. A key that was exported for another account must
  /// not go to the profile's host. Throws `usage` if a variable and its file are both set.
  package func sources(_ section: String, _ key: String) throws(Fault) -> [CredentialSource] {
    var found: [CredentialSource] = []
    if let own = profile[section]?.object {
      for form in CredentialForm.allCases {
        let member = key + form.rawValue
        guard let value = own[member] else { continue }
        let name = "\(section).\(member)"
        found.append(CredentialSource(name: name, origin: .profile, form: form, value: value))
      }
    }
    let variable = "TENDER_\(section)_\(key)".uppercased()
    for (name, form) in [(variable, CredentialForm.text), (variable + "_FILE", .file)] {
      guard let text = environment[name]?.json else { continue }
      found.append(CredentialSource(name: name, origin: .environment, form: form, value: text))
    }
    guard environment[variable] == nil || environment[variable + "_FILE"] == nil else {
      throw .usage(
        "bad_credential",
        "both \(variable) and \(variable)_FILE are set",
        "unset one of them"
      )
    }
    return found
  }

  /// Throws `usage` if an option or operand contains a secret of any provider that variables or the profile
  /// give as text. `learn` gets it before. Those of files and programs are checked when they are read.
  package func checkTyped(_ learn: (String) -> Void) throws(Fault) {
    let secrets = config.secrets.of(profileName ?? "", visibleSecrets)
    for secret in secrets { try invocation.check(secret: secret, learn) }
  }

  /// The secrets that variables and the profile give as text.
  private func visibleSecrets() -> [String] {
    var found: [String] = []
    for module in modules {
      for key in module.section.keys where key.isHidden {
        for source in (try? sources(module.name.text, key.name)) ?? [] {
          let text = source.value.text ?? ""
          switch source.form {
          case .text: found.append(text)
          case .variable: found.append(environment[text] ?? "")
          case .file, .command: break
          }
        }
      }
    }
    return found
  }

  /// Returns a credential of a provider; nil if no source has it.
  ///
  /// Throws `usage` if its source cannot be read, and the fault of a signal.
  package func credential(
    _ section: String,
    _ key: String,
    _ interruption: any Interruption
  ) throws(Fault) -> String? {
    guard let source = try sources(section, key).first else { return nil }
    let text = source.value.text ?? ""
    switch source.form {
    case .text: return text
    case .file: return try Self.content(text, source.name)
    case .variable:
      guard let value = environment[text] else {
        throw .usage(
          "bad_credential",
          "\(source.name): the variable \(text) is not set",
          "set it, or choose another --profile"
        )
      }
      return value
    case .command:
      // A dry run shows no secret and signs nothing.
      if invocation.has(Keys.dryRun), definition(section, key)?.kind == .secret {
        return "not-read-in-a-dry-run"
      }
      guard let programs = config.programs else {
        throw Fault(.internal, code: "internal", "\(source.name) cannot be run by this command")
      }
      let words = source.value.array?.compactMap(\.text) ?? []
      return try programs.output(of: words, named: source.name, interruption).revealed
    }
  }

  /// Whether a source can have a value. A file is not read, and a program is not run.
  package func isSet(_ source: CredentialSource) -> Bool {
    source.form != .variable || environment[source.value.text ?? ""] != nil
  }

  /// The definition of a key of a provider's section; nil without one.
  func definition(_ section: String, _ key: String) -> ConfigurationSection.Key? {
    modules.first { $0.name.text == section }?.section.keys.first { $0.name == key }
  }

  private static func content(_ path: String, _ name: String) throws(Fault) -> String {
    var bytes = try Environment.read(path, named: name, rule: .ownersAlone, limit: 65_536)
    return try secret(&bytes, path, name)
  }

  /// Returns a secret's text without the line end after it. The bytes are erased.
  ///
  /// Throws `usage` if nothing is left.
  package static func secret(
    _ bytes: inout [UInt8],
    _ path: String,
    _ name: String
  ) throws(Fault) -> String {
    defer { bytes.wipe() }
    while let last = bytes.last, last == 10 || last == 13 || last == 32 { bytes.removeLast() }
    guard !bytes.isEmpty else {
      throw .usage("bad_credential", "\(name): \(path) is empty", "put the value into it")
    }
    return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
  }
}
