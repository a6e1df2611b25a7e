import TenderEngine
import TenderModel

/// The parts of Pay Theory's GraphQL interface that payments need (published schema of 2026; README, 6).
///
/// Arguments are written into the document, as the documentation does.
struct GraphQL {
  private let context: PayTheoryContext
  let merchantUID: String
  private let secretKey: SharedSecret

  /// Throws `auth` if the merchant credentials are missing. `what` names the purpose.
  init(_ context: PayTheoryContext, for what: String) throws(Fault) {
    let (merchantUID, secretKey) = try context.configuration.merchant(for: what)
    self.context = context
    self.merchantUID = merchantUID
    self.secretKey = secretKey
  }

  /// Queries fields, and once more without those that the server reports as unknown.
  ///
  /// A server with an older schema refuses the whole document for one unknown field. `document` builds the
  /// query `name` from the fields' text. Queries cannot move money.
  ///
  /// Throws a fault with the cause `refused` if the server does not know the query.
  func ask(
    _ name: String,
    _ fields: [String],
    _ document: (String) -> String
  ) throws(Fault) -> JSONObject {
    var fields = fields
    for _ in 0..<3 {
      let answer = try send(document(fields.joined(separator: " ")))
      let unknown = Self.unknownFields(answer)
      guard !unknown.contains(name) else {
        throw .unreadable("it does not know the query \(name)", cause: .refused)
      }
      let left = fields.filter { field in
        TransactionFields.needed.contains(field) || !unknown.contains(TransactionFields.name(field))
      }
      guard left.count < fields.count else { return try Self.data(answer) }
      fields = left
    }
    return try Self.data(try send(document(fields.joined(separator: " "))))
  }

  /// Returns the unknown fields: the first quoted name in each error of an answer without data.
  private static func unknownFields(_ answer: Answer) -> Set<String> {
    guard (200..<300).contains(answer.status) || answer.status == 400, answer.lacksData else {
      return []
    }
    var names: Set<String> = []
    for error in answer.errors.prefix(100) {
      // Servers use different quotes. A suggestion may follow the name.
      let parts = (error["message"]?.text ?? "").split(
        maxSplits: 2,
        omittingEmptySubsequences: false,
        whereSeparator: { $0 == "\"" || $0 == "'" }
      )
      if parts.count == 3 { names.insert(String(parts[1])) }
    }
    return names
  }

  /// Sends a mutation, which is recorded as sent first. Returns the value under its name.
  func run(_ mutation: Mutation, _ progress: Progress) throws(Fault) -> JSON {
    try progress.willSend()
    let answer = try send(mutation.document, try progress.permit())
    do throws(Fault) {
      return try Self.data(answer)[mutation.name] ?? .null
    } catch {
      // Any other refusal may come after the effect.
      throw answer.isRefusedByCode ? error.proven : error
    }
  }

  /// A parsed answer. It is empty if the body is not a JSON object.
  private struct Answer {
    let status: Int
    let data: JSON?
    let errors: [JSON]
    /// The seconds to wait before a retry, if the answer names them.
    let after: Int?

    init(_ answer: HTTPResponse, at now: Int) {
      after = answer.retryAfter(now)
      let body = JSONReader.read(answer.body, duplicates: .refused)?.object
      (status, data, errors) = (answer.status, body?["data"], body?["errors"]?.array ?? [])
    }

    var lacksData: Bool { data == nil || data == .null }

    /// Whether the document was refused before its execution, by documented codes (README, 8.4).
    var isRefusedByCode: Bool {
      let codes = ["GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"]
      return [200, 400].contains(status) && lacksData && !errors.isEmpty
        && errors.allSatisfy { error in
          (error["path"] ?? .null) == .null
            && codes.contains(error["extensions"]?["code"]?.text ?? "")
        }
    }
  }

