internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

extension Action {
  /// The options of every command that changes a payment by its reference.
  private static let sending: [any OptionKey] =
    [Keys.wait, Keys.interval, Keys.expect, Keys.events, Keys.dryRun, Keys.allFields]
    + Catalogue.simulation
  private static let onTheWay: [Fault.Kind] = [
    .auth, .conflict, .rejected, .unknown, .notSent, .providerError, .expired, .state, .refused,
    .unexpected, .unsupported, .interrupted, .terminated, .hungUp,
  ]

  static let transact = Command(
    .makes(.payment),
    """
    transact: take a payment
    Takes a payment by card, bank account (ACH), cash barcode or stored method, and prints its
    result. Each request is in the journal before it is sent.

    The same command with the same --reference never pays twice: it prints the recorded result, or
    first asks the provider about a request whose answer was lost. --new-attempt pays again after
    a decline. A payment that was captured and given back needs a new reference.
    """,
    options: [Keys.amount, Keys.currency, Keys.reference, Keys.newAttempt] + sending,
    exits: [.declined, .cancelled, .notFound, .device, .partPaid] + onTheWay
  ).performed(by: WriteCommands.run)

  static let confirm = Command(
    .changes(.confirm),
    """
    confirm: capture a held payment
    Captures a payment that transact --hold authorized, by its reference or the provider's id,
    from any process. A second confirm never charges twice: it prints the recorded result with
    "replayed": true.

    --amount captures a part and releases the rest, where the provider can do that. Exit 0 means
    that the hold, or the given part, is captured. --expect succeeded is not met where the hold is
    a part of the requested amount, unless --amount is given.
    $ tender confirm A2 # capture the hold A2
    $ tender confirm A2 --json # the same, as a JSON line
    """,
    operands: [.init("REF", orID: true)],
    options: [Keys.amount, Keys.currency] + sending,
    exits: [.declined, .cancelled, .notFound] + onTheWay
  ).performed(by: WriteCommands.run)

  static let cancel = Command(
    .changes(.cancel),
    """
    cancel: void a held payment, or reverse a captured one
    Releases a held payment: nothing is charged. After capture it reverses the payment: by a void
    while the payment is pending, by a refund afterwards. The record says which. A refund made
    elsewhere or a dispute stops it, as it stops tender refund.

    A refund cannot be stopped. Where a part was refunded, cancel without --amount sends nothing and
    exits 6 (refund_not_stopped): tender refund REF --rest refunds the rest.
    $ tender cancel A2 # void or reverse the payment A2
    $ tender cancel A2 --fields status,result.reversal --json # only what was done
    """,
    operands: [.init("REF", orID: true)],
    options: sending,
    exits: [.notFound, .declined] + onTheWay
  ).performed(by: WriteCommands.run)

  static let refund = Command(
    .changes(.refund),
    """
    refund: refund a payment, whole or in part
    Refunds a payment. A held payment is voided. A captured one is voided, refunded or reversed,
    as its provider can, and the record says which. Without --amount all that is left is refunded.
    --dry-run sends nothing. It shows what would happen by the journal alone: the provider may
    have refunded more.

    The same command again never refunds twice: it prints the recorded result with "replayed":
    true. A second, different --amount needs another --refund-reference, or a confirmation
    typed at a terminal. More than is left is never refunded. A refund made elsewhere or a dispute
    stops it (6): nothing is sent until a person accepts that. A refund cannot be stopped: tender
    cancel would reverse the rest too, and is refused (6).

    tender payment-status REF shows where a refund is: on its way, done, or returned.
    $ tender refund A2 # refund what is left of A2
    $ tender refund A2 --dry-run # show what would happen
    """,
    operands: [.init("REF", orID: true)],
    options: [Keys.amount, Keys.currency, Keys.rest] + sending,
    exits: [.notFound, .declined] + onTheWay
  ).performed(by: WriteCommands.run)

  static let tokenize = Command(
    .makes(.storedMethod),
    """
    tokenize: store a payment method
    Stores a card or bank account at the provider and prints its payment method id, which transact
    --token charges.
    """,
    options: [
      Keys.reference, Keys.newAttempt, Keys.expect, Keys.events, Keys.dryRun, Keys.allFields,
    ]
      + Catalogue.simulation,
    exits: onTheWay,
    unoffered: ["method": ["cash"]]
  ).performed(by: WriteCommands.run)
}

