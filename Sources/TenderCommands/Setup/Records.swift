internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel

extension RecordSubject {
  init(_ report: Report) {
    self.init(provider: report.provider, env: report.env, reference: report.reference?.text)
  }

  init(_ payment: Payment, isListed: Bool = false) {
    self.init(
      provider: payment.provider,
      env: payment.env,
      reference: payment.reference.text,
      isListed: isListed
    )
  }
}

/// Reports and faults as records. Their members have the order of `RecordSchema` (man/tender-jsonl.5).
struct Records {
  let command: String
  let now: Int
  var modules: [any ProviderModule] = []
  /// Completes the commands in a hint about a subject.
  var completes: (String, RecordSubject) -> String = { text, _ in text }

  /// The record of a payment, mandate or stored method.
  func record(_ report: Report, verdict: Verdict? = nil) -> Record {
    var fields = members(of: report, RecordSubject(report))
    add(verdict, RecordSubject(report), to: &fields)
    fields["at"] = .string(Timestamp.text(now))
    let kind: Record.Kind =
      switch report.kind {
      case .payment: .payment
      case .storedMethod: .token
      case .mandate: .mandate
      }
    return Record(kind, fields)
  }

  /// The members that records of payments and entries of the journal share.
  private func members(of report: Report, _ subject: RecordSubject) -> JSONObject {
    var fields: JSONObject = [
      "command": .string(command), "provider": .string(report.provider.text),
      "env": .string(report.env.rawValue),
    ]
    fields["reference"] = (report.reference?.text).map(JSON.string)
    fields["original"] = (report.payment?.original?.text).map(JSON.string)
    fields["attempt"] = report.attemptNumber.map(JSON.integer)
    fields["replayed"] = report.replayed.map(JSON.bool)
    fields["id"] = report.id.map(JSON.string)
    fields["status"] = .string(report.status.rawValue)
    fields["provider_status"] = report.providerStatus.map(JSON.string)
    fields["final"] = .bool(report.isFinal)
    fields["amount"] = report.amount.map(JSON.integer)
    fields["requested_amount"] = report.requestedAmount.map(JSON.integer)
    if let payment = report.payment, payment.kind == .payment {
      let state = payment.state
      fields["captured_amount"] = .integer(state.captured)
      for (name, amount) in [
        ("released_amount", state.isHeld ? 0 : state.released), ("voided_amount", state.reversed),
        ("refunded_amount", state.refunded), ("refunding_amount", state.refunding),
        ("returned_amount", state.returned),
      ] where amount > 0 { fields[name] = .integer(amount) }
      if let operation = report.operation, operation.isReversal, state.isCaptured,
        operation.isUnknown || operation.hasEffect
      {
        fields["this_refund"] = .integer(operation.effectiveAmount)
      }
    }
    fields["currency"] = (report.currency?.code).map(JSON.string)
    fields["next_action"] = report.nextAction?.json
    fields["source"] = report.source.map(JSON.string)
    fields["result"] = .object(inKeyOrder(report.result, report.provider))
    fields["error"] = report.fault.map { fault in
      var shown = completed(fault, subject)
      if shown.effect == .none, report.isDone { shown.effect = .done }
      return error(shown, report.result, report.provider)
    }
    fields["explanation"] = explanation(of: report).map(JSON.string)
    if !report.details.members.isEmpty { fields["details"] = .object(report.details) }
    fields["idempotency_key"] = report.idempotencyKey.map(JSON.string)
    if let payment = report.payment {
      fields["operations"] = .array(payment.operations.map { .object(Self.object($0)) })
    }
    fields["created_at"] = report.createdAt.map { .string(Timestamp.text($0)) }
    return fields
  }