  private func send(_ document: String, _ permit: SendPermit? = nil) throws(Fault) -> Answer {
    let configuration = context.configuration
    let request = HTTPRequest(
      method: .post,
      url: configuration.graphQLURL,
      fields: [
        HTTPRequest.Field("Authorization", "\(merchantUID);\(secretKey.revealed)", isSecret: true),
        HTTPRequest.Field("Content-Type", "application/json"),
        HTTPRequest.Field("Accept", "application/json"),
      ],
      body: Array(JSONWriter.text(["query": .string(document), "variables": [:]]).utf8)
    )
    let answer = try context.http.send(request, permit, by: context.deadline)
    return Answer(answer, at: context.clock.now)
  }

  /// Returns the `data` of an answer.
  ///
  /// Errors without `data` were raised before the execution (GraphQL specification, "Response Format"): the
  /// request was refused and nothing was done. Errors beside `data`, and anything unreadable, leave the
  /// effect open: the code is `graphql_unclear`.
  private static func data(_ answer: Answer) throws(Fault) -> JSONObject {
    switch answer.status {
    case 401, 403: throw .credentialsRefused
    case 429:
      throw Fault.unreadable("it answered 429", code: "graphql_unavailable", cause: nil)
        .retried(after: answer.after)
    case 200..<300, 400..<408, 409..<500: break
    default:
      throw Fault.unreadable("it answered \(answer.status)").retried(after: answer.after)
    }
    guard answer.errors.isEmpty else {
      let text = answer.errors.compactMap { $0["message"]?.text }.joined(separator: "; ")
      if Self.isAboutCredentials(answer) { throw .credentialsRefused }
      let isExecuted = answer.data != nil && (answer.data != .null || answer.status < 400)
      guard !isExecuted || answer.isRefusedByCode else {
        throw .unreadable(text.isEmpty ? "an error" : text)
      }
      throw .refused("refused the request: \(text.isEmpty ? "no reason given" : text)")
    }
    guard answer.status < 300 else {
      throw .refused("refused the request with status \(answer.status)")
    }
    guard let data = answer.data?.object else { throw .unreadable("an answer without data") }
    return data
  }

  private static func isAboutCredentials(_ answer: Answer) -> Bool {
    answer.lacksData
      && answer.errors.contains { error in
        let type = error["errorType"]?.text ?? error["extensions"]?["code"]?.text ?? ""
        return ["UnauthorizedException", "Unauthorized", "UNAUTHENTICATED"].contains(type)
      }
  }

  // MARK: Queries, which cannot move money

  /// Returns all transactions with a key's value, newest first. `limit` is how many are asked for at first.
  ///
  /// Where a list cannot have them all, those that failed are left out: they took nothing. Throws `provider_error`
  /// if there are still more. A part of them proves nothing.
  func transactions(_ key: String, _ value: String, limit: Int) throws(Fault) -> [JSONObject] {
    let isOne = Condition(key, "EQUAL", value)
    let all = try transactions([isOne], limit: limit)
    guard limit > 1, all.found.count < all.total else { return all.found }
    let paid = try transactions([isOne, Condition("status", "NOT_EQUAL", "FAILED")], limit: limit)
    guard paid.found.count >= paid.total else {
      throw .tooMany("\(paid.found.count) of \(paid.total) transactions with one \(key)")
    }
    return paid.found
  }

  private func transactions(
    _ conditions: [Condition],
    limit: Int
  ) throws(Fault) -> (found: [JSONObject], total: Int) {
    var (found, total) = try search(conditions, TransactionFields.all, limit: limit)
    if limit > 1, let total, total > found.count, total <= Self.mostTransactions {
      found = try search(conditions, TransactionFields.all, limit: total).found
    }
    return (found, total ?? found.count)
  }

  private static let mostTransactions = 1000

  func transaction(_ receipt: String) throws(Fault) -> JSONObject? {
    try transactions("transaction_id", receipt, limit: 1).first { Transactions.id($0) == receipt }
  }

  /// Returns the transactions that match every condition, newest first, at most `limit`, and their total
  /// number.
  func search(
    _ conditions: [Condition],
    _ fields: [String] = TransactionFields.ofSearch,
    limit: Int
  ) throws(Fault) -> (found: [JSONObject], total: Int?) {
    try list("transactions", fields, conditions, newestBy: "transaction_date", limit: limit)
  }

  /// Returns the authorizations with a key's value, newest first.
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

