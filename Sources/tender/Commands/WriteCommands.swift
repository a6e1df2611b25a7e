internal import PayTheory
internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem
internal import TenderWire
internal import Toro
internal import TrueLayer

/// `transact`, `confirm`, `cancel`, `tokenize`.
struct WriteCommands {
  let composition: Composition

  var invocation: Invocation { composition.invocation }
  var output: Output { composition.output }

  /// Who was asked, for the record of a fault that comes later.
  struct Place {
    var provider: String?
    var env: Env?
    var reference: String?
  }

  /// Runs the command; gives its exit status.
  func run(_ place: inout Place) throws(Fault) -> Int32 {
    switch invocation.command.name {
    case "transact": try transact(&place)
    case "tokenize": try tokenize(&place)
    default: try later(&place)
    }
  }

  private func transact(_ place: inout Place) throws(Fault) -> Int32 {
    let (provider, env) = try composition.target()
    place.provider = provider
    place.env = env
    place.reference = invocation["reference"]
    let wait = try WaitOptions(invocation)
    try Expectation.check(invocation)
    try refuseReadOnly()
    if provider == TrueLayerProvider.name.text { return try authorize(&place, env, wait) }
    if provider == ToroProvider.name.text { return try sell(&place, env, wait) }
    let builder = OrderBuilder(invocation: invocation, currency: "USD")
    let amount = try builder.amount()
    let byStoredMethod = invocation.has("token")
    let reference = try reference(&place)
    let engine = try composition.engine(
      provider,
      env,
      needing: .payment(byStoredMethod: byStoredMethod)
    )
    if wait != nil { try engine.checkReady(for: .lookUp) }
    try engine.checkReady(for: .payment(byStoredMethod: byStoredMethod))
    let instrument = try instrument(env, tokenizing: false)
    let order = try builder.payment(reference, instrument: instrument)
    if invocation.has("dry-run") {
      return try preview(engine, place, reference.text) { () throws(Fault) in
        try engine.preview(order)
      }
    }
    try engine.check(order)
    let idempotencyKey = try idempotencyKey()
    try approve(
      env,
      "charge \(amount.decimalText) \(amount.currency.code) under reference \(reference.text)"
    )
    announce(reference)
    composition.signals.hold()
    var report = try engine.transact(
      order,
      newAttempt: invocation.has("new-attempt"),
      idempotencyKey: idempotencyKey
    )
    if let wait { report = try wait.apply(to: report, engine, composition) }
    return finish(report)
  }

  private func tokenize(_ place: inout Place) throws(Fault) -> Int32 {
    let (provider, env) = try composition.target()
    place.provider = provider
    place.env = env
    place.reference = invocation["reference"]
    try Expectation.check(invocation)
    guard provider == PayTheoryProvider.name.text else {
      throw Fault(
        .unsupported,
        code: "method_unsupported",
        "\(provider) stores no payment methods",
        hint: "see: tender providers"
      )
    }
    try refuseReadOnly()
    let reference = try reference(&place)
    let engine = try composition.engine(
      provider,
      env,
      needing: .payment(byStoredMethod: false)
    )
    try engine.checkReady(for: .payment(byStoredMethod: false))
    if invocation["method"] == "cash" { throw .cashToken }
    guard let instrument = try instrument(env, tokenizing: true) else { throw .cashToken }
    if case .cash = instrument { throw .cashToken }
    let order = try OrderBuilder(invocation: invocation, currency: "USD")
      .token(reference, instrument: instrument)
    if invocation.has("dry-run") {
      return try preview(engine, place, reference.text) { () throws(Fault) in
        ["action": "host:tokenize", "method": .string(instrument.method)]
      }
    }
    try approve(env, "store a payment method under reference \(reference.text)")
    announce(reference)
    composition.signals.hold()
    let report = try engine.tokenize(
      order,
      newAttempt: invocation.has("new-attempt"),
      idempotencyKey: try idempotencyKey()
    )
    return finish(report)
  }

