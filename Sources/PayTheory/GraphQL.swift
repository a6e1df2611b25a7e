import TenderEngine
import TenderModel
import TenderWire

/// Pay Theory's GraphQL interface, as far as look-ups and reversals need it (published schema of
/// 2026; protocol note, section 8).
///
/// Arguments are written into the document, as the documentation does.
struct GraphQL {
  private let context: PayTheoryContext
  private let merchantUID: String
  private let secretKey: SharedSecret

  /// Throws `auth` where the merchant credentials are missing; `what` names who needs them.
  init(_ context: PayTheoryContext, for what: String) throws(Fault) {
    guard let merchantUID = context.configuration.merchantUID,
      let secretKey = context.configuration.secretKey
    else { throw .missingMerchant(what) }
    guard !context.configuration.isRedirected || context.configuration.graphQLBase != nil else {
      throw .badAddress(
        "\(what) needs TENDER_PAYTHEORY_GRAPHQL_URL, which is not set beside the other addresses",
        hint: "set all that the command needs, or none"
      )
    }
    self.context = context
    self.merchantUID = merchantUID
    self.secretKey = secretKey
  }

  /// The transactions that match a key, newest first, at most `limit`.
  func transactions(_ key: String, _ value: String, limit: Int) throws(Fault) -> [JSONObject] {
    let data = try ask(TransactionFields.all) { fields in
      """
      query { transactions(limit: \(limit), query: {query_list: [{key: \(Self.quoted(key)), \
      value: \(Self.quoted(value)), operator: EQUAL, conjunctive_operator: NONE_NEXT}], \
      sort_list: [{direction: DESC, key: "transaction_date"}]}) \
      { items { \(fields) } total_row_count } }
      """
    }
    guard let items = data["transactions"]?["items"]?.array else {
      throw .unreadable("an answer without transactions")
    }
    return items.compactMap(\.object)
  }

  /// The payments that fit every condition, newest first, at most `limit`, and how many there are.
  func search(
    _ conditions: [Condition],
    limit: Int
  ) throws(Fault) -> (found: [JSONObject], total: Int?) {
    let data = try ask(TransactionFields.ofSearch) { fields in
      """
      query { transactions(limit: \(limit), query: {query_list: [\(Self.list(conditions))], \
      sort_list: [{direction: DESC, key: "transaction_date"}]}) \
      { items { \(fields) } total_row_count } }
      """
    }
    guard let items = data["transactions"]?["items"]?.array else {
      throw .unreadable("an answer without transactions")
    }
    return (items.compactMap(\.object), data["transactions"]?["total_row_count"]?.boundedNumber)
  }

  /// One pair of a query (protocol note, section 8.1).
  struct Condition {
    let key: String
    let comparison: String
    /// One, or for IN_LIST several.
    let values: [String]

    init(_ key: String, _ comparison: String, _ values: String...) {
      self.init(key, comparison, among: values)
    }

    init(_ key: String, _ comparison: String, among values: [String]) {
      self.key = key
      self.comparison = comparison
      self.values = values
    }
  }

  private static func list(_ conditions: [Condition]) -> String {
    conditions.enumerated().map { index, condition in
      let value =
        condition.comparison == "IN_LIST"
        ? "in_values: [\(condition.values.map(quoted).joined(separator: ", "))]"
        : "value: \(quoted(condition.values.first ?? ""))"
      let next = index == conditions.count - 1 ? "NONE_NEXT" : "AND_NEXT"
      return "{key: \(quoted(condition.key)), \(value), operator: \(condition.comparison), "
        + "conjunctive_operator: \(next)}"
    }.joined(separator: ", ")
  }

  /// The codes that a refund can have (published schema, `RefundReasonCode`).
  private static let reasons = ["DUPLICATE", "FRAUDULENT", "OTHER", "REQUESTED_BY_CUSTOMER"]

  /// Why, as `RefundReasonInput`: one of the codes, or any other text as details.
  private var reason: String {
    let text = context.configuration.refundReason ?? "REQUESTED_BY_CUSTOMER"
    let code = text.uppercased().replacing("-", with: "_").replacing(" ", with: "_")
    return Self.reasons.contains(code)
      ? "{reason_code: \(code), reason_details: \"\"}"
      : "{reason_code: OTHER, reason_details: \(Self.quoted(text))}"
  }

