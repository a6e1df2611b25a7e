package import TenderCommandLine
package import TenderEngine
package import TenderModel
internal import TenderSystem

/// The module of Pay Theory: its options, settings and help.
package struct PayTheoryModule: ProviderModule {
  package init() {}

  package var name: ProviderName { PayTheoryProvider.name }

  package var options: [any OptionKey] {
    Self.fees + Self.payment + Self.instrument + [Keys.token, Keys.paymentID]
  }

  package var unrecorded: [any OptionKey] { Self.unrecorded }

  package var currency: String { "USD" }

  package var uses: [CommandUse] {
    [
      CommandUse(
        """
        transact
        --payment-id records a payment that exists at Pay Theory already: nothing is charged, and the other
        commands can use it. It needs merchant credentials. With --hold the payment is prepared and held: nothing is charged until tender confirm, from
        any process. A hold is captured as a whole; only one by --token in part. With --token the
        stored method and the service fee are read first. A typed --reference that Pay Theory has
        already is not charged (6, reference_at_provider). That is looked up over a network, with
        merchant credentials.
        $ tender transact --amount 10.50 --test-card visa --reference ORDER-1042 # pay with a test
        card on the simulator
        $ tender transact --amount 10.50 --instrument-stdin --reference A1 < card.json # pay with a
        card that arrives on standard input
        $ tender transact --amount 5 --test-card visa --reference A2 --hold # prepare a payment and
        hold it
        """,
        options: Self.fees + Self.payment + [Keys.metadata, Keys.metadataFile] + Self.instrument
          + [Keys.token, Keys.despitePayment, Keys.paymentID]
      ),
      CommandUse(
        """
        confirm
        With Pay Theory only a hold by --token can be captured in part (--amount). The capture of
        another hold is its first charge: a reference that Pay Theory has already is not charged
        (6, reference_at_provider), as with transact.
        """,
        options: [Keys.despitePayment]
      ),
      CommandUse(
        """
        cancel
        With --amount a part of a captured payment is reversed. A further part needs another
        --refund-reference. Reversals need merchant credentials.
        $ tender cancel A2 --amount 3.50 # reverse a part of the payment
        """,
        options: [Keys.refundReference, Keys.amount, Keys.currency] + Keys.despite
      ),
      CommandUse(
        """
        refund
        With Pay Theory it is a reversal: a void while the payment is pending, a refund afterwards.
        --reason is duplicate, fraudulent, requested_by_customer (default), or any other text.
        $ tender refund A2 --amount 3.50 # refund a part of the payment
        """,
        options: [Keys.refundReference, Keys.reason] + Keys.despite
      ),
      CommandUse(
        """
        tokenize
        $ tender tokenize --test-card visa --reference CARD-7 # store a test card
        $ tender tokenize --test-card amex --json --fields id # print the id alone
        """,
        options: [Keys.payor, Keys.payorID, Keys.metadata, Keys.metadataFile] + Self.instrument
      ),
      CommandUse("find", options: Keys.stored),
      CommandUse(
        """
        payment-status
        Look-ups need merchant credentials.
        """
      ),
    ]
  }

  package var section: ConfigurationSection {
    ConfigurationSection([
      // The key is in every web page that takes cards.
      .init("api_key", .credential),
      .init("merchant_uid", .credential),
      .init("secret_key", .secret),
      .init("two_step", .value) { value in
        value.truth == nil ? .init("is neither true nor false") : nil
      },
    ])
  }

  package var cases: [[String]] {
    let card = ["transact", "--amount", "10.50", "--test-card", "visa", "--reference"]
    return [
      card + ["REF-1"], ["payment-status", "REF-1"], ["refund", "REF-1", "--amount", "4"],
      ["cancel", "REF-1"], card + ["REF-2", "--hold"], ["confirm", "REF-2"],
      card + ["REF-3", "--hold"], ["cancel", "REF-3"],
      ["transact", "--amount", "10.50", "--test-account", "success", "--reference", "REF-4"],
      ["payment-status", "REF-4"], ["tokenize", "--test-card", "visa"],
      ["payment-status", "REF-5"],
    ]
  }

  package var facts: [String] {
    [
      "body.brand", "brand", "card_brand", "body.last_four", "last_four", "body.service_fee",
      "body.payment_method_id", "body.expiration", "body.barcode", "body.barcodeFee",
      "body.barcodeUrl", "body.mapUrl", "refunded_amount", "dispute_status",
      "transaction.payment_method.card_brand", "transaction.payment_method.last_four",
      "transaction.refunded_amount", "transaction.dispute_status", "transaction.transaction_date",
    ]
  }

  package var explanations: [Explanation] { Vocabulary.pages }

  package func isRedirected(_ configuration: PayTheoryConfiguration) -> Bool {
    configuration.isRedirected
  }

  package func make(
    _ configuration: PayTheoryConfiguration,
    _ wires: Wires
  ) -> PayTheoryProvider {
    PayTheoryProvider(
      PayTheoryContext(
        configuration: configuration,
        http: wires.exchanges.http,
        sockets: wires.exchanges.sockets,
        clock: wires.clock,
        randomness: wires.randomness,
        redactor: wires.redactor
      )
    )
  }

  package func setup(
    _ session: any Session,
    _ env: Env
  ) throws(Fault) -> PayTheoryConfiguration {
    try session.settings.configuration(of: name, env) { () throws(Fault) in
      try ProviderSettings(session, name, env).configuration()
    }
  }

  package func order(
    _ intent: Intent,
    _ session: any Session,
    _ env: Env
  ) throws(Fault) -> Order {
    switch intent {
    case .makes(.storedMethod, let reference): .placed(try token(reference, session, env))
    case .makes(_, let reference): .placed(try payment(reference, session, env))
    case .changes(let change, let payment): try order(change, session, payment)
    }
  }

  private func payment(
    _ reference: Reference,
    _ session: any Session,
    _ env: Env
  ) throws(Fault) -> PayTheoryOrder {
    let invocation = session.invocation
    if let id = invocation[Keys.paymentID] { return try existing(id, reference, invocation) }
    let isBare =
      invocation.given(among: [Keys.amount] + InstrumentReader.sources).isEmpty
      && session.instrument == nil && session.terminal() == nil
    guard !isBare else {
      throw .missingOption(
        "transact needs --amount and an instrument",
        hint: "such as --amount 10.50 --test-card visa, or --instrument-stdin < card.json"
      )
    }
    let options = OptionReader(invocation, currency: currency)
    var order = PayTheoryOrder(reference: reference, amount: try options.amount())
    order.fee = try options.money(Keys.fee)
    order.maxFee = try options.money(Keys.maxFee)
    order.feeMode = try invocation.value(Keys.feeMode) ?? .merchant
    order.storedMethod = invocation[Keys.token]
    order.stopsAtConfirmation = invocation.has(Keys.hold) || invocation.has(Keys.confirmation)
    order.payor = try options.payor()
    order.payorID = invocation[Keys.payorID]
    order.metadata = try options.metadata()
    for key in Keys.stored {
      if let text = invocation[key] { order.stored[key.option.member] = .string(text) }
    }
    order.paymentParameters = invocation[Keys.paymentParameters]
    order.sendsReceipt = invocation.has(Keys.sendReceipt)
    order.receiptDescription = invocation[Keys.receiptDescription]
    order.instrument = try instrument(session, env, for: order)
    return order
  }

  /// Returns the order that records a payment made elsewhere. Its name is its id, unless another one is typed.
  private func existing(
    _ id: String,
    _ reference: Reference,
    _ invocation: Invocation
  ) throws(Fault) -> PayTheoryOrder {
    let making: [any OptionKey] =
      Self.fees + Self.payment + Self.instrument
      + [Keys.token, Keys.amount, Keys.currency, Keys.metadata, Keys.metadataFile]
    if let option = invocation.given(among: making).first {
      throw .badOptions(
        "--\(option.name) is for what is made, and this exists already",
        hint: "leave it out, or leave --payment-id out"
      )
    }
    let name = invocation.has(Keys.reference) ? reference : try Reference(id)
    let money = try OptionReader(invocation, currency: currency).currencyValue()
    var order = PayTheoryOrder(reference: name, amount: Money(minorUnits: 0, currency: money))
    order.existingID = id
    return order
  }

  private func token(
    _ reference: Reference,
    _ session: any Session,
    _ env: Env
  ) throws(Fault) -> PayTheoryOrder {
    let invocation = session.invocation
    if try invocation.value(Keys.method) == .cash { throw .cashToken }
    let options = OptionReader(invocation, currency: currency)
    let nothing = Money(minorUnits: 0, currency: try options.currencyValue())
    var order = PayTheoryOrder(reference: reference, amount: nothing)
    order.makes = .storedMethod
    order.instrument = try instrument(session, env, for: order)
    guard let instrument = order.instrument, instrument.method != .cash else { throw .cashToken }
    order.payor = try options.payor()
    if !order.payor.members.isEmpty, invocation.has(Keys.payorID) {
      throw .exclusive("--payor and --payor-id")
    }
    order.payorID = invocation[Keys.payorID]
    order.metadata = try options.metadata()
    return order
  }

  /// Returns the instrument to charge or to store. Credentials are checked before the operator is asked.
  private func instrument(
    _ session: any Session,
    _ env: Env,
    for order: PayTheoryOrder
  ) throws(Fault) -> Instrument? {
    do throws(Fault) {
      try setup(session, env).checkReady(for: .placed(order), of: nil)
      return try InstrumentReader(session: session, env: env).read()
    } catch {
      guard [.noFields, .noInstrument].contains(error.cause) else { throw error }
      let verb = order.makes == .storedMethod ? "tokenize" : "transact"
      throw error.with { $0.result = Fault.noFields(verb).result }
    }
  }

  private func order(
    _ change: Command.Change,
    _ session: any Session,
    _ payment: Payment?
  ) throws(Fault) -> Order {
    let invocation = session.invocation
    let read = OptionReader(invocation, currency: payment?.currency?.code ?? currency)
    let amount = try read.part(of: payment)
    if change == .confirm { return .capture(amount) }
    if invocation.has(Keys.reason), payment != nil, payment?.state.isCaptured != true {
      throw .badOptions(
        "--reason is for a reversal, and nothing is captured",
        hint: "leave it out: a void has no reason"
      )
    }
    let name = try invocation.value(Keys.refundReference)
    let request = RefundRequest(amount: amount, name: name, reason: invocation[Keys.reason])
    return change == .refund || amount != nil ? .refund(request) : .cancel(request)
  }

  package func checks(_ session: any Session, _ env: Env) -> [Check] {
    [
      .credentials(of: self, session, env) { () throws(Fault) in
        let own = ProviderSettings(session, name, env)
        let key = try own.configuration().key
        return
          "API key of \(key.partner), stage \(key.stage.rawValue), \(try own.source("api_key"))"
          + "; merchant \(try own.source("merchant_uid")), \(try own.source("secret_key"))"
      },
      Check("paytheory token service") { () throws(Fault) in
        try connected(session, env).adapter.checkTokens()
      },
      .lookUp("paytheory graphql") { () throws(Fault) in try connected(session, env).adapter },
    ]
  }

  package var help: ModuleHelp {
    ModuleHelp(
      "PayTheory",
      addresses: [
        "TENDER_PAYTHEORY_TOKEN_URL", "TENDER_PAYTHEORY_SOCKET_URL",
        "TENDER_PAYTHEORY_GRAPHQL_URL",
      ]
    )
  }

  package var results: [ResultShape] { ResultShape.table(Self.shapes) }

  private static let shapes = """
    type=PT_CONFIRMATION body: receipt_number amount# service_fee# brand first_six last_four
    type=PT_COMPLETE body: receipt_number last_four created_at amount# service_fee# state metadata{} \
    payor_id payment_method_id brand
    type=PT_BARCODE body: BarcodeUid Merchant barcode barcodeFee barcodeUrl mapUrl
    type=PT_TOKENIZE body: payment_method_id payor_id last_four brand metadata{} expiration \
    payment_type
    type .: type
    receipt_number .: type receipt_number last_four brand state
    transaction transaction: status transaction_id? gross_amount#? net_amount#? fees#? \
    refunded_amount#? failure_reasons[]? is_settled!?
    reversal reversal: is_void! transaction_id?
    barcode barcode: barcode_id amount#? fees#? barcode_url? expiration_date? merchant_uid? reference?
    """

  /// The members of results by their type. They are read once, because an export shows many of one type.
  private static let members: [String: [String]] = Dictionary(
    uniqueKeysWithValues: ["PT_CONFIRMATION", "PT_COMPLETE", "PT_BARCODE", "PT_TOKENIZE"].map {
      ($0, ResultShape.names("type=\($0)", in: shapes) ?? [])
    }
  )

  /// Returns a result with its members in the documented order (README, 4.6 to 4.11 and 8.1).
  package func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard let type = result.text("type") else { return result }
    if let names = Self.members[type], let body = result["body"]?.object {
      return ["type": .string(type), "body": .object(body.ordered(by: names))]
    }
    return result.ordered(by: ResultShape.names("receipt_number", in: Self.shapes) ?? [])
  }
}

