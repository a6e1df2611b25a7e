import TenderEngine
import TenderModel

/// Requests over the socket: payments by card and bank account, cash barcodes, stored methods.
extension PayTheoryProvider {
  // MARK: Payments

  /// Prepares a payment, and transfers it unless it is a hold.
  func transact(_ order: PayTheoryOrder, _ progress: Progress) throws(Fault) -> Outcome {
    guard order.instrument != nil else { throw .noFields("transact") }
    // In one step, the fee is known only after the charge.
    let isTwoStep =
      context.configuration.twoStep || order.stopsAtConfirmation || order.maxFee != nil
    let (conversation, requests) = try begin(progress)
    progress.enter("preparing")
    let answer = try conversation.ask(
      "host:transfer_part1",
      wanting: ["transfer_confirmation", "transfer_complete"],
      isTwoStep ? nil : progress
    ) { requests.transferPart1(order, confirmation: isTwoStep, &$0) }
    guard answer.type == "transfer_confirmation" else {
      // It was charged in one step. What the answer does not say is unknown from here on.
      if isTwoStep { try progress.willSend(isStoppable: false) }
      var outcome = try Replies.transferComplete(
        answer.body,
        hasServiceFee: order.feeMode == .service,
        of: Ordered(order)
      )
      outcome.amount = outcome.amount.map { progress.operation.amount ?? $0 }
      return outcome
    }
    guard
      let prepared = PreparedTransfer(
        body: answer.body,
        session: conversation.session,
        metadata: order.metadata
      )
    else { throw .socketError("a confirmation without a receipt number") }
    // It is not released either: it may be the hold of another payment.
    guard prepared.isOf(order) else { throw .socketError("a confirmation of another payment") }
    do throws(Fault) {
      try check(prepared, against: order)
    } catch {
      // Nothing was charged. Releasing the hold is optional and may fail.
      try? conversation.tell("host:cancel_transfer", nil) { requests.cancel(prepared, &$0) }
      throw error
    }
    try progress.prepare(
      .secret(prepared.stored),
      id: prepared.receipt,
      amount: prepared.amount,
      sendingNext: !order.stopsAtConfirmation
    )
    return order.stopsAtConfirmation
      ? prepared.held : try transfer(prepared, conversation, progress)
  }

  /// Sends part 2 of a payment: to capture a hold, or to finish a payment whose answer was lost.
  func transfer(_ progress: Progress) throws(Fault) -> Outcome {
    let isFinish = progress.operation.isUnknown
    let prepared = try preparation(progress)
    progress.enter("connecting")
    let opened = try openAgain(prepared.session)
    // A transfer that may have succeeded is finished however old its session is.
    guard !opened.isOver || isFinish else {
      return Outcome(
        status: .expired,
        result: Fault.sessionExpired.result ?? [:],
        fault: .holdExpired
      )
    }
    return try transfer(prepared, opened.conversation, progress, isRepeated: isFinish)
  }

  private func transfer(
    _ prepared: PreparedTransfer,
    _ conversation: Conversation,
    _ progress: Progress,
    isRepeated: Bool = false
  ) throws(Fault) -> Outcome {
    let requests = requests(conversation)
    let complete = try conversation.ask(
      "host:transfer_part2",
      wanting: ["transfer_complete"],
      progress
    ) { requests.transferPart2(prepared, &$0) }
    let mode = prepared.body.text("fee_mode").map { FeeMode(wire: $0) == .service }
    var outcome = try Replies.transferComplete(
      complete.body,
      hasServiceFee: mode ?? true,
      of: Ordered(
        prepared,
        reference: progress.payment.reference.text,
        currency: progress.payment.currency?.code
      )
    )
    // The first request may have charged, also if Pay Theory refuses the second one as its duplicate.
    if isRepeated, outcome.status == .declined {
      throw Fault.cannotTell(
        "Pay Theory refused the repetition (\(outcome.result.text("type") ?? "FAILURE")), which says nothing about "
          + "the first request"
      ).with { $0.result = outcome.result }
    }
    // Look-ups use the receipt number from the preparation.
    outcome.id = prepared.receipt
    outcome.amount = progress.operation.amount ?? outcome.amount
    return outcome
  }

  /// Voids a hold.
  ///
  /// The request has no documented answer. It counts as done once it is written.
  func release(_ progress: Progress) throws(Fault) -> Outcome {
    guard !progress.payment.followers.contains(where: { $0.kind == .capture && $0.isUnknown })
    else {
      throw .cannotTell("the hold may have been captured: the result of its capture is unknown")
    }
    let prepared = try preparation(progress)
    progress.enter("connecting")
    let conversation = try openAgain(prepared.session).conversation
    let requests = requests(conversation)
    try conversation.tell("host:cancel_transfer", progress) { requests.cancel(prepared, &$0) }
    return Outcome(status: .cancelled, amount: progress.operation.amount, result: [:])
  }

