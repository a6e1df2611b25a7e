internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem
internal import TrueLayer

/// `transact`, `confirm` and `cancel` where the payer authorizes at a bank.
extension WriteCommands {
  /// Makes or takes up a payment or mandate.
  func authorize(_ place: inout Place, _ env: Env, _ wait: WaitOptions?) throws(Fault) -> Int32 {
    try invocation.checkOptions(for: TrueLayerProvider.name.text)
    try invocation.checkStandardInput()
    let builder = BankOrderBuilder(invocation)
    let existing = try builder.existing()
    // What exists has a name already: its id.
    let reference =
      invocation["reference"] == nil && existing != nil
      ? try Reference(existing?.id ?? "") : try reference(&place)
    place.reference = reference.text
    composition.reference = reference.text
    let order = try builder.order(reference)
    let engine = try composition.engine(
      TrueLayerProvider.name.text,
      env,
      needing: existing == nil ? .creation : .authorization
    )
    if invocation.has("dry-run") {
      return try preview(engine, place, reference.text) { () throws(Fault) in
        try engine.preview(order)
      }
    }
    let key = try idempotencyKey()
    try approve(env, Self.question(order))
    announce(reference)
    composition.signals.hold()
    var report = try engine.transact(
      order,
      newAttempt: invocation.has("new-attempt"),
      idempotencyKey: key
    )
    if let wait {
      report = try wait.apply(to: report, engine, composition, purpose: .outcome)
    }
    return finish(report)
  }

  private static func question(_ order: AuthorizationOrder) -> String {
    if let id = order.existingID { return "go on with the \(order.kind) \(id)" }
    guard let amount = order.amount else { return "make the mandate \(order.reference.text)" }
    return "pay \(amount.decimalText) \(amount.currency.code) under reference "
      + order.reference.text
  }

  /// Takes up, cancels, revokes or refunds.
  func authorizeLater(
    _ place: Place,
    _ env: Env,
    _ attempt: Attempt?,
    _ handle: String,
    _ wait: WaitOptions?
  ) throws(Fault) -> Int32 {
    try invocation.checkStandardInput()
    let isConfirm = invocation.command.name == "confirm"
    let isRefund = invocation.has("refund")
    for name in ["amount", "amount-minor", "currency", "payment-reference", "refund-reference"]
    where invocation.has(name) && !isRefund {
      throw Fault(
        .usage,
        code: "bad_options",
        "--\(name) is for --refund",
        hint: "add --refund, or leave it out"
      )
    }
    let amount = try OrderBuilder(
      invocation: invocation,
      currency: attempt?.currency ?? "GBP"
    ).money("amount")
    if let amount, amount.minorUnits == 0 {
      throw Fault(.usage, code: "bad_amount", "nothing to refund", hint: "raise --amount")
    }
    let need: Need = isConfirm ? .authorization : .withdrawal
    let engine = try composition.engine(TrueLayerProvider.name.text, env, needing: need)
    let verb = isConfirm ? "confirm" : isRefund ? "refund" : "cancel"
    if invocation.has("dry-run") {
      return try preview(engine, place, attempt?.reference ?? handle) { () throws(Fault) in
        var request: JSONObject = ["plan": .string(verb)]
        request["id"] = attempt?.id.map(JSON.string)
        request["amount"] = amount.map { .integer($0.minorUnits) }
        return request
      }
    }
    let key = try idempotencyKey()
    try approve(env, Self.priced("\(verb) \(handle)", attempt, amount?.minorUnits))
    composition.signals.hold()
    var report: Report
    if isConfirm {
      report = try engine.proceed(attempt, handle: handle)
    } else if isRefund {
      report = try engine.refund(
        attempt,
        handle: handle,
        amount: amount?.minorUnits,
        statement: invocation["payment-reference"],
        name: try invocation["refund-reference"].map { text throws(Fault) in
          try Reference(text).text
        },
        newAttempt: invocation.has("new-attempt"),
        idempotencyKey: key
      )
    } else {
      report = try engine.withdraw(attempt, handle: handle)
    }
    if let wait {
      report = try wait.apply(
        to: report,
        engine,
        composition,
        purpose: isRefund ? .refund : .outcome
      )
    }
    return finish(report)
  }
}
