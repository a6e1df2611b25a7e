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
      default: return try sandbox(name, arguments)
      }
    }
  }

  /// The mutations that drive the sandbox ([Schema 2026] group Sandbox; PayTheory/README, 12.3).
  private func sandbox(_ name: String, _ arguments: JSONObject) throws(Fault) -> JSON {
    let input = arguments["input"]?.object ?? [:]
    switch name {
    case "createBarcodePaymentSandbox": return try payBarcode(arguments)
    case "createBatchCapture":
      for payment in try books.ledger.list(BookedPayment.self) { try books.capture(payment) }
      try books.plan(.settle, PayTheoryCatalog.merchantUID, at: books.world.now + 60_000, "all")
      return true
    case "prepareSandboxSettlementBatch": return try prepare()
    case "createSandboxSettlement":
      let lines = try books.unsettled().filter(\.isPrepared)
      guard !lines.isEmpty else { throw .simulatedRefusal("No batch is prepared") }
      try books.settle(lines)
      return ["success": true]
    case "createSandboxAchReturn":
      let code = input.text("return_code") ?? ""
      let id = try books.giveBack(input.text("transaction_id") ?? "", code)
      return [
        "success": true, "ach_return_transaction_id": id.json, "return_code": code.json,
      ]
    case "createSandboxDispute":
      let transaction = input.text("transaction_id") ?? ""
      let id = try books.dispute(transaction, input.text("reason") ?? "")
      return ["success": true, "dispute_id": id.json, "transaction_id": transaction.json]
    case "updateSandboxDisputeStatus":
      let status = input.text("status").flatMap(BookedDispute.Status.init)
      try books.update(input.text("dispute_id"), to: status)
      return ["success": true]
    default: throw .simulatedRefusal("Cannot query field \"\(name)\".")
    }
  }

  /// Locks what is not settled for a batch.
  private func prepare() throws(Fault) -> JSON {
    var lines = try books.unsettled()
    for place in lines.indices {
      lines[place].isPrepared = true
      try books.ledger.put(lines[place])
    }
    let sum = BookedSettlement(lines, batch: 0, at: books.world.now)
    func ids(_ type: BookedLine.Kind) -> JSON {
      .array(lines.filter { $0.type == type }.map(\.id.json))
    }
    return [
      "success": true, "prep_id": ("pt_prep_" + books.code(16)).json,
      "merchant_uid": PayTheoryCatalog.merchantUID.json, "debit_ids": ids(.debit),
      "reversal_ids": ids(.reversal), "ach_return_ids": ids(.achReturn),
      "dispute_withdrawal_ids": ids(.withdrawal), "dispute_deposit_ids": ids(.deposit),
      "split_ids": [], "calculated_gross_amount": sum.gross.json,
      "calculated_net_amount": sum.net.json,
    ]
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
    .object(payment.rows.first?.graphQL ?? [:])
  }

  private func disable(_ arguments: JSONObject) throws(Fault) -> JSON {
    let id = arguments.text("payment_method_id")
    var method: BookedMethod = try books.known(id, or: "Payment method not found")
    method.isActive = false
    try books.save(method, isNew: false)
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