  /// Reopens the session of a hold, or opens a new one if it has expired. The request names the hold by its
  /// id.
  private func openAgain(
    _ session: String
  ) throws(Fault) -> (conversation: Conversation, isOver: Bool) {
    // A session that closes once may have a fault; one that closes twice has expired.
    for _ in 0..<2 {
      do throws(Fault) {
        return (try Conversation.open(session: session, context), false)
      } catch {
        guard error.cause == .sessionExpired else { throw error }
      }
    }
    return (try Conversation.open(session: context.randomness.uuid(), context), true)
  }

  /// Checks that the preparation matches the order to the cent, before it is captured.
  private func check(_ prepared: PreparedTransfer, against order: PayTheoryOrder) throws(Fault) {
    let ordered = order.amount.minorUnits
    let mode = prepared.body.text("fee_mode") ?? order.feeMode.rawValue
    let currency = prepared.body.text("currency") ?? order.amount.currency.code
    let isSameMode = FeeMode(wire: mode) == order.feeMode
    let isExact = order.feeMode == .merchant || order.fee != nil
    let expected = ordered + (order.fee?.minorUnits ?? 0)
    let amount = prepared.amount
    let most = order.maxFee.map { ordered + $0.minorUnits } ?? .max
    let fits = isExact ? amount == expected : amount.map { (ordered...most).contains($0) } ?? false
    guard !fits || !isSameMode || currency != order.amount.currency.code else { return }
    let said = amount.map { amount in
      Currency(code: currency).map { Money(minorUnits: amount, currency: $0).text }
        ?? "\(amount) minor units of \(currency)"
    }
    let wanted = Money(minorUnits: expected, currency: order.amount.currency).text
    throw Fault(
      .rejected,
      code: "amount_mismatch",
      "Pay Theory prepared \(said ?? "no amount in \(currency)") (\(mode)) where "
        + "\(wanted) (\(order.feeMode.rawValue)) was ordered",
      hint: order.feeMode == .service
        ? "the fee is another; nothing was charged. --max-fee accepts it up to an amount"
        : "nothing was charged"
    )
  }

  private func preparation(_ progress: Progress) throws(Fault) -> PreparedTransfer {
    if let prepared = progress.operation.prepared ?? progress.attempt.prepared { return prepared }
    throw Fault(
      .conflict,
      code: "no_auth",
      "the journal no longer has what \(progress.payment.reference.quotedForMessage) was prepared with",
      result: Self.nothingHeld
    )
  }

  // MARK: Cash and stored methods

  func makeBarcode(
    _ order: PayTheoryOrder,
    _ payer: CashPayer,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    let (conversation, requests) = try begin(progress)
    do throws(Fault) {
      let answer = try conversation.ask("host:barcode", wanting: ["barcode_complete"], nil) {
        requests.barcode(order, payer, &$0)
      }
      return try Replies.barcode(answer.body, order: order)
    } catch {
      // The request takes no money, but the payer of a barcode can.
      guard error.kind == .expired || error.kind == .providerError else { throw error }
      throw error.with { fault in
        fault.message = "no barcode was received: \(error.message)"
        fault.hint =
          "if Pay Theory made one, its payer can still pay it; the same command makes another barcode"
        fault.next = progress.payment.next(.look)
      }
    }
  }

  func tokenize(_ order: PayTheoryOrder, _ progress: Progress) throws(Fault) -> Outcome {
    if case .cash = order.instrument { throw .cashToken }
    let (conversation, requests) = try begin(progress)
    let answer = try conversation.ask("host:tokenize", wanting: ["tokenize_complete"], progress) {
      requests.tokenize(order, &$0)
    }
    return try Replies.token(answer.body)
  }

  private func begin(_ progress: Progress) throws(Fault) -> (Conversation, Requests) {
    progress.enter("connecting")
    let conversation = try Conversation.open(session: context.randomness.uuid(), context)
    return (conversation, requests(conversation))
  }

  private func requests(_ conversation: Conversation) -> Requests {
    Requests(
      timeZone: context.configuration.timeZone,
      now: context.clock.now,
      hostToken: conversation.hostToken,
      sessionKey: conversation.sessionKey
    )
  }
}

extension PreparedTransfer {
  fileprivate var held: Outcome {
    Outcome(
      status: .requiresConfirmation,
      id: receipt,
      amount: amount,
      currency: body.text("currency").flatMap(Currency.init(code:)),
      lastFour: body.text("last_four"),
      brand: body.brand.text,
      result: confirmation
    )
  }
}
