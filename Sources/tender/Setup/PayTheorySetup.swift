internal import PayTheory
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator

/// Credentials and addresses for Pay Theory, from settings.
struct PayTheorySetup {
  let settings: Settings
  let env: Env
  let redactor: Redactor

  func configuration() throws(Fault) -> PayTheoryConfiguration {
    let key = try settings.credential(
      "TENDER_PAYTHEORY_API_KEY",
      section: "paytheory",
      key: "api_key"
    )
    let merchant = try settings.credential(
      "TENDER_PAYTHEORY_MERCHANT_UID",
      section: "paytheory",
      key: "merchant_uid"
    )
    let secret = try settings.credential(
      "TENDER_PAYTHEORY_SECRET_KEY",
      section: "paytheory",
      key: "secret_key"
    )
    let isSimulated = env == .simulator
    guard let text = key?.text ?? (isSimulated ? PayTheoryCatalog.apiKey : nil) else {
      throw Fault(
        .auth,
        code: "credentials_missing",
        "Pay Theory needs an API key, and TENDER_PAYTHEORY_API_KEY is not set",
        hint: "set it, or TENDER_PAYTHEORY_API_KEY_FILE for a file that holds it"
      )
    }
    let apiKey = try APIKey(text)
    redactor.learn(text)
    try apiKey.check(fits: env)
    let uid = merchant?.text ?? (isSimulated ? PayTheoryCatalog.merchantUID : nil)
    let value = secret?.text ?? (isSimulated ? PayTheoryCatalog.secretKey : nil)
    if let value { redactor.learn(value) }
    return PayTheoryConfiguration(
      env: env,
      key: apiKey,
      merchantUID: uid,
      secretKey: value.map { SharedSecret($0) },
      twoStep: settings.profile["paytheory"]?["two_step"]?.truth ?? true
    )
  }

  /// Base addresses from the environment.
  struct Bases {
    var token: String?
    var socket: String?
    var graphQL: String?

    var isSet: Bool { token != nil || socket != nil || graphQL != nil }
  }

  /// The base addresses, all that a need takes or none.
  ///
  /// Throws `usage` for others.
  func bases(for need: Need) throws(Fault) -> Bases {
    let bases = Bases(
      token: try settings.base("TENDER_PAYTHEORY_TOKEN_URL", ["http", "https"]),
      socket: try settings.base("TENDER_PAYTHEORY_SOCKET_URL", ["ws", "wss"]),
      graphQL: try settings.base("TENDER_PAYTHEORY_GRAPHQL_URL", ["http", "https"])
    )
    guard bases.isSet else { return bases }
    guard settings.mayRedirect(env) else {
      throw .basesOnLive("TENDER_PAYTHEORY_TOKEN_URL, …_SOCKET_URL and …_GRAPHQL_URL")
    }
    var missing: [String] = []
    switch need {
    case .payment(byStoredMethod: false), .heldPayment:
      if bases.token == nil { missing.append("TENDER_PAYTHEORY_TOKEN_URL") }
      if bases.socket == nil { missing.append("TENDER_PAYTHEORY_SOCKET_URL") }
    case .payment(byStoredMethod: true), .reversal, .lookUp:
      if bases.graphQL == nil { missing.append("TENDER_PAYTHEORY_GRAPHQL_URL") }
    case .creation, .authorization, .withdrawal, .sale: break
    }
    guard missing.isEmpty else { throw .basesMissing(missing) }
    return bases
  }
}
