import TenderEngine
import TenderModel

/// A request to GraphQL that can move money, as the text that is sent.
///
/// Pay Theory takes no idempotency key. The journal keeps the text while its result is unknown, so that a person
/// can have the same request sent again.
struct Mutation {
  let name: String
  let document: String
  /// The transaction or authorization that it changes.
  private(set) var target: String?
  /// How much of that was refunded before, in cents.
  private(set) var refunded: Int?

  private init(_ name: String, _ arguments: [String], _ selection: [String]) {
    self.name = name
    let fields = selection.isEmpty ? "" : " { \(selection.joined(separator: " ")) }"
    document = "mutation { \(name)(\(arguments.joined(separator: ", ")))\(fields) }"
  }

  /// Reads back what the journal kept; nil where it is not that.
  init?(stored: String) {
    guard let kept = JSONReader.read(stored)?.object, let name = kept.text("mutation"),
      let document = kept.text("document")
    else { return nil }
    self.name = name
    self.document = document
    target = kept.text("target")
    refunded = kept["refunded"]?.boundedNumber
  }

  /// What the journal keeps: no credential and no card data.
  var stored: String {
    var kept: JSONObject = ["mutation": .string(name), "document": .string(document)]
    kept["target"] = target.map(JSON.string)
    kept["refunded"] = refunded.map(JSON.integer)
    return JSONWriter.text(.object(kept))
  }

  // MARK: The requests

  /// Charges a stored method; `fee` is what the payer pays on top.
  static func charge(
    _ order: PaymentOrder,
    _ method: String,
    fee: Int?,
    merchant: String
  ) -> Mutation {
    var arguments = common(order, method, fee, merchant)
    arguments += text([
      ("recurring_id", order.stored.text("recurring_id")),
      ("receipt_description", order.receiptDescription),
    ])
    if order.sendsReceipt { arguments.append("send_receipt: true") }
    return Mutation("createTransaction", arguments, TransactionFields.ofCharge)
  }

  /// Authorizes a stored method without a capture.
  static func authorize(
    _ order: PaymentOrder,
    _ method: String,
    fee: Int?,
    merchant: String
  ) -> Mutation {
    Mutation(
      "createAuthorization",
      common(order, method, fee, merchant),
      TransactionFields.ofAuthorization
    )
  }

  /// Captures an authorization; `amount` is without the fee.
  static func capture(_ authorization: String, amount: Int, fee: Int?, merchant: String) -> Mutation
  {
    var arguments = text([("merchant_uid", merchant), ("authorization_id", authorization)])
    arguments.append("amount: \(amount)")
    if let fee { arguments.append("fee: \(fee)") }
    var mutation = Mutation("createCapture", arguments, TransactionFields.ofCharge)
    mutation.target = authorization
    return mutation
  }

  /// Releases an authorization.
  static func release(_ authorization: String) -> Mutation {
    let arguments = text([("authorization_id", authorization)])
    var mutation = Mutation("createVoidForAuthorization", arguments, [])
    mutation.target = authorization
    return mutation
  }

  /// Voids or refunds a transaction, of which `refunded` was refunded before.
  static func reverse(
    _ receipt: String,
    amount: Int,
    refunded: Int,
    because reason: String?
  ) -> Mutation {
    let arguments =
      ["amount: \(amount)"] + text([("transaction_id", receipt)])
      + ["refund_reason: \(Self.reason(reason))"]
    var mutation = Mutation("createReversal", arguments, ["is_void", "transaction_id"])
    mutation.target = receipt
    mutation.refunded = refunded
    return mutation
  }

  /// The arguments that a charge and an authorization share.
  private static func common(
    _ order: PaymentOrder,
    _ method: String,
    _ fee: Int?,
    _ merchant: String
  ) -> [String] {
    var arguments = ["amount: \(order.amount.minorUnits)"]
    arguments += text([("merchant_uid", merchant), ("payment_method_id", method)])
    arguments.append("fee_mode: \(order.feeMode.rawValue.uppercased())")
    if let fee { arguments.append("fee: \(fee)") }
    arguments += text([
      ("reference", order.reference.text), ("account_code", order.stored.text("account_code")),
      ("invoice_id", order.stored.text("invoice_id")),
    ])
    if !order.metadata.members.isEmpty {
      // AWSJSON: an object as text.
      arguments += text([("metadata", JSONWriter.text(.object(order.metadata)))])
    }
    return arguments
  }

  private static func text(_ arguments: [(String, String?)]) -> [String] {
    arguments.compactMap { name, value in value.map { "\(name): \(GraphQL.quoted($0))" } }
  }

  /// The codes that a refund can have (published schema, `RefundReasonCode`).
  private static let reasons = ["DUPLICATE", "FRAUDULENT", "OTHER", "REQUESTED_BY_CUSTOMER"]

  /// Why, as `RefundReasonInput`: one of the codes in any spelling, or any other text as details.
  private static func reason(_ given: String?) -> String {
    let text = given ?? "REQUESTED_BY_CUSTOMER"
    let code = text.uppercased().replacing("-", with: "_").replacing(" ", with: "_")
    return reasons.contains(code)
      ? "{reason_code: \(code), reason_details: \"\"}"
      : "{reason_code: OTHER, reason_details: \(GraphQL.quoted(text))}"
  }
}
