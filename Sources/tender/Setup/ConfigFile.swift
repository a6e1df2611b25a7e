internal import TenderCommandLine
internal import TenderModel
internal import TenderSystem
internal import TenderWire

/// The configuration file, checked: unknown keys and open permissions are errors.
struct ConfigFile {
  let path: String
  let defaultProfile: String?
  let profiles: [String: JSONObject]

  private static let topKeys = ["schema", "default_profile", "profiles", "_comment"]
  private static let profileKeys = [
    "provider", "env", "mode", "output", "timeout", "late_window", "paytheory", "toro", "truelayer",
    "_comment",
  ]
  private static let payTheoryKeys = [
    "api_key", "api_key_file", "merchant_uid", "merchant_uid_file", "secret_key",
    "secret_key_file", "two_step", "_comment",
  ]
  private static let trueLayerKeys = [
    "client_id", "client_id_file", "client_secret", "client_secret_file", "key_id", "key_id_file",
    "private_key", "private_key_file", "redirect_url", "scope", "_comment",
  ]
  private static let toroKeys = [
    "device", "currency", "acquirer_id", "acquirer_parameters", "merchant_id", "merchant_name",
    "merchant_category_code", "poi_id", "recipient_id", "location", "api_key", "api_key_file",
    "api_key_header", "passphrase", "passphrase_file", "key_id", "key_version", "kdf",
    "card_key_id", "card_key_version", "gratuity_enabled", "gratuity_percentages",
    "signature_mode", "touch_area_tag", "card_timeout", "authorisation_path", "_comment",
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
    let descriptor = try Environment.openForReading(path, named: "--config")
    defer { Environment.close(descriptor) }
    try FileGuard.check(descriptor, path, named: "--config", .ownersToWrite)
    let bytes = try Environment.readAll(descriptor, path, named: "--config")
    guard let top = JSONReader.read(bytes, duplicates: .refused)?.object else {
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
    if Self.holdsSecret(.object(top)) {
      try FileGuard.check(descriptor, path, named: "--config holds a secret", .ownersAlone)
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
    for name in ["provider", "env", "mode", "output", "timeout", "late_window"]
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
    if let window = profile.text("late_window"), window != "0s" {
      _ = try TimeText.milliseconds(window, option: "\(place)late_window")
    }
    try checkSection("paytheory", payTheoryKeys, of: profile, path, place)
    try checkSection("truelayer", trueLayerKeys, of: profile, path, place)
    try checkSection("toro", toroKeys, of: profile, path, place)
    try checkToro(profile["toro"]?.object ?? [:], path, place)
    if let twoStep = profile["paytheory"]?["two_step"], twoStep.truth == nil {
      throw .config(path, "\(place)paytheory.two_step is neither true nor false", nil)
    }
  }

  /// What is not text in a provider's section.
  private static let structured: Set<String> = [
    "two_step", "_comment", "location", "kdf", "gratuity_enabled", "gratuity_percentages",
  ]

  /// The members of Toro's section that are not text.
  private static func checkToro(
    _ section: JSONObject,
    _ path: String,
    _ place: String
  ) throws(Fault) {
    let place = place + "toro."
    if let location = section["location"] {
      guard let object = location.object, object.text("latitude") != nil,
        object.text("longitude") != nil
      else { throw .config(path, "\(place)location needs latitude and longitude as text", nil) }
      try checkKeys(object, ["latitude", "longitude"], path, place + "location.")
    }
    if let kdf = section["kdf"] {
      guard let object = kdf.object else { throw .config(path, "\(place)kdf is no object", nil) }
      try checkKeys(object, ["prf", "salt", "iterations", "length"], path, place + "kdf.")
      let known = ["hmac-sha1", "hmac-sha256", "hmac-sha512"]
      guard let prf = object.text("prf"), known.contains(prf), object.text("salt") != nil,
        let iterations = object["iterations"]?.wholeNumber, (1...10_000_000).contains(iterations),
        let length = object["length"]?.wholeNumber, [16, 24, 32].contains(length)
      else {
        throw .config(
          path,
          "\(place)kdf needs prf, salt, iterations and length",
          "prf is one of \(known.joined(separator: ", ")); length is 16, 24 or 32"
        )
      }
    }
    if let enabled = section["gratuity_enabled"], enabled.truth == nil {
      throw .config(path, "\(place)gratuity_enabled is neither true nor false", nil)
    }
    if let menu = section["gratuity_percentages"] {
      let numbers = menu.array?.compactMap(\.wholeNumber) ?? []
      guard numbers.count == menu.array?.count, (1...4).contains(numbers.count),
        numbers.allSatisfy({ (0...100).contains($0) })
      else {
        throw .config(
          path,
          "\(place)gratuity_percentages is no list of one to four percentages",
          "such as [10,15,20]"
        )
      }
    }
    if let mode = section.text("signature_mode"), mode != "device", mode != "app" {
      throw .config(path, "\(place)signature_mode is neither device nor app", nil)
    }
    if let code = section.text("currency"), Currency(code: code) == nil {
      throw .config(path, "\(place)currency \(code.quotedForMessage) is no ISO 4217 code", nil)
    }
    if let target = section.text("authorisation_path"),
      !target.hasPrefix("/") || !target.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    {
      throw .config(path, "\(place)authorisation_path is no path", "such as /v1/caaa/…")
    }
    if let time = section.text("card_timeout") {
      _ = try TimeText.milliseconds(time, option: "\(place)card_timeout")
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
    where !structured.contains(member.key) && member.value.text == nil {
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
      object.members.contains {
        secretKeys.contains($0.key) || holdsSecret($0.value)
          // Pay Theory's is in every page that takes cards; Toro's opens the gateway.
          || $0.key == "toro" && $0.value["api_key"] != nil
      }
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
