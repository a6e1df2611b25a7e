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
        ] + Keys.despite
      ),
      CommandUse(
        """
        refund
        A bank payment to a merchant account (--merchant-account) can be refunded once it is settled,
        whole or in parts. A payment to another payee is never settled, and cannot be refunded.
        Before it is authorized, tender cancel cancels it.
        """,
        options: [
          Keys.refundReference, Keys.paymentReference, Keys.reason, Keys.resourceTokenFile,
          Keys.idempotencyKey,
        ] + Keys.despite
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

  package func setup(_ session: any Session, _ env: Env) throws(Fault) -> TrueLayerSetup {
    let settings = ProviderSettings(session, name, env)
    return TrueLayerSetup(
      configuration: try settings.configuration(),
      guide: try BankGuide(session, env),
      options: try settings.options(),
      tokens: session.shared { AccessTokens() }
    )
  }

  package func isRedirected(_ setup: TrueLayerSetup) -> Bool { setup.configuration.apiBase != nil }

  package func make(_ setup: TrueLayerSetup, _ wires: Wires) -> TrueLayerProvider {
    setup.guide.hasPayer = wires.isOutside
    var context = TrueLayerContext(
      configuration: setup.configuration,
      options: setup.options,
      http: wires.exchanges.http,
      redirects: wires.redirects(setup.configuration.redirectURL),
      guide: setup.guide,
      clock: wires.clock,
      randomness: wires.randomness,
      interruption: wires.signals.atTheBank,
      redactor: wires.redactor
    )
    context.tokens = setup.tokens
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
      return .placed(try builder.order(try id.map(Reference.init(_:)) ?? reference))
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
        try connected(session, env).adapter.requireClient(for: "to create it")
        guard env != .simulator else { return "the simulator needs none of yours" }
        let own = ProviderSettings(session, name, env)
        let key = try own.configuration()
        return "client \(key.clientID ?? ""), \(try own.source("client_secret"))"
          + "; signing key \(key.keyID ?? ""), \(try own.source("private_key"))"
      },
      .lookUp("truelayer api") { () throws(Fault) in try connected(session, env).adapter },
    ]
  }

  package var shown: [(key: String, option: any OptionKey, otherwise: String)] {
    [("redirect_url", Keys.redirectURL, TrueLayerConfiguration.defaultRedirectURL)]
  }

  package func resources(_ settings: Settings) -> [MachineResource] {
    let redirect =
      settings.invocation[Keys.redirectURL] ?? settings.profile["truelayer"]?["redirect_url"]?.text
      ?? TrueLayerConfiguration.defaultRedirectURL
    // Only an address of this machine is listened at.
    guard LoopbackRedirects.isOwn(redirect) else { return [] }
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

extension Keys {
  static let beneficiaryName = Key<String>(
    .bank("beneficiary-name NAME: the holder of the payee's account")
  )
  static let sortCode = Key<String>(
    .bank("sort-code CODE: the payee's sort code, such as 56-00-29")
  )
  static let accountNumber = Key<String>(
    .bank("account-number NUMBER: the payee's account, eight digits")
  )
  static let iban = Key<String>(.bank("iban IBAN: the payee's account as an IBAN"))
  static let merchantAccount = Key<String>(
    .bank("merchant-account ID: pay into this merchant account of TrueLayer")
  )
  static let paymentReference = Key<String>(
    .bank("payment-reference TEXT: the text on the payee's statement (18 at most)")
  )
  static let user = Key<String>(
    .bank("user FIELD=VALUE...: a field of the payer: name, email, phone, date_of_birth, id")
  )
  static let preselect = Key<Bool>(
    .bank("preselect: put --bank into the creation: no choice later")
  )
  static let mandate = Key<Bool>(.bank("mandate: make a mandate for recurring payments"))
  static let mandateType = Key<String>(
    .bank("mandate-type TYPE: between the payer's own accounts (default), or to a business").with(
      choices: ["sweeping", "commercial"])
  )
  static let useCase = Key<String>(
    .bank("use-case CASE: the purpose of a commercial mandate").with(choices: [
      "charity", "financial_services", "government", "utilities",
    ])
  )
  static let validFrom = Key<String>(.bank("valid-from TIME: when the mandate begins"))
  static let validTo = Key<String>(.bank("valid-to TIME: when the mandate ends"))
  static let maxIndividual = Key<String>(
    .bank("max-individual AMOUNT: the most that one payment may take")
  )
  static let limit = Key<String>(
    .bank(
      "limit PERIOD:AMOUNT[:ALIGNMENT]...: the most in a day, week, fortnight, month, half_year "
        + "or year"
    )
  )
  static let mandateID = Key<String>(
    .bank("mandate-id ID: go on with a mandate that exists already")
  )
  static let resourceTokenFile = Key<String>(
    .bank("resource-token-file FILE: its token, in a file or (-) on standard input").with(
      .files,
      readsStandardInput: true
    )
  )
  static let redirectURL = Key<String>(
    .bank("redirect-url URL: the return address (default: localhost:3000)")
  )
  static let returnURL = Key<String>(
    .bank("return-url URL: the address that the payer came back to")
  )
  static let country = Key<String>(.bank("country CODE: whose banks to offer, such as GB"))
  static let bank = Key<String>(.bank("bank ID: the bank, such as mock-payments-gb-redirect"))
  static let branch = Key<String>(.bank("branch ID: the branch, where the bank wants one"))
  static let scheme = Key<String>(.bank("scheme ID: the payment scheme, where it can be chosen"))
  static let account = Key<String>(.bank("account ID: a saved account of the payer's, or new"))
  static let consent = Key<Consent>(
    .bank("consent WHAT: to the payment (default), or to account data too")
  )
  static let form = Key<String>(
    .bank(
      "form ID=VALUE...: a field of the bank's form; sensitive ones only by --form-file or prompt"
    )
  )
  static let formFile = Key<String>(
    .bank("form-file FILE: the form as JSON: a file, or - (standard input)").with(
      .files,
      readsStandardInput: true
    )
  )
  static let retry = Key<Bool>(.bank("retry: allow a failed authorization to restart (GBP)"))
  static let refund = Key<Bool>(.bank("refund: refund a settled payment, whole or by --amount"))
}

/// The options of bank payments and mandates, as commands list them.
enum BankOptions {
  /// The options of a creation: payee, payer, and a mandate's limits.
  static let creation: [any OptionKey] =
    [
      Keys.beneficiaryName, Keys.sortCode, Keys.accountNumber, Keys.iban, Keys.merchantAccount,
      Keys.paymentReference, Keys.user, Keys.preselect, Keys.mandate,
    ] + mandateTerms

  /// The options with the id of an existing resource.
  static let existing: [any OptionKey] = [Keys.paymentID, Keys.mandateID]

  static let flow: [any OptionKey] = [
    Keys.resourceTokenFile, Keys.redirectURL, Keys.returnURL, Keys.country, Keys.bank, Keys.branch,
    Keys.scheme, Keys.account, Keys.consent, Keys.form, Keys.formFile, Keys.retry, Keys.open,
  ]

  /// The options of mandates only.
  static let mandateTerms: [any OptionKey] = [
    Keys.mandateType, Keys.useCase, Keys.validFrom, Keys.validTo, Keys.maxIndividual, Keys.limit,
  ]
}

enum Consent: String, CaseIterable, Sendable {
  /// Only the payment (payment initiation service).
  case payment = "pis"
  /// The payment, and reading account data (account information service).
  case paymentAndAccounts = "pis,ais"
}

extension Invocation {
  /// Returns the text of a file that only its owner can read, or of standard input for `-`: at most 64 KiB.
  func readOwn(_ path: String, _ option: String) throws(Fault) -> [UInt8] {
    guard path == "-" else {
      return try Environment.read(path, named: option, rule: .ownersAlone, limit: 65_536)
    }
    return try Environment.readAll(0, path, named: option, limit: 65_536)
  }
}

/// Reads TrueLayer's credentials, addresses and flow choices from settings and options.
extension ProviderSettings {
  private var invocation: Invocation { session.invocation }

  func configuration() throws(Fault) -> TrueLayerConfiguration {
    var configuration = TrueLayerConfiguration(env: env)
    configuration.redirectURL = try redirectURL()
    configuration.timeout = try session.settings.timeout()
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
    var bytes = try invocation.readOwn(path, option)
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

/// What TrueLayer's adapter needs from options, files and profile.
package struct TrueLayerSetup {
  let configuration: TrueLayerConfiguration
  let guide: BankGuide
  let options: FlowOptions
  let tokens: AccessTokens
}