extension OptionReader {
  fileprivate func payor() throws(Fault) -> JSONObject {
    let payor = try fields(Keys.payor, among: Keys.payorFields)
    do throws(Fault) {
      _ = try Address(
        postalCode: payor.text("postal_code"),
        country: payor.text("country")
      ).checked()
    } catch {
      throw .usage(
        "bad_value",
        error.message.replacing("the instrument's ", with: "--payor "),
        "such as --payor country=US --payor postal_code=45202"
      )
    }
    return payor
  }
}

extension Keys {
  static let feeMode = Key<FeeMode>(
    .money(
      "fee-mode MODE: merchant_fee: the merchant pays the fee (default); service_fee: the payer "
        + "pays it on top"
    )
  )
  static let confirmation = Key<Bool>(.payment("confirmation: the same as --hold"))
  static let payor = Key<String>(
    .payment("payor FIELD=VALUE...: a field of the payer: " + payorFields.joined(separator: ", "))
  )
  static let payorID = Key<String>(
    .payment("payor-id ID: the id of a stored payer; not with --payor")
  )
  static let accountCode = Key<String>(
    .payment("account-code CODE: an account code, shown in the portal")
  )
  static let paymentParameters = Key<String>(
    .payment(
      "payment-parameters NAME: a named set of rules of the account, such as least and most amount"
    )
  )
  static let invoiceID = Key<String>(.payment("invoice-id ID: the invoice that is paid"))
  static let recurringID = Key<String>(
    .payment("recurring-id ID: the recurring payment that is paid; not with --invoice-id")
  )
  static let sendReceipt = Key<Bool>(.payment("send-receipt: send the payer a receipt by e-mail"))
  static let receiptDescription = Key<String>(
    .payment("receipt-description TEXT: the text of the receipt")
  )
  static let method = Key<Instrument.Method>(
    .instrument("method METHOD: the means of payment (default: that of the instrument, else card)")
  )
  static let instrumentStdin = Key<Bool>(
    .instrument("instrument-stdin: read the instrument as JSON from standard input").with(
      readsStandardInput: true
    )
  )
  static let instrumentFile = Key<String>(
    .instrument("instrument-file FILE: read the instrument as JSON from a file").with(.files)
  )
  static let testCard = Key<TestInstruments.Brand>(
    .instrument("test-card BRAND: pay with the provider's documented test card (never on live)")
  )
  static let testAccount = Key<TestInstruments.Outcome>(
    .instrument(
      "test-account OUTCOME: pay with the provider's documented test account (never on live)"
    )
  )
  static let token = Key<String>(.instrument("token ID: charge a stored payment method"))
  static let fee = MoneyKey(
    .money("fee AMOUNT: the service fee; it must be the one the provider computes"),
    minor: "the service fee in minor units"
  )
  static let maxFee = MoneyKey(
    .money("max-fee AMOUNT: the most that the computed fee may be"),
    minor: "the most in minor units"
  )

