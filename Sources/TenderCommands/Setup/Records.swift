internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel

extension RecordSubject {
  init(_ report: Report) {
    (provider, env, reference) = (report.provider, report.env, report.reference?.text)
  }

  init(_ payment: Payment) {
    (provider, env, reference) = (payment.provider, payment.env, payment.reference.text)
  }
}

/// Reports and faults as records. Their members have the order of `RecordSchema` (man/tender-jsonl.5).
struct Records {
  let command: String
  let now: Int
  /// The time of the simulated world in this process; nil if there is none.
  var worldNow: () -> Int? = { nil }
  var modules: [any ProviderModule] = []
  /// Writes a hint and the steps behind it.
  var writes: (String?, [Next]) -> String? = { Next.text($0, $1) }

  /// The record of a payment, mandate or stored method.
  func record(_ report: Report, verdict: Verdict? = nil) -> Record {
    var fields = members(of: report)
    add(verdict, to: &fields)
    fields.add("at", .string(Timestamp.text(now)))
    let kind: Record.Kind =
      switch report.kind {
      case .payment: .payment
      case .storedMethod: .token
      case .mandate: .mandate
      }
    return Record(kind, fields)
  }

  /// The members that records of payments and entries of the journal share.
  private func members(of report: Report) -> JSONObject {
    var fields: JSONObject = [
      "command": .string(command), "provider": .string(report.provider.text),
      "env": .string(report.env.rawValue), "reference": report.reference?.text.json,
      "original": original(of: report)?.text.json, "attempt": report.attemptNumber?.json,
      "operation": report.named.map { .string("\($0.kind.rawValue) \($0.number)") },
      "replayed": report.replayed?.json, "id": report.id?.json,
      "status": .string(report.status.rawValue), "provider_status": report.providerStatus?.json,
      "final": .bool(report.isFinal), "amount": report.amount?.json,
      "requested_amount": report.requestedAmount?.json,
    ]
    if let payment = report.payment, payment.kind == .payment {
      let state = payment.state
      fields.add("captured_amount", .integer(state.captured))
      for (name, amount) in [
        ("released_amount", state.isHeld ? 0 : state.released), ("voided_amount", state.reversed),
        ("refunded_amount", state.refunded), ("refunding_amount", state.refunding),
        ("returned_amount", state.returned),
      ] where amount > 0 { fields.add(name, .integer(amount)) }
      if let operation = report.operation, operation.isReversal, operation.parent == nil,
        state.isCaptured,
        operation.isUnknown || operation.hasEffect
      {
        fields.add("this_refund", .integer(operation.effectiveAmount))
      }
    }
    fields.add("currency", report.currency?.code.json)
    fields.add("next_action", report.nextAction?.json)
    fields.add("source", report.source?.json)
    fields.add("result", .object(inKeyOrder(report.result, report.provider)))
    if let fault = report.fault {
      let verdict = verdict(report)
      var shown = fault
      // Advice of an earlier attempt would be about the newest one.
      let isEarlier = report.payment?.isEarlier == true
      shown.hint = isEarlier ? nil : writes(verdict.errorHint, verdict.steps)
      if shown.effect == .none, report.isDone { shown.effect = .done }
      fields.add("error", error(shown, report.result, report.provider))
    }
    fields.add("explanation", explanation(of: report)?.json)
    if !report.details.members.isEmpty { fields.add("details", .object(report.details)) }
    fields.add("idempotency_key", report.idempotencyKey?.json)
    if let payment = report.payment {
      fields.add("operations", .array(payment.operations.map { .object(Self.object($0)) }))
    }
    fields.add("created_at", report.createdAt.map { .string(Timestamp.text($0)) })
    return fields
  }

  /// The reference of the payment that a report about a refund with the card belongs to.
  private func original(of report: Report) -> Reference? {
    report.payment?.original ?? report.operation?.ownReference.flatMap { _ in report.reference }
  }

