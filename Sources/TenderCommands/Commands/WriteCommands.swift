internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderModule
internal import TenderSystem
internal import TenderWire

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
    return invocation.command.kind == .token
      ? try tokenize(expectation, &subject) : try transact(expectation, &subject)
  }

  private func transact(
    _ expectation: Expectation,
    _ subject: inout RecordSubject
  ) throws(Fault) -> Int32 {
    let target = try composition.target()
    subject.take(target)
    let wait = try WaitOptions(invocation, from: composition.clock.uptime)
    try refuseReadOnly()
    try invocation.checkOptions(for: target.module.name)
    try invocation.checkStandardInput()
    let plan = try target.module.plan(composition, target.env)
    let reference = try reference(&subject, otherwise: plan.reference)
    let engine = try composition.engine(target, needing: plan.need)
    try WaitOptions.checkInterval(invocation, awaitsPayer: engine.isAuthorizedByPayer)
    if plan.asksPayer {
      if wait != nil { try engine.checkReady(for: .lookUp) }
      try engine.checkReady(for: plan.need)
    }
    let order = try plan.order(reference)
    try invocation.checkRead(by: target.module.name)
    if invocation.has(Keys.dryRun) {
      return try preview(engine, subject) { () throws(Fault) in
        // What was made before is not made again: then nothing like this would be sent.
        if let plan = try engine.plan(order, newAttempt: invocation.has(Keys.newAttempt)) {
          return ["plan": .string(plan.rawValue)]
        }
        return try engine.preview(order)
      }
    }
    try engine.check(order)
    let key = try idempotencyKey()
    try approve(target.env, order.question)
    announce(reference)
    composition.signals.hold()
    func run() throws(Fault) -> Report {
      try engine.transact(
        order,
        newAttempt: invocation.has(Keys.newAttempt),
        idempotencyKey: key
      )
    }
    var report = plan.takesTurns ? try composition.withReader(run) : try run()
    if let wait {
      report = try wait.apply(to: report, engine, composition, purpose: plan.purpose)
    }
    return finish(report, expectation)
  }

  private func tokenize(
    _ expectation: Expectation,
    _ subject: inout RecordSubject
  ) throws(Fault) -> Int32 {
    let target = try composition.target()
    subject.take(target)
    guard let plan = try target.module.tokenPlan(composition, target.env) else {
      throw Fault(
        .unsupported,
        code: "method_unsupported",
        "\(target.module.name.text) stores no payment methods",
        hint: "see: tender providers"
      )
    }
    try refuseReadOnly()
    let reference = try reference(&subject)
    let engine = try composition.engine(target, needing: plan.need)
    try engine.checkReady(for: plan.need)
    let order = try plan.order(reference)
    try invocation.checkRead(by: target.module.name)
    if invocation.has(Keys.dryRun) {
      return try preview(engine, subject) { () throws(Fault) in
        try engine.preview(order)
      }
    }
    try approve(target.env, "store a payment method under reference \(reference.text)")
    announce(reference)
    composition.signals.hold()
    let report = try engine.tokenize(
      order,
      newAttempt: invocation.has(Keys.newAttempt),
      idempotencyKey: try idempotencyKey()
    )
    return finish(report, expectation)
  }

  /// `confirm`, `cancel` and `refund`.
  private func later(
    _ change: Command.Change,
    _ expectation: Expectation,
    _ subject: inout RecordSubject
  ) throws(Fault) -> Int32 {
    let name = invocation.command.name
    let wait = try WaitOptions(invocation, from: composition.clock.uptime)
    let handle = try invocation.handle()
    subject.reference = handle
    let target = try composition.target(of: handle)
    let attempt = target.attempt
    subject.take(target)
    subject.reference = attempt?.reference.text ?? handle
    composition.reference = attempt?.reference.text
    try refuseReadOnly()
    try invocation.checkOptions(for: target.module.name)
    try invocation.checkStandardInput()
    let plan = try target.module.laterPlan(composition, attempt, change)
    let engine = try composition.engine(target, needing: plan.need)
    try invocation.checkRead(by: target.module.name)
    try WaitOptions.checkInterval(
      invocation,
      awaitsPayer: engine.isAuthorizedByPayer && change == .confirm
    )
    if invocation.has(Keys.dryRun) {
      return try preview(engine, subject) { () throws(Fault) in
        try engine.preview(
          plan,
          attempt,
          handle,
          newAttempt: invocation.has(Keys.newAttempt)
        )
      }
    }
    let key = try idempotencyKey()
    if let refund = plan.refund {
      // What would be refused is said before anybody is asked.
      let newAttempt = invocation.has(Keys.newAttempt)
      _ = try engine.planRefund(refund, of: attempt, handle: handle, newAttempt: newAttempt)
    }
    if attempt != nil || engine.isAuthorizedByPayer {
      try approve(target.env, engine.question(plan, name, attempt, handle))
    }
    composition.signals.hold()
    var report = try perform(plan.action, attempt, handle, engine, key)
    if plan.refund == nil, report.replayed == true, invocation.has(Keys.newAttempt) {
      throw Fault(
        .conflict,
        code: "attempt_stands",
        "\(handle.quotedForMessage) is \(report.status.rawValue): there is nothing left to \(name)",
        hint: "leave --new-attempt out to see the recorded result"
      )
    }
    if let wait {
      report = try wait.apply(to: report, engine, composition, purpose: plan.purpose)
    }
    return finish(report, expectation)
  }

  private func perform(
    _ action: LaterPlan.Action,
    _ attempt: Attempt?,
    _ handle: String,
    _ engine: Engine,
    _ key: String?
  ) throws(Fault) -> Report {
    switch action {
    case .confirm: try engine.confirm(attempt, handle: handle)
    case .cancel: try engine.cancel(attempt, handle: handle)
    case .refund(let refund):
      try engine.refund(
        attempt,
        handle: handle,
        refund,
        newAttempt: invocation.has(Keys.newAttempt),
        idempotencyKey: key
      )
    }
  }

  /// What is asked for and how much of it: whoever says yes says it to an amount.
  static func priced(_ what: String, _ attempt: Attempt?, _ amount: Money? = nil) -> String {
    (amount ?? attempt?.facts.money).map { "\(what), \($0.text)" } ?? what
  }

  func finish(_ report: Report, _ expectation: Expectation) -> Int32 {
    if let warning = report.warning {
      output.warn("the outcome is known but the journal could not be written: \(warning.message)")
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
    guard composition.settings.isReadOnly else { return }
    throw Fault(
      .refused,
      code: "read_only",
      "profile \((composition.settings.profileName ?? "").quotedForMessage) is read-only",
      hint: "use another --profile for writes"
    )
  }

  /// A live write needs its flag on this very command line, and a yes.
  func approve(_ env: Env, _ what: String) throws(Fault) {
    guard env == .live else { return }
    guard try invocation.value(Keys.env) == .live else {
      throw Fault(
        .refused,
        code: "live_not_named",
        "a live write needs --env live on the command line; configuration is not enough",
        hint: "add --env live"
      )
    }
    try confirm("LIVE: \(what)", "a live write", code: "live_not_confirmed")
  }

  /// Asks for a typed yes, unless `--yes` says it.
  ///
  /// Throws `refused` with `code` where nobody says it or can be asked.
  func confirm(_ question: String, _ what: String, code: String) throws(Fault) {
    if invocation.has(Keys.yes) { return }
    guard !composition.settings.asksNobody, let terminal = Terminal() else {
      throw Fault(
        .refused,
        code: code,
        "\(what) needs --yes or a typed yes, and there is nobody to ask",
        hint: "add --yes"
      )
    }
    let answer = try terminal.ask(
      "\(question)? Type yes: ",
      hidden: false,
      interruption: composition.signals
    )
    guard answer == "yes" else {
      throw Fault(.refused, code: code, "not confirmed", hint: "nothing was sent or changed")
    }
  }

  func preview(
    _ engine: Engine,
    _ subject: RecordSubject,
    _ request: () throws(Fault) -> JSONObject
  ) throws(Fault) -> Int32 {
    var fields: JSONObject = [:]
    fields["provider"] = (subject.provider?.text).map(JSON.string)
    fields["env"] = subject.env.map { .string($0.rawValue) }
    fields["reference"] = subject.reference.map(JSON.string)
    let operation: Attempt.Operation = invocation.command.kind == .token ? .tokenize : .transact
    if let key = try idempotencyKey() {
      fields["idempotency_key"] = .string(key)
    } else {
      fields["idempotency_key"] = .string(
        try engine.nextKey(operation, Reference(stored: subject.reference ?? ""))
      )
    }
    fields["request"] = .object(try request())
    output.show(composition.records.record(.request, fields))
    return 0
  }
}
