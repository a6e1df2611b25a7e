internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// A line of `batch --check`: all that can be checked without a request.
struct LineCheck {
  let composition: Composition

  private var invocation: Invocation { composition.invocation }

  /// Options, amounts, reference, profile and credentials of a line; the members of a `check` record.
  ///
  /// Throws what the line would end with.
  func run(_ subject: inout RecordSubject) throws(Fault) -> JSONObject {
    _ = try WaitOptions(invocation, from: composition.clock.uptime)
    _ = try Expectation(invocation)
    let target = try composition.target()
    subject.take(target)
    subject.reference = invocation.text(Keys.reference) ?? invocation.operands.first
    try invocation.checkOptions(for: target.module.name)
    let writes = WriteCommands(composition: composition)
    if invocation.command.work.writes { try writes.refuseReadOnly() }
    switch invocation.command.work {
    case .makes:
      let need = try writes.orderPlan(target).need
      try composition.engine(target, needing: need).provider.checkReady(for: need)
      // What it would send is put together; nothing leaves, and nothing is written.
      composition.output.collect = { _ in }
      _ = try writes.run(&subject)
    case .changes(let change):
      let plan = try target.module.laterPlan(composition, nil, change)
      try writes.checkNamed(plan)
      let engine = try composition.engine(target, needing: plan.need)
      try WaitOptions.checkInterval(
        invocation,
        awaitsPayer: engine.provider.traits.hasPayerFlow && change == .confirm
      )
      try engine.provider.checkReady(for: plan.need)
    case .looksUp:
      try composition.engine(target, needing: .lookUp).provider.checkReady(for: .lookUp)
    case .local: break
    }
    return [
      "name": .string(subject.reference ?? ""), "outcome": "ok",
      "detail": .string(
        "\(invocation.command.name) by \(target.module.name.text) on \(target.env.rawValue)"
      ),
    ]
  }
}

/// The payments that a check has read so far.
struct SeenPayments {
  /// By provider and reference: 32 bits of a hash of what was said, and the line.
  private var payments = NameTable()

  /// Takes a line in.
  ///
  /// Throws `conflict` where an earlier one gives its reference to another payment.
  mutating func add(_ line: BatchLine, _ number: Int) throws(Fault) {
    guard let payment = line.payment else { return }
    let text = UInt64(truncatingIfNeeded: payment.text.hashValue) >> 32
    guard let earlier = payments[payment.name] else {
      payments[payment.name] = text << 32 | UInt64(UInt32(clamping: number))
      return
    }
    guard earlier >> 32 != text else { return }
    throw Fault(
      .conflict,
      code: "reference_reused",
      "line \(earlier & 0xffff_ffff) gives \(line.reference.quotedForMessage) to another payment",
      hint: "a reference is charged once: choose another"
    )
  }
}
