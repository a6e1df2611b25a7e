package import TenderEngine
package import TenderModel
import TenderSystem

/// An attempt of versions before 7, and its conversion to a payment with operations.
///
/// It held payment, capture, void and refunds in one record. Files, PostgreSQL tables, exports and set-aside
/// outcomes of those versions are read here only.
package struct LegacyAttempt {
  /// The columns in the order of old rows and set-aside outcomes.
  package static let columns = Columns([
    ("env", .text), ("provider", .text), ("reference", .text), ("number", .number),
    ("operation", .text), ("phase", .text), ("status", .text), ("freed", .number),
    ("kind", .number), ("id", .text), ("amount", .number), ("requested", .number),
    ("currency", .text), ("last_four", .text), ("brand", .text), ("merchant", .text),
    ("content", .json), ("key", .text), ("result", .json), ("reversal", .json),
    ("next_action", .json), ("fault", .json), ("created", .number), ("updated", .number),
    ("sent", .number), ("version", .number), ("prints", .json), ("moment", .text),
  ])

  private let row: Row
  private let key: ReferenceKey
  private let kind: Payment.Kind
  private let status: Status
  private let content: JSONObject
  private let preparation: Operation.Preparation?

  package init?(_ row: Row, preparation: String?) {
    guard let env = row.text("env").flatMap(Env.init(rawValue:)),
      let status = row.text("status").flatMap(Status.init(rawValue:)),
      let content = row.object("content"), row.text("phase") != nil, row.text("operation") != nil
    else { return nil }
    self.row = row
    self.status = status
    self.content = content
    kind = row.number("kind").flatMap(Payment.Kind.init(rawValue:)) ?? .payment
    key = ReferenceKey(
      env: env,
      provider: ProviderName(row.text("provider") ?? ""),
      reference: Reference(stored: row.text("reference") ?? "")
    )
    self.preparation = preparation.map(Operation.Preparation.init(stored:))
  }

  /// Reads an attempt of an old export (`stored`); nil if it is invalid.
  package init?(_ object: JSONObject) {
    let plain = object.text("preparation").map { Operation.Preparation.plain($0).stored }
    self.init(Row(Self.columns, json: object), preparation: plain)
  }

  /// Reads an attempt of an old set-aside outcome; nil if it is invalid.
  package init?(values: [JSON], preparation: String?) {
    guard let row = Row(Self.columns, read: values.map(Database.Value.init(json:))) else {
      return nil
    }
    self.init(row, preparation: preparation)
  }

  /// Returns the checksum with which an old row was written.
  package static func sum(_ row: Row, preparation: String?) -> String {
    Checksum.of(row.values + [Database.Value(preparation)])
  }

  private var isSent: Bool { row.text("phase") == "sent" }
  private var isCancel: Bool { row.text("operation") == "cancel" }
  private var amount: Int? { row.number("amount") }
  private var updatedAt: Int { row.time("updated") }
  /// Whether the payer authorized it at a bank. Only then a key was sent, and `confirm` captures nothing.
  private var isByPayer: Bool {
    kind != .storedMethod && content["fee_mode"] == nil && content["type"] == nil
  }
  private var isConfirm: Bool { row.text("operation") == "confirm" && !isByPayer }
  private var isHeld: Bool { status == .requiresConfirmation }
  private var reversal: JSONObject? { row.object("reversal") }
  private var parts: [JSONObject]? {
    guard let reversal, reversal.members.count == 1 else { return nil }
    return reversal["refunds"]?.array?.compactMap(\.object)
  }
  private var result: JSONObject { row.object("result") ?? [:] }
  private var fault: Fault? { row.object("fault").flatMap(Fault.init(stored:)) }
  /// The refund whose answer was lost.
  private var lostRefund: JSONObject? {
    guard isSent, isCancel, let object = preparation.flatMap({ JSONReader.read($0.text)?.object }),
      object["key"] != nil, object["amount"] != nil
    else { return nil }
    return object
  }

  /// The payment with only this attempt.
  package var payment: Payment {
    var payment = Payment(
      key: key,
      kind: kind,
      merchant: row.text("merchant") ?? "",
      at: row.time("created")
    )
    payment.currency = row.text("currency").flatMap(Currency.init(code:))
    payment.lastFour = row.text("last_four")
    payment.brand = row.text("brand")
    payment.updatedAt = updatedAt
    payment.version = row.number("version") ?? 0
    payment.append(attempt)
    for follower in followers { payment.append(follower) }
    var operations = payment.operations
    operations[0].number = row.number("number") ?? 1
    return payment.with(operations, observed)
  }

  private var attempt: Operation {
    var operation = Operation(attemptKind, amount: amount, at: row.time("created"))
    if let asked = row.number("requested"), let amount, asked > amount {
      operation.amount = asked + (content["fee"]?.boundedNumber ?? 0)
      operation.approved = amount
    }
    operation.content = content
    operation.fingerprints = row.object("prints") ?? [:]
    operation.key = isByPayer ? row.text("key") : nil
    operation.id = row.text("id")
    operation.result = result
    operation.fault = faultOfAttempt
    operation.state = stateOfAttempt
    operation.updatedAt = updatedAt
    if operation.kind == .refund {
      operation.link = content.text("original").map(Reference.init(stored:))
    }
    operation.preparation = preparationOfAttempt
    return operation
  }

  private var attemptKind: Operation.Kind {
    switch kind {
    case .storedMethod: return .store
    case .mandate: return .createMandate
    case .payment: break
    }
    if content.text("type") == "refund" { return .refund }
    let isAuthorization =
      isHeld || isConfirm || reversal?.members.isEmpty == true
      || status == .cancelled && result["receipt"]?["captured"] == false
    return isAuthorization ? .authorize : .charge
  }

  /// The state of the attempt alone, without later operations.
  private var stateOfAttempt: Operation.State {
    let sent = Operation.State.sent(sentAt)
    switch row.text("phase") {
    case "prepared": return .prepared
    case "sent" where !isCancel && !isConfirm: return sent
    default: break
    }
    if row.flag("freed") { return .failed }
    // An attempt that was undone had succeeded. A payment that waited for its payer had not.
    if reversal != nil, status != .revoked {
      return isByPayer && status == .cancelled ? .cancelled : .succeeded
    }
    let action = row.object("next_action").flatMap { PayerAction(.object($0)) }
    switch status {
    case .requiresConfirmation: return isConfirm && !isSent ? .succeeded : .waiting(nil)
    case .requiresAction: return .waiting(action ?? PayerAction("wait"))
    case .pending:
      // Not every version recorded the hold of a lost capture as a hold.
      if isConfirm { return isSent ? .waiting(nil) : .succeeded }
      return action.map { .waiting($0) } ?? .processing
    case .declined: return .declined
    case .cancelled: return .cancelled
    case .expired: return .expired
    case .returned: return isConfirm ? .succeeded : .returned
    case .failed: return action.map { .waiting($0) } ?? .declined
    case .unknown: return sent
    // A status that was added later is in no old row.
    default: return .succeeded
    }
  }

  private var sentAt: Operation.Sent {
    Operation.Sent(
      at: row.number("sent").map(Timestamp.clamped) ?? updatedAt,
      moment: row.text("moment").flatMap(Moment.init)
    )
  }

  /// The operations after the attempt, in order.
  private var followers: [Operation] {
    guard row.text("phase") != "prepared", !row.flag("freed") else { return [] }
    var made: [Operation] = []
    if isConfirm { made.append(capture) }
    if let parts {
      made += parts.enumerated().map { part($1, isLast: $0 == parts.count - 1) }
    } else if let reversal {
      made.append(whole(reversal))
    }
    if isSent, isCancel { made.append(lostReversal(after: made)) }
    return made
  }

  private func follower(_ kind: Operation.Kind, _ amount: Int?) -> Operation {
    var operation = Operation(kind, amount: amount, at: isSent ? sentAt.at : updatedAt)
    operation.updatedAt = updatedAt
    operation.state = .succeeded
    return operation
  }

  private var capture: Operation {
    var operation = follower(.capture, amount)
    if isSent {
      operation.state = .sent(sentAt)
      operation.fault = fault
      operation.preparation = preparation?.plain.map(Operation.Preparation.plain)
      return operation
    }
    operation.result = result
    operation.id = row.text("id")
    switch status {
    case .pending, .requiresConfirmation: operation.state = .processing
    case .declined: operation.state = .declined
    case .cancelled: operation.state = .cancelled
    case .expired: operation.state = .expired
    case .failed: operation.state = .failed
    case .returned: operation.state = .returned
    default: break
    }
    if operation.state != .succeeded { operation.fault = fault }
    return operation
  }

  /// Returns the operation that undid the whole payment: a void, a refund, the revocation of a mandate.
  private func whole(_ members: JSONObject) -> Operation {
    let isVoid = members["reversal"]?["is_void"]?.truth ?? (status == .cancelled)
    let kind: Operation.Kind =
      kind == .mandate ? .revoke : isVoid || members.members.isEmpty ? .void : .refund
    var operation = follower(kind, kind == .revoke ? nil : amount)
    operation.isRest = kind == .refund
    operation.result = members
    operation.id = members["reversal"]?["transaction_id"]?.text
    return operation
  }

  private func part(_ members: JSONObject, isLast: Bool) -> Operation {
    var operation = follower(
      members["is_void"]?.truth == true ? .void : .refund,
      members["amount"]?.boundedNumber
    )
    operation.isRest = members["rest"] == true
    operation.key = isByPayer ? members.text("key") : nil
    operation.link = members.text("reference").flatMap { text in
      // The bank's statement has a member with that name too.
      members["attempt"] == nil ? Reference(stored: text) : nil
    }
    operation.name = members.text("refund_reference") ?? operation.link?.text
    operation.id = members.text("id") ?? members.text("transaction_id")
    operation.result = JSONObject(
      members.members.filter { !["attempt", "rest", "key", "amount"].contains($0.key) }
    )
    operation.state =
      switch members.text("status") {
      case "executed", "settled", "succeeded", nil: .succeeded
      case "failed", "declined": .declined
      case "cancelled": .cancelled
      case "unknown": .sent(Operation.Sent(at: updatedAt, moment: nil))
      default: .processing
      }
    if isLast, !isSent, operation.state == .declined { operation.fault = fault }
    return operation
  }

  /// Returns the reversal whose answer was lost.
  private func lostReversal(after earlier: [Operation]) -> Operation {
    let lost = lostRefund
    let isCaptured = !isHeld && row.object("next_action") == nil
    var operation: Operation
    if kind == .mandate {
      operation = follower(.revoke, nil)
    } else if let lost {
      operation = follower(.refund, lost["amount"]?.boundedNumber)
      operation.isRest = lost["rest"] == true
      operation.key = isByPayer ? lost.text("key") : nil
      operation.name = lost.text("refund_reference")
    } else {
      // A captured payment without a preparation was reversed as a whole. An export lacks sealed values; then
      // the reversal is taken for everything that earlier refunds left.
      let given = earlier.filter { $0.kind == .refund && $0.effect != .none }
      let left = amount.map { max(0, $0 - given.reduce(0) { $0 + ($1.amount ?? 0) }) }
      operation = follower(
        isCaptured && (preparation == nil || isByPayer) ? .refund : .void,
        left
      )
      operation.isRest = operation.kind == .refund
    }
    operation.state = .sent(sentAt)
    operation.fault = fault
    operation.preparation = lost != nil ? preparation : preparation?.plain.map { .plain($0) }
    return operation
  }

  /// The preparation of a capture or reversal belongs to the attempt.
  private var preparationOfAttempt: Operation.Preparation? {
    guard isSent, isCancel || isConfirm else { return preparation }
    return lostRefund == nil ? preparation?.secret.map { .secret($0) } : nil
  }

  private var faultOfAttempt: Fault? {
    if isSent, isCancel || isConfirm { return nil }
    if isConfirm, status != .succeeded { return nil }
    // The preparation of a refund belongs to the refund.
    return parts == nil ? fault : nil
  }

  /// The observations of look-ups that no operation shows.
  private var observed: Observed {
    var observed = Observed()
    guard reversal == nil else { return observed }
    observed.at = updatedAt
    switch status {
    case .refunded: observed.refunded = amount ?? 0
    case .partiallyRefunded: observed.refunded = result["refunded_amount"]?.boundedNumber ?? 0
    case .revoked: observed.isRevoked = true
    default: return Observed()
    }
    // This journal has no refund that explains it.
    observed.elsewhere = observed.refunded
    return observed
  }

  /// Returns a line of the history about an operation, from a row with the columns of old versions.
  static func entry(of operation: String, _ amount: Int?, _ line: Row) -> HistoryEntry {
    let (phase, status) = (line.text("phase") ?? "", line.text("status") ?? "")
    return HistoryEntry(
      at: line.number("at") ?? 0,
      operation: operation,
      state: phase == "done" ? status : phase,
      amount: amount,
      status: status,
      note: line.text("note") ?? "",
      by: line.text("by")
    )
  }

  /// The columns of an old line of the history.
  static let lineColumns = Columns(
    ["line", "attempt", "at", "phase", "status", "note", "by"].map { ($0, .text) }
  )
}
