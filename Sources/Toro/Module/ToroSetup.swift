internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Reads Toro's ids, keys, addresses and choices from settings and options.
extension ProviderSettings {
  private var invocation: Invocation { session.invocation }
  private var settings: Settings { session.settings }

  /// Returns the adapter's settings.
  ///
  /// On the simulator, the profile's values take precedence over the defaults. Elsewhere there are no
  /// defaults.
  func configuration() throws(Fault) -> ToroConfiguration {
    var configuration = ToroConfiguration(env: env)
    if !settings.mayRedirect(env) { configuration.refusedReaders = refusedReaders }
    configuration.gatewayBase = try gateway()
    configuration.apiKeyHeader = section.text("api_key_header") ?? "api-key"
    configuration.apiKey = try secret("api_key")
    configuration.passphrase = try secret("passphrase")
    configuration.derivation = derivation()
    configuration.keyID = text("key_id") ?? ""
    configuration.keyVersion = text("key_version") ?? ""
    configuration.cardKeyID = section.text("card_key_id")
    configuration.cardKeyVersion = text("card_key_version")
    configuration.acquirerID = text("acquirer_id") ?? ""
    configuration.acquirerParameters = section.text("acquirer_parameters") ?? "1"
    configuration.merchantID = text("merchant_id") ?? ""
    configuration.merchantName = text("merchant_name")
    configuration.merchantCategory = text("merchant_category_code") ?? ""
    configuration.poiID = text("poi_id") ?? ""
    configuration.recipientID = text("recipient_id")
    configuration.latitude = section["location"]?["latitude"]?.text
    configuration.longitude = section["location"]?["longitude"]?.text
    configuration.authorisationPath = section.text("authorisation_path")
    configuration.device = device
    configuration.timeout = try settings.timeout()
    if let text = section.text("card_timeout") {
      configuration.cardTimeout = try TimeText.milliseconds(text, option: "toro.card_timeout")
    }
    return configuration
  }

  /// Data that identify the simulated reader.
  private var refusedReaders: ToroConfiguration.RefusedReaders {
    let simulated = session.simulated(ToroProvider.name)
    return ToroConfiguration.RefusedReaders(
      serials: Set([simulated.text("reader_serial")].compactMap { $0 }),
      keySets: Set([simulated.text("reader_key_set").flatMap(Hex.decode)].compactMap { $0 })
    )
  }

  /// The reader's address. On the simulator, the default is the simulated reader.
  private var device: String {
    settings.value(option: Keys.device, variable: variable("device"), key: nil)?.text
      ?? text("device") ?? ""
  }

  private func derivation() -> KeyDerivation {
    var derivation = KeyDerivation()
    guard let kdf = section["kdf"]?.object ?? simulated["kdf"]?.object else { return derivation }
    // `hmac-sha256`: the value was checked when the file was read.
    derivation.digest = (kdf.text("prf") ?? "").dropFirst("hmac-".count).uppercased()
    derivation.salt = kdf.text("salt") ?? ""
    derivation.iterations = kdf["iterations"]?.wholeNumber ?? 0
    derivation.length = kdf["length"]?.wholeNumber ?? 0
    return derivation
  }

  private func gateway() throws(Fault) -> String? {
    guard let gateway = try base("gateway_url", ["http", "https"]) else { return nil }
    guard settings.mayRedirect(env) else { throw .basesOnLive(variable("gateway_url")) }
    return gateway
  }

  /// Returns the operator's choices about the signature.
  func options() throws(Fault) -> SaleOptions {
    var options = SaleOptions()
    options.signatureMode =
      try invocation.value(Keys.signature)
      ?? section.text("signature_mode").flatMap(SaleOptions.SignatureMode.init) ?? .app
    if let path = invocation[Keys.signatureFile] {
      let bytes = try Environment.read(
        path,
        named: "--signature-file",
        limit: 262_144,
        isText: false
      )
      guard !bytes.isEmpty else {
        throw .badFile(
          "--signature-file \(path.quotedForMessage) is empty",
          hint: "give a picture of the signature"
        )
      }
      options.signature = bytes
    }
    options.signatureMatches = invocation[Keys.signatureMatches].map { $0 == "yes" }
    return options
  }
}
