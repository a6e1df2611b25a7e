import TenderEngine
import TenderModel

/// The mutations of Pay Theory's GraphQL, each whole or not at all (PayTheory/README, 6.5).
struct PayTheoryMutations {
  typealias Refusal = PayTheoryBooks.Refusal

  let books: PayTheoryBooks

  func answer(_ name: String, _ arguments: JSONObject) throws(Fault) -> Result<JSON, Refusal> {
    try books.ledger.transaction { () throws(Fault) in
      switch name {
      case "createReversal": try createReversal(arguments)
      case "createTransaction": try createTransaction(arguments)
      case "createAuthorization": try createAuthorization(arguments)
      case "createCapture": try createCapture(arguments)
      case "createVoidForAuthorization":
        Self.truth(try books.release(arguments.text("authorization_id") ?? ""))
      case "updatePaymentMethodToDisabled": try disable(arguments)
      case "createBarcodePaymentSandbox": try payBarcode(arguments)
      default: .failure(Refusal("Cannot query field \"\(name)\"."))
      }
    }
  }

  private static func truth(_ refusal: Refusal?) -> Result<JSON, Refusal> {
    refusal.map { .failure($0) } ?? .success(true)
  }

  private func createReversal(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Refusal> {
    let id = arguments.text("transaction_id") ?? ""
    return try books.reverse(id, amount: arguments["amount"]?.boundedNumber ?? 0).map { reversal in
      [
        "is_void": .bool(reversal.isVoid),
        "transaction_id": reversal.transaction.map(JSON.string) ?? .null,
      ]
    }
  }

  /// What is charged or authorized of a stored method.
  private func terms(
    _ arguments: JSONObject,
    _ method: BookedMethod
  ) -> Result<BookedTerms, Refusal> {
    guard let amount = arguments["amount"]?.boundedNumber, amount > 0 else {
      return .failure(Refusal("Amount must be a positive integer"))
    }
    let isServiceFee = arguments.text("fee_mode") == "SERVICE_FEE"
    let fee = PayTheoryCatalog.fee(amount: amount, isACH: method.type == .ach)
    if isServiceFee, arguments["fee"]?.boundedNumber != fee {
      return .failure(Refusal("Fee does not match"))
    }
    let metadata = arguments.text("metadata").flatMap { JSONReader.read($0)?.object }
    return .success(
      BookedTerms(
        amount: isServiceFee ? amount + fee : amount,
        fee: fee,
        isServiceFee: isServiceFee,
        reference: arguments.text("reference") ?? "",
        accountCode: arguments.text("account_code") ?? "",
        metadata: metadata ?? [:]
      )
    )
  }

  private func createTransaction(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Refusal> {
    let method: BookedMethod
    switch try books.usableMethod(arguments.text("payment_method_id")) {
    case .failure(let refusal): return .failure(refusal)
    case .success(let found): method = found
    }
    switch terms(arguments, method) {
    case .failure(let refusal): return .failure(refusal)
    case .success(let terms):
      return .success(row(try books.charge(books.receipt(), terms, method)))
    }
  }

  private func createAuthorization(
    _ arguments: JSONObject
  ) throws(Fault) -> Result<JSON, Refusal> {
    let method: BookedMethod
    switch try books.usableMethod(arguments.text("payment_method_id")) {
    case .failure(let refusal): return .failure(refusal)
    case .success(let found): method = found
    }
    // A bank account has nothing to reserve.
    guard method.type == .card else {
      return .failure(Refusal("Authorizations are available for cards only"))
    }
    switch terms(arguments, method) {
    case .failure(let refusal): return .failure(refusal)
    case .success(let terms):
      return .success(.object(try books.authorize(terms, method).graphQL))
    }
  }

  private func createCapture(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Refusal> {
    try books.capture(
      arguments.text("authorization_id") ?? "",
      amount: arguments["amount"]?.boundedNumber ?? 0,
      fee: arguments["fee"]?.boundedNumber,
      mayExceed: arguments["allow_exceeded_amount"]?.truth ?? false,
      mayRenew: arguments["allow_reauth"]?.truth ?? false
    ).map(row)
  }

  private func row(_ payment: BookedPayment) -> JSON {
    .object(payment.rows(at: books.world.now).first?.graphQL ?? [:])
  }

  private func disable(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Refusal> {
    let id = arguments.text("payment_method_id") ?? ""
    guard var method = try books.ledger.find(BookedMethod.self, id) else {
      return .failure(Refusal("Payment method not found"))
    }
    method.isActive = false
    try books.ledger.put(method)
    return .success(true)
  }

  private func payBarcode(_ arguments: JSONObject) throws(Fault) -> Result<JSON, Refusal> {
    let refusal = try books.pay(
      barcode: arguments.text("barcode_id") ?? "",
      amount: arguments["amount_to_pay"]?.boundedNumber ?? 0
    )
    return .success([
      "confirmation_code": .string(books.code(8)),
      "status": refusal == nil ? "PAYMENT_ACCEPTED" : "PAYMENT_DECLINED",
      "status_message": .string(refusal?.text ?? "Payment accepted"),
    ])
  }
}
