internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// `transact`, `tokenize`, `confirm`, `cancel`, `refund`.
struct WriteCommands {
  let composition: Composition

  var invocation: Invocation { composition.invocation }
  var output: Output { composition.output }

  /// Runs the command; gives its exit status.
  func run(_ subject: inout RecordSubject) throws(Fault) -> Int32 {
    subject.reference = invocation.text(Keys.reference) ?? invocation.operands.first
    let expectation = try Expectation(invocation)
    do throws(Fault) {
      return try work(expectation, &subject)
    } catch {
      return try composition.expected(error, expectation, subject)
    }
  }

  private func work(
    _ expectation: Expectation,
    _ subject: inout RecordSubject
  ) throws(Fault) -> Int32 {
    if case .changes(let change) = invocation.command.work {
      return try later(change, expectation, &subject)
    }
    return try make(expectation, &subject)
  }

  /// `transact` and `tokenize`.
  private func make(
    _ expectation: Expectation,
    _ subject: inout RecordSubject
  ) throws(Fault) -> Int32 {
    let target = try composition.target()
    subject.take(target)
    let wait = try WaitOptions(invocation, from: composition.clock.uptime)
    guard target.module.takes(invocation.command) else { throw .storesNothing(target.module.name) }
    try refuseReadOnly()
    try invocation.checkOptions(for: target.module.name)
    try invocation.checkStandardInput()
    let plan = try orderPlan(target)
    let reference = try reference(&subject, otherwise: plan.reference)
    let engine = try composition.engine(target, needing: plan.need)
    try WaitOptions.checkInterval(
      invocation,
      awaitsPayer: engine.provider.traits.hasPayerFlow
    )
    if plan.asksPayer || invocation.command.kind == .storedMethod {
      if wait != nil { try engine.provider.checkReady(for: .lookUp) }
      try engine.provider.checkReady(for: plan.need)
    }
    let order = try plan.order(reference)
    try invocation.checkRead(by: target.module.name)
    let request = TransactRequest(
      newAttempt: invocation.has(Keys.newAttempt),
      idempotencyKey: try idempotencyKey(),
      namesProvider: invocation.has(Keys.provider)
        && !invocation.inherited.contains(Keys.provider.option.name)
    )
    if invocation.has(Keys.dryRun) {
      // What was made before is not made again: then nothing like this would be sent.
      if let plan = try engine.plan(order, newAttempt: request.newAttempt) {
        let known = try composition.payment(reference, target)
        let sent = plan == .finish ? known?.attempt?.key : nil
        return show(["plan": .string(plan.rawValue)], key: sent, subject)
      }
      let key = try engine.nextKey(for: order, own: request.idempotencyKey)
      return show(try engine.preview(order), key: key, subject)
    }
    try engine.provider.check(order)
    try approve(target.env, order.question)
    announce(reference)
    composition.signals.hold()
    func run() throws(Fault) -> Report { try engine.transact(order, request) }
    var report = plan.takesTurns ? try composition.withReader(run) : try run()
    if let wait {
      report = try wait.apply(
        to: report,
        engine,
        composition,
        inWordsOfAttempt: plan.inWordsOfAttempt
      )
    }
    return finish(report, expectation)
  }

  /// What `transact` or `tokenize` is to do.
  ///
  /// Throws `unsupported` where the provider stores no payment methods.
  func orderPlan(_ target: Target) throws(Fault) -> OrderPlan {
    guard invocation.command.kind == .storedMethod else {
      return try target.module.plan(composition, target.env)
    }
    guard let plan = try target.module.tokenPlan(composition, target.env) else {
      throw .storesNothing(target.module.name)
    }
    return plan
  }