  /// `confirm` and `cancel`.
  private func later(_ place: inout Place) throws(Fault) -> Int32 {
    let name = invocation.command.name
    let wait = try WaitOptions(invocation)
    try Expectation.check(invocation)
    let handle = try invocation.handle()
    place.reference = handle
    let (provider, env, attempt) = try composition.target(of: handle)
    place.provider = provider
    place.env = env
    place.reference = attempt?.reference ?? handle
    composition.reference = attempt?.reference
    try refuseReadOnly()
    if provider == TrueLayerProvider.name.text {
      return try authorizeLater(place, env, attempt, handle, wait)
    }
    let part = try Part(invocation, provider, attempt)
    let isReversal = name == "cancel" && attempt?.isCaptured == true
    let engine = try composition.engine(
      provider,
      env,
      needing: isReversal ? .reversal : .heldPayment
    )
    if invocation.has("dry-run") {
      return try preview(engine, place, attempt?.reference ?? handle) { () throws(Fault) in
        let plan =
          part != nil
          ? try engine.planPart(attempt, handle: handle)
          : name == "confirm"
            ? try engine.planConfirm(attempt, handle: handle)
            : try engine.planCancel(attempt, handle: handle)
        var request: JSONObject = ["plan": .string(plan.rawValue)]
        request["id"] = attempt?.id.map(JSON.string)
        request["amount"] = (part?.amount ?? attempt?.amount).map(JSON.integer)
        return request
      }
    }
    if let attempt {
      try approve(env, Self.priced("\(name) \(handle)", attempt, part?.amount))
    }
    composition.signals.hold()
    var report: Report
    if let part {
      report = try engine.refund(
        attempt,
        handle: handle,
        amount: part.amount,
        statement: nil,
        name: part.name,
        newAttempt: invocation.has("new-attempt"),
        idempotencyKey: nil
      )
    } else {
      report =
        name == "confirm"
        ? try engine.confirm(attempt, handle: handle)
        : try engine.cancel(attempt, handle: handle)
    }
    if part == nil, report.replayed == true, invocation.has("new-attempt") {
      throw Fault(
        .conflict,
        code: "attempt_stands",
        "\(handle.quotedForMessage) is \(report.status.rawValue): there is nothing left to \(name)",
        hint: "leave --new-attempt out to see the recorded result"
      )
    }
    if let wait { report = try wait.apply(to: report, engine, composition) }
    return finish(report)
  }

  /// What is asked for and how much of it: whoever says yes says it to an amount.
  static func priced(_ what: String, _ attempt: Attempt?, _ amount: Int? = nil) -> String {
    guard let minor = amount ?? attempt?.amount,
      let currency = attempt?.currency.flatMap(Currency.init(code:))
    else { return what }
    return what + ", \(Money(minorUnits: minor, currency: currency).decimalText) \(currency.code)"
  }

  func finish(_ report: Report) -> Int32 {
    if let warning = report.warning {
      output.warn("the outcome is known but the journal could not be written: \(warning.message)")
    }
    let (shown, exit) = Expectation.judge(report, invocation)
    output.show(composition.records.record(shown))
    return exit
  }

  func reference(_ place: inout Place) throws(Fault) -> Reference {
    let text: String
    if let given = invocation["reference"] {
      text = given
    } else {
      text = try composition.newReference()
    }
    let reference = try Reference(text)
    place.reference = text
    composition.reference = text
    return reference
  }

  /// A reference that tender made is said before anything is sent: it is the only handle.
  func announce(_ reference: Reference) {
    if !invocation.has("reference") { output.tell("reference \(reference.text)") }
  }

