package import TenderDatabase
package import TenderEngine
package import TenderModel
import TenderWire

/// An attempt as a row of the `attempt` table, and back.
package enum AttemptRow {
  /// Its columns, in their order.
  package static let columns = [
    "env", "provider", "reference", "number", "operation", "phase", "status", "freed", "kind",
    "id", "amount", "requested", "currency", "last_four", "brand", "merchant", "content", "key",
    "result", "reversal", "next_action", "fault", "created", "updated", "sent", "version",
    "prints", "moment",
  ]

  /// The columns that hold numbers.
  package static let numbers: Set<String> = [
    "number", "freed", "kind", "amount", "requested", "created", "updated", "sent", "version",
  ]

  static let select =
    "SELECT a.row, " + columns.map { "a.\($0)" }.joined(separator: ", ")
    + ", a.sum, p.text FROM attempt a LEFT JOIN preparation p ON p.row = a.row"

  static let insert =
    "INSERT INTO attempt (" + columns.joined(separator: ", ") + ", sum) VALUES ("
    + columns.map { _ in "?, " }.joined() + "?)"

  /// The checksum of a row: its columns, and the preparation that belongs to it.
  package static func sum(of values: [Database.Value], preparation: String?) -> String {
    Checksum.of(values + [Database.Value(preparation)])
  }

  /// The columns whose values differ from a row that was read.
  static func changes(
    from row: [Database.Value],
    to attempt: Attempt
  ) -> [(column: String, value: Database.Value)] {
    zip(columns, values(attempt)).enumerated().compactMap { index, pair in
      row[index + 1] == pair.1 ? nil : (pair.0, pair.1)
    }
  }

  /// The values of the columns, in their order.
  package static func values(_ attempt: Attempt) -> [Database.Value] {
    [
      .text(attempt.env.rawValue), .text(attempt.provider.text), .text(attempt.reference.text),
      .integer(attempt.number), .text(attempt.operation.rawValue), .text(attempt.phase.rawValue),
      .text(attempt.status.rawValue), Database.Value(attempt.isFreed),
      .integer(attempt.kind.rawValue), Database.Value(attempt.id), Database.Value(attempt.amount),
      Database.Value(attempt.requestedAmount), Database.Value(attempt.currency?.code),
      Database.Value(attempt.lastFour), Database.Value(attempt.brand), .text(attempt.merchant),
      json(attempt.content), .text(attempt.idempotencyKey), json(attempt.result),
      (attempt.reversal?.members).map(json) ?? .null,
      Database.Value((attempt.nextAction?.json).map(JSONWriter.text)),
      attempt.fault.map { json(faultObject($0)) } ?? .null, .integer(attempt.createdAt),
      .integer(attempt.updatedAt), Database.Value(attempt.sentAt), .integer(attempt.version),
      attempt.fingerprints == [:] ? .null : json(attempt.fingerprints),
      Database.Value(attempt.sentMoment?.text),
    ]
  }

  /// Whether two are the same attempt with the same content, however often each was written.
  package static func isSame(_ one: Attempt, _ other: Attempt) -> Bool {
    zip(columns, zip(values(one), values(other))).allSatisfy { column, pair in
      column == "version" || column == "prints" || pair.0 == pair.1
    }
  }

  /// An attempt in JSON, for another journal; without what is secret of it.
  package static func object(_ attempt: Attempt) -> JSONObject {
    var object: JSONObject = [:]
    for (column, value) in zip(columns, values(attempt)) where column != "prints" {
      if value != .null { object[column] = value.json }
    }
    object["preparation"] = (attempt.preparation?.plain).map(JSON.string)
    return object
  }

  /// The attempt that JSON writes; nil where it is none.
  package static func attempt(of object: JSONObject) -> Attempt? {
    let row = columns.map { column in object[column].map(Database.Value.init(json:)) ?? .null }
    guard var attempt = try? attempt([.integer(0)] + row + [.null, .null]) else { return nil }
    attempt.preparation = object.text("preparation").map(Attempt.Preparation.plain)
    return attempt
  }

  /// The attempt of a row.
  ///
  /// Throws `state` where the row is not one of ours.
  package static func attempt(_ row: [Database.Value]) throws(Fault) -> Attempt {
    guard row.count == columns.count + 3, let env = row[1].text.flatMap(Env.init(rawValue:)),
      let operation = row[5].text.flatMap(Attempt.Operation.init(rawValue:)),
      let phase = row[6].text.flatMap(Attempt.Phase.init(rawValue:)),
      let status = row[7].text.flatMap(Status.init(rawValue:)), let content = object(row[17])
    else {
      throw Fault(
        .state,
        code: "state_unusable",
        "the journal holds a row that this version cannot read",
        hint: "use the version that wrote it, or another --state-dir"
      )
    }
    let values = row.dropFirst().dropLast(2)
    if let stored = row[row.count - 2].text,
      stored != sum(of: Array(values), preparation: row.last?.text)
    {
      throw Fault(
        .state,
        code: "journal_damaged",
        "the journal's row of \((row[3].text ?? "").quotedForMessage) does not match its checksum",
        hint: "see: tender journal verify; put the newest copy of the journal back"
      )
    }
    var attempt = Attempt(
      key: ReferenceKey(
        env: env,
        provider: ProviderName(row[2].text ?? ""),
        reference: Reference(stored: row[3].text ?? "")
      ),
      number: row[4].integer ?? 0,
      operation: operation,
      merchant: row[16].text ?? "",
      content: content,
      idempotencyKey: row[18].text ?? "",
      at: Timestamp.clamped(row[23].integer ?? 0)
    )
    attempt.row = row[0].integer ?? 0
    attempt.phase = phase
    attempt.status = status
    attempt.isFreed = row[8].integer == 1
    attempt.kind = row[9].integer.flatMap(Attempt.Kind.init(rawValue:)) ?? .payment
    attempt.id = row[10].text
    attempt.amount = row[11].integer
    attempt.requestedAmount = row[12].integer
    attempt.currency = row[13].text.flatMap(Currency.init(code:))
    attempt.lastFour = row[14].text
    attempt.brand = row[15].text
    attempt.result = object(row[19]) ?? [:]
    attempt.reversal = object(row[20]).map(Reversal.init)
    attempt.nextAction = row[21].text.flatMap { JSONReader.read($0) }.flatMap(PayerAction.init)
    attempt.fault = object(row[22]).flatMap(fault)
    attempt.updatedAt = Timestamp.clamped(row[24].integer ?? 0)
    attempt.sentAt = row[25].integer.map(Timestamp.clamped)
    attempt.version = row[26].integer ?? 0
    attempt.fingerprints = object(row[27]) ?? [:]
    attempt.sentMoment = row[28].text.flatMap(Moment.init)
    attempt.preparation = row[30].text.map(Attempt.Preparation.init(stored:))
    return attempt
  }

  private static func json(_ object: JSONObject) -> Database.Value {
    .text(JSONWriter.text(.object(object)))
  }

  /// Objects are stored as text with their members' order beside them: the reader sorts by name.
  private static func object(_ value: Database.Value) -> JSONObject? {
    value.text.flatMap { JSONReader.read($0)?.object }
  }

  private static func faultObject(_ fault: Fault) -> JSONObject {
    var object = fault.record
    object["kind"] = .string(fault.kind.rawValue)
    object["result"] = fault.result.map(JSON.object)
    return object
  }

  private static func fault(_ object: JSONObject) -> Fault? {
    guard let kind = object.text("kind").flatMap(Fault.Kind.init(rawValue:)),
      let code = object.text("code"), let message = object.text("message")
    else { return nil }
    return Fault(
      kind,
      effect: object.text("effect").flatMap(Fault.Effect.init(rawValue:)) ?? .none,
      code: code,
      message,
      hint: object.text("hint"),
      result: object["result"]?.object
    )
  }
}

