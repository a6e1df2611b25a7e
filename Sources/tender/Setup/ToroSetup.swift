internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem
internal import TenderWire
internal import Toro

/// Ids, keys, addresses and the operator's choices for Toro, from settings and options.
struct ToroSetup {
  let invocation: Invocation
  let settings: Settings
  let env: Env
  let redactor: Redactor

  static let simulatedDevice = "simulator"

  private var section: JSONObject { settings.profile["toro"]?.object ?? [:] }

  /// Everything that the adapter is told.
  ///
  /// On the simulator the profile's values come before the defaults; elsewhere there are none.
  func configuration() throws(Fault) -> ToroConfiguration {
    let isSimulated = env == .simulator
    func text(_ key: String, _ simulated: String = "") -> String {
      section.text(key) ?? (isSimulated ? simulated : "")
    }
    var configuration = ToroConfiguration(env: env)
    if !settings.mayRedirect(env) {
      configuration.refusedReaders = ToroConfiguration.RefusedReaders(
        serials: [ToroCatalog.readerSerial],
        keySets: [ToroCatalog.readerKeySet]
      )
    }
    configuration.gatewayBase = try base()
    configuration.apiKeyHeader = section.text("api_key_header") ?? "api-key"
    configuration.apiKey = try secret("TENDER_TORO_API_KEY", "api_key")
    configuration.passphrase = try secret(
      "TENDER_TORO_PASSPHRASE",
      "passphrase",
      isSimulated ? ToroCatalog.passphrase : nil
    )
    configuration.derivation = derivation()
    configuration.keyID = text("key_id", ToroCatalog.keyID)
    configuration.keyVersion = text("key_version", ToroCatalog.keyVersion)
    configuration.cardKeyID = section.text("card_key_id")
    configuration.cardKeyVersion =
      section.text("card_key_version") ?? (isSimulated ? ToroCatalog.cardKeyVersion : nil)
    configuration.acquirerID = text("acquirer_id", ToroCatalog.acquirerID)
    configuration.acquirerParameters = section.text("acquirer_parameters") ?? "1"
    configuration.merchantID = text("merchant_id", ToroCatalog.merchantID)
    configuration.merchantName =
      section.text("merchant_name") ?? (isSimulated ? ToroCatalog.merchantName : nil)
    configuration.merchantCategory = text("merchant_category_code", ToroCatalog.merchantCategory)
    configuration.poiID = text("poi_id", ToroCatalog.poiID)
    configuration.recipientID =
      section.text("recipient_id") ?? (isSimulated ? ToroCatalog.recipientID : nil)
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

  /// What the profile still says and nobody reads any more; nil where it says nothing of the kind.
  var warning: String? {
    guard section["touch_area_tag"] != nil else { return nil }
    return "toro.touch_area_tag is not used any more: the tags of the touch screen are known; "
      + "take it out of the profile"
  }

  /// The reader's address; on the simulator the simulated one, where nothing else is said.
  var device: String {
    settings.value(option: "device", variable: "TENDER_TORO_DEVICE", key: nil)?.text
      ?? section.text("device") ?? (env == .simulator ? Self.simulatedDevice : "")
  }

  private func derivation() -> KeyDerivation {
    guard let kdf = section["kdf"]?.object else {
      guard env == .simulator else { return KeyDerivation() }
      return KeyDerivation(
        salt: ToroCatalog.salt,
        iterations: ToroCatalog.iterations,
        length: ToroCatalog.keyLength
      )
    }
    // `hmac-sha256`, checked when the file was read.
    return KeyDerivation(
      digest: (kdf.text("prf") ?? "").dropFirst("hmac-".count).uppercased(),
      salt: kdf.text("salt") ?? "",
      iterations: kdf["iterations"]?.wholeNumber ?? 0,
      length: kdf["length"]?.wholeNumber ?? 0
    )
  }

  private func secret(
    _ variable: String,
    _ key: String,
    _ otherwise: String? = nil
  ) throws(Fault) -> SharedSecret? {
    let value = try settings.credential(variable, section: "toro", key: key)?.text ?? otherwise
    guard let value else { return nil }
    redactor.learn(value)
    return SharedSecret(value)
  }

  private func base() throws(Fault) -> String? {
    guard let base = try settings.base("TENDER_TORO_GATEWAY_URL", ["http", "https"]) else {
      return nil
    }
    guard settings.mayRedirect(env) else { throw .basesOnLive("TENDER_TORO_GATEWAY_URL") }
    return base
  }

  /// The operator's choices about the signature.
  func options() throws(Fault) -> SaleOptions {
    var options = SaleOptions()
    let mode = invocation["signature"] ?? section.text("signature_mode") ?? "app"
    options.signatureMode = SaleOptions.SignatureMode(rawValue: mode) ?? .app
    if let path = invocation["signature-file"] {
      let bytes = try Environment.read(path, named: "--signature-file", limit: 262_144)
      guard !bytes.isEmpty else {
        throw Fault(
          .usage,
          code: "bad_file",
          "--signature-file \(path.quotedForMessage) is empty",
          hint: "give a picture of the signature"
        )
      }
      options.signature = bytes
    }
    options.signatureMatches = invocation["signature-matches"].map { $0 == "yes" }
    return options
  }
}

/// Who stands at the till: asked on the terminal, else played where the reader is a simulated one.
struct Till: Attendant {
  // A sale has one thread, which is the one that asks.
  nonisolated(unsafe) private unowned let composition: Composition
  private let isSimulated: Bool
  /// Whether the simulated customer will not sign.
  private let refuses: Bool