  static let payorFields = [
    "first_name", "last_name", "email", "phone", "line1", "line2", "city", "region",
    "postal_code", "country",
  ]

  /// The options that are stored in the content of a payment under their names, where `find` finds them.
  ///
  /// Only names that end in `-code` or `-id` are indexed (`SearchTerm`).
  static let stored = [Keys.accountCode, Keys.invoiceID, Keys.recurringID]
}

extension PayTheoryModule {
  static let fees: [any OptionKey] = [Keys.feeMode, Keys.fee, Keys.maxFee]

  static let payment: [any OptionKey] =
    [Keys.hold, Keys.confirmation, Keys.payor, Keys.payorID] + Keys.stored
    + unrecorded

  /// Options that are sent once, and are no part of the recorded order.
  static let unrecorded: [any OptionKey] =
    [Keys.paymentParameters, Keys.sendReceipt, Keys.receiptDescription]

  static let instrument: [any OptionKey] = [
    Keys.method, Keys.instrumentStdin, Keys.instrumentFile, Keys.instrumentDescriptor,
    Keys.testCard, Keys.testAccount,
  ]
}

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
    var configuration = PayTheoryConfiguration(env: env, key: apiKey)
    (configuration.merchantUID, configuration.secretKey) = (merchant, secretKey)
    configuration.twoStep = section["two_step"]?.truth ?? true
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