  /// An entry of `operations`.
  private static func object(_ operation: Operation) -> JSONObject {
    var fields: JSONObject = [
      "kind": .string(operation.kind.rawValue), "number": .integer(operation.number),
    ]
    fields["name"] = operation.name.map(JSON.string)
    fields["amount"] = (operation.approved ?? operation.amount).map(JSON.integer)
    fields["status"] = .string(
      operation.isUnknown ? Status.unknown.rawValue : operation.state.name.rawValue
    )
    fields["id"] = operation.id.map(JSON.string)
    fields["key"] = operation.key.map(JSON.string)
    fields["at"] = .string(Timestamp.text(operation.createdAt))
    return fields
  }

  private func completed(_ fault: Fault, _ subject: RecordSubject) -> Fault {
    var fault = fault
    fault.hint = fault.hint.map { completes($0, subject) }
    return fault
  }

  func record(
    _ fault: Fault,
    _ subject: RecordSubject = RecordSubject(),
    id: String? = nil,
    line: Int? = nil
  ) -> Record {
    var fields: JSONObject = ["command": .string(command)]
    fields["provider"] = (subject.provider?.text).map(JSON.string)
    fields["env"] = subject.env.map { .string($0.rawValue) }
    fields["reference"] = subject.reference.map(JSON.string)
    fields["id"] = id.map(JSON.string)
    fields["result"] = fault.result.map { .object(inKeyOrder($0, subject.provider)) }
    fields["error"] = .object(completed(fault, subject).record)
    fields["line"] = line.map(JSON.integer)
    fields["at"] = .string(Timestamp.text(now))
    return Record(.error, fields)
  }

  /// Returns the record of a payment in the journal, with its history if given.
  func entry(
    _ payment: Payment,
    history: [HistoryEntry]? = nil,
    verdict: Verdict? = nil,
    isExport: Bool = false
  ) -> Record {
    let subject = RecordSubject(payment, isListed: history == nil)
    var fields = members(of: .recorded(payment), subject)
    // It comes with the other times below.
    fields["created_at"] = nil
    fields["brand"] = payment.brand.map(JSON.string)
    fields["last_four"] = payment.lastFour.map(JSON.string)
    fields["created_at"] = .string(Timestamp.text(payment.createdAt))
    fields["updated_at"] = .string(Timestamp.text(payment.updatedAt))
    if let history { fields["history"] = .array(history.map { .object(Self.object($0)) }) }
    if isExport { fields["stored"] = .object(PaymentRow.object(payment)) }
    add(verdict, subject, to: &fields)
    fields["at"] = .string(Timestamp.text(now))
    return Record(.journalEntry, fields)
  }

  /// An entry of `history`.
  private static func object(_ entry: HistoryEntry) -> JSONObject {
    var fields: JSONObject = ["at": .string(Timestamp.text(entry.at))]
    if !entry.operation.isEmpty { fields["operation"] = .string(entry.operation) }
    if !entry.state.isEmpty { fields["state"] = .string(entry.state) }
    fields["amount"] = entry.amount.map(JSON.integer)
    fields["status"] = .string(entry.status)
    fields["note"] = .string(entry.note)
    fields["by"] = entry.by.map(JSON.string)
    return fields
  }

  private func add(_ verdict: Verdict?, _ subject: RecordSubject, to fields: inout JSONObject) {
    guard let verdict else { return }
    fields["says"] = .string(verdict.words)
    fields["next"] = verdict.next.map { .string(completes($0, subject)) }
    fields["age"] = .integer(verdict.age)
  }

  /// Returns a provider's result in the order of its documents, in whatever order the journal has it.
  private func inKeyOrder(_ result: JSONObject, _ provider: ProviderName?) -> JSONObject {
    modules.first { $0.name == provider }?.inKeyOrder(result) ?? result
  }

  /// A record of any other kind.
  func record(_ kind: Record.Kind, _ members: JSONObject) -> Record {
    var fields: JSONObject = ["command": .string(command)]
    for member in members.members { fields[member.key] = member.value }
    fields["at"] = .string(Timestamp.text(now))
    return Record(kind, fields)
  }
}