/// `transact`, `tokenize`, `confirm`, `cancel`, `refund`.
struct WriteCommands: CommandWork {
  let composition: Composition

  func run() throws(Fault) -> Int32 {
    composition.subject.reference = invocation.text(Keys.reference) ?? invocation.operands.first
    do throws(Fault) {
      return try expecting(work)
    } catch {
      throw asAnswer(error)
    }
  }

  /// Returns the fault of a confirm that finds no payment with the provider's documented answer.
  private func asAnswer(_ fault: Fault) -> Fault {
    guard case .changes(.confirm) = invocation.command.work, fault.kind == .notFound,
      let module = composition.catalogue.modules.first(where: {
        $0.name == composition.subject.provider
      })
    else { return fault }
    var answered = fault
    (answered.result, answered.cause) = (module.nothingHeld, .nothingHeld)
    return answered
  }

  private func work(_ expectation: Expectation) throws(Fault) -> Int32 {
    let wait = try WaitOptions(invocation, from: composition.clock.uptime)
    var (target, handle) = try target()
    let isKnown = target.payment != nil
    // An earlier line of the batch changes the payment before.
    if composition.check?.earlier != nil { target.payment = nil }
    let words = try order(target)
    let engine = try engine(target, words)
    var order = try engine.checked(
      words,
      on: target.payment,
      handle: handle,
      try options(words, engine, wait)
    )
    if let check = composition.check {
      guard try goesOn(check, order, isKnown: isKnown, engine) else { return 0 }
    }
    if invocation.has(Keys.dryRun) {
      // A check reports what the line would end with.
      if composition.check == nil { order.approveAmount() }
      let request = try engine.preview(order)
      // A check shows no request.
      return composition.check == nil ? show(request) : 0
    }
    try approveAmount(&order, engine)
    try approve(&order, target, engine)
    try tellBefore(words, engine)
    composition.signals.hold()
    var report = try execute(&order, engine, at: place(of: words, target, engine))
    if let wait {
      report = try wait.apply(
        to: report,
        engine,
        composition,
        inWordsOfAttempt: engine.provider.traits.hasPayerFlow && words.refundRequest == nil
      )
    }
    if ![.void, .refund].contains(words.kind) {
      // A confirm captures the held amount, and asks for no more.
      let acceptsPart = words.reference == nil || invocation.has(Keys.allowPartial)
      report = report.ended(acceptsPart: acceptsPart)
    }
    if report.replayed == true, case .makes = invocation.command.work {
      for option in invocation.given(among: target.module.unrecorded) {
        output.warn("--\(option.name) had no effect: the payment was made before")
      }
    }
    let (shown, exit) = judged(report, expectation)
    composition.show(shown)
    return exit
  }

  /// Returns the place of the command with its payment, and the typed handle.
  ///
  /// Throws faults that are independent of the order.
  private func target() throws(Fault) -> (target: Target, handle: String) {
    var (target, handle): (Target, String)
    if case .changes = invocation.command.work {
      (target, handle) = try composition.namedTarget()
      composition.subject.reference = target.payment?.reference.text ?? handle
      // The journal comes before environment and profile, which a person may not expect.
      if let payment = target.payment, let named = try composition.settings.provider(),
        named.text != payment.provider.text
      {
        output.tell(
          "\(handle.quotedForMessage) is a payment at \(payment.provider.text), not at \(named.text)"
        )
      }
    } else {
      (target, handle) = (try composition.target(), "")
    }
    composition.subject.take(target)
    try composition.refuseReadOnly()
    return (target, handle)
  }

  /// Returns the order of the command, from its options.
  ///
  /// Throws `usage`, and `unsupported` if the provider does not have such an order.
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
    let intent: Intent =
      if case .changes(let change) = invocation.command.work {
        .changes(change, target.payment)
      } else {
        .makes(invocation.command.kind ?? .payment, try composition.reference())
      }
    var order = try target.module.order(intent, composition, target.env)
    order.accept(
      refunds: Set(invocation.all(Keys.despiteRefund)),
      dispute: invocation.has(Keys.despiteDispute)
    )
    if let reference = order.reference { composition.subject.reference = reference.text }
    // A repeated line would look the same as a second refund.
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

  /// Whether the order waits for a payer's flow.
  private func awaitsPayer(_ words: Order, _ engine: Engine) -> Bool {
    engine.provider.traits.hasPayerFlow && words.kind != .void && words.kind != .refund
  }