  init(composition: Composition, isSimulated: Bool, refuses: Bool) {
    unsafe self.composition = composition
    self.isSimulated = isSimulated
    self.refuses = refuses
  }

  private var terminal: Terminal? {
    unsafe composition.settings.asksNobody ? nil : Terminal()
  }

  var canCompare: Bool { isSimulated || terminal != nil }

  func signature() throws(Fault) -> [UInt8]? {
    if refuses { return nil }
    guard let answer = try ask("Customer, sign by typing your name (empty: stop): ") else {
      return isSimulated ? Array("Simulated Customer".utf8) : nil
    }
    return answer.isBlank ? nil : Array(answer.prefix(200).utf8)
  }

  func signatureMatches() throws(Fault) -> Bool {
    while true {
      guard let answer = try ask("Merchant, does the signature match the card's? yes or no: ")
      else { return isSimulated }
      switch answer.lowercased() {
      case "yes", "y": return true
      case "no", "n": return false
      default: continue
      }
    }
  }

  private func ask(_ question: String) throws(Fault) -> String? {
    guard let terminal else { return nil }
    unsafe composition.output.clearState()
    return try unsafe terminal.ask(question, hidden: false, interruption: composition.signals)
  }
}

/// A served reader that is told beforehand what its next customer will be like.
struct ForetoldDevices: DeviceExchange {
  let inner: any DeviceExchange
  let http: any HTTPExchange
  let base: String

  func open(_ address: String, by deadline: Deadline) throws(Fault) -> any ByteStream {
    // Another server than ours does not know the path, which is no reason to stop.
    _ = try? http.send(
      HTTPRequest(method: .post, url: base + NextCustomer.path),
      by: deadline
    )
    return try inner.open(address, by: deadline)
  }
}

extension Fault {
  /// The address of a reader that `simulator serve` plays, where live money is meant.
  static func servedReader(_ device: String) -> Fault {
    Fault(
      .usage,
      code: "test_data_on_live",
      "\(device.quotedForMessage) is the reader of a running tender simulator serve, and --env is live",
      hint: "unset TENDER_TORO_DEVICE, or name a real reader; nothing was sent"
    )
  }

  /// Cards that no one holds have no business with an acquirer.
  static func simulatedReader(_ env: Env) -> Fault {
    Fault(
      .usage,
      code: "bad_options",
      "--device simulator does not go with --env \(env.rawValue)",
      hint: "name a reader: tcp://HOST:PORT, tty:PATH or bluetooth:ADDRESS"
    )
  }
}
