internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Action {
  static let journalResume = Command(
    .local(.changes),
    """
    journal resume: look at unknown operations, or finish them
    Asks the provider about each operation of a payment whose result is unknown, and records the
    answer. It sends nothing that can move money. With --all it asks about every payment with an
    unknown operation. It also looks up bank payments that wait for their payer.

    --finish ends an operation that stays unknown: it sends the request again under its key, or
    undoes it. On live it asks first, or needs --yes. A request without a key could move its
    amount twice: the command shows the amount, and asks or needs --yes on every env. With --all
    such requests are left out and listed.
    $ tender journal resume --all # look at everything that is unknown
    $ tender journal resume --all --finish # finish everything that has a key
    """,
    operands: [.init("REF", orID: true)],
    options: [Keys.finish, Keys.all] + Catalogue.simulation,
    exits: [
      .declined, .auth, .notFound, .conflict, .rejected, .unknown, .notSent, .providerError,
      .cancelled, .expired, .partial, .state, .refused, .device, .partPaid, .interrupted,
    ],
    meanings: ["all": "every payment with an unknown operation, and bank payments that wait"],
    // The journal has the address of the payment's reader. This command does not.
    bounds: .providers
  ).performed(by: JournalCommands.resume)

  static let journalResolve = Command(
    .local(.changes),
    """
    journal resolve: resolve an unknown operation by hand
    Ends an operation whose result the provider cannot tell any more. Take the result from its
    console, a statement or the payer. The reason goes into the history. failed means that it had no effect,
    and frees the reference or the refund's name; succeeded means that it happened. While the
    provider may still carry out the request, an end without effect exits 6 and names the time.
    Where a payment has several unknown operations, --operation names one by its number in tender
    journal show. Where two records have the id of one payment (id_shared), --as holder gives
    it to this record. The other record loses the id.

    --from-provider is for provider_differs: it looks the payment up, and records the provider's
    amount, id, currency and reference.

    Needs --yes or a typed yes; live payments need --env live too.
    $ tender journal resolve ORDER-1042 --as succeeded --reason console --yes # it was paid
    """,
    operands: [.init("REF", orID: true)],
    options: [
      Keys.outcome, Keys.fromProvider, Keys.operation, Keys.reason, Keys.all,
    ] + Catalogue.simulation,
    exits: [
      .auth, .notFound, .conflict, .rejected, .notSent, .providerError, .state, .refused,
      .unexpected, .unsupported, .interrupted,
    ],
    unoffered: ["as": ["restored"], "all": []],
    bounds: .providers
  ).performed(by: JournalCommands.resolve)

  static let journalAccept = Command(
    .local(.changes),
    """
    journal accept: accept a copied or restored journal
    Accepts a journal that is a copy, or was put back from an older state: from then on requests
    that can move money are sent again. Payments made since the copy may be missing in it: look
    them up at the provider first (tender find --online), because their references would be
    charged again. The reason goes into the history.

    Needs --yes or a typed yes.
    $ tender journal accept --reason checked --yes # continue with a copy
    """,
    options: [Keys.reason],
    exits: [.conflict, .state, .refused]
  ).performed(by: JournalCommands.accept)
}

/// Commands that end unknown operations: `journal resume` and `journal resolve`; and `journal accept`.
extension JournalCommands {
  // MARK: resume

  func resume() throws(Fault) -> Int32 {
    composition.signals.hold()
    if invocation.has(Keys.finish) { try composition.refuseReadOnly() }
    guard !invocation.has(Keys.all) else { return try resumeAll() }
    let (target, handle) = try composition.namedTarget()
    composition.subject.take(target)
    guard let found = target.payment else { throw try composition.unknown(handle) }
    try found.checkNewest(handle)
    let payment = try refund(in: found) ?? found
    composition.subject.reference = payment.reference.text
    let engine = try engine(of: payment)
    let resumed =
      invocation.has(Keys.finish) ? try finish(payment, engine) : try look(at: payment, engine)
    // The exit status is that of the payment's original command.
    let report = resumed.ended(acceptsPart: resumed.acceptedPart)
    composition.show(report)
    if report.payment?.state.isUnknown == true { return Fault.Kind.unknown.exitStatus }
    return report.fault?.exitStatus ?? 0
  }

  /// Returns the payment that version 0.2.0 recorded for an unknown refund of a sale; nil without one.
  private func refund(in sale: Payment) throws(Fault) -> Payment? {
    guard let reference = sale.unknowns.first?.ownReference else { return nil }
    return try composition.payment(reference, target(of: sale))
  }

