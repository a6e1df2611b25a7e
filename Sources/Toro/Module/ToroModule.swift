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

  package func inKeyOrder(_ result: JSONObject) -> JSONObject { ToroProvider.inKeyOrder(result) }

  /// Creates the adapter. Reader and gateway are each simulated in this process or outside of it.
  package func make(_ session: any Session, _ env: Env) throws(Fault) -> ToroProvider {
    let setup = ProviderSettings(session, name, env)
    let configuration = try setup.configuration()
    let options = try setup.options()
    if let warning = warning(session.settings) { session.note(warning) }
    let hasOwnReader = configuration.device == Self.simulatedDevice
    if hasOwnReader, env != .simulator { throw .simulatedReader(env) }
    if !session.settings.mayRedirect(env),
      let port = DeviceAddress(configuration.device)?.loopbackPort, session.isServed(port: port)
    {
      throw .servedReader(configuration.device)
    }
    let isInProcess = env == .simulator && configuration.gatewayBase == nil
    return ToroProvider(
      ToroContext(
        configuration: configuration,
        options: options,
        http: try session.exchanges(inProcess: isInProcess).http,
        devices: try session.devices(
          simulated: hasOwnReader,
          base: configuration.gatewayBase
        ),
        attendant: Till(
          session,
          isSimulated: env == .simulator,
          refuses: session.invocation[Keys.simScenario] == "card:signature_refused"
        ),
        clock: session.clock,
        randomness: try session.randomness(),
        interruption: session.signals.atTheTill,
        redactor: session.redactor,
        watch: try session.watch(),
        reserve: hasOwnReader || session.isDryRun ? nil : try reservation(session)
      )
    )
  }

  /// The name of the simulated reader, used instead of an address.
  static let simulatedDevice = "simulator"

  /// Locks a reader on this machine. On another machine, the same address is another reader.
  private func reservation(_ session: any Session) throws(Fault) -> ToroContext.Reservation {
    let journal = try session.journal()
    let clock = session.clock
    let interruption = session.signals
    return { address throws(Fault) in
      try journal.lockDevice(address, by: Deadline(in: 0, on: clock), interruption)
    }
  }

  package func order(
    _ intent: Intent,
    _ session: any Session,
    _ env: Env
  ) throws(Fault) -> Order {
    switch intent {
    case .makes(_, let reference):
      return .sale(try SaleOrderBuilder(session: session, env: env).order(reference))
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
        try make(session, env).checkCredentials()
        guard env != .simulator else { return "the simulator needs none of yours" }
        let own = ProviderSettings(session, name, env)
        let key = try own.configuration()
        return
          "message key \(key.keyID), version \(key.keyVersion), of \(try own.source("passphrase"))"
          + (key.apiKey == nil ? "" : "; \(try own.source("api_key"))")
      },
      Check("toro reader") { () throws(Fault) in try make(session, env).checkReader() },
      Check("toro gateway") { () throws(Fault) in try make(session, env).checkGateway() },
      Check("toro terminal manager") { () throws(Fault) in
        try make(session, env).checkTerminalManager()
      },
    ]
  }

  package func receipt(of payment: Payment, _ settings: Settings) -> String? {
    payment.receipt.map { receipt in
      ReceiptText.text(
        receipt,
        status: payment.state.status,
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