  func authorization(_ id: String) throws(Fault) -> JSONObject? {
    try authorizations("authorization_id", id).first { $0.text("authorization_id") == id }
  }

  /// Returns a stored payment method by its id; nil if there is none.
  func method(_ id: String) throws(Fault) -> JSONObject? {
    let fields = ["payment_method_id", "payment_type", "card_brand", "last_four", "is_active"]
    let condition = Condition("payment_method_id", "EQUAL", id)
    return try list("paymentMethodTokens", fields, [condition], limit: 1).found
      .first { $0.text("payment_method_id") == id }
  }

  /// Returns the service fee in cents that Pay Theory adds if the payer pays the fee.
  func serviceFee(amount: Int, method: String) throws(Fault) -> Int {
    let data = try ask("serviceFee", ["fee"]) { fields in
      "query { serviceFee(merchant_uid: \(merchantUID.literal), amount: \(amount), "
        + "payment_method_id: \(method.literal)) { \(fields) } }"
    }
    guard let fee = data["serviceFee"]?["fee"]?.boundedNumber else {
      throw .unreadable("a service fee that cannot be read")
    }
    return fee
  }

  /// Returns a cash barcode by its id; nil if there is none.
  func barcode(_ id: String) throws(Fault) -> JSONObject? {
    let members = [
      "barcode_id", "amount", "fees", "barcode_url", "expiration_date", "merchant_uid", "reference",
    ]
    let data = try ask("barcode", members) { fields in
      "query { barcode(merchant_uid: \(merchantUID.literal), barcode_id: \(id.literal)) "
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
    let order = key.map { ", sort_list: [{direction: DESC, key: \($0.literal)}]" } ?? ""
    let data = try ask(name, fields) { fields in
      "query { \(name)(limit: \(limit), query: {query_list: \(Condition.list(conditions))\(order)}) "
        + "{ items { \(fields) } total_row_count } }"
    }
    guard let items = data[name]?["items"]?.array else {
      throw .unreadable("an answer without \(name)")
    }
    return (items.compactMap(\.object), data[name]?["total_row_count"]?.boundedNumber)
  }

  /// A condition of a query (README, 6.2).
  struct Condition {
    private let text: String

    /// Compares with one value, or with several for IN_LIST.
    init(_ key: String, _ comparison: String, _ values: String...) {
      self.init(key, comparison, among: values)
    }

    init(_ key: String, _ comparison: String, among values: [String]) {
      let value =
        comparison == "IN_LIST"
        ? "in_values: [\(values.map(\.literal).joined(separator: ", "))], "
        : values.first.map { "value: \($0.literal), " } ?? ""
      text = "key: \(key.literal), \(value)operator: \(comparison)"
    }

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

extension String {
  /// The text as a GraphQL string literal (specification, section 2.9.4). JSON's escapes are a subset.
  var literal: String { JSONWriter.text(.string(self)) }
}

extension Fault {
  fileprivate static var credentialsRefused: Fault {
    Fault(
      .auth,
      code: "credentials_refused",
      "Pay Theory refused the merchant credentials",
      hint: "check TENDER_PAYTHEORY_MERCHANT_UID and TENDER_PAYTHEORY_SECRET_KEY"
    )
  }

  /// Pay Theory refused the request. `hint` is the next step.
  static func refused(_ what: String, hint: String = "nothing was done at the provider") -> Fault {
    Fault(.rejected, code: "graphql_refused", cause: .refused, "Pay Theory \(what)", hint: hint)
  }

  /// A list lacks a part of what there is, and will lack it later too.
  fileprivate static func tooMany(_ what: String) -> Fault {
    var fault = Fault.unreadable("it lists only \(what)")
    fault.hint = "look at them in Pay Theory's portal, and charge under a new reference"
    fault.again = .operator
    return fault
  }

  static func unreadable(
    _ why: String,
    code: String = "graphql_unclear",
    cause: Fault.Cause? = .unclear
  ) -> Fault {
    Fault(
      .providerError,
      code: code,
      cause: cause,
      "Pay Theory's GraphQL interface: \(why)",
      hint: "this request moved no money; try again later"
    )
  }
}
