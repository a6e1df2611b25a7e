import TenderEngine
import TenderModel

/// Pay Theory's GraphQL, as far as payments go (PayTheory/README, 6).
struct PayTheoryGraphQL {
  let world: SimulatorWorld
  let ledger: Ledger

  func handle(_ request: SimulatedRequest) throws(Fault) -> HTTPResponse {
    let credentials = (request.fields["authorization"] ?? "").utf8.split(
      separator: UInt8(ascii: ";"),
      omittingEmptySubsequences: false
    )
    guard credentials.count == 2, credentials.allSatisfy({ !$0.isEmpty }) else {
      return Self.errors(["Unauthorized"], status: 401)
    }
    guard let body = JSONReader.read(request.body)?.object, let query = body.text("query"),
      let document = GraphQLDocument(query)
    else { return Self.errors(["Syntax Error"], status: 400) }
    let variables = body["variables"]?.object ?? [:]
    let problems =
      GraphQLValidation(document, variables: variables, schema: PayTheorySchema.schema).problems
    guard problems.isEmpty else { return Self.errors(problems, status: 200) }
    var data: JSONObject = [:]
    for field in document.fields {
      let arguments = GraphQLValidation.arguments(of: field, in: document, variables: variables)
      switch try answer(field.name, arguments, isMutation: document.isMutation) {
      case .success(let value): data[field.alias] = Self.select(value, field.selection ?? [])
      case .failure(let problem): return Self.errors([problem.text], at: field.alias, status: 200)
      }
    }
    return HTTPResponse(
      status: 200,
      body: Array(JSONWriter.text(["data": .object(data)]).utf8),
      fields: ["content-type": "application/json"]
    )
  }

  private typealias Refusal = PayTheoryBooks.Refusal

  private var books: PayTheoryBooks { PayTheoryBooks(world: world, ledger: ledger) }

  private func answer(
    _ name: String,
    _ arguments: JSONObject,
    isMutation: Bool
  ) throws(Fault) -> Result<JSON, Refusal> {
    if isMutation { return try PayTheoryMutations(books: books).answer(name, arguments) }
    switch name {
    case "transactions":
      return .success(Self.page(try transactions(arguments).map(\.graphQL), arguments))
    case "authorizations":
      return .success(
        Self.page(
          try ledger.list(BookedAuthorization.self).map(\.graphQL),
          arguments,
          isFiltered: true
        )
      )
    case "paymentMethodTokens":
      return .success(
        Self.page(try ledger.list(BookedMethod.self).map(\.graphQL), arguments, isFiltered: true)
      )
    case "serviceFee": return try serviceFee(arguments)
    case "barcode":
      let found = try ledger.find(BookedBarcode.self, arguments.text("barcode_id") ?? "")
      return .success(found.map { .object($0.graphQL) } ?? .null)
    default: return .failure(Refusal("Cannot query field \"\(name)\"."))
    }
  }

  private func transactions(_ arguments: JSONObject) throws(Fault) -> [BookedRow] {
    let pairs = arguments["query"]?["query_list"]?.array ?? []
    // The keys that payments are asked for by most have an index.
    if pairs.count == 1, let value = pairs[0]["value"]?.text,
      pairs[0]["operator"]?.text == "EQUAL"
    {
      switch pairs[0]["key"]?.text {
      case "transaction_id": return try books.rows(id: value)
      case "reference": return try books.rows(reference: value)
      case "parent_id": return try books.rows(parent: value)
      default: break
      }
    }
    return try books.rows().filter { PayTheoryQuery.matches($0.graphQL, pairs) }
  }

  /// The items that were asked for; rows come out oldest first, and dates are what is sorted by.
  private static func page(
    _ found: [JSONObject],
    _ arguments: JSONObject,
    isFiltered: Bool = false
  ) -> JSON {
    let pairs = arguments["query"]?["query_list"]?.array ?? []
    var items = isFiltered ? found.filter { PayTheoryQuery.matches($0, pairs) } : found
    let sorting = arguments["query"]?["sort_list"]?.array?.first
    if sorting?["direction"]?.text == "DESC" { items.reverse() }
    let total = items.count
    if let limit = arguments["limit"]?.boundedNumber, limit >= 0 {
      items = Array(items.prefix(limit))
    }
    return ["items": .array(items.map(JSON.object)), "total_row_count": .integer(total)]
  }

  private func serviceFee(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Refusal> {
    let amount = arguments["amount"]?.boundedNumber ?? 0
    var isACH = arguments["is_ach"]?.truth ?? (arguments.text("payment_type") == "ACH")
    if let id = arguments.text("payment_method_id") {
      switch try books.usableMethod(id) {
      case .failure(let refusal): return .failure(refusal)
      case .success(let method): isACH = method.type == .ach
      }
    }
    if let bank = arguments.text("bank_id"), !(6...8).contains(bank.utf8.count) {
      return .failure(Refusal("bank_id must be 6 to 8 digits"))
    }
    let fee = PayTheoryCatalog.fee(amount: amount, isACH: isACH)
    return .success([
      "adjusted_total": .integer(amount + fee), "fee": .integer(fee), "fee_limit_reached": false,
      "total": .integer(amount),
    ])
  }

  /// What was asked for of a value, under the asked-for names, absent fields as null.
  private static func select(_ value: JSON, _ selection: [GraphQLDocument.Field]) -> JSON {
    guard !selection.isEmpty else { return value == "" ? .null : value }
    switch value {
    case .array(let elements): return .array(elements.map { select($0, selection) })
    case .object(let object):
      var chosen: JSONObject = [:]
      for field in selection {
        chosen[field.alias] = select(object[field.name] ?? .null, field.selection ?? [])
      }
      return .object(chosen)
    default: return value
    }
  }

  /// A refusal before anything was executed, errors without data; one of a field has its path
  /// (specification, section 7.1.2).
  private static func errors(
    _ texts: [String],
    at path: String? = nil,
    status: Int
  ) -> HTTPResponse {
    let errors = texts.prefix(20).map { text in
      var error: JSONObject = ["message": .string(text)]
      error["path"] = path.map { [.string($0)] }
      return JSON.object(error)
    }
    let body: JSON = ["errors": .array(errors)]
    return HTTPResponse(status: status, body: Array(JSONWriter.text(body).utf8))
  }
}