  /// Voids or refunds a payment: `{is_void, transaction_id}`.
  func createReversal(
    receipt: String,
    amount: Int,
    willSend: () throws(Fault) -> Void
  ) throws(Fault) -> JSONObject {
    let query = """
      mutation { createReversal(amount: \(amount), transaction_id: \(Self.quoted(receipt)), \
      refund_reason: \(reason)) \
      { is_void transaction_id } }
      """
    let data = try run(query, isEffecting: true, willSend: willSend)
    guard let reversal = data["createReversal"]?.object, reversal["is_void"]?.truth != nil else {
      throw Fault.unreadable("a reversal that cannot be read").afterSending
    }
    return reversal
  }

  /// Charges a stored payment method; gives the transaction.
  func createTransaction(
    _ order: PaymentOrder,
    method: String,
    willSend: () throws(Fault) -> Void
  ) throws(Fault) -> JSONObject {
    var arguments = [
      "amount: \(order.amount.minorUnits)", "merchant_uid: \(Self.quoted(merchantUID))",
      "payment_method_id: \(Self.quoted(method))",
      "fee_mode: \(order.feeMode.rawValue.uppercased())",
      "reference: \(Self.quoted(order.reference.text))",
    ]
    if let fee = order.fee { arguments.append("fee: \(fee.minorUnits)") }
    for (name, text) in [
      ("account_code", order.accountCode), ("invoice_id", order.invoiceID),
      ("recurring_id", order.recurringID), ("receipt_description", order.receiptDescription),
    ] {
      if let text { arguments.append("\(name): \(Self.quoted(text))") }
    }
    if order.sendsReceipt { arguments.append("send_receipt: true") }
    if !order.metadata.members.isEmpty {
      // AWSJSON: an object as text.
      arguments.append("metadata: \(Self.quoted(JSONWriter.text(.object(order.metadata))))")
    }
    let query = """
      mutation { createTransaction(\(arguments.joined(separator: ", "))) \
      { \(TransactionFields.ofCharge.joined(separator: " ")) } }
      """
    let data = try run(query, isEffecting: true, willSend: willSend)
    guard let transaction = data["createTransaction"]?.object,
      transaction.text("transaction_id") != nil
    else { throw Fault.unreadable("a transaction that cannot be read").afterSending }
    return transaction
  }

  /// Asks for fields, and once more without those that a server names as unknown: a server of an
  /// older schema refuses the whole document for one of them.
  ///
  /// `document` makes the query of the fields' text. Nothing effecting goes this way.
  private func ask(
    _ fields: [String],
    _ document: (String) -> String
  ) throws(Fault) -> JSONObject {
    var fields = fields
    for _ in 0..<3 {
      let answer = try send(document(fields.joined(separator: " ")), isEffecting: false)
      let unknown = Self.unknownFields(answer)
      let left = fields.filter { field in
        TransactionFields.needed.contains(field) || !unknown.contains(TransactionFields.name(field))
      }
      guard left.count < fields.count else { return try Self.data(answer) }
      fields = left
    }
    return try Self.data(try send(document(fields.joined(separator: " ")), isEffecting: false))
  }

  /// The first name in quotes of each error of an answer without data: what a server does not know.
  private static func unknownFields(_ answer: HTTPResponse) -> Set<String> {
    guard (200..<300).contains(answer.status) || answer.status == 400,
      let body = JSONReader.read(answer.body)?.object,
      body["data"] == nil || body["data"] == .null
    else { return [] }
    var names: Set<String> = []
    for error in body["errors"]?.array?.prefix(100) ?? [] {
      // Servers differ in the quote mark; what follows the name may be a suggestion.
      let parts = (error["message"]?.text ?? "").split(
        maxSplits: 2,
        omittingEmptySubsequences: false,
        whereSeparator: { $0 == "\"" || $0 == "'" }
      )
      if parts.count == 3 { names.insert(String(parts[1])) }
    }
    return names
  }

  /// A string literal of GraphQL (specification, section 2.9.4): JSON's escapes are a subset.
  private static func quoted(_ text: String) -> String { JSONWriter.text(.string(text)) }

  private func run(
    _ query: String,
    isEffecting: Bool,
    willSend: () throws(Fault) -> Void = {}
  ) throws(Fault) -> JSONObject {
    let answer = try send(query, isEffecting: isEffecting, willSend: willSend)
    do throws(Fault) {
      return try Self.data(answer)
    } catch {
      guard isEffecting else { throw error }
      switch error.cause {
      case .unclear: throw error.afterSending
      // A refusal may come after the effect: only one of the document itself proves that there was
      // none.
      case .refused: throw Self.isOfDocument(answer) ? error.proven : error.afterSending
      default: throw error.proven
      }
    }
  }

