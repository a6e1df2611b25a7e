private import Synchronization
internal import TenderEngine
package import TenderModel
package import TenderSystem

/// The configuration file. A profile is checked when it is used: unknown keys and wrong values are errors.
package struct ConfigFile: Sendable {
  package let path: String
  package private(set) var defaultProfile: String?
  package private(set) var profiles: [String: JSONObject] = [:]
  /// Members of providers' sections that come from variables, by provider.
  var sections: JSONObject = [:]
  /// Runs the programs that print credentials; nil for commands that need none.
  var programs: SecretPrograms?
  let secrets = VisibleSecrets()

  /// The secrets that variables and profiles give as text, by profile. They are found once for all lines of a batch.
  final class VisibleSecrets: Sendable {
    private let known = Mutex<[(profile: String, secrets: [String])]>([])

    func of(_ profile: String, _ find: () -> [String]) -> [String] {
      known.withLock { known in
        if let found = known.first(where: { $0.profile == profile }) { return found.secrets }
        known.append((profile, find()))
        return known[known.count - 1].secrets
      }
    }
  }

  func adding(to profile: JSONObject) -> JSONObject {
    var profile = profile
    for provider in sections.members {
      var section = profile[provider.key]?.object ?? [:]
      for member in provider.value.object?.members ?? [] { section[member.key] = member.value }
      profile[provider.key] = .object(section)
    }
    return profile
  }

  private static let topKeys = ["schema", "default_profile", "profiles", "_comment"]
  /// Members of a profile whose values are text.
  private static let texts = [
    "provider", "env", "mode", "output", "timeout", "late_window", "journal", "takeover_window",
    "mark_dir", "containment",
  ]

  /// Reads the file. A missing file is empty, unless it was named.
  ///
  /// `milliseconds` limits the wait for it, for example from a pipe. Throws `usage` for an error in it.
  package init(
    path: String,
    isNamed: Bool,
    within milliseconds: Int? = nil,
    _ modules: [any ProviderModule]
  ) throws(Fault) {
    self.path = path
    guard isNamed || Environment.exists(path) else { return }
    let descriptor = try Environment.openForReading(
      path,
      named: "--config",
      waits: isNamed && milliseconds == nil
    )
    defer { Environment.close(descriptor) }
    // A pipe in the usual place would block every command, and each TAB in a shell.
    guard isNamed || Environment.size(of: descriptor) != nil else {
      throw fault("is not a regular file", "name another one with --config")
    }
    try FileGuard.check(descriptor, path, named: "--config", .ownersToWrite)
    if Environment.size(of: descriptor) != nil {
      try FileGuard.checkFolders(of: path, named: "--config", home: Environment()["HOME"])
    }
    let clock = SystemClock(interruption: NeverInterrupted())
    let deadline = milliseconds.map { Deadline(in: $0, on: clock) }
    let stop = deadline.map { deadline in { deadline.remaining <= 0 } }
    let bytes: [UInt8]
    do throws(Fault) {
      bytes = try Environment.readAll(descriptor, path, named: "--config", shouldStop: stop)
    } catch {
      throw stop?() == true ? .stopped(by: .pending, underWay: "nothing was under way") : error
    }
    guard let top = JSONReader.read(bytes, duplicates: .refusedStrictly)?.object else {
      throw fault(JSONReader.flaw(bytes))
    }
    try checkKeys(top, Self.topKeys, "")
    if let schema = top["schema"], schema.wholeNumber != 1 {
      throw fault("has a schema that this version does not know", "it is 1")
    }
    if let given = top["profiles"] {
      guard let object = given.object else { throw fault("profiles is no object") }
      for member in object.members {
        guard let profile = member.value.object else {
          throw fault("profile \(member.key.quotedForMessage) is no object")
        }
        profiles[member.key] = profile
      }
    }
    defaultProfile = top.text("default_profile")
    if let name = defaultProfile, profiles[name] == nil {
      throw fault("default_profile \(name.quotedForMessage) is no profile")
    }
    let holdsSecret = profiles.values.contains { profile in
      // The address of a journal may contain a password.
      profile.text("journal").map { $0.contains("@") || $0.contains("password") } ?? false
        || modules.contains { module in
          profile[module.name.text]?.object.map(module.section.holdsSecret) ?? false
        }
    }
    if holdsSecret {
      try FileGuard.check(descriptor, path, named: "--config holds a secret", .ownersAlone)
    }
  }

  /// Checks the values of a profile. A name that the file does not have passes.
  ///
  /// Throws `usage` for an error.
  package func check(_ name: String, _ modules: [any ProviderModule]) throws(Fault) {
    guard let profile = profiles[name] else { return }
    let place = "profiles.\(name)."
    let known = Self.texts + ["look_first", "max_amount", "_comment"] + modules.map(\.name.text)
    try checkKeys(profile, known, place)
    try checkVariables(.object(profile), modules, place)
    try checkValues(profile, modules, place)
  }

  /// Checks the values of a profile, and that its files and programs are on this machine.
  ///
  /// No program runs. Throws `usage` for an error.
  package func checkWhole(
    _ name: String,
    _ modules: [any ProviderModule],
    _ environment: Environment
  ) throws(Fault) {
    try check(name, modules)
    for module in modules {
      for (place, form, value) in credentials(of: name, module) {
        if form == .file, let file = value.text, !Environment.exists(file) {
          throw fault("profiles.\(name).\(place): no \(file.quotedForMessage)")
        }
        if form == .command {
          let words = value.array?.compactMap(\.text) ?? []
          _ = try SecretPrograms.find(words, named: "profiles.\(name).\(place)", environment)
        }
      }
    }
  }

  /// The credentials that a profile has for a provider, each with its place in the profile.
  private func credentials(
    of name: String,
    _ module: any ProviderModule
  ) -> [(place: String, form: CredentialForm, value: JSON)] {
    guard let section = profiles[name]?[module.name.text]?.object else { return [] }
    return module.section.credentials.flatMap { key in
      CredentialForm.allCases.compactMap { form in
        section[key + form.rawValue].map {
          ("\(module.name.text).\(key)\(form.rawValue)", form, $0)
        }
      }
    }
  }

  /// The argument lists of a profile's programs, each with its place in the profile.
  func programs(
    of name: String,
    _ modules: [any ProviderModule]
  ) -> [(name: String, arguments: [String])] {
    modules.flatMap { credentials(of: name, $0) }.filter { $0.form == .command }.map {
      ($0.place, $0.value.array?.compactMap(\.text) ?? [])
    }
  }

  /// Refuses texts that look like a variable for a shell.
  private func checkVariables(
    _ value: JSON,
    _ modules: [any ProviderModule],
    _ place: String
  ) throws(Fault) {
    for member in value.object?.members ?? [] where member.key != "_comment" {
      try checkVariables(member.value, modules, place + member.key + ".")
    }
    for item in value.array ?? [] { try checkVariables(item, modules, place) }
    guard value.text?.isVariableReference == true else { return }
    // The text may begin a secret, so it is not shown.
    let place = place.dropLast()
    let words = place.split(separator: ".").map(String.init)
    let key = words.last ?? ""
    let module = modules.first { words.dropLast().last == $0.name.text }
    let isCredential = module?.section.credentials.contains(key) == true
    throw fault(
      "\(place) is written as a variable, and variables are not replaced here",
      isCredential
        ? "name the variable in \"\(key)_env\", without $"
        : module?.section.keys.contains { $0.name == key } == true
          ? "set TENDER_\(words.suffix(2).joined(separator: "_").uppercased())" : "write the value"
    )
  }

  private func checkValues(
    _ profile: JSONObject,
    _ modules: [any ProviderModule],
    _ place: String
  ) throws(Fault) {
    for (name, words, problem) in [
      ("env", Env.allCases.map(\.rawValue), "is none of simulator, sandbox, live"),
      ("mode", ["read-only", "read-write"], "is neither read-only nor read-write"),
      ("containment", ["required", "optional"], "is neither required nor optional"),
    ] {
      guard let value = profile[name], !words.contains(value.text ?? "") else { continue }
      throw fault("\(place)\(name) \(problem)")
    }
    for name in Self.texts { try checkText(profile, name, place) }
    if let value = profile["look_first"], value.truth == nil {
      throw fault("\(place)look_first is neither true nor false")
    }
    _ = try maxAmounts(of: profile, place)
    let formats = ["auto", "table", "jsonl", "json"]
    if let output = profile.text("output"), !formats.contains(output) {
      throw fault("\(place)output is none of \(formats.joined(separator: ", "))")
    }
    let names = modules.map(\.name.text)
    if let provider = profile.text("provider"), !names.contains(provider) {
      let hint = Suggestion.hint(for: provider, among: names, else: Self.help)
      throw fault("\(place)provider \(provider.quotedForMessage) is unknown", hint)
    }
    if let timeout = profile.text("timeout") {
      _ = try TimeText.milliseconds(timeout, option: "\(place)timeout")
    }
    for key in ["late_window", "takeover_window"] {
      guard let window = profile.text(key), window != "0s" else { continue }
      _ = try TimeText.milliseconds(window, option: "\(place)\(key)")
    }
    for module in modules {
      try checkSection(module.name.text, module.section, of: profile, place)
    }
  }

  /// The amounts of `max_amount` in a profile, in minor units. Throws `usage` for an error.
  func maxAmounts(of profile: JSONObject, _ place: String = "") throws(Fault) -> [Currency: Int] {
    guard let value = profile["max_amount"] else { return [:] }
    let sample = #"such as {"USD": "500.00"}"#
    guard let object = value.object else { throw fault("\(place)max_amount is no object", sample) }
    var most: [Currency: Int] = [:]
    for member in object.members {
      let name = "\(place)max_amount.\(member.key)"
      guard let currency = Currency(code: member.key), currency.code == member.key else {
        throw fault("\(name) is no ISO 4217 code in capitals", sample)
      }
      guard let text = member.value.text else { throw fault("\(name) is not text", sample) }
      do throws(Fault) {
        most[currency] = try Money(decimal: text, currency: currency, named: name).minorUnits
      } catch {
        throw fault(error.message, error.hint)
      }
    }
    return most
  }

  /// Checks one provider's section: known keys, values of the right kind, and existing files.
  private func checkSection(
    _ name: String,
    _ section: ConfigurationSection,
    of profile: JSONObject,
    _ place: String
  ) throws(Fault) {
    guard let value = profile[name] else { return }
    guard let object = value.object else { throw fault("\(place)\(name) is no object") }
    let place = "\(place)\(name)."
    try checkKeys(object, section.members, place)
    for key in section.keys {
      switch key.kind {
      case .credential, .secret:
        let forms = CredentialForm.allCases.filter { object[key.name + $0.rawValue] != nil }
        guard forms.count < 2 else {
          let names = forms.prefix(2).map { key.name + $0.rawValue }.joined(separator: " and ")
          throw fault("\(place.dropLast()) has both \(names)", "keep one")
        }
        for form in forms {
          let name = key.name + form.rawValue
          if let value = object[name], let problem = form.problem(value) {
            throw fault("\(place)\(name) \(problem.text)", problem.hint)
          }
        }
      case .text: try checkText(object, key.name, place)
      case .value, .variable: break
      }
      if let value = object[key.name], let problem = key.problem(value) {
        throw fault("\(place)\(key.name) \(problem.text)", problem.hint)
      }
    }
  }

  private func checkText(_ object: JSONObject, _ key: String, _ place: String) throws(Fault) {
    guard object[key] != nil, object[key]?.text == nil else { return }
    throw fault("\(place)\(key) is not text", "put it in quotes")
  }

  private func checkKeys(_ object: JSONObject, _ known: [String], _ place: String) throws(Fault) {
    for member in object.members where !known.contains(member.key) {
      let hint = Suggestion.hint(for: member.key, among: known, else: Self.help)
      throw fault("has the unknown key \((place + member.key).quotedForMessage)", hint)
    }
  }

  private static let help = "see: tender help files"

  private func fault(_ problem: String, _ hint: String? = nil) -> Fault {
    .usage("bad_config", "\(path): \(problem)", hint ?? Self.help)
  }
}
