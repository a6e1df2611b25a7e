internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

extension Keys {
  static let feeMode = Key<FeeMode>(
    .money(
      "fee-mode MODE: merchant_fee: the merchant pays the fee (default); service_fee: the payer "
        + "pays it on top"
    )
  )
  static let confirmation = Key<Bool>(.payment("confirmation: the same as --hold"))
  static let payor = Key<String>(
    .payment("payor FIELD=VALUE...: a field of the payer: " + payorFields.joined(separator: ", "))
  )
  static let payorID = Key<String>(
    .payment("payor-id ID: the id of a stored payer; not with --payor")
  )
  static let accountCode = Key<String>(
    .payment("account-code CODE: an account code, shown in the portal")
  )
  static let paymentParameters = Key<String>(
    .payment(
      "payment-parameters NAME: a named set of rules of the account, such as least and most amount"
    )
  )
  static let invoiceID = Key<String>(.payment("invoice-id ID: the invoice that is paid"))
  static let recurringID = Key<String>(
    .payment("recurring-id ID: the recurring payment that is paid; not with --invoice-id")
  )
  static let sendReceipt = Key<Bool>(.payment("send-receipt: send the payer a receipt by e-mail"))
  static let receiptDescription = Key<String>(
    .payment("receipt-description TEXT: the text of the receipt")
  )
  static let method = Key<Instrument.Method>(
    .instrument("method METHOD: the means of payment (default: that of the instrument, else card)")
  )
  static let instrumentStdin = Key<Bool>(
    .instrument("instrument-stdin: read the instrument as JSON from standard input").with(
      readsStandardInput: true
    )
  )
  static let instrumentFile = Key<String>(
    .instrument("instrument-file FILE: read the instrument as JSON from a file").with(.files)
  )
  static let testCard = Key<TestInstruments.Brand>(
    .instrument("test-card BRAND: pay with the provider's documented test card (never on live)")
  )
  static let testAccount = Key<TestInstruments.Outcome>(
    .instrument(
      "test-account OUTCOME: pay with the provider's documented test account (never on live)"
    )
  )
  static let token = Key<String>(.instrument("token ID: charge a stored payment method"))
  static let fee = MoneyKey(
    .money("fee AMOUNT: the service fee; it must be the one the provider computes"),
    minor: "the service fee in minor units"
  )

  static let payorFields = [
    "first_name", "last_name", "email", "phone", "line1", "line2", "city", "region",
    "postal_code", "country",
  ]

  /// The options that are stored in the content of a payment under their names, where `find` finds them.
  ///
  /// Only names that end in `-code` or `-id` are indexed (`SearchTerm`).
  static let stored = [Keys.accountCode, Keys.invoiceID, Keys.recurringID]
}

extension PayTheoryModule {
  static let fees: [any OptionKey] = [Keys.feeMode, Keys.fee]

  static let payment: [any OptionKey] =
    [Keys.hold, Keys.confirmation, Keys.payor, Keys.payorID] + Keys.stored
    + [Keys.paymentParameters, Keys.sendReceipt, Keys.receiptDescription]

  static let instrument: [any OptionKey] = [
    Keys.method, Keys.instrumentStdin, Keys.instrumentFile, Keys.instrumentDescriptor,
    Keys.testCard, Keys.testAccount,
  ]
}
