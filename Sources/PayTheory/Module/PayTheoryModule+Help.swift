package import TenderCommandLine
package import TenderModel

extension PayTheoryModule {
  package var help: ModuleHelp {
    ModuleHelp(
      "PayTheory",
      addresses: [
        "TENDER_PAYTHEORY_TOKEN_URL", "TENDER_PAYTHEORY_SOCKET_URL",
        "TENDER_PAYTHEORY_GRAPHQL_URL",
      ]
    )
  }

  package var results: [ResultShape] { ResultShape.table(Self.shapes) }

  private static let shapes = """
    type=PT_CONFIRMATION body: receipt_number amount# service_fee# brand first_six last_four
    type=PT_COMPLETE body: receipt_number last_four created_at amount# service_fee# state metadata{} \
    payor_id payment_method_id brand
    type=PT_BARCODE body: BarcodeUid Merchant barcode barcodeFee barcodeUrl mapUrl
    type=PT_TOKENIZE body: payment_method_id payor_id last_four brand metadata{} expiration \
    payment_type
    type .: type
    receipt_number .: type receipt_number last_four brand state
    transaction transaction: status transaction_id? gross_amount#? net_amount#? fees#? \
    refunded_amount#? failure_reasons[]? is_settled!?
    reversal reversal: is_void! transaction_id?
    """

  /// Returns a result with its members in the documented order (README, 4.6 to 4.11 and 8.1).
  package func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard let type = result.text("type") else { return result }
    if let names = ResultShape.names("type=\(type)", in: Self.shapes),
      let body = result["body"]?.object
    {
      return ["type": .string(type), "body": .object(body.ordered(by: names))]
    }
    return result.ordered(by: ResultShape.names("receipt_number", in: Self.shapes) ?? [])
  }
}