  private func send(
    _ query: String,
    isEffecting: Bool,
    willSend: () throws(Fault) -> Void = {}
  ) throws(Fault) -> HTTPResponse {
    let configuration = context.configuration
    let request = HTTPRequest(
      method: .post,
      url: configuration.graphQLURL,
      fields: [
        HTTPRequest.Field(
          "Authorization",
          "\(merchantUID);\(secretKey.revealed)",
          isSecret: true
        ),
        HTTPRequest.Field("Content-Type", "application/json"),
        HTTPRequest.Field("Accept", "application/json"),
      ],
      body: Array(JSONWriter.text(["query": .string(query), "variables": [:]]).utf8),
      isEffecting: isEffecting
    )
    if isEffecting { try willSend() }
    do throws(Fault) {
      return try context.http.send(
        request,
        by: Deadline(in: configuration.timeout, on: context.clock)
      )
    } catch {
      if error.kind == .notSent || !isEffecting { throw error.withoutEffect }
      throw error.afterSending
    }
  }

  /// The `data` of an answer.
  ///
  /// Errors without `data` were raised before anything was executed (GraphQL specification,
  /// "Response Format"): the request was refused and nothing was done. Errors beside `data`, and
  /// everything unreadable, leave open what was done: the code `graphql_unclear`.
  private static func data(_ answer: HTTPResponse) throws(Fault) -> JSONObject {
    let body = JSONReader.read(answer.body)?.object
    let texts = body?["errors"]?.array?.compactMap { $0["message"]?.text } ?? []
    let text = texts.joined(separator: "; ")
    switch answer.status {
    case 401, 403: throw .credentialsRefused
    case 429: throw .unavailable("it answered 429")
    case 200..<300, 400..<408, 409..<500: break
    default: throw .unreadable("it answered \(answer.status)")
    }
    if let errors = body?["errors"]?.array, !errors.isEmpty {
      if Self.isAboutCredentials(body) { throw .credentialsRefused }
      guard body?["data"] == nil || body?["data"] == .null && answer.status >= 400 else {
        throw .unreadable(text.isEmpty ? "an error" : text)
      }
      throw Fault(
        .rejected,
        code: "graphql_refused",
        cause: .refused,
        "Pay Theory refused the request: \(text.isEmpty ? "no reason given" : text)",
        hint: "nothing was done at the provider"
      )
    }
    guard answer.status < 300 else {
      throw Fault(
        .rejected,
        code: "graphql_refused",
        cause: .refused,
        "Pay Theory refused the request with status \(answer.status)",
        hint: "nothing was done at the provider"
      )
    }
    guard let data = body?["data"]?.object else { throw .unreadable("an answer without data") }
    return data
  }

  /// Whether an answer says that the document was not executed: every error is one of parsing or
  /// validation (GraphQL specification, section 7.1.2, "Request Errors"; the words are graphql-js',
  /// graphql-java's and AWS AppSync's).
  private static func isOfDocument(_ answer: HTTPResponse) -> Bool {
    guard let body = JSONReader.read(answer.body)?.object,
      body["data"] == nil || body["data"] == .null,
      let errors = body["errors"]?.array, !errors.isEmpty
    else { return false }
    let codes = ["GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"]
    let beginnings = [
      "Cannot query field ", "Unknown argument ", "Unknown type ", "Unknown field ", "Syntax Error",
      "Validation error", "Invalid Syntax", "Expected value of type ", "Expected type ",
      "Value \"", "Field \"", "Argument \"", "Variable \"",
    ]
    return errors.allSatisfy { error in
      guard error["path"] == nil || error["path"] == .null else { return false }
      if let code = error["extensions"]?["code"]?.text, codes.contains(code) { return true }
      let text = error["message"]?.text ?? ""
      return beginnings.contains { text.hasPrefix($0) }
    }
  }

  private static func isAboutCredentials(_ body: JSONObject?) -> Bool {
    guard body?["data"] == nil || body?["data"] == .null else { return false }
    return body?["errors"]?.array?.contains { error in
      let type = error["errorType"]?.text ?? error["extensions"]?["code"]?.text ?? ""
      return ["UnauthorizedException", "Unauthorized", "UNAUTHENTICATED"].contains(type)
    } ?? false
  }
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

  fileprivate static func unavailable(_ why: String) -> Fault {
    Fault(
      .providerError,
      code: "graphql_unavailable",
      "Pay Theory's GraphQL interface: \(why)",
      hint: "no money moved; try again later"
    )
  }

  static func unreadable(_ why: String) -> Fault {
    Fault(
      .providerError,
      code: "graphql_unclear",
      cause: .unclear,
      "Pay Theory's GraphQL interface: \(why)",
      hint: "no money moved; try again later"
    )
  }
}
