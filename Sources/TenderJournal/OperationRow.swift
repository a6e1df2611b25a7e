package import TenderEngine
package import TenderModel
import TenderSystem

/// An operation as a row of the `operation` table, and back.
package enum OperationRow {
  private static let table = Table<Operation>([
    .init("sequence", { $0.sequence }, { $0.sequence = $1 }),
    .init("number", { $0.number }, { $0.number = $1 }),
    .init("amount", { $0.amount }, { $0.amount = $1 }),
    .init("approved", { $0.approved }, { $0.approved = $1 }),
    .init("is_rest", { $0.isRest }, { $0.isRest = $1 }),
    .init("sent", from: { $0.state.sent?.at }),
    .init("created", time: { $0.createdAt }, { $0.createdAt = $1 }),
    .init("updated", time: { $0.updatedAt }, { $0.updatedAt = $1 }),
    .init("kind", from: { $0.kind.rawValue }),
    .init("name", { $0.name }, { $0.name = $1 }),
    .init("key", { $0.key }, { $0.key = $1 }),
    .init("id", { $0.id }, { $0.id = $1 }),
    .init("state", from: { $0.state.name.rawValue }),
    .init("moment", from: { $0.state.sent?.moment?.text }),
    .init("link", { $0.link }, { $0.link = $1 }),
    .init("next_action", from: { $0.state.action?.json.object }),
    .init("content", { $0.content }, { $0.content = $1 }),
    .init("prints", { $0.fingerprints }, { $0.fingerprints = $1 }),
    .init("result", { $0.result }, { $0.result = $1 }),
    .init("fault", { $0.fault }, { $0.fault = $1 }),
    .init(
      added: "source",
      { $0.source?.rawValue },
      { $0.source = $1.flatMap(Operation.Source.init(rawValue:)) }
    ),
    .init(added: "parent", { $0.parent }, { $0.parent = $1 }),
  ])

  /// The columns, without the rows' numbers.
  package static var columns: Columns { table.columns }

  /// Returns the values of the columns.
  package static func values(_ operation: Operation) -> Row { table.row(operation) }

  /// Returns the operation of a row, without its preparation.
  ///
  /// Throws `state` if the row is invalid.
  package static func operation(_ row: Row) throws(Fault) -> Operation {
    guard let kind = row.text("kind").flatMap(Operation.Kind.init(rawValue:)),
      let state = state(row)
    else { throw .unreadableRow }
    var operation = Operation(kind, at: 0)
    table.read(row, into: &operation)
    (operation.row, operation.state) = (operation.sequence, state)
    return operation
  }

  fileprivate static func state(_ row: Row) -> Operation.State? {
    switch row.text("state").flatMap(Operation.State.Name.init(rawValue:)) {
    case .prepared: .prepared
    case .sent:
      .sent(at: row.time("sent"), moment: row.text("moment").flatMap(Moment.init))
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

  /// Returns an operation as JSON for another journal, without its secrets.
  static func object(_ operation: Operation) -> JSONObject {
    // The texts of these are not made only to be read again.
    var plain = operation
    (plain.content, plain.fingerprints, plain.result) = ([:], [:], [:])
    var object = values(plain).json(
      Array(columns.names.indices),
      known: [
        "content": operation.content, "prints": [:], "result": operation.result,
      ]
    )
    object["preparation"] = operation.preparation?.plain?.json
    return object
  }

  /// Returns whether two operations have the same content, and the same place in their payments.
  static func isSame(_ one: Operation, _ other: Operation) -> Bool {
    JSON.object(object(one)).canonicalText == JSON.object(object(other)).canonicalText
  }

  /// Reads an operation from JSON; nil if it is invalid.
  static func operation(of object: JSONObject) -> Operation? {
    guard var operation = try? operation(Row(columns, json: object)) else {
      return nil
    }
    operation.row = 0
    operation.preparation = object.text("preparation").map(Operation.Preparation.plain)
    return operation
  }
}

/// An observation as a row of the `observation` table, and back.
package enum ObservationRow {
  private static let table = Table<Observation>([
    .init("at", time: { $0.at }, { $0.at = $1 }),
    .init("operation", { $0.operation }, { $0.operation = $1 }),
    .init("amount", { $0.amount }, { $0.amount = $1 }),
    .init("refunded", { $0.refunded }, { $0.refunded = $1 }),
    .init("elsewhere", { $0.elsewhere }, { $0.elsewhere = $1 }),
    .init("is_revoked", { $0.isRevoked }, { $0.isRevoked = $1 }),
    .init("source", from: { $0.source.rawValue }),
    .init("state", from: { $0.state.name.rawValue }),
    .init("provider_status", { $0.providerStatus }, { $0.providerStatus = $1 }),
    .init("currency", { $0.currency }, { $0.currency = $1 }),
    .init("id", { $0.id }, { $0.id = $1 }),
  ])

  /// The columns, without the rows' numbers.
  package static var columns: Columns { table.columns }

  /// Returns the values of the columns.
  package static func values(_ seen: Observation) -> Row { table.row(seen) }

  /// Reads the observation of a row; nil if it is invalid.
  ///
  /// A state has no associated values here.
  package static func observation(_ row: Row) -> Observation? {
    guard let source = row.text("source").flatMap(Operation.Source.init(rawValue:)),
      let state = OperationRow.state(row)
    else { return nil }
    var seen = Observation(source, at: 0, operation: 0, state: state)
    table.read(row, into: &seen)
    return seen
  }

  /// Returns one observation with everything that is known of a payment, for a payment from another journal.
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

extension Currency: Storable {
  static var columnKind: Columns.Kind { .text }
  static func read(_ value: Database.Value) -> Currency? {
    value.text.flatMap(Currency.init(code:))
  }
  var value: Database.Value { .text(code) }
}

extension Reference: Storable {
  static var columnKind: Columns.Kind { .text }
  static func read(_ value: Database.Value) -> Reference? {
    value.text.map(Reference.init(stored:))
  }
  var value: Database.Value { .text(text) }
}

extension Fault: Storable {
  private static let seenPaid = "seen_paid"

  static var columnKind: Columns.Kind { .json }
  static func read(_ value: Database.Value) -> Fault? {
    value.object.flatMap(Fault.init(stored:))
  }

  /// The error as stored.
  var value: Database.Value {
    var object = record
    object["kind"] = .string(kind.rawValue)
    // The retry class follows from the kind.
    object["retry"] = nil
    object["result"] = result?.json
    object[Self.seenPaid] = cause == .seenPaid ? true : nil
    return object.value
  }

  init?(stored object: JSONObject) {
    guard let kind = object.text("kind").flatMap(Fault.Kind.init(rawValue:)),
      let code = object.text("code"), let message = object.text("message")
    else { return nil }
    self.init(
      kind,
      effect: object.text("effect").flatMap(Fault.Effect.init(rawValue:)) ?? .none,
      code: code,
      cause: object[Self.seenPaid] == true ? .seenPaid : nil,
      message,
      hint: object.text("hint"),
      result: object["result"]?.object
    )
  }
}

extension Operation.Preparation {
  private static let plainMark = "plain:"

  package init(stored text: String) {
    self =
      text.hasPrefix(Self.plainMark)
      ? .plain(String(text.dropFirst(Self.plainMark.count))) : .secret(text)
  }

  package var stored: String {
    switch self {
    case .secret(let text): text
    case .plain(let text): Self.plainMark + text
    }
  }
}
