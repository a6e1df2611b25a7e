package import TenderEngine
package import TenderModel
import TenderSystem

/// An operation as a row of the `operation` table, and back.
package enum OperationRow {
  /// Its columns, besides the rows' numbers and the checksum.
  package static let columns = Columns(
    numbers: [
      "sequence", "number", "amount", "approved", "is_rest", "sent", "created", "updated",
    ],
    texts: ["kind", "name", "key", "id", "state", "moment", "link"],
    json: ["next_action", "content", "prints", "result", "fault"]
  )

  /// The columns of `select`.
  package static let stored = columns.with(
    first: [("row", .number), ("payment", .number)],
    last: [("sum", .text), ("preparation", .text)]
  )

  /// Reads operations `o` with their preparations `x`.
  package static func select(_ prefix: String = "") -> String {
    "SELECT o.row, o.payment, \(columns.names.list("o")), o.sum, x.text FROM \(prefix)operation o "
      + "LEFT JOIN \(prefix)preparation x ON x.row = o.row"
  }

  /// The values of the columns.
  package static func values(_ operation: Operation) -> Row {
    Row(
      columns,
      [
        "sequence": .integer(operation.sequence),
        "number": .integer(operation.number),
        "amount": Database.Value(operation.amount),
        "approved": Database.Value(operation.approved),
        "is_rest": Database.Value(operation.isRest),
        "sent": Database.Value(operation.state.sent?.at),
        "created": .integer(operation.createdAt),
        "updated": .integer(operation.updatedAt),
        "kind": .text(operation.kind.rawValue),
        "name": Database.Value(operation.name),
        "key": Database.Value(operation.key),
        "id": Database.Value(operation.id),
        "state": .text(operation.state.name.rawValue),
        "moment": Database.Value(operation.state.sent?.moment?.text),
        "link": Database.Value(operation.link?.text),
        "next_action": Database.Value((operation.state.action?.json).map(JSONWriter.text)),
        "content": Database.Value(operation.content),
        "prints": Database.Value(operation.fingerprints),
        "result": Database.Value(operation.result),
        "fault": Database.Value(operation.fault?.stored ?? [:]),
      ]
    )
  }

  /// The checksum of an operation with the text of its preparation.
  package static func sum(_ values: Row, preparation: String?) -> String {
    values.sum([preparation])
  }

  /// Whether a row of `select` matches its checksum.
  static func isWhole(_ row: Row) -> Bool {
    row.isSummed(as: { sum(row, preparation: row.text("preparation")) })
  }

  /// The operation of a row of `select`, its preparation as the file has it.
  ///
  /// Throws `state` where the row is not one of ours, or does not match its checksum.
  package static func operation(_ row: Row) throws(Fault) -> Operation {
    guard isWhole(row) else { throw .damagedRow("operation \(row.number("row") ?? 0)") }
    return try decoded(row)
  }

  /// The operation of a row whose checksum was compared.
  static func decoded(_ row: Row) throws(Fault) -> Operation {
    guard let kind = row.text("kind").flatMap(Operation.Kind.init(rawValue:)),
      let state = state(row)
    else { throw .unreadableRow }
    var operation = Operation(kind, amount: row.number("amount"), at: row.time("created"))
    operation.row = row.number("row") ?? 0
    operation.sequence = row.number("sequence") ?? 0
    operation.number = row.number("number") ?? 0
    operation.name = row.text("name")
    operation.approved = row.number("approved")
    operation.isRest = row.flag("is_rest")
    operation.key = row.text("key")
    operation.id = row.text("id")
    operation.state = state
    operation.content = row.object("content") ?? [:]
    operation.fingerprints = row.object("prints") ?? [:]
    operation.result = row.object("result") ?? [:]
    operation.fault = row.object("fault").flatMap(Fault.init(stored:))
    operation.preparation = row.text("preparation").map(Operation.Preparation.init(stored:))
    operation.link = row.text("link").map(Reference.init(stored:))
    operation.updatedAt = row.time("updated")
    return operation
  }

  fileprivate static func state(_ row: Row) -> Operation.State? {
    switch row.text("state").flatMap(Operation.State.Name.init(rawValue:)) {
    case .prepared: .prepared
    case .sent:
      .sent(.init(at: row.time("sent"), moment: row.text("moment").flatMap(Moment.init)))
    case .waiting: .waiting(row.object("next_action").flatMap { PayerAction(.object($0)) })
    case .processing: .processing
    case .succeeded: .succeeded
    case .declined: .declined
    case .cancelled: .cancelled
    case .expired: .expired
    case .failed: .failed
    case .returned: .returned
    case nil: nil
    }
  }

  /// An operation in JSON, for another journal; without what is secret of it.
  static func object(_ operation: Operation) -> JSONObject {
    var object = values(operation).json(known: [
      "content": operation.content, "prints": [:], "result": operation.result,
    ])
    object["prints"] = nil
    object["preparation"] = (operation.preparation?.plain).map(JSON.string)
    return object
  }

  /// The operation that JSON writes; nil where it is none.
  static func operation(of object: JSONObject) -> Operation? {
    guard var operation = try? operation(Row(stored, json: object).only(columns)) else {
      return nil
    }
    operation.preparation = object.text("preparation").map(Operation.Preparation.plain)
    return operation
  }
}