  /// Looks at the unknown operations of a payment, and at a payer's flow, which can end at the bank.
  private func look(at payment: Payment, _ engine: Engine) throws(Fault) -> Report {
    let report = try engine.resume(payment, finish: false, resend: false)
    guard report.status == .requiresAction, engine.provider.traits.hasPayerFlow else {
      return report
    }
    return try engine.lookUp(payment.reference.text, known: report.payment, kind: payment.kind)
  }

  private func engine(of payment: Payment) throws(Fault) -> Engine {
    try composition.engine(try target(of: payment))
  }

  private func target(of payment: Payment) throws(Fault) -> Target {
    Target(module: try composition.module(payment.provider.text), env: payment.env)
  }

  /// Finishes the unknown operations of a payment.
  ///
  /// Operations that a key or a look-up can finish come first. Only then a person is asked about a request
  /// without a key, with its amount.
  private func finish(_ payment: Payment, _ engine: Engine) throws(Fault) -> Report {
    if payment.state.isUnknown {
      try composition.approve(payment.env, "finish what is unknown of \(payment.reference)")
      composition.signals.hold()
    }
    do throws(Fault) {
      return try engine.resume(payment, finish: true, resend: false)
    } catch {
      guard error.effect == .unknown, !error.kind.isStop else { throw error }
      let current = try composition.payment(payment.reference, target(of: payment)) ?? payment
      let repeated = resends(current, engine)
      guard !repeated.isEmpty else { throw error }
      let wait = repeated.map { engine.timeToResend($0) }.max() ?? 0
      guard wait == 0 else { throw error.early(current, composition.clock.now + wait) }
      let words = repeated.map { current.words(for: $0) }.joined(separator: " and the ")
      let risk = "the \(words) may happen twice"
      guard invocation.has(Keys.yes) || composition.terminal() != nil else {
        throw error.unconfirmed(current)
      }
      output.warn("\(error.message). If it is sent again, \(risk)")
      try composition.confirm(
        "send it again, so that \(risk)",
        "sending a request without a key again",
        code: "finish_not_confirmed"
      )
      composition.signals.hold()
      return try engine.resume(current, finish: true, resend: true)
    }
  }

  /// The unknown operations that only a request without a key can finish.
  private func resends(_ payment: Payment, _ engine: Engine) -> [Operation] {
    payment.unknowns.filter {
      engine.provider.traits.recovery($0, payment) == .byHand(canResend: true)
    }
  }

  private func resumeAll() throws(Fault) -> Int32 {
    guard invocation.operands.isEmpty else {
      throw .badOperand("--all and a reference exclude each other", hint: "give one of them")
    }
    try checkFolder()
    var filter = try filter()
    // A payer's flow can end at the bank without an answer here.
    filter.statuses = [.unknown, .requiresAction]
    let payments = try composition.journal().all(filter)
    let unknown = payments.filter(\.state.isUnknown)
    // A journal that lost entries can lack an unknown one.
    if unknown.isEmpty { try composition.journal().checkWhole() }
    if unknown.isEmpty { output.tell("no unknown operations in \(try composition.journalWords())") }
    let finishes = invocation.has(Keys.finish)
    if finishes, unknown.contains(where: { $0.env == .live }) {
      let count = unknown.count { $0.env == .live }
      try composition.approve(
        .live,
        "finish what is unknown of \(count) \(count == 1 ? "payment" : "payments")"
      )
      composition.signals.hold()
    }
    var hasFault = false
    var isAnyUnknown = false
    var left: [Payment] = []
    for payment in payments {
      composition.subject.reference = payment.reference.text
      do throws(Fault) {
        let engine = try engine(of: payment)
        // The refund has its own line.
        guard try refund(in: payment) == nil else { continue }
        let finishes = finishes && payment.state.isUnknown
        guard payment.state.isUnknown || engine.provider.traits.hasPayerFlow else { continue }
        if finishes, !resends(payment, engine).isEmpty { left.append(payment) }
        let report =
          finishes
          ? try engine.resume(payment, finish: true, resend: false) : try look(at: payment, engine)
        composition.show(report)
        if report.payment?.state.isUnknown == true { isAnyUnknown = true }
        // The look-up has resolved it.
        if left.last?.reference == payment.reference { left.removeLast() }
      } catch {
        if error.kind.isStop { throw error }
        output.show(records.record(error, RecordSubject(payment)))
        hasFault = true
        isAnyUnknown = isAnyUnknown || error.effect == .unknown
      }
    }
    list(left)
    // An unknown result counts before a failure.
    if isAnyUnknown { return Fault.Kind.unknown.exitStatus }
    return hasFault ? Fault.Kind.partial.exitStatus : 0
  }

