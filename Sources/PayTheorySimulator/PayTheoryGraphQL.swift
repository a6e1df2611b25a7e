import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// Pay Theory's GraphQL, as far as payments go (protocol note, section 8).
struct PayTheoryGraphQL {
  let world: SimulatorWorld
  let ledger: Ledger

  func handle(_ request: SimulatedRequest) throws(Fault) -> HTTPResponse {
    let credentials = (request.fields["authorization"] ?? "").split(
      separator: ";",
      omittingEmptySubsequences: false
    )
    guard credentials.count == 2, credentials.allSatisfy({ !$0.isEmpty }) else {
      return Self.errors(["Unauthorized"], status: 401)
    }
    guard let body = JSONReader.read(request.body)?.object, let query = body.text("query"),
      let document = GraphQLDocument(query), let schema = PayTheorySchema.schema
    else { return Self.errors(["Syntax Error"], status: 400) }
    let variables = body["variables"]?.object ?? [:]
    let problems = GraphQLValidation(document, variables: variables, schema: schema).problems
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

  private struct Problem: Error {
    let text: String
  }

  private func answer(
    _ name: String,
    _ arguments: JSONObject,
    isMutation: Bool
  ) throws(Fault) -> Result<JSON, Problem> {
    switch (name, isMutation) {
    case ("transactions", false): return try transactions(arguments)
    case ("paymentMethodTokens", false): return try methods(arguments)
    case ("serviceFee", false): return .success(Self.serviceFee(arguments))
    case ("createReversal", true): return try createReversal(arguments)
    case ("createTransaction", true): return try createTransaction(arguments)
    default: return .failure(Problem(text: "Cannot query field \"\(name)\"."))
    }
  }

  private func transactions(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Problem> {
    let pairs = arguments["query"]?["query_list"]?.array ?? []
    let store = PayTheoryTransactions(world: world, ledger: ledger)
    let found: [JSONObject]
    // The two keys that everybody asks by have an index.
    if pairs.count == 1, let key = pairs[0]["key"]?.text, let value = pairs[0]["value"]?.text,
      pairs[0]["operator"]?.text == "EQUAL", key == "transaction_id" || key == "reference"
    {
      if key == "transaction_id" {
        found = try ledger.find("transaction", value).map { [$0] } ?? []
      } else {
        found = try ledger.list("transaction", column: "reference", value: value)
      }
    } else {
      found = try ledger.list("transaction").filter { PayTheoryQuery.matches($0, pairs) }
    }
    return .success(Self.page(found.map { store.current($0, now: world.now) }, arguments))
  }

  private func methods(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Problem> {
    let pairs = arguments["query"]?["query_list"]?.array ?? []
    let found = try ledger.list("method").map(PayTheoryTransactions.method)
    return .success(Self.page(found.filter { PayTheoryQuery.matches($0, pairs) }, arguments))
  }

  /// The items that were asked for; rows come out oldest first, and dates are what is sorted by.
  private static func page(_ found: [JSONObject], _ arguments: JSONObject) -> JSON {
    var items = found
    let sorting = arguments["query"]?["sort_list"]?.array?.first
    if sorting?["direction"]?.text == "DESC" { items.reverse() }
    let total = items.count
    if let limit = arguments["limit"]?.boundedNumber, limit >= 0 {
      items = Array(items.prefix(limit))
    }
    return ["items": .array(items.map(JSON.object)), "total_row_count": .integer(total)]
  }

  private static func serviceFee(_ arguments: JSONObject) -> JSON {
    let amount = arguments["amount"]?.boundedNumber ?? 0
    let isACH = arguments["is_ach"]?.truth ?? (arguments.text("payment_type") == "ACH")
    let fee = PayTheoryCatalog.serviceFee(amount: amount, isACH: isACH)
    return [
      "adjusted_total": .integer(amount + fee), "fee": .integer(fee), "fee_limit_reached": false,
      "total": .integer(amount + fee),
    ]
  }

  private func createReversal(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Problem> {
    let id = arguments.text("transaction_id") ?? ""
    let amount = arguments["amount"]?.boundedNumber ?? 0
    let store = PayTheoryTransactions(world: world, ledger: ledger)
    let reversal = try ledger.transaction { () throws(Fault) in
      try store.reverse(id, amount: amount, now: world.now)
    }
    switch reversal {
    case .done(let body): return .success(.object(body))
    case .refused(let text): return .failure(Problem(text: text))
    }
  }

  private func createTransaction(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Problem> {
    guard let amount = arguments["amount"]?.boundedNumber, amount > 0 else {
      return .failure(Problem(text: "Amount must be a positive integer"))
    }
    guard let id = arguments.text("payment_method_id"),
      let method = try ledger.find("method", id)
    else { return .failure(Problem(text: "Payment method not found")) }
    let isACH = method.text("payment_type") == "ACH"
    let feeMode = arguments.text("fee_mode") ?? "MERCHANT_FEE"
    let fee = PayTheoryCatalog.serviceFee(amount: amount, isACH: isACH)
    if feeMode == "SERVICE_FEE", arguments["fee"]?.boundedNumber != fee {
      return .failure(Problem(text: "Fee does not match"))
    }
    let code = world.randomness.text(12, from: "0123456789abcdefghijklmnopqrstuvwxyz")
    let metadata = arguments.text("metadata").flatMap { JSONReader.read($0) } ?? [:]
    let intent: JSONObject = [
      "method": method["payment_type"] ?? "", "reference": arguments["reference"] ?? "",
      "account_code": arguments["account_code"] ?? "", "metadata": metadata,
      "last_four": method["last_four"] ?? "", "brand": method["brand"] ?? "",
      "expiration": method["exp_date"] ?? "", "receipt": .string("pt-tender-paytheorylab-" + code),
      "amount": .integer(feeMode == "SERVICE_FEE" ? amount + fee : amount),
      "fee": .integer(fee), "fee_mode": .string(feeMode.lowercased()),
    ]
    let store = PayTheoryTransactions(world: world, ledger: ledger)
    let transaction = try ledger.transaction { () throws(Fault) in
      try store.charge(
        intent,
        payor: method.text("payor_id") ?? "",
        method: id,
        now: world.now
      )
    }
    return .success(.object(transaction))
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
