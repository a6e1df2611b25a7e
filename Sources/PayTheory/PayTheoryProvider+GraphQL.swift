import TenderEngine
import TenderModel

/// Requests over GraphQL: payments and holds by a stored method, and reversals.
///
/// None of them has an idempotency key.
extension PayTheoryProvider {
  // MARK: Stored methods

  /// Charges or authorizes a stored method. The method and its fee are read before anything is sent.
  func pay(
    _ order: PayTheoryOrder,
    by method: String,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    let graphQL = try GraphQL(context, for: "charging a stored method")
    guard let stored = try graphQL.method(method) else { throw .unknownToken(method) }
    guard stored["is_active"]?.truth != false else { throw .disabledToken(method) }
    let fee = try fee(order, method, graphQL)
    let total = order.amount.minorUnits + (fee ?? 0)
    let mutation = Mutation.pay(order, by: method, fee: fee, merchant: graphQL.merchantUID)
    return try send(mutation, amount: total, progress)
  }

  /// Returns the service fee that the payer pays; nil if the merchant pays the fee.
  private func fee(
    _ order: PayTheoryOrder,
    _ method: String,
    _ graphQL: GraphQL
  ) throws(Fault) -> Int? {
    guard order.feeMode == .service else { return nil }
    let fee = try graphQL.serviceFee(amount: order.amount.minorUnits, method: method)
    let isMeant = order.fee.map { $0.minorUnits == fee } ?? true
    guard isMeant, fee <= order.maxFee?.minorUnits ?? .max else {
      throw .otherFee(Money(minorUnits: fee, currency: order.amount.currency))
    }
    return fee
  }

  /// Captures an authorization, or a part of it.
  func captureStored(_ progress: Progress) throws(Fault) -> Outcome {
    let graphQL = try GraphQL(context, for: "a capture")
    let (attempt, payment) = (progress.attempt, progress.payment)
    let amount = progress.operation.amount ?? payment.state.authorized
    guard let id = attempt.id else { throw .notShown(nil, payment) }
    let isService = attempt.content.text("fee_mode") == FeeMode.service.rawValue
    let fee = isService ? amount - (attempt.content["amount"]?.boundedNumber ?? amount) : nil
    return try send(
      .capture(id, amount: amount - (fee ?? 0), fee: fee, merchant: graphQL.merchantUID),
      progress
    )
  }

  /// Voids an authorization.
  func releaseStored(_ progress: Progress) throws(Fault) -> Outcome {
    guard let id = progress.attempt.id else { throw .notShown(nil, progress.payment) }
    return try send(.release(id), progress)
  }

  // MARK: Reversals

  /// Voids or refunds a captured payment, or a part of it.
  func reverse(_ request: RefundRequest, _ progress: Progress) throws(Fault) -> Outcome {
    let payment = progress.payment
    var id = payment.state.id
    if let barcode = id, Barcodes.isID(barcode) {
      id = try captured(barcode, GraphQL(context, for: "a reversal")).map(Transactions.id)
    }
    guard let id else { throw .notShown(payment.state.id, payment) }
    let amount = progress.operation.amount ?? 0
    return try send(.reverse(id, amount: amount, because: request.reason), progress)
  }

  // MARK: Sending

  /// Stores a request in the journal, sends it, and reads its answer.
  func send(
    _ mutation: Mutation,
    amount: Int? = nil,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    let graphQL = try GraphQL(context, for: mutation.name)
    try progress.prepare(.plain(mutation.stored), amount: amount, sendingNext: true)
    return try read(try graphQL.run(mutation, progress), of: mutation, graphQL, progress)
  }

  private func read(
    _ answer: JSON,
    of mutation: Mutation,
    _ graphQL: GraphQL,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    let operation = progress.operation
    switch mutation.name {
    case "createTransaction", "createCapture":
      guard let made = answer.object, !Transactions.id(made).isEmpty,
        fits(made, Transactions.gross(made), progress),
        Transactions.status(made) == .declined
          || Replies.isState(ofNew: made.text("status") ?? "")
      else {
        throw .unreadable("a transaction that cannot be read, or is another")
      }
      return try charged(made, progress)
    case "createAuthorization":
      guard let made = answer.object, made.text("authorization_id") != nil,
        Transactions.isKnown(made), fits(made, made["amount"]?.boundedNumber, progress)
      else { throw .unreadable("an authorization that cannot be read") }
      return Authorizations.held(made, amount: operation.amount)
    case "createVoidForAuthorization":
      switch answer.truth {
      case true?:
        return try shown { () throws(Fault) in
          if case .happened(let outcome) = try look(progress) { outcome } else { nil }
        }
      case false?:
        let hint = "it may be captured or released already"
        throw Fault.refused("did not release the authorization", hint: hint).proven
          .then(progress.payment.next(.look))
      case nil: throw .unreadable("neither yes nor no to a release")
      }
    default:
      guard answer["is_void"]?.truth != nil else {
        throw .unreadable("a reversal that cannot be read")
      }
      let made = answer["transaction_id"]?.text
      let id = made ?? progress.payment.state.id ?? ""
      _ = try shown { () throws(Fault) in
        // A void of all that is left makes no transaction.
        try captured(id, graphQL).flatMap { item in
          made != nil || Transactions.status(item) == .cancelled ? item : nil
        }
      }
      throw .unreadable("a yes that names neither payment nor amount")
    }
  }

