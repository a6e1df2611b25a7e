internal import TenderModel

/// The words of Toro's documents, ISO 20022 and ISO 8583, with their meanings.
enum Vocabulary {
  /// The values of a receipt's `actionCode`: the issuer's response code, EMV tag 8A.
  static let responseCodes = Explanation.reasons(
    .responseCode,
    at: "receipt.actionCode",
    "ISO 8583:1987, data element 39, which EMV's tag 8A carries; issuers differ in their use",
    """
    01 bank other: refer to the issuer
    02 bank other: refer to the issuer, special condition
    03 merchant corrected: the merchant is not known to the acquirer
    04 bank other: pick the card up
    05 bank other: do not honour: the issuer declined without a reason
    06 bank later: error
    07 bank other: pick the card up, special condition
    09 bank later: the request is being processed
    12 order corrected: not a valid transaction
    13 order corrected: not a valid amount
    14 payer corrected: there is no card with this number
    15 payer other: there is no such issuer
    17 payer yes: cancelled by the customer
    18 payer no: disputed by the customer
    19 bank yes: enter the transaction again
    20 provider later: not a valid answer
    21 provider no: no action was taken
    22 provider later: a malfunction is suspected
    23 order corrected: the fee is not acceptable
    24 provider no: file updates are not supported
    25 provider no: the original record is not there
    26 provider no: a duplicate record was replaced
    27 provider no: a field of the file update is wrong
    28 provider later: the file is locked
    29 provider no: the file update failed
    30 order corrected: a format error
    31 provider other: the bank is not supported by the switch
    32 bank no: completed in part
    33 payer other: expired card, pick it up
    34 bank other: suspected fraud, pick the card up
    35 bank other: the acquirer is to be called, pick the card up
    36 bank other: restricted card, pick it up
    37 bank other: the acquirer's security is to be called, pick the card up
    38 payer other: too many PIN tries, pick the card up
    39 payer other: there is no credit account
    40 provider no: the function is not supported
    41 bank other: lost card, pick it up; the payer is told only that it was declined
    42 payer other: there is no universal account
    43 bank other: stolen card, pick it up; the payer is told only that it was declined
    44 payer other: there is no investment account
    51 payer other: insufficient funds
    52 payer other: there is no cheque account
    53 payer other: there is no savings account
    54 payer other: the card has expired
    55 payer corrected: wrong PIN
    56 payer other: there is no record of the card
    57 bank other: not permitted to the cardholder
    58 merchant other: not permitted to the terminal
    59 bank other: suspected fraud
    60 merchant corrected: the acquirer is to be called
    61 bank other: above the limit of amounts
    62 bank other: restricted card
    63 merchant corrected: a security violation
    64 order corrected: not the original amount
    65 bank other: above the limit of uses; a contactless card may work with chip and PIN
    66 merchant corrected: the acquirer's security is to be called
    67 bank other: the card is to be captured
    68 bank later: the answer came too late
    70 bank corrected: insert the card and enter the PIN
    75 payer other: too many PIN tries
    76 provider later: the message it belongs to is not there
    77 provider later: the message differs from the one it belongs to
    78 payer other: there is no such account, or the card is not activated
    82 bank other: the card's cryptogram, or its security code, is wrong
    86 bank later: the PIN cannot be checked
    90 bank later: the day is being closed
    91 bank later: the issuer or its switch does not answer
    92 network later: there is no way to the issuer
    93 bank no: forbidden by law
    94 order no: a duplicate transmission
    95 provider no: a difference in reconciliation
    96 provider later: a system malfunction
    1A bank corrected: further authentication is needed: insert the card and enter the PIN
    N7 payer corrected: the security code does not match
    R0 payer no: the cardholder has stopped this payment
    R1 payer no: the cardholder has stopped all payments to this merchant
    R3 payer no: the cardholder has stopped all recurring payments
    Z1 bank other: declined by the card, offline
    Z3 bank other: declined by the card, which could not go online
    """
  )

