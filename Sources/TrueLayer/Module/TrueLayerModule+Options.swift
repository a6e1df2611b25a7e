internal import TenderModule

extension TrueLayerModule {
  /// What is made: payee, payer, and of a mandate its limits.
  static let creation: [Option] = [
    Option("beneficiary-name", .bank, .required("NAME"), "who is paid: the account's holder"),
    Option("sort-code", .bank, .required("CODE"), "the payee's sort code, such as 56-00-29"),
    Option("account-number", .bank, .required("NUMBER"), "the payee's account, eight digits"),
    Option("iban", .bank, .required("IBAN"), "the payee's account as an IBAN"),
    Option(
      "merchant-account",
      .bank,
      .required("ID"),
      "pay into this merchant account of TrueLayer's instead"
    ),
    Option(
      "payment-reference",
      .bank,
      .required("TEXT"),
      "what the payee's statement says (18 characters; else what fits of --reference)"
    ),
    Option(
      "user",
      .bank,
      .required("FIELD=VALUE"),
      repeats: true,
      "a field of the payer: name, email, phone, date_of_birth, id"
    ),
    Option("preselect", .bank, "put --bank into the creation, so that nobody chooses"),
    Option("mandate", .bank, "make a mandate for recurring payments instead of a payment"),
    Option(
      "mandate-type",
      .bank,
      .required("TYPE"),
      choices: ["sweeping", "commercial"],
      "between the payer's own accounts (default), or to a business"
    ),
    Option(
      "use-case",
      .bank,
      .required("CASE"),
      choices: ["charity", "financial_services", "government", "utilities"],
      "what a commercial mandate is for"
    ),
    Option("valid-from", .bank, .required("TIME"), "when the mandate begins"),
    Option("valid-to", .bank, .required("TIME"), "when the mandate ends"),
    Option(
      "max-individual",
      .bank,
      .required("AMOUNT"),
      "the most that one payment of the mandate may take"
    ),
    Option(
      "limit",
      .bank,
      .required("PERIOD:AMOUNT[:ALIGNMENT]"),
      repeats: true,
      "the most in a day, week, fortnight, month, half_year or year, counted from consent or by "
        + "calendar: month:2000.00:calendar"
    ),
  ]

  /// How the payer gets through the bank.
  static let flow: [Option] = [
    Option("payment-id", .bank, .required("ID"), "go on with a payment that exists already"),
    Option("mandate-id", .bank, .required("ID"), "go on with a mandate that exists already"),
    Option(
      "resource-token-file",
      .bank,
      .required("FILE"),
      completion: .files,
      readsStandardInput: true,
      "the token of that payment or mandate, in a file or (-) on standard input"
    ),
    Option(
      "redirect-url",
      .bank,
      .required("URL"),
      "where the bank sends the payer back (http://localhost:3000/callback, where tender listens)"
    ),
    Option(
      "return-url",
      .bank,
      .required("URL"),
      "the address that the payer came back to, where tender could not listen"
    ),
    Option("country", .bank, .required("CODE"), "whose banks to offer, such as GB"),
    Option("bank", .bank, .required("ID"), "the bank, such as mock-payments-gb-redirect"),
    Option("branch", .bank, .required("ID"), "the branch, where the bank wants one"),
    Option("scheme", .bank, .required("ID"), "the payment scheme, where it can be chosen"),
    Option("account", .bank, .required("ID"), "a saved account of the payer's, or new"),
    Option(
      "consent",
      .bank,
      .required("WHAT"),
      choices: ["pis", "pis,ais"],
      "to the payment alone (default), or to reading account data as well"
    ),
    Option(
      "form",
      .bank,
      .required("ID=VALUE"),
      repeats: true,
      "a field of the bank's form; sensitive ones only by --form-file or prompt"
    ),
    Option(
      "form-file",
      .bank,
      .required("FILE"),
      completion: .files,
      readsStandardInput: true,
      "the bank's form as a JSON object, in a file or (-) on standard input"
    ),
    Option("retry", .bank, "let a failed authorization be started again (GBP)"),
    Option("open", .bank, "open the bank's page in the browser"),
  ]

  static let refund: [Option] = [
    Option(
      "refund",
      .bank,
      "send a settled payment back, whole or with --amount in part"
    )
  ]
}