  /// `confirm`, `cancel` and `refund`.
  private func later(
    _ change: Command.Change,
    _ expectation: Expectation,
    _ subject: inout RecordSubject
  ) throws(Fault) -> Int32 {
    let wait = try WaitOptions(invocation, from: composition.clock.uptime)
    let handle = try invocation.handle()
    subject.reference = handle
    let target = try composition.target(of: handle)
    let payment = target.payment
    subject.take(target)
    subject.reference = payment?.reference.text ?? handle
    composition.reference = payment?.reference.text
    try refuseReadOnly()
    try invocation.checkOptions(for: target.module.name)
    try invocation.checkStandardInput()
    var plan = try target.module.laterPlan(composition, payment, change)
    if composition.isLine { try checkNamed(plan) }
    let engine = try composition.engine(target, needing: plan.need)
    try invocation.checkRead(by: target.module.name)
    try WaitOptions.checkInterval(
      invocation,
      awaitsPayer: engine.provider.traits.hasPayerFlow && change == .confirm
    )
    let key = try idempotencyKey()
    if invocation.has(Keys.dryRun) {
      return show(
        try engine.preview(plan, payment, handle),
        key: engine.key(for: plan, payment, own: key),
        subject
      )
    }
    // What would be refused is said before a question is asked.
    let isAnswered = try approveFurther(&plan, payment, handle, engine)
    if payment != nil || engine.provider.traits.hasPayerFlow {
      let question = engine.question(plan, invocation.command.name, payment, handle)
      try approve(target.env, question, isAnswered: isAnswered)
    }
    composition.signals.hold()
    var report = try perform(plan.action, payment, handle, engine, key)
    if let wait {
      report = try wait.apply(
        to: report,
        engine,
        composition,
        inWordsOfAttempt: plan.inWordsOfAttempt
      )
    }
    return finish(report, expectation)
  }

  /// Throws `usage` for a refund in a batch that has an amount and no name: a repeated line could not be told
  /// from a second refund.
  func checkNamed(_ plan: LaterPlan) throws(Fault) {
    guard let refund = plan.refund, refund.amount != nil, refund.name == nil else { return }
    throw .badOptions(
      "a refund in a batch with \"amount\" needs a \"refund_reference\"",
      hint: "add a name of your own, or leave \"amount\" out to refund what is left"
    )
  }

  /// Asks before a second refund by an amount without a name; gives whether a person has agreed to it.
  ///
  /// `--yes` does not answer this: the engine refuses it then (`refund_needs_name`). Throws what the refund would
  /// be refused for.
  private func approveFurther(
    _ plan: inout LaterPlan,
    _ payment: Payment?,
    _ handle: String,
    _ engine: Engine
  ) throws(Fault) -> Bool {
    guard var request = plan.refund else { return false }
    request.isFurtherApproved = true
    let isSent = try engine.plan(.refund(request), payment, handle: handle) == .refund
    guard isSent, let payment, let amount = request.amount, request.name == nil else {
      return false
    }
    let earlier = payment.unnamedRefunds
    guard !earlier.isEmpty, !invocation.has(Keys.yes), let terminal = composition.terminal() else {
      return false
    }
    let done = earlier.map(payment.text(of:))
    let total = payment.state.refunded + payment.state.refunding + amount.minorUnits
    let answer = try terminal.ask(
      "\(handle) already has a refund of \(done.joined(separator: " and of ")). Refund another "
        + "\(amount.text), \(payment.text(ofMinorUnits: total)) in total? Type yes: ",
      hidden: false,
      interruption: composition.signals
    )
    guard answer == "yes" else { throw .notConfirmed("refund_needs_name") }
    plan.action = .refund(request)
    return true
  }

  private func perform(
    _ action: Later,
    _ payment: Payment?,
    _ handle: String,
    _ engine: Engine,
    _ key: String?
  ) throws(Fault) -> Report {
    switch action {
    case .capture(let amount): try engine.confirm(payment, handle: handle, amount: amount)
    case .cancel: try engine.cancel(payment, handle: handle)
    case .refund(let request):
      try engine.refund(payment, handle: handle, request, idempotencyKey: key)
    }
  }

