internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Reads Pay Theory's credentials and addresses from settings.
extension ProviderSettings {
  func configuration() throws(Fault) -> PayTheoryConfiguration {
    let merchant = try credential("merchant_uid")
    let secretKey = try secret("secret_key")
    guard let text = try credential("api_key") else {
      throw Fault(
        .auth,
        code: "credentials_missing",
        cause: .credentialsMissing,
        "Pay Theory needs an API key, and \(variable("api_key")) is not set",
        hint: "set it, or \(variable("api_key"))_FILE for a file that holds it"
      )
    }
    let apiKey = try APIKey(text)
    session.redactor.learn(text)
    try apiKey.check(fits: env)
    var configuration = PayTheoryConfiguration(
      env: env,
      key: apiKey,
      merchantUID: merchant,
      secretKey: secretKey,
      twoStep: section["two_step"]?.truth ?? true
    )
    configuration.timeZone = session.environment.timeZoneName
    configuration.timeout = try session.settings.timeout()
    try setBases(&configuration)
    return configuration
  }

  /// Reads the base addresses from the environment, if they are set.
  ///
  /// Throws `usage` for invalid ones.
  private func setBases(_ configuration: inout PayTheoryConfiguration) throws(Fault) {
    let token = try base("token_url", ["http", "https"])
    let socket = try base("socket_url", ["ws", "wss"])
    let graphQL = try base("graphql_url", ["http", "https"])
    guard token != nil || socket != nil || graphQL != nil else { return }
    guard session.settings.mayRedirect(env) else {
      throw .basesOnLive("\(variable("token_url")), …_SOCKET_URL and …_GRAPHQL_URL")
    }
    (configuration.tokenBase, configuration.socketBase) = (token, socket)
    configuration.graphQLBase = graphQL
    configuration.isRedirected = true
  }
}