  /// Returns the engine, and checks that no typed option is without effect.
  private func engine(_ target: Target, _ words: Order) throws(Fault) -> Engine {
    let engine = try composition.engine(target)
    try invocation.checkRead(by: target.module.name)
    try WaitOptions.checkInterval(invocation, awaitsPayer: awaitsPayer(words, engine))
    return engine
  }

  private func options(
    _ words: Order,
    _ engine: Engine,
    _ wait: WaitOptions?
  ) throws(Fault) -> Engine.Options {
    let key = try invocation.value(Keys.idempotencyKey)
    let isInherited = invocation.inherited.contains(Keys.provider.option.name)
    var options = Engine.Options()
    options.newAttempt = invocation.has(Keys.newAttempt)
    options.idempotencyKey = words.reference != nil || words.refundRequest != nil ? key : nil
    options.namesProvider = invocation.has(Keys.provider) && !isInherited
    options.isLookedUp = wait != nil
    options.looksFirst = looksFirst(words, engine)
    options.despitePayments = Set(invocation.all(Keys.despitePayment))
    options.maxAmounts = try composition.settings.maxAmounts()
    return options
  }

  /// Checks a line of a batch before the batch. Returns whether its request can be prepared: not if an earlier line
  /// makes or changes its payment.
  private func goesOn(
    _ check: Composition.Check,
    _ order: CheckedOrder,
    isKnown: Bool,
    _ engine: Engine
  ) throws(Fault) -> Bool {
    if let lack = order.lack { throw lack }
    // The request names a payment that the journal does not have yet.
    guard check.written.isEmpty else { return false }
    guard order.order.reference == nil else { return true }
    if case .makes = check.earlier { return false }
    guard isKnown || engine.provider.isID(order.handle) else { throw .unknownHandle(order.handle) }
    return order.payment != nil
  }

  /// Tells a person what has to be known before anything is sent.
  private func tellBefore(_ words: Order, _ engine: Engine) throws(Fault) {
    if invocation.command.kind == .payment { try noteOfOthers(engine) }
    if let reference = words.reference, !invocation.has(Keys.reference) {
      // A generated reference is the only handle.
      output.tell("reference \(reference.text)")
    }
  }

  /// The thing that only one line of a batch can use at a time: the reader, or the port for the payer's return.
  private func place(of words: Order, _ target: Target, _ engine: Engine) -> String? {
    if words.reference != nil, engine.provider.traits.isAtReader { return "reader" }
    return awaitsPayer(words, engine) ? composition.listener(of: target.module) : nil
  }

  private func judged(_ report: Report, _ expectation: Expectation) -> (Report, Int32) {
    let (shown, exit) = expectation.judge(report, records)
    // A later line may have changed the payment. This line ended as its own operation did.
    guard exit != 0, composition.shared.batch?.resumes == true, let then = report.then,
      expectation.judge(then, records).1 == 0
    else { return (shown, exit) }
    var own = report
    own.fault = nil
    return (own, 0)
  }

  /// Asks about an amount above `max_amount`, before any other question. A replay is not asked about.
  private func approveAmount(_ order: inout CheckedOrder, _ engine: Engine) throws(Fault) {
    guard !order.options.maxAmounts.isEmpty else { return }
    do throws(Fault) {
      _ = try engine.plan(order)
    } catch {
      // Any other refusal is thrown where it is decided.
      guard error.cause == .aboveLimit else { return }
      guard try accept(error, &order) else { throw error }
    }
  }

  /// Asks for the consent that only a person can give: to a second refund by an amount without a name, and to
  /// a live write.
  ///
  /// An order that would be refused is refused before the question. `--yes` does not answer the first one: the
  /// engine refuses it then (`refund_needs_name`).
  private func approve(
    _ order: inout CheckedOrder,
    _ target: Target,
    _ engine: Engine
  ) throws(Fault) {
    var isAnswered = false
    if let request = order.order.refundRequest {
      var further = order
      further.approveFurther()
      let isSent: Bool
      do throws(Fault) {
        isSent = try engine.plan(further).plan == .refund
      } catch {
        // The look of the command can lift what an earlier look showed.
        guard error.isObserved else { throw error }
        isSent = false
      }
      if isSent, let payment = order.payment, let amount = request.amount, request.name == nil,
        !payment.refundsByAmount.isEmpty, !invocation.has(Keys.yes),
        let terminal = composition.terminal()
      {
        let done = payment.refundsByAmount.map(payment.text(of:)).joined(separator: " and of ")
        let total = payment.state.refunded + payment.state.refunding + amount.minorUnits
        let answer = try terminal.ask(
          "\(order.handle) already has a refund of \(done). Refund another \(amount.text), "
            + "\(payment.text(ofMinorUnits: total)) in total? Type yes: ",
          hidden: false,
          interruption: composition.signals
        )
        guard answer == "yes" else { throw .notConfirmed("refund_needs_name") }
        (order, isAnswered) = (further, true)
      }
    }
    // An unknown handle is refused without a question if the provider cannot adopt it.
    let mayBeAdopted = engine.provider.isID(order.handle)
    guard order.order.reference != nil || order.payment != nil || mayBeAdopted else { return }
    try composition.approve(
      target.env,
      engine.question(order, invocation.command.name),
      isAnswered: isAnswered
    )
  }

