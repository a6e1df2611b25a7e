package import TenderModel

/// The pages of `tender explain` for Toro's documented errors, and for our own codes.
extension ToroProvider {
  /// Every page of this provider.
  package static let explanations: [Explanation] =
    Explanation.words(.error, "", pages).map { page in
      let texts = page.meaning.split(separator: " | ").map(String.init)
      guard let error = ToroError(rawValue: page.code), texts.count == 2 else {
        preconditionFailure("not a page of an error: \(page.code)")
      }
      return Explanation(error.code, error.kind, provider: error.rawValue, texts[0], texts[1])
        .from("Toro's mobile SDK, its errors")
    } + own + Vocabulary.responseCodes + Vocabulary.rejections + Vocabulary.words

  /// One page for each line: Toro's name, the meaning, the advice.
  private static let pages = """
    customerCancelled: the customer cancelled on the reader, or would not sign; no money moved | \
    run the same command again where the customer wants to
    operatorCancelled: the sale was cancelled here (Ctrl-C, tender cancel); no money moved | \
    run the same command again
    deviceConnectionFailed: there is no connection to the reader | \
    check power, cable, network and --device
    deviceNotSelected: no reader was named | add --device, or toro.device to the profile
    deviceDisconnected: the reader went away; no money moved, or what was authorised was undone | \
    check power and link, then run the same command again
    deviceError: the reader answered what it should not; no money moved | \
    see --trace; tender doctor --provider toro checks the reader
    deviceBusy: the reader is doing something else | wait until it is done
    deviceUpdateFailed: the reader's firmware or configuration could not be updated; tender updates \
    none | update it with Miura's tools
    deviceNotSupported: the reader cannot do what was asked: no touch screen to sign on | \
    use --signature app
    closeBluetoothConnectionFailed: the Bluetooth session could not be closed | \
    switch the reader off and on
    unsupportedCard: the reader does not take this card | try another card
    cardReadError: the card could not be read, or was taken out too early | try again
    magSwipeError: the stripe could not be read | swipe again, or insert the chip
    transactionAlreadyStarted: a sale is under way on the reader | wait for it, or tender cancel REF
    transactionAborted: the sale ended for a reason that is not known | run the same command again
    transactionTimeout: no card, choice or PIN came in time; no money moved | \
    run the same command again
    transactionError: the sale could not be gone on with: the card approved without the acquirer, or \
    the like | try again, perhaps with another card
    acceptorRejected: the gateway rejected the message | \
    the reason code is in result.reason: SECU is about keys, INTP about the terminal's id
    terminalManagerRejected: the terminal manager rejected the status report | \
    check toro.poi_id with Toro
    gatewayUnavailable: the gateway did not answer, or cannot be reached | try again later
    badGatewayResponse: the gateway answered with an HTTP error | \
    try again later; 401 and 403: check the API key
    malformedResponse: the gateway's answer cannot be believed: not readable, not signed, or for \
    another sale | check passphrase and toro.kdf; see --trace
    """

  private static let own: [Explanation] = Explanation.errors(
    """
    acquirer_declined declined: the acquirer or issuer declined; the reason is in the receipt | no money moved; --new-attempt tries again, perhaps with another card
    technical_decline declined: the acquirer could not reach the issuer | no money moved; --new-attempt tries again
    declined_by_card declined: the card itself declined; what had been authorised was undone | no money moved; --new-attempt tries again
    completion_declined declined: the acquirer declined the capture; nothing was captured | try again later, or release it: tender cancel REF
    cancellation_declined declined: the acquirer declined the cancellation: the sale may be cleared already | refund it to the card: tender transact --provider toro --type refund --original REF
    transaction_undone cancelled: an answer was lost, a card was not finished with, or another shell cancelled the sale; it was undone | no money moved; --new-attempt tries again
    signature_verification_failed cancelled: the signature was not given or did not match, and the sale was undone | no money moved; --new-attempt tries again
    signature_not_asked refused: a signature may be needed, and there is no terminal to ask on | add --signature-file and --signature-matches, or run it on a terminal
    not_refundable conflict: the original is not a captured sale | see: tender journal show REF
    sale_lost conflict: the journal has no details of the sale | ask the acquirer, then: tender journal resolve REF
    no_receipt not_found: there is no receipt at this reference | card-present sales have one, once a card was read
    bluetooth_unsupported unsupported: Bluetooth readers are for Linux alone | connect it by USB or network
    """
  )

  /// Returns a result with its members in the documented order (README, 5.2).
  package static func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard result["receipt"] != nil || result["cancellationType"] != nil || result["reason"] != nil
    else { return result }
    var arranged = result.ordered(by: members)
    guard let receipt = result["receipt"]?.object else { return arranged }
    arranged["receipt"] = .object(receipt.ordered(by: fields))
    return arranged
  }

  /// The members of results, in the documented order.
  private static let members = Vocabulary.words.filter { $0.subject == .member }.map(\.code)
  private static let fields = members.filter { $0.hasPrefix("receipt.") }
    .map { String($0.dropFirst("receipt.".count)) }
}
