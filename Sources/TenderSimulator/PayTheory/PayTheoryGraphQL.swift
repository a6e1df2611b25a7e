import TenderEngine
import TenderModel

/// Pay Theory's GraphQL, as far as payments go (PayTheory/README, 6).
struct PayTheoryGraphQL {
  let parts: SimulatorParts

  func handle(_ request: SimulatedRequest) throws(Fault) -> HTTPResponse {
    guard isAuthorized(request.fields["authorization"] ?? "") else {
      // The form of AWS AppSync, whose scalars the published schema has.
      let message: JSON = "You are not authorized to make this call."
      let body: JSON = ["errors": [["errorType": "UnauthorizedException", "message": message]]]
      return HTTPResponse(status: 401, body: Array(JSONWriter.text(body).utf8))
    }
    guard let body = JSONReader.read(request.body)?.object, let query = body.text("query"),
      let document = GraphQLDocument(query)
    else { return Self.errors(["Syntax Error"], status: 400) }
    let variables = body["variables"]?.object ?? [:]
    let problems =
      GraphQLValidation(document, variables: variables, schema: GraphQLSchema.published).problems
    guard problems.isEmpty else { return Self.errors(problems, status: 200) }
    var data: JSONObject = [:]
    let root = document.isMutation ? "Mutation" : "Query"
    let schema = GraphQLSchema.published
    /// Returns the selected fields of a value under their aliases. Absent fields are null.
    func select(_ value: JSON, _ fields: [GraphQLDocument.Field]?, of type: String) -> JSON {
      guard let fields else { return value == "" ? .null : value }
      switch value {
      case .array(let elements): return .array(elements.map { select($0, fields, of: type) })
      case .object(let object):
        guard case .object(let known) = schema[type] else { return .null }
        var chosen: JSONObject = [:]
        for field in fields {
          chosen[field.alias] =
            field.name == "__typename"
            ? .string(type)
            : select(
              object[field.name] ?? .null,
              field.selection,
              of: known[field.name]?.type.name ?? ""
            )
        }
        return .object(chosen)
      default: return value
      }
    }
    for field in document.fields {
      if field.name == "__typename" {
        data[field.alias] = .string(root)
        continue
      }
      let arguments = GraphQLDocument.arguments(of: field, variables)
      let named = arguments.text("merchant_uid") ?? arguments["input"]?["merchant_uid"]?.text
      if let merchant = named, merchant != self.merchant(of: request) {
        return Self.errors(["Merchant not found"], at: field.alias, status: 200)
      }
      let answer = try Fault.refusable { () throws(Fault) in
        document.isMutation
          ? try PayTheoryMutations(books: books).answer(field.name, arguments)
          : try look(field.name, arguments)
      }
      switch answer {
      case .success(let value):
        guard case .object(let known) = schema[root] else { break }
        let type = known[field.name]?.type.name ?? ""
        data[field.alias] = select(value, field.selection, of: type)
      case .failure(let refusal):
        return Self.errors([refusal.message], at: field.alias, status: 200)
      }
    }
    return HTTPResponse(
      status: 200,
      body: Array(JSONWriter.text(["data": .object(data)]).utf8),
      fields: ["content-type": "application/json"]
    )
  }

  /// The merchant of a request's header.
  private func merchant(of request: SimulatedRequest) -> String? {
    request.fields["authorization"]?.split(separator: ";").first.map(String.init)
  }

  /// Whether a header has a merchant's id and secret key, `MERCHANT_UID;SECRET_KEY`.
  private func isAuthorized(_ header: String) -> Bool {
    guard !parts.world.isServed else {
      return header == PayTheoryCatalog.merchantUID + ";" + PayTheoryCatalog.secretKey
    }
    let credentials = header.utf8.split(
      separator: UInt8(ascii: ";"),
      omittingEmptySubsequences: false
    )
    return credentials.count == 2 && credentials.allSatisfy { !$0.isEmpty }
  }

  private var books: PayTheoryBooks { PayTheoryBooks(parts) }

