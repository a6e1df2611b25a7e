package import TenderEngine
package import TenderModel

/// Search by the documented query language (README, 6.2). Filters without a key there are applied here.
extension PayTheoryProvider: SearchFlow {
  package func find(
    _ filter: PaymentFilter,
    limit: Int
  ) throws(Fault) -> (found: [Outcome], searched: Int, total: Int?) {
    if filter.traceID != nil {
      throw .badOptions(
        "--trace-id cannot be used with --online: Pay Theory gives no trace id",
        hint: "leave one of them out"
      )
    }
    // Of an order's stored members, a transaction has only the account code as text (README, 6.2).
    if let other = filter.members.first(where: { $0.name != "account_code" }) {
      let option = "--" + other.name.replacing("_", with: "-")
      throw .badOptions(
        "\(option) cannot be used with --online: Pay Theory cannot search by it",
        hint: "leave one of them out: the journal can"
      )
    }
    // Its amounts are all in dollars (README, 5.1).
    if let amount = filter.amount, amount[Self.dollars] == nil { return ([], 0, 0) }
    let graphQL = try GraphQL(context, for: "a search")
    let (items, total) = try graphQL.search(Self.conditions(filter), limit: limit)
    let known = try related(to: items, graphQL)
    var shown: Set<String> = []
    let found = items.compactMap { item -> Outcome? in
      let payment = Self.chain(of: item, known)
      // A voided transaction and its replacement are one payment.
      guard shown.insert(Transactions.id(payment.now)).inserted, Self.lets(payment.now, filter)
      else { return nil }
      let outcome = payment.lookedUp
      guard payment.isReplaced || Transactions.status(item) == .cancelled else { return outcome }
      let isOpen = filter.isOpen && !outcome.status.isFinal
      let isAsked = filter.statuses.isEmpty && !filter.isOpen
      guard isAsked || isOpen || filter.statuses.contains(outcome.status),
        filter.amount.map({ $0[outcome.currency] == outcome.amount }) ?? true
      else { return nil }
      return outcome
    }
    return (found, items.count, total)
  }

  private static let dollars = ["USD"].compactMap(Currency.init).first

  /// The maximum number of successive partial voids of one payment that are followed.
  private static let mostParts = 20

  /// Returns a transaction with those that it replaced, and those that replaced it.
  func chain(of asked: JSONObject, _ graphQL: GraphQL) throws(Fault) -> FoundPayment {
    guard Transactions.isPayment(asked) else { return FoundPayment(asked) }
    return Self.chain(of: asked, try related(to: [asked], graphQL))
  }

  /// Returns transactions by id, with those that they replaced and those that replaced them.
  private func related(
    to items: [JSONObject],
    _ graphQL: GraphQL
  ) throws(Fault) -> [String: JSONObject] {
    var known = Dictionary(items.map { (Transactions.id($0), $0) }) { first, _ in first }
    var asked: Set<String> = []
    for _ in 0..<Self.mostParts {
      let parents = known.values.compactMap { $0.text("parent_id") }.filter {
        !$0.isEmpty && known[$0] == nil
      }
      let voided = known.values.filter { Transactions.status($0) == .cancelled }
        .map(Transactions.id).filter { asked.insert($0).inserted }
      guard !parents.isEmpty || !voided.isEmpty else { break }
      let before = GraphQL.Condition("transaction_id", "IN_LIST", among: parents.sorted())
      let after = GraphQL.Condition("parent_id", "IN_LIST", among: voided.sorted())
      let either: GraphQL.Condition =
        parents.isEmpty ? after : voided.isEmpty ? before : .init(before, or: after)
      let found = try graphQL.search(
        Self.ofPayments + [either],
        limit: max(50, parents.count + voided.count)
      ).found.filter { Transactions.isPayment($0) && Transactions.status($0) != .declined }
      guard !found.isEmpty else { break }
      for item in found { known[Transactions.id(item)] = item }
    }
    return known
  }

  private static func chain(of item: JSONObject, _ known: [String: JSONObject]) -> FoundPayment {
    var payment = FoundPayment(item)
    for _ in 0..<mostParts {
      if let parent = payment.first.text("parent_id").flatMap({ known[$0] }) {
        payment.chain.insert(parent, at: 0)
      }
      if Transactions.status(payment.now) == .cancelled,
        let next = known.values.first(where: {
          $0.text("parent_id") == Transactions.id(payment.now)
        })
      {
        payment.chain.append(next)
      }
    }
    return payment
  }

  /// A reversal and a return of the bank are transactions, but no payments.
  private static let ofPayments = ["REVERSAL", "ACH_RETURN"].map {
    GraphQL.Condition("transaction_type", "NOT_EQUAL", $0)
  }

  private static func conditions(_ filter: PaymentFilter) -> [GraphQL.Condition] {
    var conditions = ofPayments
    if let handle = filter.handle {
      if handle.contains("*") {
        // In the pattern, % and _ of the reference match other characters. `lets` compares exactly.
        let pattern = handle.replacing("*", with: "%")
        conditions.append(.init("reference", "LIKE", pattern))
      } else {
        let isReceipt = handle.hasPrefix("pt-")
        conditions.append(.init(isReceipt ? "transaction_id" : "reference", "EQUAL", handle))
      }
    }
    let bounds: [(String, String, String?)] = [
      ("gross_amount", "EQUAL", filter.amount?[dollars].map { String($0) }),
      ("currency", "EQUAL", filter.currency?.code),
      ("transaction_date", "GREATER_EQUAL", filter.since.map(Timestamp.preciseText)),
      ("transaction_date", "LESS_EQUAL", filter.until.map(Timestamp.preciseText)),
    ]
    let members = filter.members.map { ($0.name, "EQUAL", Optional($0.value)) }
    for (key, comparison, value) in bounds + members {
      if let value { conditions.append(.init(key, comparison, value)) }
    }
    let named = Transactions.statuses.filter { filter.statuses.contains($0.value) }.map(\.key)
    let statuses = named + (filter.isOpen ? ["PENDING"] : [])
    if filter.isOpen || !filter.statuses.isEmpty {
      let asked = GraphQL.Condition("status", "IN_LIST", among: statuses.sorted())
      // After a partial void, the payment is a transaction with a parent.
      let hasParts =
        filter.statuses.contains(.partiallyRefunded) || filter.statuses.contains(.refunded)
      conditions.append(
        hasParts ? .init(asked, or: .init("parent_id", "IS_NOT_NULL", among: [])) : asked
      )
    }
    return conditions
  }

  private static func lets(_ item: JSONObject, _ filter: PaymentFilter) -> Bool {
    let method = item["payment_method"]
    if let handle = filter.handle,
      ![item.text("reference"), item.text("transaction_id")].contains(where: { text in
        text.map { PaymentFilter.fits(handle, $0) } ?? false
      })
    {
      return false
    }
    if let lastFour = filter.lastFour, method?["last_four"]?.text != lastFour { return false }
    if let customer = filter.customer {
      let payor = method?["payor"]?.object?.members.compactMap(\.value.text) ?? []
      guard payor.contains(where: { SearchTerm.isCustomer(customer, $0) }) else {
        return false
      }
    }
    if let failure = filter.failure {
      let reasons = item["failure_reasons"]?.array?.compactMap(\.text) ?? []
      guard reasons.contains(where: { SearchTerm.begins(failure, aWordOf: $0) }) else {
        return false
      }
    }
    let metadata = item["metadata"].orEmptyObject
    return filter.metadata.allSatisfy { metadata[$0.name]?.plainText == $0.value }
  }
}
