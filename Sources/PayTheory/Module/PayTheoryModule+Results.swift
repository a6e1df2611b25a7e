package import TenderCommandLine

extension PayTheoryModule {
  package var results: [ResultShape] { Self.shapes }

  private static let shapes = ResultShape.table(
    """
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
  )
}