extension Attempt {
  /// The attempt with everything that a provider wrote redacted; a preparation must stay whole.
  package func redacted(by redactor: Redactor) -> Attempt {
    var shown = self
    shown.id = facts.id.map { redactor.redact($0, foreign: true) }
    shown.brand = facts.brand.map { redactor.redact($0, foreign: true) }
    shown.lastFour = facts.lastFour.map { redactor.redact($0, foreign: true) }
    shown.content = redactor.redact(content)
    shown.result = redactor.redact(result, foreign: true)
    shown.reversal = reversal.map { Reversal(redactor.redact($0.members, foreign: true)) }
    shown.nextAction = nextAction.flatMap { PayerAction(redactor.redact($0.json, foreign: true)) }
    shown.fault = fault.map { fault in
      var shown = redactor.redact(fault)
      shown.message = redactor.redact(shown.message, foreign: true)
      return shown
    }
    return shown
  }
}

extension Attempt.Preparation {
  private static let plainMark = "plain:"

  /// Reads what the journal's file has.
  package init(stored text: String) {
    self =
      text.hasPrefix(Self.plainMark)
      ? .plain(String(text.dropFirst(Self.plainMark.count))) : .secret(text)
  }

  /// As the journal's file has it.
  package var stored: String {
    switch self {
    case .secret(let text): text
    case .plain(let text): Self.plainMark + text
    }
  }
}
