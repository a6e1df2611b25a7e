package import TenderEngine
package import TenderModel
import TenderSystem

/// A payment as a row of the `payment` table, and back.
package enum PaymentRow {
  /// Its columns, besides the row's number and the checksum.
  ///
  /// Those from `amounts` on, and `status`, are what operations and observations come to, for filters and totals.
  package static let columns = Columns(
    numbers: ["kind", "created", "updated", "version"] + amounts + seen,
    texts: [
      "env", "provider", "reference", "merchant", "currency", "last_four", "brand", "status", "id",
      "provider_status",
    ]
  )

  /// What operations come to.
  private static let amounts = [
    "is_final", "is_unknown", "attempt", "amount", "requested", "asked", "authorized", "captured",
    "voided", "refunded", "refunding", "returned",
  ]

  /// What observations come to, besides the provider's word.
  private static let seen = ["observed", "seen_refunded", "seen_elsewhere", "is_revoked"]

  /// The columns of `select`.
  package static let stored = columns.with(first: [("row", .number)], last: [("sum", .text)])

  /// Reads payments `p`.
  package static func select(_ prefix: String = "") -> String {
    "SELECT p.row, \(columns.names.list("p")), p.sum FROM \(prefix)payment p"
  }

  /// The values of the columns.
  package static func values(_ payment: Payment) -> Row {
    let state = payment.state
    return Row(
      columns,
      [
        "kind": .integer(payment.kind.rawValue),
        "created": .integer(payment.createdAt),
        "updated": .integer(payment.updatedAt),
        "version": .integer(payment.version),
        "is_final": Database.Value(state.isFinal),
        "is_unknown": Database.Value(state.isUnknown),
        "attempt": Database.Value(payment.attempt?.number),
        "amount": Database.Value(state.amount),
        "requested": Database.Value(state.requestedAmount),
        "asked": .integer(state.asked),
        "authorized": .integer(state.authorized),
        "captured": .integer(state.captured),
        "voided": .integer(state.voided),
        "refunded": .integer(state.refunded),
        "refunding": .integer(state.refunding),
        "returned": .integer(state.returned),
        "observed": .integer(payment.observed.at),
        "seen_refunded": .integer(payment.observed.refunded),
        "seen_elsewhere": .integer(payment.observed.elsewhere),
        "is_revoked": Database.Value(payment.observed.isRevoked),
        "env": .text(payment.env.rawValue),
        "provider": .text(payment.provider.text),
        "reference": .text(payment.reference.text),
        "merchant": .text(payment.merchant),
        "currency": Database.Value(payment.currency?.code),
        "last_four": Database.Value(payment.lastFour),
        "brand": Database.Value(payment.brand),
        "status": .text(state.status.rawValue),
        "id": Database.Value(state.id),
        "provider_status": Database.Value(payment.observed.providerStatus),
      ]
    )
  }

  /// The checksum of a payment: of its columns, and of the checksums of its operations in their order.
  package static func sum(_ values: Row, operations: [String]) -> String {
    values.sum(operations)
  }

  /// The payment of a row of `select`, with its operations' rows in their order.
  ///
  /// Throws `state` where one is not ours, or does not match its checksum: an operation that is missing as well.
  package static func payment(_ row: Row, _ operations: [Row]) throws(Fault) -> Payment {
    try check(row, operations)
    guard let env = row.text("env").flatMap(Env.init(rawValue:)), let kind = kind(row) else {
      throw .unreadableRow
    }
    let reference = Reference(stored: row.text("reference") ?? "")
    var list: [Operation] = []
    for operation in operations { list.append(try OperationRow.decoded(operation)) }
    var observed = Observed()
    observed.providerStatus = row.text("provider_status")
    observed.at = row.time("observed")
    observed.refunded = row.number("seen_refunded") ?? 0
    observed.elsewhere = row.number("seen_elsewhere") ?? 0
    observed.isRevoked = row.flag("is_revoked")
    var payment = Payment(
      key: ReferenceKey(
        env: env,
        provider: ProviderName(row.text("provider") ?? ""),
        reference: reference
      ),
      kind: kind,
      merchant: row.text("merchant") ?? "",
      operations: list,
      observed: observed,
      at: row.time("created")
    )
    payment.row = row.number("row") ?? 0
    payment.version = row.number("version") ?? 0
    payment.currency = row.text("currency").flatMap(Currency.init(code:))
    payment.lastFour = row.text("last_four")
    payment.brand = row.text("brand")
    payment.updatedAt = row.time("updated")
    return payment
  }

  /// Throws `journal_damaged` where a payment's rows do not match their checksums.
  package static func check(_ row: Row, _ operations: [Row]) throws(Fault) {
    let sums = operations.map { $0.text("sum") ?? "" }
    guard row.isSummed(as: { sum(row, operations: sums) }),
      operations.allSatisfy(OperationRow.isWhole)
    else { throw .damagedRow(row.text("reference") ?? "") }
  }

  private static func kind(_ row: Row) -> Payment.Kind? {
    row.number("kind").flatMap(Payment.Kind.init(rawValue:))
  }

  /// A payment in JSON, for another journal; without what is secret of it.
  package static func object(_ payment: Payment) -> JSONObject {
    var object = values(payment).json
    // A reader computes them.
    for name in ["status", "id"] + amounts { object[name] = nil }
    object["operations"] = .array(payment.operations.map { .object(OperationRow.object($0)) })
    return object
  }

  /// The payment that JSON writes, also that of an attempt of a version before 7; nil where it is none.
  package static func payment(of object: JSONObject) -> Payment? {
    guard let list = object["operations"]?.array else { return LegacyAttempt(object)?.payment }
    let operations = list.compactMap { $0.object.flatMap(OperationRow.operation(of:)) }
    guard operations.count == list.count, !operations.isEmpty else { return nil }
    let row = Row(stored, json: object).only(columns)
    guard var payment = try? payment(row, []) else { return nil }
    payment = payment.with(operations)
    return payment
  }

  /// Whether two are the same payment with the same operations, however often each was written.
  package static func isSame(_ one: Payment, _ other: Payment) -> Bool {
    var objects = [object(one), object(other)]
    for index in objects.indices { objects[index]["version"] = nil }
    return JSON.object(objects[0]).canonicalText == JSON.object(objects[1]).canonicalText
  }
}

