/// The fields of a `Transaction` that are asked for (published schema of 2026).
enum TransactionFields {
  /// For a look-up: everything that support asks about.
  static let all = [
    "transaction_id", "status", "transaction_type", "transaction_date", "gross_amount",
    "net_amount", "fees", "fee_mode", "currency", "reference", "account_code", "parent_id",
    "refunded_amount", "refund_voidable", "refund_reason { reason_code reason_details }",
    "dispute_status", "failure_reasons", "is_settled",
    "ach_return_details { return_code return_details transfer_type }", "authorization_id",
    "avs_status", "metadata", method, "updated_row_at",
  ]

  /// For a charge: what its result is made of, and nothing that a schema of before 2026 lacks, since
  /// a charge is never asked for twice.
  static let ofCharge = [
    "transaction_id", "status", "transaction_date", "gross_amount", "fees", "fee_mode", "currency",
    "reference", "failure_reasons", "metadata", method,
  ]

  /// Without these a transaction says nothing.
  static let needed: Set<String> = ["transaction_id", "status", "gross_amount"]

  private static let method = """
    payment_method { payment_method_id payment_type card_brand last_four exp_date \
    payor { payor_id } }
    """

  /// The name of a field without its selection.
  static func name(_ field: String) -> String { String(field.prefix { $0 != " " }) }
}
