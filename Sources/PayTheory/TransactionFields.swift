import TenderModel

/// The fields of a `Transaction` that are asked for (published schema of 2026).
enum TransactionFields {
  /// For a look-up: everything that support asks about.
  static let all = [
    "transaction_id", "status", "transaction_type", "transaction_date", "gross_amount",
    "net_amount", "fees", "fee_mode", "currency", "reference", "account_code", "parent_id",
    "refunded_amount", "refund_voidable", "refund_reason { reason_code reason_details }",
    "dispute_status", "failure_reasons", "is_settled",
    "ach_return_details { return_code return_details transfer_type }", "authorization_id",
    "avs_status", "metadata", paidMethod, "updated_row_at",
  ]

  /// For a search: who paid as well.
  static let ofSearch =
    all.filter { $0 != paidMethod } + [
      """
      payment_method { payment_method_id payment_type card_brand last_four exp_date barcode_id \
      payor { payor_id full_name email phone } }
      """
    ]

  /// For a charge: what its result is made of, and nothing that a schema of before 2026 lacks, since
  /// a charge is never asked for twice.
  static let ofCharge = [
    "transaction_id", "status", "transaction_date", "gross_amount", "fees", "fee_mode", "currency",
    "reference", "failure_reasons", "metadata", method,
  ]

  /// For an authorization, which is not asked for twice either.
  static let ofAuthorization = [
    "authorization_id", "status", "authorization_date", "expiration_date", "amount", "fees",
    "fee_mode", "currency", "reference", "failure_reasons", method,
  ]

  /// For a look at an authorization: whether it was captured.
  static let ofLookedUpAuthorization = ofAuthorization + ["captured_amount", "transaction_id"]

  /// Their types in the published schema of 2026, and what is shown of an answer.
  static let shape: Shape = .object([
    "transaction_id": .word, "status": .word, "transaction_type": .word, "transaction_date": .word,
    "gross_amount": .number, "net_amount": .number, "fees": .number, "fee_mode": .word,
    "currency": .word, "reference": .word, "account_code": .word, "parent_id": .word,
    "refunded_amount": .number, "refund_voidable": .truth,
    "refund_reason": .object(["reason_code": .word, "reason_details": .text(4096)]),
    "dispute_status": .word, "failure_reasons": .list(.text(4096)), "is_settled": .truth,
    "ach_return_details": .object([
      "return_code": .word, "return_details": .text(4096), "transfer_type": .word,
    ]),
    "authorization_id": .word, "avs_status": .word, "metadata": .own, "updated_row_at": .word,
    "payment_method": .object([
      "payment_method_id": .word, "payment_type": .word, "card_brand": .word,
      "last_four": .lastFour, "exp_date": .word, "barcode_id": .word,
      "payor": .object(["payor_id": .word]),
    ]),
    "authorization_date": .word, "expiration_date": .word, "amount": .number,
    "captured_amount": .number, "barcode_url": .text(8192), "barcode_id": .word,
    "merchant_uid": .word,
  ])

  /// Without these a transaction says nothing.
  static let needed: Set<String> = [
    "transaction_id", "status", "gross_amount", "amount", "barcode_id", "fee",
  ]

  private static let method = """
    payment_method { payment_method_id payment_type card_brand last_four exp_date \
    payor { payor_id } }
    """

  private static let paidMethod = """
    payment_method { payment_method_id payment_type card_brand last_four exp_date barcode_id \
    payor { payor_id } }
    """

  /// The name of a field without its selection.
  static func name(_ field: String) -> String { String(field.prefix { $0 != " " }) }
}
