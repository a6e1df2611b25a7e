package import TenderEngine
package import TenderModel
import TenderWire

/// Pay Theory: cards, ACH and cash over its socket, look-ups and reversals over GraphQL.
package struct PayTheoryProvider: Provider, PaymentFlow, TokenFlow {
  /// What it is called in options, records and journals.
  package static let name = ProviderName("paytheory")
  let context: PayTheoryContext

  /// Conversations that were opened ahead; nil where each payment opens its own.
  private let ahead: ConversationsAhead?

  package init(_ context: PayTheoryContext, ahead: ConversationsAhead? = nil) {
    self.context = context
    self.ahead = ahead
  }

  /// A conversation of its own: one that was opened ahead, or a new one.
  func beginConversation() throws(Fault) -> Conversation {
    if let opened = ahead?.take(context) { return opened }
    return try Conversation.open(session: context.randomness.uuid(), context)
  }

  package var name: ProviderName { Self.name }

  /// Partner, stage and a fingerprint of the whole key, which no file needs to hold.
  package var merchant: String {
    let key = context.configuration.key
    return "\(key.partner)-\(key.stage.rawValue)-\(Box.fingerprint(key.text))"
  }

  package func isID(_ handle: String) -> Bool { handle.hasPrefix("pt-") }

  package var nothingHeld: JSONObject {
    ["type": "NO_AUTH: There is no authorization to capture"]
  }

  package func checkReady(for need: Need) throws(Fault) {
    let configuration = context.configuration
    switch need {
    case .payment(byStoredMethod: true): _ = try GraphQL(context, for: "charging a stored method")
    case .payment(byStoredMethod: false), .heldPayment:
      guard configuration.key.stage != .production else {
        throw .invalidApp(
          "stage paytheory (production) takes cards, ACH and cash from attested mobile apps alone"
        )
      }
    case .reversal: _ = try GraphQL(context, for: "a reversal")
    case .lookUp: _ = try GraphQL(context, for: "a look-up")
    case .creation, .authorization, .withdrawal, .sale: break
    }
  }

  /// Fetches a token, as each payment does first; nothing is opened with it.
  func checkTokens() throws(Fault) -> String {
    _ = try Conversation.fetchToken(session: context.randomness.uuid(), context)
    return "it answers, and takes the API key"
  }

  package func transact(_ order: PaymentOrder, _ progress: Progress) throws(Fault) -> Outcome {
    if let method = order.storedMethod { return try charge(method, order, progress) }
    switch order.instrument {
    case .cash(let payer): return try makeBarcode(order, payer, progress)
    case .card, .bankAccount: break
    case nil: throw .noFields("transact")
    }
    let isTwoStep = context.configuration.twoStep || order.stopsAtConfirmation
    progress.enter("connecting")
    let conversation = try beginConversation()
    let requests = requests(conversation)
    progress.enter("preparing")
    let answer = try conversation.ask(
      "host:transfer_part1",
      wanting: ["transfer_confirmation", "transfer_complete"],
      effecting: !isTwoStep,
      willSend: progress.willSend
    ) { requests.transferPart1(order, confirmation: isTwoStep, &$0) }
    guard answer.type == "transfer_confirmation" else {
      return try Replies.transferComplete(
        answer.body,
        hasServiceFee: order.feeMode == .service,
        of: Ordered(order)
      )
      .of(order)
    }
    guard
      let prepared = Preparation(
        body: answer.body,
        session: conversation.session,
        metadata: order.metadata
      )
    else { throw .socketError("a confirmation without a receipt number") }
    do throws(Fault) {
      try check(prepared, against: order)
    } catch {
      // Nothing was charged; letting go of it is a courtesy that may fail.
      try? conversation.tell("host:cancel_transfer") { requests.cancel(prepared, &$0) }
      throw error
    }
    try progress.prepare(
      .secret(prepared.stored),
      id: prepared.receipt,
      sendingNext: !order.stopsAtConfirmation
    )
    if order.stopsAtConfirmation { return prepared.held(order) }
    return try transfer(prepared, order, conversation, progress)
  }

  /// The second part of a payment in two steps: the transfer itself.
  private func transfer(
    _ prepared: Preparation,
    _ order: PaymentOrder,
    _ conversation: Conversation,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    let fresh = requests(conversation)
    let complete = try conversation.ask(
      "host:transfer_part2",
      wanting: ["transfer_complete"],
      effecting: true,
      willSend: progress.willSend
    ) { fresh.transferPart2(prepared, &$0) }
    let ordered = Ordered(
      prepared,
      reference: order.reference.text,
      currency: order.amount.currency.code
    )
    return try Replies.transferComplete(
      complete.body,
      hasServiceFee: order.feeMode == .service,
      of: ordered
    )
    .of(order, prepared)
  }

  package func confirm(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    let prepared = try preparation(of: held)
    progress.enter("connecting")
    let conversation: Conversation
    do throws(Fault) {
      conversation = try Conversation.open(session: prepared.session, context)
    } catch {
      throw error.cause == .sessionExpired ? .holdExpired(held) : error
    }
    let requests = requests(conversation)
    let complete = try conversation.ask(
      "host:transfer_part2",
      wanting: ["transfer_complete"],
      effecting: true,
      willSend: progress.willSend
    ) { requests.transferPart2(prepared, &$0) }
    var outcome = try Replies.transferComplete(
      complete.body,
      hasServiceFee: prepared.body.text("fee_mode").map { FeeMode(wire: $0) == .service } ?? true,
      of: Ordered(prepared, reference: held.reference.text, currency: held.currency?.code)
    )
    outcome.id = prepared.receipt
    return outcome
  }

  package func release(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    let prepared = try preparation(of: held)
    progress.enter("connecting")
    let conversation = try openForRelease(prepared.session)
    let requests = requests(conversation)
    try conversation.tell("host:cancel_transfer") { requests.cancel(prepared, &$0) }
    return Outcome(status: .cancelled, id: held.id, result: [:])
  }

  /// The session of the hold, or a new one where that has expired: the intent is named by its id.
  private func openForRelease(_ session: String) throws(Fault) -> Conversation {
    do throws(Fault) {
      return try Conversation.open(session: session, context)
    } catch {
      guard error.cause == .sessionExpired else { throw error }
      return try Conversation.open(session: context.randomness.uuid(), context)
    }
  }

  package func tokenize(_ order: TokenOrder, _ progress: Progress) throws(Fault) -> Outcome {
    if case .cash = order.instrument { throw .cashToken }
    progress.enter("connecting")
    let conversation = try beginConversation()
    let requests = requests(conversation)
    let answer = try conversation.ask(
      "host:tokenize",
      wanting: ["tokenize_complete"],
      effecting: false
    ) { requests.tokenize(order, &$0) }
    return try Replies.token(answer.body)
  }

  package func asksAtOnce(about attempt: Attempt) -> Bool { true }

  package func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    if query.purpose == .refund { return Self.gaveBack(query.refunds, of: query) }
    return try transaction(query).map(Transactions.lookUp)
  }

  /// The transaction that a look-up finds: by receipt number, else the newest of the reference
  /// that is a payment and that no other attempt owns.
  func transaction(
    _ query: LookUp,
    where isOne: (JSONObject) throws(Fault) -> Bool = { _ in true }
  ) throws(Fault) -> JSONObject? {
    let graphQL = try GraphQL(context, for: "a look-up")
    if let id = query.id {
      return try graphQL.transactions("transaction_id", id, limit: 1)
        .first { $0.text("transaction_id") == id }
    }
    guard let reference = query.reference else { return nil }
    for item in try graphQL.transactions("reference", reference.text, limit: 50) {
      let id = item.text("transaction_id") ?? ""
      let isPayment = item.text("transaction_type") != "REVERSAL" && !id.contains(":")
      guard isPayment, !query.others.contains(id),
        item.text("reference").map({ $0 == reference.text }) ?? true, try isOne(item)
      else { continue }
      return item
    }
    return nil
  }

  private func charge(
    _ method: String,
    _ order: PaymentOrder,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    let transaction = try GraphQL(context, for: "charging a stored method").createTransaction(
      order,
      method: method,
      willSend: progress.willSend
    )
    return Transactions.payment(transaction).of(order)
  }

  private func makeBarcode(
    _ order: PaymentOrder,
    _ payer: CashPayer,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    progress.enter("connecting")
    let conversation = try beginConversation()
    let requests = requests(conversation)
    let answer = try conversation.ask(
      "host:barcode",
      wanting: ["barcode_complete"],
      effecting: false
    ) { requests.barcode(order, payer, &$0) }
    return try Replies.barcode(answer.body, order: order)
  }

  /// What Pay Theory prepared must be what was ordered, to the cent, before it may be captured.
  private func check(_ prepared: Preparation, against order: PaymentOrder) throws(Fault) {
    let ordered = order.amount.minorUnits
    let mode = prepared.body.text("fee_mode") ?? order.feeMode.rawValue
    let currency = prepared.body.text("currency") ?? order.amount.currency.code
    let isSameMode = FeeMode(wire: mode) == order.feeMode
    let isExact = order.feeMode == .merchant || order.fee != nil
    let expected = ordered + (order.fee?.minorUnits ?? 0)
    let amount = prepared.amount
    let fits = isExact ? amount == expected : amount.map { $0 >= ordered } ?? false
    guard !fits || !isSameMode || currency != order.amount.currency.code else { return }
    throw Fault(
      .rejected,
      code: "amount_mismatch",
      "Pay Theory prepared \(amount.map { String($0) } ?? "no amount") \(currency) (\(mode)) where "
        + "\(expected) \(order.amount.currency.code) (\(order.feeMode.rawValue)) was ordered, in minor units",
      hint: order.feeMode == .service
        ? "the fee is another: learn it with --confirmation, then pass --fee"
        : "nothing was charged"
    )
  }

  private func preparation(of held: Attempt) throws(Fault) -> Preparation {
    guard let prepared = (held.preparation?.secret).flatMap(Preparation.init(stored:)) else {
      throw Fault(
        .conflict,
        code: "no_auth",
        "the preparation of \(held.reference.quotedForMessage) is no longer in the journal",
        result: nothingHeld
      )
    }
    return prepared
  }

  private func requests(_ conversation: Conversation) -> Requests {
    Requests(
      timeZone: context.configuration.timeZone,
      now: context.clock.now,
      hostToken: conversation.hostToken,
      sessionKey: conversation.sessionKey
    )
  }

  package func preview(_ order: TokenOrder) throws(Fault) -> JSONObject {
    ["action": "host:tokenize", "method": .string(order.instrument.method.rawValue)]
  }

  package func preview(_ order: PaymentOrder) throws(Fault) -> JSONObject {
    let configuration = context.configuration
    if let method = order.storedMethod {
      return [
        "method": "POST", "url": .string(configuration.graphQLURL),
        "action": "createTransaction", "payment_method_id": .string(method),
      ]
    }
    let requests = Requests(
      timeZone: configuration.timeZone,
      now: context.clock.now,
      hostToken: "[redacted]",
      sessionKey: "[redacted]"
    )
    var writer = JSONWriter()
    writer.beginObject()
    let action: String
    if case .cash(let payer) = order.instrument {
      action = "host:barcode"
      requests.barcode(order, payer, &writer)
    } else {
      action = "host:transfer_part1"
      requests.transferPart1(
        order,
        confirmation: configuration.twoStep || order.stopsAtConfirmation,
        &writer
      )
    }
    writer.endObject()
    defer { writer.wipe() }
    var payload = JSONReader.read(writer.bytes)?.object ?? [:]
    if var method = payload["payment_method_data"]?.object {
      for name in ["number", "security_code", "account_number"] where method[name] != nil {
        method[name] = "[redacted]"
      }
      payload["payment_method_data"] = .object(method)
    }
    return [
      "url": .string(configuration.socketURL), "action": .string(action),
      "payload": .object(payload),
    ]
  }
}

extension Outcome {
  /// The outcome of an order: amounts where the answer leaves them out.
  fileprivate func of(_ order: PaymentOrder, _ prepared: Preparation? = nil) -> Outcome {
    var outcome = self
    // The receipt number was drawn with the preparation; look-ups go by that one.
    outcome.id = prepared?.receipt ?? outcome.id
    outcome.amount = outcome.amount ?? prepared?.amount ?? order.amount.minorUnits
    if outcome.amount != order.amount.minorUnits {
      outcome.requestedAmount = order.amount.minorUnits
    }
    return outcome
  }
}

extension Preparation {
  /// The outcome that waits for a confirm.
  fileprivate func held(_ order: PaymentOrder) -> Outcome {
    Outcome(
      status: .requiresConfirmation,
      id: receipt,
      lastFour: body.text("last_four"),
      brand: body.brand.text,
      result: confirmation
    ).amounts(amount ?? order.amount.minorUnits, order)
  }
}

extension Outcome {
  fileprivate func amounts(_ amount: Int, _ order: PaymentOrder) -> Outcome {
    var outcome = self
    outcome.amount = amount
    return outcome.of(order)
  }
}