  /// Lists the payments with a request without a key. Those are finished one by one.
  private func list(_ payments: [Payment]) {
    for payment in payments {
      let words = payment.unknowns.map { payment.words(for: $0) }.joined(separator: " and the ")
      let text =
        "left out, because it has no key and may happen twice: the \(words) of \(payment.reference)"
      output.warn(composition.text(text, payment.next(.finish)) ?? text)
    }
  }

  // MARK: resolve and accept

  func resolve() throws(Fault) -> Int32 {
    // This is the old form: `journal settle --all --as restored`.
    if invocation[Keys.outcome] == "restored" { return try accept() }
    let isFromProvider = invocation.has(Keys.fromProvider)
    if isFromProvider {
      try invocation.refuse([Keys.outcome, Keys.operation], with: Keys.fromProvider)
    }
    let status = invocation[Keys.outcome].flatMap(Status.init(rawValue:))
    let holds = invocation[Keys.outcome] == "holder"
    guard let reason = invocation[Keys.reason], !reason.isEmpty,
      isFromProvider || holds || status != nil
    else {
      throw .missingOption(
        "journal resolve needs --as or --from-provider, and --reason",
        hint:
          "the reason goes into the history, such as --as failed --reason \"seen in the console\""
      )
    }
    guard !invocation.has(Keys.all) else {
      throw .badOptions("--all cannot be used with journal resolve", hint: "name one reference")
    }
    try composition.refuseReadOnly()
    composition.signals.hold()
    let (target, handle) = try composition.namedTarget()
    composition.subject.take(target)
    guard let found = target.payment else { throw try composition.unknown(handle) }
    try found.checkNewest(handle)
    let chosen = try invocation.value(Keys.operation)
    let operation = chosen.flatMap { found[$0] } ?? found.unknowns.first
    let what = operation.map { "the " + found.words(for: $0) + " of " } ?? ""
    let question =
      status.map { "resolve \(what)\(handle) as \($0.rawValue)" }
      ?? (holds
        ? "make \(handle) the only record with its ids"
        : "accept the values of \(target.module.name.text) for \(handle)")
    if target.env == .live {
      try composition.approve(target.env, question)
    } else {
      try composition.confirm(question, "resolving by hand", code: "not_confirmed")
    }
    if isFromProvider {
      composition.show(try composition.engine(target).acceptProvider(found, reason: reason))
      return output.exit(0)
    }
    let journal = try composition.journal()
    let clock = try composition.clock(of: target.env)
    guard let status else {
      let held = try journal.hold(found, reason: reason, clock, composition.signals)
      output.show(records.entry(held, history: try journal.history(of: held)))
      return output.exit(0)
    }
    // The simulator has no late effects beyond those of its provider.
    let late = target.env == .simulator ? 0 : try composition.settings.lateWindow(target.env)
    let resolved = try journal.resolve(
      found,
      operation: chosen,
      as: status,
      reason: reason,
      lateWindow: max(late, target.module.traits.lateWindow),
      isWatched: target.module.traits.canLookUp,
      clock,
      composition.signals
    )
    output.show(records.entry(resolved, history: try journal.history(of: resolved)))
    return output.exit(0)
  }

  func accept() throws(Fault) -> Int32 {
    guard let reason = invocation[Keys.reason], !reason.isEmpty, invocation.operands.isEmpty else {
      throw .missingOption(
        "journal accept needs --reason, and no reference",
        hint: "the reason goes into the history: how the missing payments were looked up"
      )
    }
    try composition.refuseReadOnly()
    try checkExists()
    composition.signals.hold()
    try composition.confirm("accept this journal", "accepting a journal", code: "not_confirmed")
    try composition.journal().accept(reason: reason, at: composition.clock.now)
    output.tell("the journal is accepted: requests that can move money are sent again")
    return 0
  }
}

extension Fault {
  /// A result that stays unknown, because the repeated request was not confirmed.
  fileprivate func unconfirmed(_ payment: Payment) -> Fault {
    var fault = self
    fault.next = next.map { $0.step == .finish ? $0.confirmed : $0 }
    fault.next += payment.next(.resolve("--as STATUS"))
    return fault
  }

  /// A result that stays unknown, because the provider can still have the first request until a time.
  fileprivate func early(_ payment: Payment, _ time: Int) -> Fault {
    var fault = self
    fault.hint = "nothing was sent. It can be sent again from \(Timestamp.text(time)) on"
    fault.next += payment.next(.resolve("--as STATUS"))
    return fault
  }
}
