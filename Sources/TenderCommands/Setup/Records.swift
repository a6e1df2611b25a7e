internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderModule
internal import TenderWire

/// Who was asked about what, for the record of a fault that comes later.
struct RecordSubject {
  var provider: ProviderName?
  var env: Env?
  var reference: String?

  init(provider: ProviderName? = nil, env: Env? = nil, reference: String? = nil) {
    self.provider = provider
    self.env = env
    self.reference = reference
  }

  init(_ attempt: Attempt) {
    self.init(provider: attempt.provider, env: attempt.env, reference: attempt.reference.text)
  }
}

/// Reports and faults as records, their members in the order of the contract.
struct Records {
  let command: String
  let now: Int
  var modules: [any ProviderModule] = []

  /// The record of a payment or token.
  func record(_ report: Report) -> Record {
    var fields: JSONObject = [
      "command": .string(command), "provider": .string(report.provider.text),
      "env": .string(report.env.rawValue),
    ]
    fields["reference"] = (report.reference?.text).map(JSON.string)
    fields["attempt"] = report.attemptNumber.map(JSON.integer)
    fields["replayed"] = report.replayed.map(JSON.bool)
    fields["id"] = report.id.map(JSON.string)
    fields["status"] = .string(report.status.rawValue)
    fields["final"] = .bool(report.isFinal)
    fields["amount"] = report.amount.map(JSON.integer)
    fields["requested_amount"] = report.requestedAmount.map(JSON.integer)
    fields["currency"] = (report.currency?.code).map(JSON.string)
    fields["next_action"] = report.nextAction?.json
    fields["source"] = report.source.map(JSON.string)
    fields["result"] = .object(inKeyOrder(report.result, report.provider))
    fields["error"] = report.fault.map { error($0, report.result, report.provider) }
    fields["explanation"] = explanation(of: report).map(JSON.string)
    if !report.details.members.isEmpty { fields["details"] = .object(report.details) }
    fields["idempotency_key"] = report.idempotencyKey.map(JSON.string)
    fields["at"] = .string(Timestamp.text(now))
    let kind: Record.Kind =
      switch report.kind {
      case .payment: .payment
      case .token: .token
      case .mandate: .mandate
      }
    return Record(kind, fields)
  }

  /// The record of a fault.
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
    fields["error"] = .object(fault.record)
    fields["line"] = line.map(JSON.integer)
    fields["at"] = .string(Timestamp.text(now))
    return Record(.error, fields)
  }

  /// The record of a journal's attempt, with its history where there is one.
  func record(
    _ attempt: Attempt,
    history: [HistoryEntry]? = nil,
    verdict: Verdict? = nil,
    stored: Bool = false
  ) -> Record {
    var fields: JSONObject = [
      "command": .string(command), "provider": .string(attempt.provider.text),
      "env": .string(attempt.env.rawValue), "reference": .string(attempt.reference.text),
      "attempt": .integer(attempt.number),
    ]
    fields["id"] = attempt.id.map(JSON.string)
    fields["status"] = .string(attempt.shownStatus.rawValue)
    fields["final"] = .bool(attempt.isFinal)
    fields["amount"] = attempt.amount.map(JSON.integer)
    fields["requested_amount"] = attempt.requestedAmount.map(JSON.integer)
    fields["currency"] = (attempt.currency?.code).map(JSON.string)
    fields["brand"] = attempt.brand.map(JSON.string)
    fields["last_four"] = attempt.lastFour.map(JSON.string)
    fields["next_action"] = attempt.nextAction?.json
    fields["result"] = .object(inKeyOrder(attempt.result, attempt.provider))
    fields["reversal"] = attempt.reversal.map { .object(inKeyOrder($0.members, attempt.provider)) }
    fields["error"] = attempt.fault.map { error($0, attempt.result, attempt.provider) }
    fields["idempotency_key"] = .string(attempt.idempotencyKey)
    fields["created_at"] = .string(Timestamp.text(attempt.createdAt))
    fields["updated_at"] = .string(Timestamp.text(attempt.updatedAt))
    if let history {
      fields["history"] = .array(
        history.map { entry in
          var line: JSONObject = [
            "at": .string(Timestamp.text(entry.at)), "phase": .string(entry.phase),
            "status": .string(entry.status), "note": .string(entry.note),
          ]
          line["by"] = entry.by.map(JSON.string)
          return .object(line)
        }
      )
    }
    // What another journal takes the attempt over from.
    if stored { fields["stored"] = .object(AttemptRow.object(attempt)) }
    if let verdict {
      fields["says"] = .string(verdict.words)
      fields["next"] = verdict.next.map(JSON.string)
      fields["age"] = .integer(verdict.age)
    }
    fields["at"] = .string(Timestamp.text(now))
    return Record(.journalEntry, fields)
  }

  /// A provider's result in the order of its documents, wherever it was kept meanwhile.
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
