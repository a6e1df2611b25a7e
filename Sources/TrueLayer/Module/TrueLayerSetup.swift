internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Reads TrueLayer's credentials, addresses and flow choices from settings and options.
extension ProviderSettings {
  private var invocation: Invocation { session.invocation }

  func configuration() throws(Fault) -> TrueLayerConfiguration {
    var configuration = TrueLayerConfiguration(
      env: env,
      redirectURL: try redirectURL(),
      timeout: try session.settings.timeout()
    )
    configuration.clientID = try credential("client_id")
    configuration.clientSecret = learned(try credential("client_secret"))
    configuration.keyID = try credential("key_id")
    configuration.privateKey = learned(try credential("private_key").map(Self.withLines))
    configuration.resourceToken = learned(try resourceToken())
    configuration.scope = section.text("scope")
    try setBases(&configuration)
    return configuration
  }

  private func learned(_ text: String?) -> SharedSecret? {
    guard let text else { return nil }
    session.redactor.learn(text)
    // A provider that repeats a key in an answer may repeat single lines.
    for line in text.split(separator: "\n") where line.count > 40 {
      session.redactor.learn(String(line))
    }
    return SharedSecret(text)
  }

  /// Returns PEM text with real line ends. In variables they are often written as `\n`.
  private static func withLines(_ text: String) -> String {
    text.contains("\n") ? text : text.replacing("\\n", with: "\n")
  }

  private func resourceToken() throws(Fault) -> String? {
    guard let path = invocation[Keys.resourceTokenFile] else {
      return try credential("resource_token")
    }
    let option = "--resource-token-file"
    guard var bytes = try invocation.readOwn(path, option) else {
      throw .badValue(option, path, hint: "at most 64 KiB on standard input")
    }
    return try Settings.secret(&bytes, path, option)
  }

  private func redirectURL() throws(Fault) -> String {
    let text =
      invocation[Keys.redirectURL] ?? section.text("redirect_url")
      ?? TrueLayerConfiguration.defaultRedirectURL
    // A merchant's app may use a special scheme.
    let isAddress = text.firstRange(of: "://").map { $0.lowerBound > text.startIndex } ?? false
    guard isAddress, text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else {
      throw .badValue("--redirect-url", text, hint: "such as http://localhost:3000/callback")
    }
    return text
  }

  /// Reads the base addresses from the environment.
  ///
  /// Throws `usage` if one does not fit the env, or if the other one is missing.
  private func setBases(_ configuration: inout TrueLayerConfiguration) throws(Fault) {
    let api = try base("api_url", ["http", "https"])
    let auth = try base("auth_url", ["http", "https"])
    guard api != nil || auth != nil else { return }
    guard session.settings.mayRedirect(env) else {
      throw .basesOnLive("TENDER_TRUELAYER_API_URL and TENDER_TRUELAYER_AUTH_URL")
    }
    guard api != nil else { throw .basesMissing([variable("api_url")]) }
    guard auth != nil || configuration.resourceToken != nil else {
      throw .basesMissing([variable("auth_url")])
    }
    (configuration.apiBase, configuration.authBase) = (api, auth)
  }

  func options() throws(Fault) -> FlowOptions {
    var options = FlowOptions()
    options.country = invocation[Keys.country]
    options.localeCountry = session.environment.localeCountry
    options.bank = invocation[Keys.bank]
    options.branch = invocation[Keys.branch]
    options.scheme = invocation[Keys.scheme]
    options.account = invocation[Keys.account]
    options.consentsToAccountData = try invocation.value(Keys.consent) == .paymentAndAccounts
    options.retries = invocation.has(Keys.retry)
    options.returnURL = invocation[Keys.returnURL]
    if let interval = try invocation.value(Keys.interval) { options.interval = max(100, interval) }
    if let limit = try invocation.value(Keys.wait) {
      options.patience = min(options.patience, limit)
    }
    return options
  }
}
