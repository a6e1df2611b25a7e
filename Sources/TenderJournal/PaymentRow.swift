package import TenderEngine
package import TenderModel
import TenderSystem

/// A payment as a row of the `payment` table, and back.
package enum PaymentRow {
  /// The sources of a row: a payment, its computed state, and its observations.
  private struct Source {
    var payment: Payment
    let state: PaymentState
    var observed: Observed

    /// Creates the sources of all columns, or without `isComputed`, of all but the computed ones.
    init(_ payment: Payment, isComputed: Bool = true) {
      state = isComputed ? payment.state : PaymentState([], Observed())
      (self.payment, observed) = (payment, payment.observed)
    }
  }

  private static let table = Table<Source>([
    .init("kind", from: { $0.payment.kind.rawValue }),
    .init("created", time: { $0.payment.createdAt }, { $0.payment.createdAt = $1 }),
    .init("updated", time: { $0.payment.updatedAt }, { $0.payment.updatedAt = $1 }),
    .init("version", { $0.payment.version }, { $0.payment.version = $1 }),
    .init("is_final", from: { $0.state.isFinal }),
    .init("is_unknown", from: { $0.state.isUnknown }),
    .init("attempt", from: { $0.payment.attempt?.number }),
    .init("amount", from: { $0.state.amount }),
    .init("requested", from: { $0.state.requestedAmount }),
    .init("asked", from: { $0.state.asked }),
    .init("authorized", from: { $0.state.authorized }),
    .init("captured", from: { $0.state.captured }),
    .init("voided", from: { $0.state.voided }),
    .init("refunded", from: { $0.state.refunded }),
    .init("refunding", from: { $0.state.refunding }),
    .init("returned", from: { $0.state.returned }),
    .init("observed", time: { $0.observed.at }, { $0.observed.at = $1 }),
    .init("seen_refunded", { $0.observed.refunded }, { $0.observed.refunded = $1 }),
    .init("seen_elsewhere", { $0.observed.elsewhere }, { $0.observed.elsewhere = $1 }),
    .init("is_revoked", { $0.observed.isRevoked }, { $0.observed.isRevoked = $1 }),
    .init("env", from: { $0.payment.env.rawValue }),
    .init("provider", from: { $0.payment.provider.text }),
    .init("reference", from: { $0.payment.reference.text }),
    .init("merchant", { $0.payment.merchant }, { $0.payment.merchant = $1 }),
    .init("currency", { $0.payment.currency }, { $0.payment.currency = $1 }),
    .init("last_four", { $0.payment.lastFour }, { $0.payment.lastFour = $1 }),
    .init("brand", { $0.payment.brand }, { $0.payment.brand = $1 }),
    .init("status", from: { $0.state.status.rawValue }),
    .init("id", from: { $0.state.id }),
    .init("provider_status", { $0.observed.providerStatus }, { $0.observed.providerStatus = $1 }),
  ])

  /// The computed columns, for filters and totals. A reader of JSON computes them again.
  private static let computed = [
    "is_final", "is_unknown", "attempt", "amount", "requested", "asked", "authorized", "captured",
    "voided", "refunded", "refunding", "returned", "status", "id",
  ]

  /// The places of the other columns.
  private static let given = columns.names.indices.filter {
    !computed.contains(columns.names[$0])
  }

  /// The columns, without the row's number.
  package static var columns: Columns { table.columns }

  /// Returns the values of the columns.
  package static func values(_ payment: Payment) -> Row { table.row(Source(payment)) }

  /// Returns the payment of a row with the rows of its operations, in order.
  ///
  /// Throws `state` if a row is invalid.
  package static func payment(_ row: Row, _ operations: [Row]) throws(Fault) -> Payment {
    guard let key = row.key, let kind = row.number("kind").flatMap(Payment.Kind.init(rawValue:))
    else { throw .unreadableRow }
    var read = Source(Payment(key: key, kind: kind))
    table.read(row, into: &read)
    read.payment.row = row.number("row") ?? 0
    let list = try operations.map { row throws(Fault) in try OperationRow.operation(row) }
    return read.payment.with(list, read.observed)
  }

  /// Returns the payment of a row whose money a command may move.
  ///
  /// Throws `state` if its operations took less than the row says: one of them is damaged or lost, and the reference
  /// would be charged again.
  package static func whole(_ payment: Payment, _ row: Row) throws(Fault) -> Payment {
    let state = payment.state
    guard payment.attempt != nil, row.number("captured") ?? 0 <= state.captured,
      row.number("is_unknown") ?? 0 == 0 || state.isUnknown
    else {
      throw .state(
        "state_unusable",
        "the operations of \(payment.reference.quotedForMessage) in the journal are not those of its amounts: "
          + "the file is damaged; nothing was sent",
        "restore a backup of the journal"
      ).then([.verify])
    }
    return payment
  }

  /// Returns a payment as JSON for another journal, without its secrets.
  package static func object(_ payment: Payment) -> JSONObject {
    var object = table.row(Source(payment, isComputed: false)).json(given)
    object["operations"] = .array(payment.operations.map { .object(OperationRow.object($0)) })
    return object
  }

  /// Reads a payment from JSON; nil if it is invalid.
  package static func payment(of object: JSONObject) -> Payment? {
    guard let list = object["operations"]?.array else { return nil }
    let operations = list.compactMap { $0.object.flatMap(OperationRow.operation(of:)) }
    guard operations.count == list.count, !operations.isEmpty else { return nil }
    let row = Row(columns, json: object)
    return try? payment(row, []).with(operations)
  }

  /// Returns why no journal can hold a payment that was read from JSON; nil if one can.
  package static func flaw(_ payment: Payment) -> String? {
    guard (try? Reference(payment.reference.text)) != nil,
      payment.provider.text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      !payment.provider.text.isEmpty
    else {
      return "its reference or provider cannot be used"
    }
    let operations = payment.operations
    guard operations.map(\.sequence) == Array(1...operations.count), payment.attempt != nil,
      operations.allSatisfy({
        payment.kind.operations.contains($0.kind) && $0.number > 0
          && !($0.isAttempt && [.capture, .void, .revoke].contains($0.kind))
      })
    else { return "its operations are not those of a payment of its kind" }
    for object in [object(payment)] + operations.map(OperationRow.object) {
      for member in object.members {
        guard case .integer(let number) = member.value, !(0..<Money.limit).contains(number) else {
          continue
        }
        return "its \(member.key) is \(number)"
      }
    }
    return payment.state.excess
  }

  /// Returns whether two are the same payment with the same operations, whatever their versions.
  package static func isSame(_ one: Payment, _ other: Payment) -> Bool {
    var objects = [object(one), object(other)]
    for index in objects.indices { objects[index]["version"] = nil }
    return JSON.object(objects[0]).canonicalText == JSON.object(objects[1]).canonicalText
  }
}

