internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// `transact`, `tokenize`, `confirm`, `cancel`, `refund`.
struct WriteCommands {
  let composition: Composition
  /// Whether options and credentials are checked alone, for `batch --check`: an earlier line may make the payment.
  var isCheck = false

  var invocation: Invocation { composition.invocation }
  var output: Output { composition.output }

  /// Runs the command; gives its exit status.
  func run(_ subject: inout RecordSubject) throws(Fault) -> Int32 {
    subject.reference = invocation.text(Keys.reference) ?? invocation.operands.first
    let expectation = try Expectation(invocation)
    do throws(Fault) {
      return try work(expectation, &subject)
    } catch {
      subject.reference = composition.reference ?? subject.reference
      return try composition.expected(error, expectation, subject)
    }
  }

  private func work(
    _ expectation: Expectation,
    _ subject: inout RecordSubject
  ) throws(Fault) -> Int32 {
    let wait = try WaitOptions(invocation, from: composition.clock.uptime)
    let (target, handle) = try target(&subject)
    var order = try order(target)
    let engine = try composition.engine(target)
    try invocation.checkRead(by: target.module.name)
    let isPayersFlow = engine.provider.traits.hasPayerFlow
    try WaitOptions.checkInterval(
      invocation,
      awaitsPayer: isPayersFlow && order.kind != .void && order.kind != .refund
    )
    var options = Engine.Options()
    let key = try invocation.value(Keys.idempotencyKey)
    if order.reference != nil || order.refundRequest != nil { options.idempotencyKey = key }
    if order.reference != nil {
      options.newAttempt = invocation.has(Keys.newAttempt)
      options.namesProvider =
        invocation.has(Keys.provider) && !invocation.inherited.contains(Keys.provider.option.name)
    }
    if wait != nil { try engine.provider.checkReady(for: nil, of: target.payment) }
    if isCheck {
      try engine.provider.checkReady(for: order, of: nil)
      if order.reference == nil { return 0 }
    }
    if invocation.has(Keys.dryRun) {
      return show(try preview(order, target, handle, engine, options), subject)
    }
    try approveOrder(&order, target, handle, engine)
    if let reference = order.reference, !invocation.has(Keys.reference) {
      // A reference that tender made is said before anything is sent: it is the only handle.
      output.tell("reference \(reference.text)")
    }
    composition.signals.hold()
    func run() throws(Fault) -> Report {
      try engine.execute(order, on: target.payment, handle: handle, options)
    }
    let takesReader = order.reference != nil && engine.provider.traits.isAtReader
    var report = takesReader ? try composition.withReader(run) : try run()
    if let wait {
      report = try wait.apply(
        to: report,
        engine,
        composition,
        inWordsOfAttempt: isPayersFlow && order.refundRequest == nil
      )
    }
    if let warning = report.warning {
      output.warn("the result is known but the journal could not be written: \(warning.message)")
    }
    if ![.void, .refund].contains(order.kind) {
      // A confirm captures what is held: that is all that it asks for.
      let acceptsPart = order.reference == nil || invocation.has(Keys.allowPartial)
      report = report.ended(acceptsPart: acceptsPart)
    }
    let (shown, exit) = expectation.judge(report, composition.records)
    composition.show(shown)
    return exit
  }

  /// Where the command runs, with the payment that it is about, and that payment as it was typed.
  ///
  /// Throws for what is refused whatever the order is.
  private func target(
    _ subject: inout RecordSubject
  ) throws(Fault) -> (target: Target, handle: String) {
    var (target, handle): (Target, String)
    if case .changes = invocation.command.work {
      handle = try invocation.handle()
      subject.reference = handle
      target = isCheck ? try composition.target() : try composition.target(of: handle)
      composition.reference = target.payment?.reference.text
      subject.reference = composition.reference ?? handle
    } else {
      (target, handle) = (try composition.target(), "")
    }
    subject.take(target)
    try refuseReadOnly()
    try invocation.checkStandardInput()
    return (target, handle)
  }

  /// What the command asks for, as its options say.
  ///
  /// Throws `unsupported` where the provider has nothing of the kind, and `usage`.
  private func order(_ target: Target) throws(Fault) -> Order {
    let name = target.module.name
    if case .makes = invocation.command.work, !target.module.takes(invocation.command) {
      throw Fault(
        .unsupported,
        code: "method_unsupported",
        "\(name.text) stores no payment methods",
        hint: "see: tender providers"
      )
    }
    try invocation.checkOptions(for: name)
    let order = try target.module.order(composition, target.env, on: target.payment)
    // A repeated line could not be told from a second refund.
    if composition.isLine, let refund = order.refundRequest, refund.amount != nil,
      refund.name == nil
    {
      throw .badOptions(
        "a refund in a batch with \"amount\" needs a \"refund_reference\"",
        hint: "add a name of your own, or leave \"amount\" out to refund what is left"
      )
    }
    return order
  }

  /// What a dry run shows, with the key that would be sent.
  private func preview(
    _ order: Order,
    _ target: Target,
    _ handle: String,
    _ engine: Engine,
    _ options: Engine.Options
  ) throws(Fault) -> (request: JSONObject, key: String?) {
    let own = options.idempotencyKey
    let key = try engine.nextKey(for: order, of: target.payment, own: own)
    guard let reference = order.reference else {
      return (try engine.preview(order, target.payment, handle), key)
    }
    // What was made before is not made again: then nothing like this would be sent.
    if let plan = try engine.plan(order, options) {
      let known = try composition.payment(reference, target)
      return (["plan": .string(plan.rawValue)], plan == .finish ? known?.attempt?.key : nil)
    }
    return (try engine.preview(order), key)
  }

  /// Asks for what only a person can agree to.
  ///
  /// What would be refused is said before.
  private func approveOrder(
    _ order: inout Order,
    _ target: Target,
    _ handle: String,
    _ engine: Engine
  ) throws(Fault) {
    let isAnswered = try approveFurther(&order, target.payment, handle, engine)
    // A handle that nobody knows, of a provider that cannot adopt it, is refused without a question.
    guard order.reference != nil || target.payment != nil || engine.provider.traits.hasPayerFlow
    else { return }
    if order.reference != nil { try engine.provider.check(order) }
    let question = engine.question(order, invocation.command.name, target.payment, handle)
    try approve(target.env, question, isAnswered: isAnswered)
  }

  /// Asks before a second refund by an amount without a name; gives whether a person has agreed to it.
  ///
  /// `--yes` does not answer this: the engine refuses it then (`refund_needs_name`). Throws what the refund would
  /// be refused for.
  private func approveFurther(
    _ order: inout Order,
    _ payment: Payment?,
    _ handle: String,
    _ engine: Engine
  ) throws(Fault) -> Bool {
    guard var request = order.refundRequest else { return false }
    request.isFurtherApproved = true
    let isSent = try engine.plan(.refund(request), on: payment, handle: handle) == .refund
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
    order = .refund(request)
    return true
  }

  func refuseReadOnly() throws(Fault) {
    // A dry run writes nothing; the check of a batch's line says what the line itself would end in.
    if invocation.has(Keys.dryRun), !composition.isLine { return }
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

  private func show(
    _ shown: (request: JSONObject, key: String?),
    _ subject: RecordSubject
  ) -> Int32 {
    var fields: JSONObject = [:]
    fields["provider"] = (subject.provider?.text).map(JSON.string)
    fields["env"] = subject.env.map { .string($0.rawValue) }
    fields["reference"] = (composition.reference ?? subject.reference).map(JSON.string)
    fields["idempotency_key"] = shown.key.map(JSON.string)
    fields["request"] = .object(shown.request)
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
