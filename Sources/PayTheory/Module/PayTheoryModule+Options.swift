internal import TenderModule

extension PayTheoryModule {
  static let fees: [Option] = [
    Option(
      "fee-mode",
      .money,
      .required("MODE"),
      choices: ["merchant_fee", "service_fee"],
      "who pays the fee: the merchant (default) or, on top of the amount, the payer"
    ),
    Option(
      "fee",
      .money,
      .required("AMOUNT"),
      "the service fee; it must be the one the provider computes"
    ),
    Option("fee-minor", .money, .required("UNITS"), "the service fee in minor units"),
  ]

  static let payment: [Option] = [
    Option(
      "confirmation",
      .payment,
      "stop when the payment is prepared; tender confirm captures it"
    ),
    Option(
      "payor",
      .payment,
      .required("FIELD=VALUE"),
      repeats: true,
      "a field of the payer: first_name, last_name, email, phone, line1, line2, city, region, "
        + "postal_code, country"
    ),
    Option(
      "payor-id",
      .payment,
      .required("ID"),
      "a payer that the provider knows; not with --payor"
    ),
    Option("account-code", .payment, .required("CODE"), "an account code, shown in the portal"),
    Option(
      "payment-parameters",
      .payment,
      .required("NAME"),
      "a named set of rules of the account, such as least and most amount"
    ),
    Option("invoice-id", .payment, .required("ID"), "the invoice that is paid"),
    Option(
      "recurring-id",
      .payment,
      .required("ID"),
      "the recurring payment that is paid; not with --invoice-id"
    ),
    Option("send-receipt", .payment, "send the payer a receipt by e-mail"),
    Option("receipt-description", .payment, .required("TEXT"), "what the receipt says"),
  ]

  static let instrument: [Option] = [
    Option(
      "method",
      .instrument,
      .required("METHOD"),
      choices: ["card", "ach", "cash"],
      "what the payer pays with (default: what the instrument says, else card)"
    ),
    Option(
      "instrument-stdin",
      .instrument,
      readsStandardInput: true,
      "read the instrument as JSON from standard input"
    ),
    Option(
      "instrument-file",
      .instrument,
      .required("FILE"),
      completion: .files,
      "read the instrument as JSON from a file"
    ),
    Option(
      "instrument-fd",
      .instrument,
      .required("N"),
      "read the instrument as JSON from an open descriptor"
    ),
    Option(
      "test-card",
      .instrument,
      .required("BRAND"),
      choices: ["visa", "mastercard", "amex", "discover"],
      "pay with the provider's documented test card (never on live)"
    ),
    Option(
      "test-account",
      .instrument,
      .required("OUTCOME"),
      choices: ["success", "failure"],
      "pay with the provider's documented test account (never on live)"
    ),
    Option("token", .instrument, .required("ID"), "charge a stored payment method"),
  ]
}
