package import TenderCommandLine

extension ToroModule {
  package var results: [ResultShape] { Self.shapes }

  private static let shapes = ResultShape.table(
    """
    state .: state
    state=failed .: error
    state=completed .: receipt{}
    receipt receipt: saleReferenceId amount# authorisedAmount#? type gratuityAmount# currency authCode? \
    responseCode responseReason? authenticationMethod? additionalResponseInformation? actionCode? aid? \
    applicationLabel? paymentInterface? panStart? panLastFour? recipientTransactionId? \
    initiatorTransactionId transactionReference dateTime terminalSerialNumber? signatureBase64? \
    signatureVerificationFailed! captured! longitude? latitude? additionalInformation{}?
    """
  )
}
