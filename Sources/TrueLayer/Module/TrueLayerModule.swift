package import TenderCommandLine
package import TenderEngine
package import TenderModel
internal import TenderSystem

/// The module of TrueLayer: its options, settings and help.
package struct TrueLayerModule: ProviderModule {
  package init() {}

  package var name: ProviderName { TrueLayerProvider.name }

  package var options: [any OptionKey] {
    BankOptions.creation + BankOptions.existing + BankOptions.flow + [Keys.refund]
  }

  package var currency: String { "GBP" }

  package var uses: [CommandUse] {
    [
      Self.transact,
      CommandUse(
        """
        confirm
        A bank payment or mandate that waits for the payer continues. --return-url passes on the
        address to which the bank returned the payer.
        """,
        options: BankOptions.flow
      ),
      CommandUse(
        """
        cancel
        A bank payment can be cancelled before it is authorized. An authorized mandate is revoked.
        --refund refunds a settled payment, as tender refund does.
        """,
        options: [
          Keys.refund, Keys.refundReference, Keys.amount, Keys.rest, Keys.currency,
          Keys.paymentReference, Keys.resourceTokenFile, Keys.idempotencyKey,
        ]
      ),
      CommandUse(
        """
        refund
        A bank payment to a merchant account can be refunded once it is settled, whole or in parts.
        Before it is authorized, tender cancel cancels it.
        """,
        options: [
          Keys.refundReference, Keys.paymentReference, Keys.reason, Keys.resourceTokenFile,
          Keys.idempotencyKey,
        ]
      ),
      CommandUse(
        """
        payment-status
        Bank payments are looked up by id, with a resource token or client credentials.
        """,
        options: [Keys.resourceTokenFile]
      ),
      CommandUse("mandate-status", options: [Keys.resourceTokenFile]),
    ]
  }

  private static let transact =
    CommandUse(
      """
      transact
      With --provider truelayer it makes a bank payment, or with --mandate a mandate. --payment-id
      or --mandate-id with its resource token continues one that exists. It runs the
      authorization: it chooses the bank, shows the address for the payer, waits, and prints the
      result. If the payer has to supply something, the exit is 8 and next_action says what.
      $ tender transact --provider truelayer --amount 10 --beneficiary-name Ben --sort-code
      56-00-29 --account-number 26207729 --user name=Remi --user email=remi@example.com --bank
      mock-payments-gb-redirect --reference B1 # a bank payment: made, authorized by the simulated
      payer, executed
      $ tender transact --provider truelayer --mandate --max-individual 50 --limit month:500
      --beneficiary-name Ben --sort-code 56-00-29 --account-number 26207729 --user name=Remi
      --user email=remi@example.com --bank ob-natwest-vrp-sandbox --reference M1 # a mandate for
      recurring payments
      """,
      options: [Keys.metadata, Keys.metadataFile, Keys.idempotencyKey] + BankOptions.creation
        + BankOptions.existing + BankOptions.flow
    )

  package var section: ConfigurationSection {
    ConfigurationSection([
      .init("client_id", .credential), .init("client_secret", .secret),
      .init("key_id", .credential), .init("private_key", .secret),
      .init("resource_token", .variable), .init("redirect_url"), .init("scope"),
    ])
  }

  /// Without a bank: nobody plays the payer at a sandbox.
  package var cases: [[String]] {
    let both = [
      "--beneficiary-name", "Ben", "--sort-code", "56-00-29", "--account-number", "26207729",
      "--user", "name=Remi Terr", "--user", "email=remi@example.com", "--country", "GB",
      "--reference",
    ]
    let payment = ["transact", "--amount", "10"] + both
    let mandate =
      ["transact", "--mandate", "--max-individual", "10", "--limit", "month:20"] + both
    return [
      payment + ["REF-1"], ["payment-status", "REF-1"], ["cancel", "REF-1"],
      ["payment-status", "--id=00000000-0000-0000-0000-000000000000"], mandate + ["REF-2"],
      ["mandate-status", "REF-2"],
    ]
  }

  package var facts: [String] {
    ["state", "failure_reason", "failure_stage", "trace_id"]
  }

  package var explanations: [Explanation] { Self.pages }
  private static let pages = Explanation.embedded("TrueLayer")

  package func make(_ session: any Session, _ env: Env) throws(Fault) -> TrueLayerProvider {
    let setup = ProviderSettings(session, name, env)
    let configuration = try setup.configuration()
    let isInProcess = env == .simulator && configuration.apiBase == nil
    var context = TrueLayerContext(
      configuration: configuration,
      options: try setup.options(),
      http: try session.exchanges(inProcess: isInProcess).http,
      redirects: session.redirects(to: configuration.redirectURL, simulated: isInProcess),
      guide: BankGuide(session, env, hasPayer: !isInProcess),
      clock: session.clock,
      randomness: try session.randomness(),
      interruption: session.signals.atTheBank,
      redactor: session.redactor
    )
    context.tokens = session.shared { AccessTokens() }
    return TrueLayerProvider(context)
  }

  package func order(
    _ intent: Intent,
    _ session: any Session,
    _ env: Env
  ) throws(Fault) -> Order {
    let invocation = session.invocation
    let (change, payment): (Command.Change, Payment?)
    switch intent {
    case .makes(_, let reference):
      let builder = OptionReader(invocation, currency: currency)
      // The name of an existing resource is its id, unless another one is typed.
      let id = invocation.has(Keys.reference) ? nil : try builder.existing()?.id
      return .authorization(try builder.order(try id.map(Reference.init(_:)) ?? reference))
    case .changes(let wanted, let known): (change, payment) = (wanted, known)
    }
    let read = OptionReader(invocation, currency: payment?.currency?.code ?? currency)
    if change == .confirm { return .capture(try read.part(of: payment)) }
    guard change == .refund || invocation.has(Keys.refund) else {
      let refunding: [any OptionKey] = [
        Keys.amount, Keys.rest, Keys.currency, Keys.paymentReference, Keys.refundReference,
      ]
      guard let option = invocation.given(among: refunding).first else { return .cancel() }
      throw .badOptions(
        "--\(option.name) is for --refund",
        hint: "add --refund, or leave it out"
      )
    }
    return .refund(
      RefundRequest(
        amount: try read.part(of: payment),
        name: try invocation.value(Keys.refundReference),
        statement: try invocation[Keys.paymentReference].map { text throws(Fault) in
          try Creation.statement(text, orFrom: "")
        },
        reason: invocation[Keys.reason]
      )
    )
  }

  package func checks(_ session: any Session, _ env: Env) -> [Check] {
    [
      Check("truelayer credentials") { () throws(Fault) in
        try make(session, env).requireClient(for: "to create it")
        guard env != .simulator else { return "the simulator needs none of yours" }
        let own = ProviderSettings(session, name, env)
        let key = try own.configuration()
        return "client \(key.clientID ?? ""), \(try own.source("client_secret"))"
          + "; signing key \(key.keyID ?? ""), \(try own.source("private_key"))"
      },
      .lookUp("truelayer api") { () throws(Fault) in try make(session, env) },
    ]
  }

  package var shown: [(key: String, option: any OptionKey, otherwise: String)] {
    [("redirect_url", Keys.redirectURL, TrueLayerConfiguration.defaultRedirectURL)]
  }

  package func resources(_ settings: Settings) -> [MachineResource] {
    let redirect =
      settings.invocation[Keys.redirectURL] ?? settings.profile["truelayer"]?["redirect_url"]?.text
      ?? TrueLayerConfiguration.defaultRedirectURL
    return (WebAddress(redirect)?.port).map { [.listener(UInt16($0))] } ?? []
  }

  package var help: ModuleHelp {
    ModuleHelp(
      "TrueLayer",
      addresses: ["TENDER_TRUELAYER_API_URL", "TENDER_TRUELAYER_AUTH_URL"]
    )
  }

  package var results: [ResultShape] {
    ResultShape.table(
      """
      state .: state reason? failure_reason? failure_stage? trace_id?
      status .: status reason? failure_reason? failure_stage? trace_id?
      error .: error reason? failure_reason? failure_stage? trace_id?
      refund refund: id status amount_in_minor#?
      """
    )
  }

  /// Returns a failure with the library's error first and the reasons after it.
  package func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard result["reason"] != nil else { return result }
    return result.ordered(by: ["state", "error", "reason", "message"])
  }
}
