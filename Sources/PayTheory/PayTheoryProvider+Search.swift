package import TenderEngine
package import TenderModel
internal import TenderWire

/// Searching by the documented query language (protocol note, section 8.1): what it has a key for is asked,
/// the rest is compared here.
extension PayTheoryProvider: SearchFlow {
  package func find(_ filter: AttemptFilter, limit: Int) throws(Fault) -> SearchResult {
    if filter.traceID != nil {
      throw .badOptions(
        "--trace-id does not go with --online: Pay Theory gives no trace id",
        hint: "leave one of them out"
      )
    }
    let graphQL = try GraphQL(context, for: "a search")
    let (items, total) = try graphQL.search(Self.conditions(filter), limit: limit)
    let found = items.filter { Self.lets($0, filter) }
    return SearchResult(
      found: found.map(Transactions.lookUp),
      searched: items.count,
      total: total
    )
  }

  private static func conditions(_ filter: AttemptFilter) -> [GraphQL.Condition] {
    // A reversal is not a payment.
    var conditions = [GraphQL.Condition("transaction_type", "NOT_EQUAL", "REVERSAL")]
    if let handle = filter.handle {
      if handle.contains("*") {
        // A % or _ of the reference stands for other characters there: `lets` looks once more.
        let pattern = handle.replacing("*", with: "%")
        conditions.append(.init("reference", "LIKE", pattern))
      } else {
        let isReceipt = handle.hasPrefix("pt-")
        conditions.append(.init(isReceipt ? "transaction_id" : "reference", "EQUAL", handle))
      }
    }
    if let amount = filter.amount {
      conditions.append(.init("gross_amount", "EQUAL", String(amount)))
    }
    if let currency = filter.currency {
      conditions.append(.init("currency", "EQUAL", currency.code))
    }
    if let since = filter.since {
      conditions.append(.init("transaction_date", "GREATER_EQUAL", Timestamp.preciseText(since)))
    }
    if let until = filter.until {
      conditions.append(.init("transaction_date", "LESS_EQUAL", Timestamp.preciseText(until)))
    }
    for member in filter.members {
      conditions.append(.init(member.name, "EQUAL", member.value))
    }
    let statuses = filter.statuses.flatMap(words) + (filter.isOpen ? ["PENDING"] : [])
    if filter.isOpen || !filter.statuses.isEmpty {
      conditions.append(.init("status", "IN_LIST", among: statuses.sorted()))
    }
    return conditions
  }

  /// Pay Theory's words for a status; none for one that it does not have.
  private static func words(_ status: Status) -> [String] {
    switch status {
    case .pending: ["PENDING"]
    case .succeeded: ["SUCCEEDED", "SETTLED"]
    case .declined: ["FAILED"]
    case .cancelled: ["VOIDED"]
    case .refunded: ["REFUNDED"]
    case .partiallyRefunded: ["PARTIALLY_REFUNDED"]
    case .returned: ["RETURNED"]
    case .requiresConfirmation, .requiresAction, .authorized, .expired, .revoked, .failed, .unknown:
      []
    }
  }

  private static func lets(_ item: JSONObject, _ filter: AttemptFilter) -> Bool {
    let method = item["payment_method"]
    if let handle = filter.handle,
      ![item.text("reference"), item.text("transaction_id")].contains(where: { text in
        text.map { AttemptFilter.fits(handle, $0) } ?? false
      })
    {
      return false
    }
    if let lastFour = filter.lastFour, method?["last_four"]?.text != lastFour { return false }
    if let customer = filter.customer {
      let payor = method?["payor"]?.object?.members.compactMap(\.value.text) ?? []
      guard payor.contains(where: { SearchTerm.begins(customer, aWordOf: $0) }) else {
        return false
      }
    }
    if let failure = filter.failure {
      let reasons = item["failure_reasons"]?.array?.compactMap(\.text) ?? []
      guard reasons.contains(where: { SearchTerm.begins(failure, aWordOf: $0) }) else {
        return false
      }
    }
    let metadata =
      item["metadata"]?.object
      ?? item.text("metadata").flatMap {
        JSONReader.read($0)?.object
      }
    return filter.metadata.allSatisfy { metadata?[$0.name]?.plainText == $0.value }
  }
}
