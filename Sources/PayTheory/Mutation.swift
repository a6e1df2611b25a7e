import TenderEngine
import TenderModel

/// A GraphQL request that can move money, as the text that is sent.
///
/// Pay Theory takes no idempotency key. The journal stores the text while its result is unknown, so that an
/// operator can have the same request sent again.
struct Mutation {
  let name: String
  let document: String

  /// Creates a mutation. An argument without a literal is left out.
  private init(
    _ name: String,
    _ arguments: [(String, String?)],
    _ selection: [String] = []
  ) {
    self.name = name
    let given = arguments.compactMap { name, literal in literal.map { "\(name): \($0)" } }
    let fields = selection.isEmpty ? "" : " { \(selection.joined(separator: " ")) }"
    document = "mutation { \(name)(\(given.joined(separator: ", ")))\(fields) }"
  }

  /// Reads the text that `stored` returned; nil for anything else.
  init?(stored: String) {
    guard let kept = JSONReader.read(stored)?.object, let name = kept.text("mutation"),
      let document = kept.text("document")
    else { return nil }
    self.name = name
    self.document = document
  }

  /// The text for the journal, without credentials and card data.
  var stored: String {
    JSONWriter.text(["mutation": .string(name), "document": .string(document)])
  }

  // MARK: The requests

  /// Charges a stored method, or authorizes it. `fee` is added to the payer's amount.
  static func pay(
    _ order: PayTheoryOrder,
    by method: String,
    fee: Int?,
    merchant: String
  ) -> Mutation {
    // The type AWSJSON is an object as text.
    let metadata = order.metadata.members.isEmpty ? nil : JSONWriter.text(.object(order.metadata))
    let arguments = [
      ("amount", "\(order.amount.minorUnits)"), ("merchant_uid", merchant.literal),
      ("payment_method_id", method.literal), ("fee_mode", order.feeMode.rawValue.uppercased()),
      ("fee", fee.map { "\($0)" }), ("reference", order.reference.text.literal),
      ("account_code", order.stored.text("account_code")?.literal),
      ("invoice_id", order.stored.text("invoice_id")?.literal), ("metadata", metadata?.literal),
    ]
    if order.stopsAtConfirmation {
      return Mutation("createAuthorization", arguments, TransactionFields.ofAuthorization)
    }
    let ofCharge = [
      ("recurring_id", order.stored.text("recurring_id")?.literal),
      ("receipt_description", order.receiptDescription?.literal),
      ("send_receipt", order.sendsReceipt ? "true" : nil),
    ]
    return Mutation("createTransaction", arguments + ofCharge, TransactionFields.ofCharge)
  }

  /// Captures an authorization. `amount` excludes the fee.
  static func capture(_ authorization: String, amount: Int, fee: Int?, merchant: String) -> Mutation
  {
    let arguments = [
      ("merchant_uid", merchant.literal), ("authorization_id", authorization.literal),
      ("amount", "\(amount)"), ("fee", fee.map { "\($0)" }),
    ]
    return Mutation("createCapture", arguments, TransactionFields.ofCharge)
  }

  static func release(_ authorization: String) -> Mutation {
    Mutation("createVoidForAuthorization", [("authorization_id", authorization.literal)])
  }

  /// Voids or refunds a transaction.
  static func reverse(_ receipt: String, amount: Int, because reason: String?) -> Mutation {
    Mutation(
      "createReversal",
      [
        ("amount", "\(amount)"), ("transaction_id", receipt.literal),
        ("refund_reason", Self.reason(reason)),
      ],
      ["is_void", "transaction_id"]
    )
  }

  /// The reason codes of a refund (published schema, `RefundReasonCode`).
  private static let reasons = ["DUPLICATE", "FRAUDULENT", "OTHER", "REQUESTED_BY_CUSTOMER"]

  /// Returns a `RefundReasonInput`: one of the codes in any spelling, or any other text as details.
  private static func reason(_ given: String?) -> String {
    let text = given ?? "REQUESTED_BY_CUSTOMER"
    let code = text.uppercased().replacing("-", with: "_").replacing(" ", with: "_")
    return reasons.contains(code)
      ? "{reason_code: \(code), reason_details: \"\"}"
      : "{reason_code: OTHER, reason_details: \(text.literal)}"
  }
}
