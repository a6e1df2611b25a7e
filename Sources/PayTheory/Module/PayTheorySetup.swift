internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Credentials and addresses for Pay Theory, from settings.
struct PayTheorySetup {
  let own: ProviderSettings

  private var session: any Session { own.session }
  private var env: Env { own.env }

  func configuration() throws(Fault) -> PayTheoryConfiguration {
    let merchant = try own.credential("merchant_uid")
    let secret = try own.secret("secret_key")
    guard let text = try own.credential("api_key") else {
      throw Fault(
        .auth,
        code: "credentials_missing",
        cause: .credentialsMissing,
        "Pay Theory needs an API key, and \(own.variable("api_key")) is not set",
        hint: "set it, or \(own.variable("api_key"))_FILE for a file that holds it"
      )
    }
    let apiKey = try APIKey(text)
    session.redactor.learn(text)
    try apiKey.check(fits: env)
    var configuration = PayTheoryConfiguration(
      env: env,
      key: apiKey,
      merchantUID: merchant,
      secretKey: secret,
      twoStep: own.section["two_step"]?.truth ?? true
    )
    configuration.timeZone = session.environment.timeZoneName
    configuration.timeout = try session.settings.timeout()
    try setBases(&configuration)
    return configuration
  }

  /// The base addresses from the environment, where there are any.
  ///
  /// Throws `usage` for bad ones.
  private func setBases(_ configuration: inout PayTheoryConfiguration) throws(Fault) {
    let token = try own.base("token_url", ["http", "https"])
    let socket = try own.base("socket_url", ["ws", "wss"])
    let graphQL = try own.base("graphql_url", ["http", "https"])
    guard token != nil || socket != nil || graphQL != nil else { return }
    guard session.settings.mayRedirect(env) else {
      throw .basesOnLive("\(own.variable("token_url")), …_SOCKET_URL and …_GRAPHQL_URL")
    }
    (configuration.tokenBase, configuration.socketBase) = (token, socket)
    configuration.graphQLBase = graphQL
    configuration.isRedirected = true
  }
}