  /// The reasons for which the gateway or the terminal manager rejects a message.
  static let rejections = Explanation.reasons(
    .rejection,
    at: "reason",
    "ISO 20022, RejectReason of caaa.015 and catm.004",
    """
    UNPR provider later: the message could not be processed
    IMSG order corrected: the message is not valid
    PARS order corrected: the message could not be read
    SECU merchant corrected: the message's security is wrong: passphrase, key or certificate
    INTP merchant corrected: the initiating party, which is the terminal's id, is not known
    RCPP merchant corrected: the recipient is not known
    DPMG order no: the message came twice
    VERS tender no: the version of the protocol is not supported
    MSGT tender no: the type of message is not supported
    """
  )

  /// The states, types and members of results, and the response codes that are not failures.
  static let words: [Explanation] =
    Explanation.words(
      .responseCode,
      "ISO 8583:1987, data element 39, which EMV's tag 8A carries",
      """
      00: approved
      08: approved with identification
      10: approved for a part of the amount
      11: approved (VIP)
      16: approved, the stripe's third track is updated
      85: nothing to decline; used for checks of a card
      Y1: approved by the card, offline
      Y3: approved by the card, which could not go online
      """
    )
    + Explanation.words(
      .state,
      "Toro's mobile SDK, page Transactions, TransactionState",
      """
      ready: nothing has begun
      connectingToDevice: the reader is being connected
      awaitingGratuity: the customer chooses a gratuity
      awaitingCard: the customer is to present a card
      awaitingSignature: the customer is to sign
      awaitingPinEntry: the customer is to enter the PIN
      awaitingApplicationSelection: the customer is to choose an application of the card
      authorising: the gateway is asked
      completed: an outcome was received, approved or declined
      cancelled: cancelled by customer or operator
      failed: ended by an error
      """
    )
    + Explanation.words(
      .state,
      "ISO 20022, Response9Code; Toro names approved and declined alone, the other spellings are tender's",
      """
      approved: APPR: the acquirer approved
      declined: DECL: the acquirer declined
      partiallyApproved: PART: the acquirer approved a part of the amount
      suspended: SUSP: received and not processed
      technicalError: TECH: the acquirer could not reach the issuer
      """
    )
    + Explanation.words(
      .member,
      "Toro's mobile SDK, page Transactions, TransactionReceipt",
      """
      state: how the sale ended, in the SDK's words
      error: the SDK's error
      cancellationType: who cancelled
      reason: the gateway's reason for a rejection, or what went wrong
      message: the same for people
      receipt: all that is printed
      actions: what the acquirer says to cardholder or merchant
      refunds: each refund of the sale
      receipt.saleReferenceId: your reference
      receipt.amount: the whole amount, gratuity included, in minor units
      receipt.authorisedAmount: what the acquirer authorised, in minor units
      receipt.type: purchase or refund
      receipt.gratuityAmount: the gratuity within the amount, in minor units
      receipt.currency: the currency's ISO 4217 code
      receipt.authCode: the acquirer's authorisation code
      receipt.responseCode: what the acquirer decided
      receipt.responseReason: why
      receipt.authenticationMethod: how the cardholder was verified (CVM), in ISO 20022's codes
      receipt.additionalResponseInformation: more words of the acquirer
      receipt.actionCode: the issuer's response code, such as 51: see tender explain 51
      receipt.aid: the application of the card (AID)
      receipt.applicationLabel: its name
      receipt.paymentInterface: contact, contactless or magswipe
      receipt.panStart: the first six or eight digits of the card
      receipt.panLastFour: the last four digits of the card
      receipt.recipientTransactionId: the acquirer's id of the transaction: quote it
      receipt.initiatorTransactionId: the merchant's id of the transaction: quote it
      receipt.transactionReference: the terminal's id of the transaction
      receipt.dateTime: when, in ISO 8601
      receipt.terminalSerialNumber: the reader's serial number
      receipt.signatureBase64: the signature as a picture
      receipt.signatureVerificationFailed: whether the signature was refused
      receipt.captured: whether the money is taken, not only authorised
      receipt.longitude: where it was
      receipt.latitude: where it was
      receipt.additionalInformation: what --additional gave
      """
    )
}
