package import TenderCommandLine
package import TenderEngine
package import TenderModel

/// Pay Theory, as the program knows it.
package struct PayTheoryModule: ProviderModule {
  package init() {}

  package var name: ProviderName { PayTheoryProvider.name }

  package var options: [any OptionKey] { Self.fees + Self.payment + Self.instrument + [Keys.token] }

  package var currency: String { "USD" }

  package var uses: [CommandUse] {
    [
      CommandUse(
        "transact",
        options: Self.fees + Self.payment + [Keys.metadata, Keys.metadataFile] + Self.instrument
          + [Keys.token],
        description: [
          "With --hold the payment is prepared and held: nothing is charged until tender confirm, "
            + "from any process. With --token the stored method and the service fee are read first."
        ],
        examples: [
          .init(
            "tender transact --amount 10.50 --test-card visa --reference ORDER-1042",
            "pay with a test card on the simulator"
          ),
          .init(
            "tender transact --amount 10.50 --instrument-stdin --reference A1 < card.json",
            "pay with a card that arrives on standard input"
          ),
          .init(
            "tender transact --amount 5 --test-card visa --reference A2 --hold",
            "prepare a payment and hold it"
          ),
        ]
      ),
      CommandUse(
        "confirm",
        description: ["With Pay Theory only a hold by --token can be captured in part (--amount)."]
      ),
      CommandUse(
        "cancel",
        options: [Keys.refundReference, Keys.amount, Keys.currency],
        description: [
          "With --amount a part of a captured payment is reversed; a further part needs a "
            + "--refund-reference of its own. Reversals need merchant credentials."
        ],
        examples: [.init("tender cancel A2 --amount 3.50", "reverse a part of it")]
      ),
      CommandUse(
        "refund",
        options: [Keys.refundReference, Keys.reason],
        description: [
          "With Pay Theory it is a reversal: a void while the payment is pending, a refund afterwards. "
            + "--reason is duplicate, fraudulent, requested_by_customer (default), or any other text."
        ],
        examples: [.init("tender refund A2 --amount 3.50", "refund a part of it")]
      ),
      CommandUse(
        "tokenize",
        options: [Keys.payor, Keys.payorID, Keys.metadata, Keys.metadataFile] + Self.instrument,
        examples: [
          .init("tender tokenize --test-card visa --reference CARD-7", "store a test card"),
          .init("tender tokenize --test-card amex --json --fields id", "print the id alone"),
        ]
      ),
      CommandUse("find", options: Keys.stored),
      CommandUse("payment-status", description: ["Look-ups need merchant credentials."]),
    ]
  }

  package var section: ConfigurationSection {
    ConfigurationSection([
      // It is in every page that takes cards.
      .init("api_key", .credential(isSecret: false)),
      .init("merchant_uid", .credential(isSecret: false)),
      .init("secret_key", .credential(isSecret: true)),
      .init("two_step", .value) { value in
        value.truth == nil ? .init("is neither true nor false") : nil
      },
    ])
  }

  package var capabilities: [Capability] {
    [
      Capability("transact card", "in two steps, so that a killed payment can be found out"),
      Capability("transact ach", "checking and savings, ABA routing numbers"),
      Capability("transact cash", "a barcode that the payer takes to a shop"),
      Capability("transact --token", "a stored payment method; needs merchant credentials"),
      Capability("transact --hold", "held until confirm or cancel, from any process"),
      Capability("confirm", "exactly once; a repetition replays; --amount for holds by --token"),
      Capability(
        "cancel",
        "voids what is held; afterwards a void or refund, said which, whole or a part"
      ),
      Capability("tokenize", "card or bank account"),
      Capability("payment-status", "by receipt number or reference; needs merchant credentials"),
      Capability("mandate-status", false, "Pay Theory has no mandates"),
      Capability(
        "production cards",
        false,
        "stage paytheory takes cards from attested mobile apps alone"
      ),
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

  package func make(
    _ session: any Session,
    _ env: Env,
    for need: Need
  ) throws(Fault) -> any Provider {
    try payTheory(session, env, for: need)
  }

  private func payTheory(
    _ session: any Session,
    _ env: Env,
    for need: Need?
  ) throws(Fault) -> PayTheoryProvider {
    let configuration = try PayTheorySetup(own: ProviderSettings(session, name, env)).configuration(
      need
    )
    let isInProcess = env == .simulator && !configuration.isRedirected
    let exchanges = try session.exchanges(inProcess: isInProcess)
    var ahead: ConversationsAhead?
    if !isInProcess, let (most, make) = try session.exchangesAhead() {
      ahead = session.shared { ConversationsAhead(most: most, make: make) }
    }
    return PayTheoryProvider(
      PayTheoryContext(
        configuration: configuration,
        http: exchanges.http,
        sockets: exchanges.sockets,
        clock: session.clock,
        randomness: try session.randomness(),
        redactor: session.redactor
      ),
      ahead: ahead
    )
  }

  package func plan(_ session: any Session, _ env: Env) throws(Fault) -> OrderPlan {
    let builder = OrderBuilder(session.invocation)
    let isBare =
      session.invocation.given(among: [Keys.amount] + InstrumentReader.sources).isEmpty
      && session.instrument == nil && session.terminal() == nil
    guard !isBare else {
      throw .missingOption(
        "transact needs --amount and an instrument",
        hint: "such as --amount 10.50 --test-card visa, or --instrument-stdin < card.json"
      )
    }
    _ = try builder.read.amount()
    let need: Need = session.invocation.has(Keys.token) ? .storedMethod : .attempt
    var plan = OrderPlan(need: need) { reference throws(Fault) in
      .payment(
        try builder.payment(reference, instrument: try instrument(session, env, tokenizing: false))
      )
    }
    plan.asksPayer = true
    return plan
  }

  package func tokenPlan(_ session: any Session, _ env: Env) throws(Fault) -> OrderPlan? {
    OrderPlan(need: .attempt) { reference throws(Fault) in
      if try session.invocation.value(Keys.method) == .cash { throw .cashToken }
      guard let instrument = try instrument(session, env, tokenizing: true) else {
        throw .cashToken
      }
      if case .cash = instrument { throw .cashToken }
      return .token(try OrderBuilder(session.invocation).token(reference, instrument: instrument))
    }
  }

  private func instrument(
    _ session: any Session,
    _ env: Env,
    tokenizing: Bool
  ) throws(Fault) -> Instrument? {
    do throws(Fault) {
      return try InstrumentReader(session: session, env: env).read()
    } catch {
      var fault = error
      if [.noFields, .noInstrument].contains(fault.cause) {
        fault.result = Fault.noFields(tokenizing ? "tokenize" : "transact").result
      }
      throw fault
    }
  }

  package func laterPlan(
    _ session: any Session,
    _ payment: Payment?,
    _ change: Command.Change
  ) throws(Fault) -> LaterPlan {
    let invocation = session.invocation
    let read = OptionReader(invocation, currency: payment?.currency?.code ?? currency)
    let amount = try read.part(of: payment)
    let isCaptured = payment?.state.isCaptured == true
    // A hold by a stored method is captured and released by GraphQL, as a reversal is made.
    let isStored = payment?.content.text("token") != nil
    let need: Need = isCaptured || isStored ? .reversal : .held
    if change == .confirm { return LaterPlan(.capture(amount), need: need) }
    if invocation.has(Keys.reason), payment != nil, !isCaptured {
      throw .badOptions(
        "--reason is for a reversal, and nothing is captured",
        hint: "leave it out: a void has no reason"
      )
    }
    let way = isCaptured ? "reversal (void while it is pending, else refund)" : "void"
    let name = try invocation.value(Keys.refundReference)
    guard change == .refund || amount != nil || name != nil else {
      return LaterPlan(.cancel(), need: need, way: way)
    }
    let request = RefundRequest(amount: amount, name: name, reason: invocation[Keys.reason])
    return LaterPlan(.refund(request), need: need, way: way)
  }

  package func checks(_ session: any Session, _ env: Env) -> [Check] {
    [
      .credentials(of: self, session, env, "API key and merchant credentials are set"),
      Check("paytheory token service") { () throws(Fault) in
        try payTheory(session, env, for: nil).checkTokens()
      },
      .lookUp("paytheory graphql") { () throws(Fault) in try make(session, env, for: .lookUp) },
    ]
  }
}
