package import TenderCommandLine
package import TenderEngine
package import TenderModel
internal import TenderSystem

/// The module of Toro: its options, settings and help.
package struct ToroModule: ProviderModule {
  package init() {}

  package var name: ProviderName { ToroProvider.name }

  package var options: [any OptionKey] { Self.reader }

  package var currency: String { "the profile's, else GBP" }

  package var uses: [CommandUse] {
    [
      CommandUse(
        """
        transact
        With --provider toro it takes a card on a reader. It waits for chip, tap or stripe and the
        PIN, asks the acquirer, and prints the receipt. --hold (or --no-capture) only authorises.
        --type refund refunds a sale to its card. Ctrl-C, or tender cancel REF in another shell,
        stops the reader. A suspended sale exits 0 as pending: the acquirer has not processed it, and
        no look-up finds out more. Ask the acquirer, or void it with tender cancel REF.
        $ tender transact --provider toro --amount 12.50 --reference SALE-1 --events # a card on the
        simulated reader: chip, PIN, approval
        $ tender transact --provider toro --type refund --amount 5 --original SALE-1 --reference
        BACK-1 # refund a part of the sale to the card
        """,
        options: Self.reader + [Keys.hold, Keys.allowPartial]
      ),
      CommandUse(
        """
        confirm
        A card-present sale that was authorised with --hold is captured by a completion advice.
        --amount captures a part, and the acquirer releases the rest.
        $ tender confirm SALE-2 --amount 7 # capture 7.00 of a held sale
        """,
        options: [Keys.allowPartial]
      ),
      CommandUse(
        """
        cancel
        A card-present sale on the reader is stopped there. A finished sale that is not cleared is
        undone as a whole, by a cancellation advice.
        """
      ),
      CommandUse(
        """
        refund
        A card-present sale is refunded as a whole by a cancellation advice, without its card. A
        part is refunded to the card at the reader: transact --type refund --original REF. refund
        exits 15 and prints that command.
        """
      ),
      CommandUse("payment-status", options: [Keys.allowPartial]),
      CommandUse("batch", options: [Keys.device, Keys.signatureMatches]),
      CommandUse(
        """
        doctor
        With --provider toro it connects to the reader. It asks the gateway (diagnostic request) and
        reports to the terminal manager (status report).
        $ tender doctor --provider toro # reader and gateway too
        """,
        options: [Keys.device]
      ),
    ]
  }

  package var cases: [[String]] {
    let sale = ["transact", "--amount", "5", "--signature-matches", "yes", "--reference"]
    return [
      sale + ["REF-1"], ["cancel", "REF-1"], sale + ["REF-2", "--hold"], ["confirm", "REF-2"],
    ]
  }

  package var facts: [String] {
    [
      "receipt.applicationLabel", "receipt.panLastFour", "receipt.paymentInterface",
      "receipt.authenticationMethod", "receipt.authCode", "receipt.actionCode",
      "receipt.gratuityAmount", "receipt.initiatorTransactionId", "receipt.recipientTransactionId",
      "receipt.terminalSerialNumber", "receipt.dateTime", "actions",
    ]
  }

  package var explanations: [Explanation] { ToroProvider.explanations }

  package var section: ConfigurationSection {
    let texts = [
      "device", "acquirer_id", "acquirer_parameters", "merchant_id", "merchant_name",
      "merchant_category_code", "poi_id", "recipient_id", "api_key_header", "key_id", "key_version",
      "card_key_id", "card_key_version",
    ]
    return ConfigurationSection(
      [.init("api_key", .secret), .init("passphrase", .secret)] + texts.map { .init($0) } + [
        .init("currency") { value in
          guard let code = value.text, Currency(code: code) == nil else { return nil }
          return .init("\(code.quotedForMessage) is no ISO 4217 code")
        },
        .init("location", .value, problem: Self.problem(withLocation:)),
        .init("kdf", .value, problem: Self.problem(withDerivation:)),
        .init("gratuity_enabled", .value) { value in
          value.truth == nil ? .init("is neither true nor false") : nil
        },
        .init("gratuity_percentages", .value, problem: Self.problem(withMenu:)),
        .init("signature_mode") { value in
          ["device", "app"].contains(value.text) ? nil : .init("is neither device nor app")
        },
        // No longer used, but still accepted: see `warning`.
        .init("touch_area_tag"),
        .init("card_timeout") { value in
          do throws(Fault) {
            _ = try TimeText.milliseconds(value.text ?? "", option: "card_timeout")
            return nil
          } catch {
            return .init("is not a length of time", hint: error.hint)
          }
        },
        .init("authorisation_path") { value in
          let path = value.text ?? ""
          let isPath = path.hasPrefix("/") && path.utf8.allSatisfy { (0x21...0x7e).contains($0) }
          return isPath ? nil : .init("is no path", hint: "such as /v1/caaa/…")
        },
      ]
    )
  }

  /// Returns the unknown members of an object; nil if all are known.
  private static func unknown(
    _ object: JSONObject,
    among known: [String]
  ) -> ConfigurationSection.Problem? {
    guard let member = object.members.first(where: { !known.contains($0.key) }) else { return nil }
    return .init("has the unknown key \(member.key.quotedForMessage)")
  }

  private static func problem(withLocation value: JSON) -> ConfigurationSection.Problem? {
    guard let object = value.object, object.text("latitude") != nil,
      object.text("longitude") != nil
    else { return .init("needs latitude and longitude as text") }
    return unknown(object, among: ["latitude", "longitude"])
  }

  private static func problem(withDerivation value: JSON) -> ConfigurationSection.Problem? {
    guard let object = value.object else { return .init("is no object") }
    if let problem = unknown(object, among: ["prf", "salt", "iterations", "length"]) {
      return problem
    }
    let known = ["hmac-sha1", "hmac-sha256", "hmac-sha512"]
    guard let prf = object.text("prf"), known.contains(prf), object.text("salt") != nil,
      let iterations = object["iterations"]?.wholeNumber, (1...10_000_000).contains(iterations),
      let length = object["length"]?.wholeNumber, [16, 24, 32].contains(length)
    else {
      return .init(
        "needs prf, salt, iterations and length",
        hint: "prf is one of \(known.joined(separator: ", ")); length is 16, 24 or 32"
      )
    }
    return nil
  }

  private static func problem(withMenu value: JSON) -> ConfigurationSection.Problem? {
    let numbers = value.array?.compactMap(\.wholeNumber) ?? []
    guard numbers.count == value.array?.count, (1...4).contains(numbers.count),
      numbers.allSatisfy({ (0...100).contains($0) })
    else {
      return .init("is no list of one to four percentages", hint: "such as [10,15,20]")
    }
    return nil
  }

  package var results: [ResultShape] { Self.shapes }

  private static let shapes = ResultShape.table(
    """
    state .: state
    state=failed .: error
    state=completed .: receipt{}? response?
    receipt receipt: saleReferenceId amount# authorisedAmount#? type gratuityAmount# currency authCode? \
    responseCode responseReason? authenticationMethod? additionalResponseInformation? actionCode? aid? \
    applicationLabel? paymentInterface? panStart? panLastFour? recipientTransactionId? \
    initiatorTransactionId transactionReference dateTime terminalSerialNumber? signatureBase64? \
    signatureVerificationFailed! captured! longitude? latitude? additionalInformation{}?
    """
  )

  package func inKeyOrder(_ result: JSONObject) -> JSONObject { ToroProvider.inKeyOrder(result) }

  package func setup(_ session: any Session, _ env: Env) throws(Fault) -> ToroSetup {
    let settings = ProviderSettings(session, name, env)
    let configuration = try settings.configuration()
    if let warning = warning(session.settings) { session.note(warning) }
    let hasOwnReader = configuration.device == Self.simulatedDevice
    if hasOwnReader, env != .simulator { throw .simulatedReader(env) }
    if !session.settings.mayRedirect(env),
      let port = DeviceAddress(configuration.device)?.loopbackPort, session.isServed(port: port)
    {
      throw .servedReader(configuration.device)
    }
    return ToroSetup(
      configuration: configuration,
      options: try settings.options(),
      attendant: Till(
        session,
        isSimulated: env == .simulator,
        refuses: session.invocation[Keys.simScenario] == "card:signature_refused"
      ),
      watch: try session.watch(),
      reserve: hasOwnReader || session.isDryRun ? nil : try reservation(session)
    )
  }

  package func isRedirected(_ setup: ToroSetup) -> Bool { setup.configuration.gatewayBase != nil }

  /// Creates the adapter. Reader and gateway are each simulated in this process or outside of it.
  package func make(_ setup: ToroSetup, _ wires: Wires) throws(Fault) -> ToroProvider {
    let configuration = setup.configuration
    var context = ToroContext(
      configuration: configuration,
      options: setup.options,
      http: wires.exchanges.http,
      devices: try wires.readers(
        configuration.device == Self.simulatedDevice,
        configuration.gatewayBase
      ),
      attendant: setup.attendant,
      clock: wires.clock,
      randomness: wires.randomness,
      interruption: wires.signals.atTheTill,
      redactor: wires.redactor
    )
    (context.watch, context.reserve) = (setup.watch, setup.reserve)
    return ToroProvider(context)
  }

  /// The name of the simulated reader, used instead of an address.
  static let simulatedDevice = "simulator"

  /// Locks a reader on this machine. On another machine, the same address is another reader.
  private func reservation(_ session: any Session) throws(Fault) -> ToroContext.Reservation {
    let journal = try session.journal()
    let clock = session.ownClock
    let interruption = session.signals
    return { address throws(Fault) in
      try journal.lock(
        .device(address),
        by: Deadline(in: 0, on: clock),
        interruption: interruption
      )
    }
  }

  package func order(
    _ intent: Intent,
    _ session: any Session,
    _ env: Env
  ) throws(Fault) -> Order {
    switch intent {
    case .makes(_, let reference):
      return .placed(try SaleOrderBuilder(session: session, env: env).order(reference))
    case .changes(.cancel, _): return .cancel()
    case .changes(let change, let payment):
      let options = OptionReader(session.invocation, currency: payment?.currency?.code ?? "GBP")
      let amount = try options.part(of: payment)
      return change == .confirm ? .capture(amount) : .refund(RefundRequest(amount: amount))
    }
  }

  package func checks(_ session: any Session, _ env: Env) -> [Check] {
    [
      Check("toro credentials") { () throws(Fault) in
        try connected(session, env).adapter.checkCredentials()
        guard env != .simulator else { return "the simulator needs none of yours" }
        let own = ProviderSettings(session, name, env)
        let key = try own.configuration()
        return
          "message key \(key.keyID), version \(key.keyVersion), of \(try own.source("passphrase"))"
          + (key.apiKey == nil ? "" : "; \(try own.source("api_key"))")
      },
      Check("toro reader") { () throws(Fault) in try connected(session, env).adapter.checkReader()
      },
      Check("toro gateway") { () throws(Fault) in try connected(session, env).adapter.checkGateway()
      },
      Check("toro terminal manager") { () throws(Fault) in
        try connected(session, env).adapter.checkTerminalManager()
      },
    ]
  }

  package func receipt(of payment: Payment, _ handle: String, _ settings: Settings) -> String? {
    let refund = payment.cardRefund(named: handle)
    return (refund?.receipt ?? payment.receipt).map { receipt in
      ReceiptText.text(
        receipt,
        status: refund?.receiptStatus ?? payment.state.status,
        merchant: settings.profile["toro"]?["merchant_name"]?.text
      )
    }
  }

  /// Returns a warning about settings in the profile that are no longer used; nil if there are none.
  private func warning(_ settings: Settings) -> String? {
    guard settings.profile["toro"]?["touch_area_tag"] != nil else { return nil }
    return "toro.touch_area_tag is not used any more: the tags of the touch screen are known; "
      + "take it out of the profile"
  }

  package var shown: [(key: String, option: any OptionKey, otherwise: String)] {
    [("device", Keys.device, Self.simulatedDevice)]
  }

  package func resources(_ settings: Settings) -> [MachineResource] {
    let device = settings.values(option: Keys.device, section: "toro", key: "device").first
    return switch (device?.text).flatMap(DeviceAddress.init) {
    case .network(_, let port): [.port(port)]
    case .terminal(let path): [.device(path)]
    case .bluetooth: [.bluetooth]
    case nil: []
    }
  }

  package var help: ModuleHelp {
    ModuleHelp(
      "Toro",
      variables: ["TENDER_TORO_DEVICE"],
      addresses: ["TENDER_TORO_GATEWAY_URL"]
    )
  }
}

extension Operation {
  /// The status on the receipt of a refund with the card.
  fileprivate var receiptStatus: Status {
    state == .returned ? .cancelled : Status(rawValue: state.name.rawValue) ?? .unknown
  }
}

extension Fault {
  /// The fault for the address of a simulated reader with live money.
  fileprivate static func servedReader(_ device: String) -> Fault {
    .usage(
      "test_data_on_live",
      "\(device.quotedForMessage) is the reader of a running tender simulator serve, and --env is live",
      "unset TENDER_TORO_DEVICE, or name a real reader; nothing was sent"
    )
  }

  /// The fault for the simulated reader with a real acquirer.
  fileprivate static func simulatedReader(_ env: Env) -> Fault {
    Fault.badOptions(
      "--device simulator cannot be used with --env \(env.rawValue)",
      hint: "name a reader: tcp://HOST:PORT, tty:PATH or bluetooth:ADDRESS"
    )
  }
}

/// What Toro's adapter needs from options, files and profile.
package struct ToroSetup {
  let configuration: ToroConfiguration
  let options: SaleOptions
  let attendant: Till
  let watch: (@Sendable (JSONObject) -> Void)?
  let reserve: ToroContext.Reservation?
}
