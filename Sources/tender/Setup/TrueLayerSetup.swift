internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem
internal import TenderWire
internal import TrueLayer

/// Credentials, addresses and flow choices for TrueLayer, from settings and options.
struct TrueLayerSetup {
  let invocation: Invocation
  let settings: Settings
  let env: Env
  let redactor: Redactor

  func configuration() throws(Fault) -> TrueLayerConfiguration {
    var configuration = TrueLayerConfiguration(
      env: env,
      redirectURL: try redirectURL(),
      timeout: try settings.timeout()
    )
    func value(_ variable: String, _ key: String, _ simulated: String) throws(Fault) -> String? {
      try settings.credential("TENDER_TRUELAYER_" + variable, section: "truelayer", key: key)?.text
        ?? (env == .simulator ? simulated : nil)
    }
    configuration.clientID = try value("CLIENT_ID", "client_id", BankCatalog.clientID)
    let secret = try value("CLIENT_SECRET", "client_secret", BankCatalog.clientSecret)
    configuration.clientSecret = learned(secret)
    configuration.keyID = try value("KEY_ID", "key_id", BankCatalog.keyID)
    let key = try value("PRIVATE_KEY", "private_key", BankCatalog.privateKey)
    configuration.privateKey = learned(key.map(Self.withLines))
    configuration.resourceToken = learned(try resourceToken())
    configuration.scope = settings.profile["truelayer"]?["scope"]?.text
    let bases = try bases()
    configuration.apiBase = bases.api
    configuration.authBase = bases.auth
    guard bases.api == nil || bases.auth != nil || configuration.resourceToken != nil else {
      throw .basesMissing(["TENDER_TRUELAYER_AUTH_URL"])
    }
    return configuration
  }

  private func learned(_ text: String?) -> SharedSecret? {
    guard let text else { return nil }
    redactor.learn(text)
    // A key is echoed by the line, if at all.
    for line in text.split(separator: "\n") where line.count > 40 { redactor.learn(String(line)) }
    return SharedSecret(text)
  }

  /// PEM text whose line ends were written as `\n` on their way through a variable.
  private static func withLines(_ text: String) -> String {
    text.contains("\n") ? text : text.replacing("\\n", with: "\n")
  }

  private func resourceToken() throws(Fault) -> String? {
    let variable = "TENDER_TRUELAYER_RESOURCE_TOKEN"
    guard let path = invocation["resource-token-file"] else {
      return try settings.credential(variable, section: "truelayer", key: "resource_token")?.text
    }
    let option = "--resource-token-file"
    var bytes: [UInt8]
    if path == "-" {
      try invocation.checkStandardInput()
      guard let read = Console.readAll(0, limit: 65_536) else {
        throw .badValue(option, path, hint: "at most 64 KiB on standard input")
      }
      bytes = read
    } else {
      bytes = try Environment.read(path, named: option, rule: .ownersAlone, limit: 65_536)
    }
    return try Settings.secret(&bytes, path, option)
  }

  private func redirectURL() throws(Fault) -> String {
    let text =
      invocation["redirect-url"] ?? settings.profile["truelayer"]?["redirect_url"]?.text
      ?? TrueLayerConfiguration.defaultRedirectURL
    // A merchant's app may have a scheme of its own.
    let isAddress = text.firstRange(of: "://").map { $0.lowerBound > text.startIndex } ?? false
    guard isAddress, text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else {
      throw .badValue("--redirect-url", text, hint: "such as http://localhost:3000/callback")
    }
    return text
  }

  /// Base addresses from the environment.
  ///
  /// Throws `usage` where one is set that does not go with the env, or without the other.
  func bases() throws(Fault) -> (api: String?, auth: String?) {
    let api = try settings.base("TENDER_TRUELAYER_API_URL", ["http", "https"])
    let auth = try settings.base("TENDER_TRUELAYER_AUTH_URL", ["http", "https"])
    guard api != nil || auth != nil else { return (nil, nil) }
    guard settings.mayRedirect(env) else {
      throw .basesOnLive("TENDER_TRUELAYER_API_URL and TENDER_TRUELAYER_AUTH_URL")
    }
    guard api != nil else { throw .basesMissing(["TENDER_TRUELAYER_API_URL"]) }
    return (api, auth)
  }

  func options() throws(Fault) -> FlowOptions {
    var options = FlowOptions()
    options.country = invocation["country"]
    options.localeCountry = settings.environment.localeCountry
    options.bank = invocation["bank"]
    options.branch = invocation["branch"]
    options.scheme = invocation["scheme"]
    options.account = invocation["account"]
    options.consentsToAccountData = invocation["consent"] == "pis,ais"
    options.retries = invocation.has("retry")
    options.returnURL = invocation["return-url"]
    if let interval = invocation["interval"] {
      options.interval = max(100, try TimeText.milliseconds(interval, option: "--interval"))
    }
    if invocation.has("wait") {
      let limit = try TimeText.milliseconds(invocation["wait"] ?? "5m", option: "--wait")
      options.patience = min(options.patience, limit)
    }
    return options
  }
}

extension Invocation {
  /// Throws `usage` where standard input has more than one reader.
  func checkStandardInput() throws(Fault) {
    var readers = operands.filter { $0 == "-" }.count
    for name in ["resource-token-file", "form-file"] where self[name] == "-" { readers += 1 }
    if has("instrument-stdin") { readers += 1 }
    guard readers <= 1 else {
      throw Fault(
        .usage,
        code: "bad_operand",
        "standard input can be read once",
        hint: "give - once"
      )
    }
  }

  /// Throws `usage` for an option that a provider does not know.
  func checkOptions(for provider: String) throws(Fault) {
    for option in command.options where has(option.name) {
      guard !option.providers.isEmpty, !option.providers.contains(provider) else { continue }
      throw Fault(
        .usage,
        code: "bad_options",
        "--\(option.name) does not go with \(provider)",
        hint: "it is for --provider \(option.providers.joined(separator: " or "))"
      )
    }
  }
}
