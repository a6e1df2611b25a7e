internal import TenderCommandLine
internal import TenderModel
internal import TenderWire

/// The configuration file, checked: unknown keys and open permissions are errors.
struct ConfigFile {
  let path: String
  let defaultProfile: String?
  let profiles: [String: JSONObject]

  private static let topKeys = ["schema", "default_profile", "profiles", "_comment"]
  private static let profileKeys = [
    "provider", "env", "mode", "output", "timeout", "paytheory", "toro", "truelayer", "_comment",
  ]
  private static let payTheoryKeys = [
    "api_key", "api_key_file", "merchant_uid", "merchant_uid_file", "secret_key",
    "secret_key_file", "two_step", "_comment",
  ]
  private static let trueLayerKeys = [
    "client_id", "client_id_file", "client_secret", "client_secret_file", "key_id", "key_id_file",
    "private_key", "private_key_file", "redirect_url", "scope", "_comment",
  ]
  private static let secretKeys: Set<String> = [
    "secret_key", "client_secret", "private_key", "passphrase", "resource_token",
  ]

  /// Reads the file; an absent one is empty unless it was named.
  ///
  /// Throws `usage` for what is wrong.
  init(path: String, isNamed: Bool) throws(Fault) {
    self.path = path
    guard isNamed || Environment.exists(path) else {
      defaultProfile = nil
      profiles = [:]
      return
    }
    let bytes = try Environment.read(path, named: "--config")
    guard let top = JSONReader.read(bytes)?.object else {
      throw .config(path, "is not a JSON object", nil)
    }
    try Self.checkKeys(top, Self.topKeys, path, "")
    if let schema = top["schema"], schema.wholeNumber != 1 {
      throw .config(path, "has a schema that this version does not know", "it is 1")
    }
    var profiles: [String: JSONObject] = [:]
    if let given = top["profiles"] {
      guard let object = given.object else { throw .config(path, "profiles is no object", nil) }
      for member in object.members {
        guard let profile = member.value.object else {
          throw .config(path, "profile \(member.key.quotedForMessage) is no object", nil)
        }
        let place = "profiles.\(member.key)."
        try Self.checkKeys(profile, Self.profileKeys, path, place)
        try Self.checkValues(profile, path, place)
        profiles[member.key] = profile
      }
    }
    self.profiles = profiles
    defaultProfile = top.text("default_profile")
    if let name = defaultProfile, profiles[name] == nil {
      throw .config(path, "default_profile \(name.quotedForMessage) is no profile", nil)
    }
    if Self.holdsSecret(.object(top)), Environment.isOpenToOthers(path) {
      throw Fault(
        .usage,
        code: "file_too_open",
        "\(path) holds a secret and others can read it",
        hint: "chmod 600 \(path)"
      )
    }
  }

  private static func checkValues(
    _ profile: JSONObject,
    _ path: String,
    _ place: String
  ) throws(Fault) {
    if let env = profile["env"], env.text.flatMap(Env.init(rawValue:)) == nil {
      throw .config(path, "\(place)env is none of simulator, sandbox, live", nil)
    }
    if let mode = profile["mode"], mode.text != "read-only", mode.text != "read-write" {
      throw .config(path, "\(place)mode is neither read-only nor read-write", nil)
    }
    for name in ["provider", "env", "mode", "output", "timeout"]
    where profile[name] != nil && profile.text(name) == nil {
      throw .config(path, "\(place)\(name) is not text", "put it in quotes")
    }
    if let provider = profile.text("provider"), !Catalogue.providers.contains(provider) {
      let nearest = Suggestion.nearest(to: provider, among: Catalogue.providers)
      throw .config(
        path,
        "\(place)provider \(provider.quotedForMessage) is unknown",
        nearest.map { "did you mean \($0)?" }
      )
    }
    if let timeout = profile.text("timeout") {
      _ = try TimeText.milliseconds(timeout, option: "\(place)timeout")
    }
    try checkSection("paytheory", payTheoryKeys, of: profile, path, place)
    try checkSection("truelayer", trueLayerKeys, of: profile, path, place)
    if let twoStep = profile["paytheory"]?["two_step"], twoStep.truth == nil {
      throw .config(path, "\(place)paytheory.two_step is neither true nor false", nil)
    }
  }

  /// What one provider's section may hold: known keys, text, files that are there.
  private static func checkSection(
    _ name: String,
    _ keys: [String],
    of profile: JSONObject,
    _ path: String,
    _ place: String
  ) throws(Fault) {
    guard let section = profile[name] else { return }
    guard let object = section.object else {
      throw .config(path, "\(place)\(name) is no object", nil)
    }
    try checkKeys(object, keys, path, "\(place)\(name).")
    for key in keys where object[key] != nil && object[key + "_file"] != nil {
      throw .config(path, "\(place)\(name) has both \(key) and \(key)_file", "keep one")
    }
    for member in object.members
    where member.key != "two_step" && member.key != "_comment" && member.value.text == nil {
      throw .config(path, "\(place)\(name).\(member.key) is not text", "put it in quotes")
    }
    for member in object.members where member.key.hasSuffix("_file") {
      guard let file = member.value.text, !Environment.exists(file) else { continue }
      throw .config(path, "\(place)\(name).\(member.key): no \(file.quotedForMessage)", nil)
    }
  }

  private static func checkKeys(
    _ object: JSONObject,
    _ known: [String],
    _ path: String,
    _ place: String
  ) throws(Fault) {
    for member in object.members where !known.contains(member.key) {
      let nearest = Suggestion.nearest(to: member.key, among: known)
      throw .config(
        path,
        "has the unknown key \((place + member.key).quotedForMessage)",
        nearest.map { "did you mean \($0)?" }
      )
    }
  }

  private static func holdsSecret(_ value: JSON) -> Bool {
    switch value {
    case .object(let object):
      object.members.contains { secretKeys.contains($0.key) || holdsSecret($0.value) }
    case .array(let elements): elements.contains(where: holdsSecret)
    default: false
    }
  }
}

extension Fault {
  fileprivate static func config(_ path: String, _ problem: String, _ hint: String?) -> Fault {
    Fault(.usage, code: "bad_config", "\(path): \(problem)", hint: hint ?? "see: tender help files")
  }
}