extension Payment {
  /// The payment with other operations, which count as written.
  package func with(_ operations: [Operation], _ observed: Observed? = nil) -> Payment {
    var made = Payment(
      key: key,
      kind: kind,
      merchant: merchant,
      operations: operations,
      observed: observed ?? self.observed,
      at: createdAt
    )
    (made.row, made.version, made.updatedAt) = (row, version, updatedAt)
    (made.currency, made.lastFour, made.brand) = (currency, lastFour, brand)
    (made.writer, made.isElsewhere) = (writer, isElsewhere)
    return made
  }

  /// The payment with everything that a provider wrote redacted; a preparation must stay whole.
  package func redacted(by redactor: Redactor) -> Payment {
    var seen = observed
    seen.providerStatus = seen.providerStatus.map { redactor.redact($0, foreign: true) }
    var shown = with(operations.map { $0.redacted(by: redactor) }, seen)
    shown.brand = brand.map { redactor.redact($0, foreign: true) }
    shown.lastFour = lastFour.map { redactor.redact($0, foreign: true) }
    return shown
  }

  /// The payment with the attempts of another one at the same reference; nil where both have an attempt with the
  /// same number and other content.
  package func merged(with other: Payment) -> Payment? {
    var rounds: [Int: [Operation]] = [:]
    for list in [Self.rounds(of: self), Self.rounds(of: other)] {
      for (number, round) in list {
        guard rounds[number].map({ Self.isSame($0, round) }) ?? true else { return nil }
        rounds[number] = rounds[number] ?? round
      }
    }
    var made: [Operation] = []
    for (_, round) in rounds.sorted(by: { $0.key < $1.key }) {
      for var operation in round {
        operation.sequence = made.count + 1
        if !operation.isAttempt {
          let alike = made.filter {
            !$0.isAttempt
              && ($0.kind == operation.kind || $0.isReversal && operation.isReversal)
          }
          operation.number = (alike.map(\.number).max() ?? 0) + 1
        }
        made.append(operation)
      }
    }
    let isNewer = (other.attempt?.number ?? 0) > (attempt?.number ?? 0)
    var seen = isNewer ? other.observed : observed
    seen.isRevoked = observed.isRevoked || other.observed.isRevoked
    var merged = (isNewer ? other : self).with(made, seen)
    (merged.row, merged.version) = (row, version)
    merged.createdAt = min(createdAt, other.createdAt)
    merged.updatedAt = max(updatedAt, other.updatedAt)
    return merged
  }

  /// Each attempt with what followed it, by the attempt's number.
  private static func rounds(of payment: Payment) -> [Int: [Operation]] {
    var rounds: [Int: [Operation]] = [:]
    var number = 0
    for operation in payment.operations {
      if operation.isAttempt { number = operation.number }
      rounds[number, default: []].append(operation)
    }
    return rounds
  }

  private static func isSame(_ one: [Operation], _ other: [Operation]) -> Bool {
    one.count == other.count
      && zip(one, other).allSatisfy { one, other in
        let objects = [one, other].map { operation in
          var object = OperationRow.object(operation)
          for name in ["sequence", "number"] { object[name] = nil }
          return JSON.object(object).canonicalText
        }
        return objects[0] == objects[1]
      }
  }
}

extension Operation {
  /// The operation with everything that a provider wrote redacted; a preparation must stay whole.
  package func redacted(by redactor: Redactor) -> Operation {
    var shown = self
    shown.id = id.map { redactor.redact($0, foreign: true) }
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