extension Row {
  /// The key of a payment's row; nil if it is damaged.
  var key: ReferenceKey? {
    guard let env = text("env").flatMap(Env.init(rawValue:)), let provider = text("provider"),
      let reference = text("reference")
    else { return nil }
    return ReferenceKey(
      env: env,
      provider: ProviderName(provider),
      reference: Reference(stored: reference)
    )
  }
}

extension Payment.Kind {
  /// The kinds of operations that such a payment can have.
  fileprivate var operations: Set<Operation.Kind> {
    switch self {
    case .payment: [.authorize, .charge, .capture, .void, .refund, .payout]
    case .storedMethod: [.store]
    case .mandate: [.createMandate, .revoke, .void]
    }
  }
}

extension Payment {
  /// Returns the payment with a provider's texts redacted. A preparation is not changed.
  package func redacted(by redactor: Redactor) -> Payment {
    var seen = observed
    seen.providerStatus = seen.providerStatus.map { redactor.redact($0, foreign: true) }
    var shown = with(operations.map { $0.redacted(by: redactor) }, seen)
    shown.brand = brand.map { redactor.redact($0, foreign: true) }
    shown.lastFour = lastFour.map { redactor.redact($0, foreign: true) }
    return shown
  }

  /// Returns the payment with the later operations of another one with the same reference.
  ///
  /// It is nil if an operation that both have differs, or the currency or merchant of their attempt.
  package func merged(with other: Payment) -> Payment? {
    let isLonger = other.operations.count > operations.count
    let (longer, shorter) = isLonger ? (other, self) : (self, other)
    let added = longer.operations.dropFirst(shorter.operations.count)
    // Another attempt may be in another currency.
    let isNewer = attempt?.sequence != other.attempt?.sequence
    let isSame = currency == nil || other.currency == nil || currency == other.currency
    guard isNewer || isSame && merchant == other.merchant,
      zip(longer.operations, shorter.operations).allSatisfy({ OperationRow.isSame($0, $1) })
    else { return nil }
    var seen = longer.observed
    seen.isRevoked = observed.isRevoked || other.observed.isRevoked
    // The secrets of known operations are only in this payment.
    var merged = longer.with(isLonger ? operations + added : operations, seen)
    (merged.row, merged.version) = (row, version)
    merged.updatedAt = max(updatedAt, other.updatedAt)
    return merged
  }
}

extension Operation {
  /// Returns the operation with a provider's texts redacted, but for its id. A preparation is not changed.
  package func redacted(by redactor: Redactor) -> Operation {
    var shown = self
    // An id is stored as the provider gave it. It is masked where it is printed.
    shown.id = redactor.storable(id)
    shown.content = redactor.redact(content)
    shown.result = redactor.redact(result, foreign: true)
    if let action = state.action {
      shown.state = .waiting(PayerAction(redactor.redact(action.json, foreign: true)))
    }
    shown.fault = fault.map { fault in
      var shown = redactor.redact(fault)
      shown.message = redactor.redact(shown.message, foreign: true)
      return shown
    }
    return shown
  }
}

extension Redactor {
  /// Returns an id of a provider for the journal; nil for one with a secret that this program sent.
  func storable(_ id: String?) -> String? { id.flatMap { holdsSecret($0) ? nil : $0 } }
}
