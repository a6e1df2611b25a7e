import TenderEngine
import TenderModel

/// The questions that are asked: nothing here can move money.
extension GraphQL {
  /// The transactions that match a key, newest first, at most `limit`.
  func transactions(_ key: String, _ value: String, limit: Int) throws(Fault) -> [JSONObject] {
    try search([Condition(key, "EQUAL", value)], TransactionFields.all, limit: limit).found
  }

  /// The transactions that match every condition, newest first, at most `limit`, and how many there are.
  func search(
    _ conditions: [Condition],
    _ fields: [String] = TransactionFields.ofSearch,
    limit: Int
  ) throws(Fault) -> (found: [JSONObject], total: Int?) {
    try list("transactions", fields, conditions, newestBy: "transaction_date", limit: limit)
  }

  /// The authorizations that match a key, newest first.
  func authorizations(_ key: String, _ value: String) throws(Fault) -> [JSONObject] {
    let condition = Condition(key, "EQUAL", value)
    return try list(
      "authorizations",
      TransactionFields.ofLookedUpAuthorization,
      [condition],
      newestBy: "authorization_date",
      limit: 50
    ).found
  }

  /// A stored payment method; nil where there is none of that id.
  func method(_ id: String) throws(Fault) -> JSONObject? {
    let fields = ["payment_method_id", "payment_type", "card_brand", "last_four", "is_active"]
    let condition = Condition("payment_method_id", "EQUAL", id)
    return try list("paymentMethodTokens", fields, [condition], limit: 1).found
      .first { $0.text("payment_method_id") == id }
  }

  /// What Pay Theory adds for a payer who pays the fee, in cents.
  func serviceFee(amount: Int, method: String) throws(Fault) -> Int {
    let data = try ask(["fee"]) { fields in
      "query { serviceFee(merchant_uid: \(Self.quoted(merchantUID)), amount: \(amount), "
        + "payment_method_id: \(Self.quoted(method))) { \(fields) } }"
    }
    guard let fee = data["serviceFee"]?["fee"]?.boundedNumber else {
      throw .unreadable("a service fee that cannot be read")
    }
    return fee
  }

  /// A cash barcode; nil where there is none of that id.
  func barcode(_ id: String) throws(Fault) -> JSONObject? {
    let data = try ask([
      "barcode_id", "amount", "fees", "barcode_url", "expiration_date", "merchant_uid", "reference",
    ]) { fields in
      "query { barcode(merchant_uid: \(Self.quoted(merchantUID)), barcode_id: \(Self.quoted(id))) "
        + "{ \(fields) } }"
    }
    return data["barcode"]?.object.flatMap { $0.text("barcode_id") == id ? $0 : nil }
  }

  private func list(
    _ name: String,
    _ fields: [String],
    _ conditions: [Condition],
    newestBy key: String? = nil,
    limit: Int
  ) throws(Fault) -> (found: [JSONObject], total: Int?) {
    let order = key.map { ", sort_list: [{direction: DESC, key: \(Self.quoted($0))}]" } ?? ""
    let data = try ask(fields) { fields in
      "query { \(name)(limit: \(limit), query: {query_list: \(Condition.list(conditions))\(order)}) "
        + "{ items { \(fields) } total_row_count } }"
    }
    guard let items = data[name]?["items"]?.array else {
      throw .unreadable("an answer without \(name)")
    }
    return (items.compactMap(\.object), data[name]?["total_row_count"]?.boundedNumber)
  }

  /// One pair of a query (README, 6.2).
  struct Condition {
    private let text: String

    /// A comparison with one value, or for IN_LIST with several.
    init(_ key: String, _ comparison: String, _ values: String...) {
      self.init(key, comparison, among: values)
    }

    init(_ key: String, _ comparison: String, among values: [String]) {
      let value =
        comparison == "IN_LIST"
        ? "in_values: [\(values.map(GraphQL.quoted).joined(separator: ", "))], "
        : values.first.map { "value: \(GraphQL.quoted($0)), " } ?? ""
      text = "key: \(GraphQL.quoted(key)), \(value)operator: \(comparison)"
    }

    /// Either of two conditions.
    init(_ one: Condition, or other: Condition) {
      text = "query_group: " + Self.list([one, other], joinedBy: "OR_NEXT")
    }

    static func list(_ conditions: [Condition], joinedBy word: String = "AND_NEXT") -> String {
      let pairs = conditions.enumerated().map { index, condition in
        let next = index == conditions.count - 1 ? "NONE_NEXT" : word
        return "{\(condition.text), conjunctive_operator: \(next)}"
      }
      return "[\(pairs.joined(separator: ", "))]"
    }
  }
}
