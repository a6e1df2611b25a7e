import TenderEngine
import TenderModel

/// The mutations of Pay Theory's GraphQL. Each is executed whole or not at all (PayTheory/README, 6.5).
struct PayTheoryMutations {
  let books: PayTheoryBooks

  func answer(_ name: String, _ arguments: JSONObject) throws(Fault) -> JSON {
    try books.ledger.transaction { () throws(Fault) in
      switch name {
      case "createReversal", "createRefund":
        let reversal = try books.reverse(
          arguments.text("transaction_id") ?? "",
          amount: arguments["amount"]?.boundedNumber ?? 0
        )
        guard name == "createReversal" else { return true }
        let transaction = reversal.transaction
        return ["is_void": reversal.isVoid.json, "transaction_id": transaction?.json]
      case "createTransaction":
        let method = try books.usableMethod(arguments.text("payment_method_id"))
        let terms = try terms(arguments, method)
        return row(try books.charge(books.receipt(), terms, method))
      case "createAuthorization": return try createAuthorization(arguments)
      case "createCapture":
        return row(
          try books.capture(
            arguments.text("authorization_id") ?? "",
            amount: arguments["amount"]?.boundedNumber ?? 0,
            fee: arguments["fee"]?.boundedNumber,
            mayExceed: arguments["allow_exceeded_amount"]?.truth ?? false,
            mayRenew: arguments["allow_reauth"]?.truth ?? false
          )
        )
      case "createVoidForAuthorization":
        try books.release(arguments.text("authorization_id") ?? "")
        return true
      case "updatePaymentMethodToDisabled": return try disable(arguments)
      case "createBarcodePaymentSandbox": return try payBarcode(arguments)
      default: throw .simulatedRefusal("Cannot query field \"\(name)\".")
      }
    }
  }

  /// Returns the terms of a charge or authorization of a stored method.
  private func terms(
    _ arguments: JSONObject,
    _ method: BookedMethod
  ) throws(Fault) -> BookedTerms {
    guard let amount = arguments["amount"]?.boundedNumber, amount > 0 else {
      throw .simulatedRefusal("Amount must be a positive integer")
    }
    let isServiceFee = arguments.text("fee_mode") == "SERVICE_FEE"
    let fee = PayTheoryCatalog.fee(amount: amount, isACH: method.type == .ach)
    if isServiceFee, arguments["fee"]?.boundedNumber != fee {
      throw .simulatedRefusal("Fee does not match")
    }
    return BookedTerms(
      amount: isServiceFee ? amount + fee : amount,
      fee: fee,
      isServiceFee: isServiceFee,
      reference: arguments.text("reference") ?? "",
      accountCode: arguments.text("account_code") ?? "",
      metadata: arguments.text("metadata").flatMap { JSONReader.read($0)?.object } ?? [:]
    )
  }

  private func createAuthorization(_ arguments: JSONObject) throws(Fault) -> JSON {
    let method = try books.usableMethod(arguments.text("payment_method_id"))
    // A bank account cannot be authorized.
    guard method.type == .card else {
      throw .simulatedRefusal("Authorizations are available for cards only")
    }
    return .object(try books.authorize(terms(arguments, method), method).graphQL)
  }

  private func row(_ payment: BookedPayment) -> JSON {
    .object(payment.rows(at: books.world.now).first?.graphQL ?? [:])
  }

  private func disable(_ arguments: JSONObject) throws(Fault) -> JSON {
    let id = arguments.text("payment_method_id")
    var method: BookedMethod = try books.known(id, or: "Payment method not found")
    method.isActive = false
    try books.ledger.put(method)
    return true
  }

  private func payBarcode(_ arguments: JSONObject) throws(Fault) -> JSON {
    var (status, message) = ("PAYMENT_ACCEPTED", "Payment accepted")
    let id = arguments.text("barcode_id") ?? ""
    let amount = arguments["amount_to_pay"]?.boundedNumber ?? 0
    if case .failure(let refusal) = try Fault.refusable({ () throws(Fault) in
      try books.pay(barcode: id, amount: amount)
    }) {
      (status, message) = ("PAYMENT_DECLINED", refusal.message)
    }
    return [
      "confirmation_code": books.code(8).json, "status": status.json,
      "status_message": message.json,
    ]
  }
}