  func idempotencyKey() throws(Fault) -> String? {
    guard let key = invocation["idempotency-key"] else { return nil }
    guard key.utf8.count <= 100, key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw .badValue("--idempotency-key", key, hint: "1 to 100 visible ASCII characters")
    }
    return key
  }

  private func instrument(_ env: Env, tokenizing: Bool) throws(Fault) -> Instrument? {
    let reader = InstrumentReader(
      invocation: invocation,
      redactor: composition.redactor,
      env: env,
      asksNobody: composition.settings.asksNobody,
      interruption: composition.signals,
      now: composition.clock.now,
      given: composition.instrument
    )
    do throws(Fault) {
      return try reader.read()
    } catch {
      var fault = error
      if ["no_fields", "no_instrument"].contains(fault.code) {
        fault.result = PayTheoryProvider.noFields(tokenizing: tokenizing)
      }
      throw fault
    }
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
    guard invocation["env"] == "live" else {
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
    if invocation.has("yes") { return }
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
    _ place: Place,
    _ reference: String,
    _ request: () throws(Fault) -> JSONObject
  ) throws(Fault) -> Int32 {
    var fields: JSONObject = [:]
    fields["provider"] = place.provider.map(JSON.string)
    fields["env"] = place.env.map { .string($0.rawValue) }
    fields["reference"] = .string(reference)
    let operation: Attempt.Operation = invocation.command.name == "tokenize" ? .tokenize : .transact
    if let key = try idempotencyKey() {
      fields["idempotency_key"] = .string(key)
    } else {
      fields["idempotency_key"] = .string(try engine.nextKey(operation, reference))
    }
    fields["request"] = .object(try request())
    output.show(composition.records.record(.request, fields))
    return 0
  }
}

/// `--wait` and `--interval`, in milliseconds.
struct WaitOptions {
  private let limit: Int
  private let interval: Int

  /// Nil without `--wait`.
  ///
  /// Throws `usage` for a length of time that is none.
  init?(_ invocation: Invocation) throws(Fault) {
    let interval = try invocation["interval"].map { text throws(Fault) in
      try TimeText.milliseconds(text, option: "--interval")
    }
    guard invocation.has("wait") else { return nil }
    limit = try TimeText.milliseconds(invocation["wait"] ?? "5m", option: "--wait")
    self.interval = interval ?? 2000
  }

  /// Waits for the final state of what a report says.
  func apply(
    to report: Report,
    _ engine: Engine,
    _ composition: Composition,
    purpose: LookUp.Purpose = .status
  ) throws(Fault) -> Report {
    guard report.fault == nil else { return report }
    return try engine.wait(
      for: report,
      upTo: limit,
      every: interval,
      purpose: purpose
    ) { changed in
      composition.announce(engine.state(of: changed), changed.provider.text, changed.env)
    }
  }
}

/// `--expect`: which statuses make the exit 0.
enum Expectation {
  private static func wanted(_ invocation: Invocation) -> [String]? {
    invocation["expect"]?.split(separator: ",").map(String.init)
  }

  /// Throws `usage` for a word that is no status.
  static func check(_ invocation: Invocation) throws(Fault) {
    let names = Status.allCases.map(\.rawValue)
    for name in wanted(invocation) ?? [] where !names.contains(name) {
      let nearest = Suggestion.nearest(to: name, among: names)
      throw .badValue(
        "--expect",
        name,
        hint: nearest.map { "did you mean \($0)?" } ?? "one of \(names.joined(separator: ", "))"
      )
    }
  }

  /// The report to show and the exit status: 0 on a match, 18 on another status.
  static func judge(_ report: Report, _ invocation: Invocation) -> (Report, Int32) {
    guard let wanted = wanted(invocation) else { return (report, report.fault?.exitStatus ?? 0) }
    if wanted.contains(report.status.rawValue) { return (report, 0) }
    var shown = report
    shown.fault = Fault(
      .unexpected,
      code: "unexpected_status",
      "the status is \(report.status.rawValue), and \(wanted.joined(separator: " or ")) was expected",
      hint: report.fault?.message
    )
    return (shown, Fault.Kind.unexpected.exitStatus)
  }
}