  /// Executes an order. A person at a terminal can accept a refund that was made elsewhere, and a large amount.
  private func execute(
    _ order: inout CheckedOrder,
    _ engine: Engine,
    at place: String?
  ) throws(Fault) -> Report {
    while true {
      let checked = order
      do throws(Fault) {
        return try composition.inTurn(for: place) { () throws(Fault) in
          try engine.execute(checked)
        }
      } catch {
        guard try accept(error, &order) else { throw error }
        composition.signals.hold()
      }
    }
  }

  /// Asks about a refusal that a person can lift. `--yes` does not answer it. The fault `refunded_elsewhere` asks for
  /// each refund; its message has both sums.
  ///
  /// Returns false for another fault, or if no person can be asked. Throws `refused` for another answer.
  private func accept(_ fault: Fault, _ order: inout CheckedOrder) throws(Fault) -> Bool {
    guard !composition.isLine, let terminal = composition.terminal() else { return false }
    func ask(for word: String) throws(Fault) {
      let answer = try terminal.ask(
        Printable.text(
          "\(fault.message). To go on with this \(invocation.command.name), type \(word): "
        ),
        hidden: false,
        interruption: composition.signals
      )
      guard answer == word else { throw .notConfirmed(fault.code) }
    }
    switch fault.cause {
    case .aboveLimit:
      try ask(for: "yes")
      order.approveAmount()
      return true
    case .refundedElsewhere:
      let ids = (fault.result?["refunds"]?.array ?? []).map { $0["id"]?.text ?? "" }
      for id in ids { try ask(for: id.isEmpty ? "yes" : id) }
      order.approveRefundsElsewhere(Set(ids))
      return !ids.isEmpty
    default: return false
    }
  }

  /// Whether the provider is asked about the typed reference before its first charge.
  private func looksFirst(_ words: Order, _ engine: Engine) -> Bool {
    let isNamed = invocation.command.kind == .payment && invocation.has(Keys.reference)
    return (isNamed || words.kind == .capture)
      && engine.provider.traits.looksByReference
      && composition.goesOutside && composition.settings.looksFirst && engine.canLookUp
      // The simulator in the process is compared with another side, and asks for no reference.
      && composition.shapes == nil
  }

  /// A note at the first payment of a journal: its reference is charged again with another journal, where the
  /// provider cannot be asked.
  private func noteOfOthers(_ engine: Engine) throws(Fault) {
    let (name, traits) = (engine.provider.name.text, engine.provider.traits)
    let lack =
      if !traits.canLookUp {
        "\(name) has no look-up"
      } else if traits.looksByReference, composition.settings.looksFirst, !engine.canLookUp {
        "\(name) cannot be searched without its merchant credentials"
      } else { String?.none }
    // A shared journal is the one that all machines keep.
    guard let lack, composition.goesOutside, composition.settings.journal() == nil,
      try composition.journal().count(PaymentFilter(), upTo: 1) == 0
    else { return }
    output.tell(
      "\(lack): the same reference in another journal is charged again. Another journal is another "
        + "state folder, user or machine, or a container without a volume. Keep one journal"
    )
  }

  private func show(_ shown: (request: JSONObject, key: String?)) -> Int32 {
    let subject = composition.subject
    let fields: JSONObject = [
      "provider": subject.provider?.text.json, "env": subject.env.map { .string($0.rawValue) },
      "reference": subject.reference?.json, "idempotency_key": shown.key?.json,
      "request": .object(shown.request),
    ]
    output.show(records.record(.request, fields))
    return output.exit(0)
  }
}