  private static func object(_ operation: Operation) -> JSONObject {
    let status = operation.isUnknown ? Status.unknown.rawValue : operation.state.name.rawValue
    return [
      "kind": .string(operation.kind.rawValue), "number": .integer(operation.number),
      "name": operation.name?.json, "amount": (operation.approved ?? operation.amount)?.json,
      "status": .string(status), "id": operation.id?.json, "key": operation.key?.json,
      "at": .string(Timestamp.text(operation.createdAt)),
    ]
  }

  func record(
    _ fault: Fault,
    _ subject: RecordSubject = RecordSubject(),
    id: String? = nil,
    line: Int? = nil
  ) -> Record {
    var shown = fault
    shown.hint = writes(fault.hint, fault.next)
    let fields: JSONObject = [
      "command": .string(command), "provider": subject.provider?.text.json,
      "env": subject.env?.rawValue.json, "reference": subject.reference?.json,
      "id": id?.json, "result": fault.result.map { .object(inKeyOrder($0, subject.provider)) },
      "error": .object(shown.record), "line": line?.json,
      "at": .string(Timestamp.text(now)),
    ]
    return Record(.error, fields)
  }

  /// Returns the record of a payment in the journal, with its history if given. It begins with the operation
  /// that a handle names.
  func entry(
    _ whole: Payment,
    named handle: String? = nil,
    history: [HistoryEntry]? = nil,
    verdict: Verdict? = nil,
    isExport: Bool = false
  ) -> Record {
    let report = Report.recorded(whole, named: handle ?? whole.reference.text)
    var fields = members(of: report)
    fields["operations"] = .array(whole.operations.map { .object(Self.object($0)) })
    // It comes with the other times below.
    fields["created_at"] = nil
    fields.add("brand", report.brand?.json)
    fields.add("last_four", report.lastFour?.json)
    fields.add("created_at", .string(Timestamp.text(report.createdAt ?? whole.createdAt)))
    fields.add("updated_at", .string(Timestamp.text(whole.updatedAt)))
    fields.add("history", history.map { .array($0.map { .object(Self.object($0)) }) })
    if isExport { fields.add("stored", .object(PaymentRow.object(whole))) }
    add(verdict, to: &fields)
    fields.add("at", .string(Timestamp.text(now(in: whole.env))))
    return Record(.journalEntry, fields)
  }

  /// The time by which payments of an environment are told: those of the simulated world have its clock.
  func now(in env: Env) -> Int { env == .simulator ? worldNow() ?? now : now }

  private static func object(_ entry: HistoryEntry) -> JSONObject {
    [
      "at": .string(Timestamp.text(entry.at)),
      "operation": entry.operation.isEmpty ? nil : .string(entry.operation),
      "state": entry.state.isEmpty ? nil : .string(entry.state), "amount": entry.amount?.json,
      "status": .string(entry.status), "note": .string(entry.note), "by": entry.by?.json,
    ]
  }

  private func add(_ verdict: Verdict?, to fields: inout JSONObject) {
    guard let verdict else { return }
    fields.add("says", .string(verdict.words))
    fields.add("next", writes(verdict.hint, verdict.steps)?.json)
    fields.add("age", .integer(verdict.age))
  }

  /// Returns a provider's result in the order of its documents, in whatever order the journal has it.
  private func inKeyOrder(_ result: JSONObject, _ provider: ProviderName?) -> JSONObject {
    modules.first { $0.name == provider }?.inKeyOrder(result) ?? result
  }

  /// The record of one check, with its outcome: `ok`, `warn` or `fail`.
  func check(_ name: String, _ detail: String, outcome: String = "ok") -> Record {
    record(
      .check,
      ["name": .string(name), "outcome": .string(outcome), "detail": .string(detail)]
    )
  }

  /// A record of any other kind.
  func record(_ kind: Record.Kind, _ members: JSONObject) -> Record {
    var fields: JSONObject = ["command": .string(command)]
    for member in members.members { fields[member.key] = member.value }
    // An exchange has the time of its arrival.
    if fields["at"] == nil { fields["at"] = .string(Timestamp.text(now)) }
    return Record(kind, fields)
  }
}