  /// A question with the payment's amount, or another one.
  static func priced(_ what: String, _ payment: Payment?, _ amount: Money? = nil) -> String {
    (amount ?? payment?.money).map { "\(what), \($0.text)" } ?? what
  }

  func finish(_ report: Report, _ expectation: Expectation) -> Int32 {
    if let warning = report.warning {
      output.warn("the result is known but the journal could not be written: \(warning.message)")
    }
    let (shown, exit) = expectation.judge(report, composition.records)
    composition.show(shown)
    return exit
  }

  func reference(
    _ subject: inout RecordSubject,
    otherwise known: String? = nil
  ) throws(Fault) -> Reference {
    let reference: Reference
    if let given = try invocation.value(Keys.reference) {
      reference = given
    } else if let known {
      reference = try Reference(known)
    } else {
      reference = try composition.newReference()
    }
    subject.reference = reference.text
    composition.reference = reference.text
    return reference
  }

  /// A reference that tender made is said before anything is sent: it is the only handle.
  func announce(_ reference: Reference) {
    if !invocation.has(Keys.reference) { output.tell("reference \(reference.text)") }
  }

  func idempotencyKey() throws(Fault) -> String? {
    try invocation.value(Keys.idempotencyKey)
  }

  func refuseReadOnly() throws(Fault) {
    if let profile = composition.settings.readOnlyProfile { throw .readOnly(profile) }
  }

  /// A live write needs its flag on this very command line, and a yes; `isAnswered` says that a person has typed
  /// one.
  func approve(_ env: Env, _ what: String, isAnswered: Bool = false) throws(Fault) {
    guard env == .live else { return }
    guard try invocation.value(Keys.env) == .live else {
      throw Fault(
        .refused,
        code: "live_not_named",
        "a live write needs --env live on the command line; configuration is not enough",
        hint: "add --env live"
      )
    }
    if isAnswered { return }
    try confirm("LIVE: \(what)", "a live write", code: "live_not_confirmed")
  }

  /// Asks for a typed yes, unless `--yes` says it.
  ///
  /// Throws `refused` with `code` where the answer is another, or there is no terminal to ask on.
  func confirm(_ question: String, _ what: String, code: String) throws(Fault) {
    if invocation.has(Keys.yes) { return }
    guard let terminal = composition.terminal() else {
      throw Fault(
        .refused,
        code: code,
        "\(what) needs --yes or a typed yes, and there is no terminal to ask on",
        hint: "add --yes"
      )
    }
    let answer = try terminal.ask(
      "\(question)? Type yes: ",
      hidden: false,
      interruption: composition.signals
    )
    guard answer == "yes" else { throw .notConfirmed(code) }
  }

  /// Shows a dry run, with the key that would be sent.
  private func show(_ request: JSONObject, key: String?, _ subject: RecordSubject) -> Int32 {
    var fields: JSONObject = [:]
    fields["provider"] = (subject.provider?.text).map(JSON.string)
    fields["env"] = subject.env.map { .string($0.rawValue) }
    fields["reference"] = subject.reference.map(JSON.string)
    fields["idempotency_key"] = key.map(JSON.string)
    fields["request"] = .object(request)
    output.show(composition.records.record(.request, fields))
    return 0
  }
}

extension Fault {
  /// A question that was answered with something else than yes.
  fileprivate static func notConfirmed(_ code: String) -> Fault {
    Fault(.refused, code: code, "not confirmed", hint: "nothing was sent or changed")
  }
}

extension Fault {
  /// A `tokenize` where the provider has nothing of the kind.
  fileprivate static func storesNothing(_ provider: ProviderName) -> Fault {
    Fault(
      .unsupported,
      code: "method_unsupported",
      "\(provider.text) stores no payment methods",
      hint: "see: tender providers"
    )
  }
}

extension Fault {
  /// A command that writes, under a profile that only reads.
  static func readOnly(_ profile: String) -> Fault {
    Fault(
      .refused,
      code: "read_only",
      "profile \(profile.quotedForMessage) is read-only",
      hint: "use another --profile for writes"
    )
  }
}