  private func look(_ name: String, _ arguments: JSONObject) throws(Fault) -> JSON {
    switch name {
    case "transactions":
      let pairs = try pairs(arguments, "Transaction")
      return page(try transactions(pairs).map(\.graphQL), arguments)
    case "authorizations":
      let pairs = try pairs(arguments, "Authorization")
      let all = try parts.ledger.list(BookedAuthorization.self).map(\.graphQL)
      return page(all.filter { PayTheoryQuery.matches($0, pairs) }, arguments)
    case "paymentMethodTokens":
      let pairs = try pairs(arguments, "PaymentMethodToken")
      let all = try parts.ledger.list(BookedMethod.self).map(\.graphQL)
      return page(all.filter { PayTheoryQuery.matches($0, pairs) }, arguments)
    case "settlements":
      let pairs = try pairs(arguments, "Settlement")
      let all = try parts.ledger.list(BookedSettlement.self).map(\.graphQL)
      return page(all.filter { PayTheoryQuery.matches($0, pairs) }, arguments)
    case "disputes":
      let pairs = try pairs(arguments, "Dispute")
      var all: [JSONObject] = []
      for dispute in try parts.ledger.list(BookedDispute.self) {
        all.append(try books.shown(dispute))
      }
      return page(all.filter { PayTheoryQuery.matches($0, pairs) }, arguments)
    case "fundingTransfers":
      let batch = String(arguments["settlement_batch"]?.boundedNumber ?? 0)
      let transfers = try parts.ledger.list(BookedFunding.self, parent: batch).map(\.graphQL)
      return ["transfers": .array(transfers.map(JSON.object))]
    case "serviceFee": return try serviceFee(arguments)
    case "barcode":
      let found = try parts.ledger.find(BookedBarcode.self, arguments.text("barcode_id") ?? "")
      return found.map { .object($0.graphQL) } ?? .null
    default: throw .simulatedRefusal("Cannot query field \"\(name)\".")
    }
  }

  /// Returns the pairs of a list's query. A key that is not a field of the listed type is refused.
  private func pairs(_ arguments: JSONObject, _ type: String) throws(Fault) -> [JSON] {
    let pairs = arguments["query"]?["query_list"]?.array ?? []
    let schema = GraphQLSchema.published
    if case .object(let fields) = schema[type],
      let key = PayTheoryQuery.keys(pairs).first(where: { fields[$0] == nil })
    {
      throw .simulatedRefusal("Unknown query key \"\(key)\" of type \"\(type)\".")
    }
    return pairs
  }

  private func transactions(_ pairs: [JSON]) throws(Fault) -> [BookedRow] {
    // The most frequent keys of payments have an index.
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

  /// Returns the requested items. Rows are sorted oldest first, and a query sorts by dates.
  private func page(_ found: [JSONObject], _ arguments: JSONObject) -> JSON {
    var items = found
    let sorting = arguments["query"]?["sort_list"]?.array?.first
    if sorting?["direction"]?.text == "DESC" { items.reverse() }
    let total = items.count
    if let limit = arguments["limit"]?.boundedNumber, limit >= 0 {
      items = Array(items.prefix(limit))
    }
    return ["items": .array(items.map(JSON.object)), "total_row_count": .integer(total)]
  }

  private func serviceFee(_ arguments: JSONObject) throws(Fault) -> JSON {
    let amount = arguments["amount"]?.boundedNumber ?? 0
    var isACH = arguments["is_ach"]?.truth ?? (arguments.text("payment_type") == "ACH")
    if let id = arguments.text("payment_method_id") {
      isACH = try books.usableMethod(id).type == .ach
    }
    if let bank = arguments.text("bank_id"), !(6...8).contains(bank.utf8.count) {
      throw .simulatedRefusal("bank_id must be 6 to 8 digits")
    }
    let fee = PayTheoryCatalog.fee(amount: amount, isACH: isACH)
    return [
      "adjusted_total": (amount + fee).json, "fee": fee.json, "fee_limit_reached": false,
      "total": amount.json,
    ]
  }

  /// A refusal before any execution: errors without data. An error of a field has its path (specification,
  /// section 7.1.2).
  private static func errors(
    _ texts: [String],
    at path: String? = nil,
    status: Int
  ) -> HTTPResponse {
    let errors: [JSON] = texts.prefix(20).map { text in
      ["message": text.json, "path": path.map { [$0.json] }]
    }
    let body: JSON = ["errors": .array(errors)]
    return HTTPResponse(status: status, body: Array(JSONWriter.text(body).utf8))
  }
}