/// An observation as a row of the `observation` table, and back.
package enum ObservationRow {
  /// Its columns, besides the rows' numbers and the checksum.
  package static let columns = Columns(
    numbers: ["at", "operation", "amount", "refunded", "elsewhere", "is_revoked"],
    texts: ["source", "state", "provider_status", "currency", "id"]
  )

  /// The values of the columns.
  package static func values(_ seen: Observation) -> Row {
    Row(
      columns,
      [
        "source": .text(seen.source.rawValue), "at": .integer(seen.at),
        "operation": .integer(seen.operation), "state": .text(seen.state.name.rawValue),
        "provider_status": Database.Value(seen.providerStatus),
        "amount": Database.Value(seen.amount), "refunded": Database.Value(seen.refunded),
        "elsewhere": Database.Value(seen.elsewhere), "is_revoked": Database.Value(seen.isRevoked),
        "currency": Database.Value(seen.currency?.code), "id": Database.Value(seen.id),
      ]
    )
  }

  /// The observation of a row; nil where it is none.
  ///
  /// A state comes without what belongs to it.
  package static func observation(_ row: Row) -> Observation? {
    guard let source = row.text("source").flatMap(Observation.Source.init(rawValue:)),
      let state = OperationRow.state(row)
    else { return nil }
    var seen = Observation(
      source,
      at: row.time("at"),
      operation: row.number("operation") ?? 0,
      state: state
    )
    seen.providerStatus = row.text("provider_status")
    seen.amount = row.number("amount")
    seen.refunded = row.number("refunded")
    seen.elsewhere = row.number("elsewhere")
    seen.isRevoked = row.flag("is_revoked")
    seen.currency = row.text("currency").flatMap(Currency.init(code:))
    seen.id = row.text("id")
    return seen
  }

  /// One observation that says all that is known of a payment: for one that another journal had.
  package static func all(of payment: Payment) -> Observation? {
    let observed = payment.observed
    guard observed != Observed(), let attempt = payment.attempt else { return nil }
    var seen = Observation(
      .lookup,
      at: observed.at,
      operation: attempt.sequence,
      state: attempt.state
    )
    seen.providerStatus = observed.providerStatus
    seen.refunded = observed.refunded > 0 ? observed.refunded : nil
    seen.elsewhere = observed.elsewhere
    seen.isRevoked = observed.isRevoked
    return seen
  }
}

extension Fault {
  /// The error as the journal has it.
  fileprivate var stored: JSONObject {
    var object = record
    object["kind"] = .string(kind.rawValue)
    object["result"] = result.map(JSON.object)
    return object
  }

  /// Reads what the journal has.
  init?(stored object: JSONObject) {
    guard let kind = object.text("kind").flatMap(Fault.Kind.init(rawValue:)),
      let code = object.text("code"), let message = object.text("message")
    else { return nil }
    self.init(
      kind,
      effect: object.text("effect").flatMap(Fault.Effect.init(rawValue:)) ?? .none,
      code: code,
      message,
      hint: object.text("hint"),
      result: object["result"]?.object
    )
  }
}

extension Operation.Preparation {
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