  /// Returns what a look-up shows after a success that names neither payment nor amount. Only the look-up is
  /// evidence.
  ///
  /// Look-ups may lag, so they are repeated for a short time.
  private func shown<Found>(_ look: () throws(Fault) -> Found?) throws(Fault) -> Found {
    for pause in [300, 1000, 2000, 0] {
      if let found = try look() { return found }
      if pause > 0 { try context.clock.pause(milliseconds: pause) }
    }
    throw .unreadable("a yes, and a look-up that does not show it yet")
  }

  /// Returns the outcome of a charge or capture over GraphQL.
  ///
  /// Throws `declined` for a capture that failed. The authorization is unchanged then.
  func charged(_ transaction: JSONObject, _ progress: Progress) throws(Fault) -> Outcome {
    guard Transactions.isKnown(transaction) else { throw .unknownState(transaction) }
    var outcome = Transactions.payment(transaction)
    outcome.amount = progress.operation.amount ?? outcome.amount
    guard progress.operation.kind == .capture else { return outcome }
    if var fault = outcome.fault {
      (fault.hint, fault.next) = ("the authorization still holds", progress.payment.next(.void))
      fault.result = outcome.result
      throw fault.proven
    }
    outcome.isNewID = true
    return outcome
  }

  /// Returns whether an answer is about this operation: its amount, with or without a service fee, its
  /// currency and its reference.
  func fits(_ made: JSONObject, _ amount: Int?, _ progress: Progress) -> Bool {
    let (operation, payment) = (progress.operation, progress.payment)
    guard let amount else { return false }
    if let asked = operation.amount,
      !amounts(amount, of: made, progress.attempt).contains(asked)
    {
      return false
    }
    return isSame(made, payment)
      && (Transactions.status(made) != .declined || names(made, payment))
  }

  /// The amounts that an answer may stand for: its own, and with a service fee those with and without it.
  private func amounts(_ amount: Int, of made: JSONObject, _ attempt: Operation?) -> [Int] {
    guard attempt?.content.text("fee_mode") == FeeMode.service.rawValue,
      Transactions.hasServiceFee(made), let fee = made["fees"]?.boundedNumber
    else { return [amount] }
    return [amount, amount - fee, amount + fee]
  }

  /// Returns whether an answer names the payment. A failed charge must, because the next command charges
  /// again.
  private func names(_ made: JSONObject, _ payment: Payment) -> Bool {
    let id = made.text("transaction_id") ?? made.text("authorization_id") ?? ""
    return !id.isEmpty && made.text("reference") == payment.reference.text
      && Transactions.currency(made) == payment.currency
  }

  /// Returns whether merchant, currency, stored method and reference in an answer are the payment's.
  func isSame(_ made: JSONObject, _ payment: Payment) -> Bool {
    if let own = context.configuration.merchantUID, let other = made.text("merchant_uid"),
      other != own
    {
      return false
    }
    if let token = payment.content.text("token"), payment.attempt?.prepared == nil,
      let other = made["payment_method"]?["payment_method_id"]?.text, other != token
    {
      return false
    }
    if let paid = payment.currency, made["currency"] != nil, Transactions.currency(made) != paid {
      return false
    }
    // A payment that was made elsewhere has the reference of its maker.
    guard payment.content["id"] == nil else { return true }
    return made.text("reference").map { $0.isEmpty || $0 == payment.reference.text } ?? true
  }
}

extension Fault {
  fileprivate static func unknownToken(_ id: String) -> Fault {
    Fault(
      .notFound,
      code: "token_not_found",
      "Pay Theory has no stored payment method \(id.quotedForMessage); nothing was sent",
      hint: "to store one: tender tokenize"
    )
  }

  fileprivate static func disabledToken(_ id: String) -> Fault {
    .conflict(
      "token_disabled",
      "the stored payment method \(id.quotedForMessage) is disabled; nothing was sent",
      "to store one: tender tokenize"
    )
  }

  fileprivate static func otherFee(_ fee: Money) -> Fault {
    .usage(
      "fee_differs",
      "Pay Theory's service fee for this payment is \(fee.text); nothing was sent",
      "leave --fee and --max-fee out, or pass --fee \(fee.decimalText)"
    )
  }

  /// The journal has the payment, so a look-up lags.
  fileprivate static func notShown(_ id: String?, _ payment: Payment) -> Fault {
    .unreadable("\((id ?? payment.reference.text).quotedForMessage) is not shown yet")
  }
}
