internal import TenderCommandLine
internal import TenderModel
internal import TenderSystem

extension Keys {
  static let beneficiaryName = Key<String>(
    .bank("beneficiary-name NAME: the holder of the payee's account")
  )
  static let sortCode = Key<String>(
    .bank("sort-code CODE: the payee's sort code, such as 56-00-29")
  )
  static let accountNumber = Key<String>(
    .bank("account-number NUMBER: the payee's account, eight digits")
  )
  static let iban = Key<String>(.bank("iban IBAN: the payee's account as an IBAN"))
  static let merchantAccount = Key<String>(
    .bank("merchant-account ID: pay into this merchant account of TrueLayer")
  )
  static let paymentReference = Key<String>(
    .bank("payment-reference TEXT: the text on the payee's statement (18 at most)")
  )
  static let user = Key<String>(
    .bank("user FIELD=VALUE...: a field of the payer: name, email, phone, date_of_birth, id")
  )
  static let preselect = Key<Bool>(
    .bank("preselect: put --bank into the creation: no choice later")
  )
  static let mandate = Key<Bool>(.bank("mandate: make a mandate for recurring payments"))
  static let mandateType = Key<String>(
    .bank("mandate-type TYPE: between the payer's own accounts (default), or to a business").with(
      choices: ["sweeping", "commercial"])
  )
  static let useCase = Key<String>(
    .bank("use-case CASE: the purpose of a commercial mandate").with(choices: [
      "charity", "financial_services", "government", "utilities",
    ])
  )
  static let validFrom = Key<String>(.bank("valid-from TIME: when the mandate begins"))
  static let validTo = Key<String>(.bank("valid-to TIME: when the mandate ends"))
  static let maxIndividual = Key<String>(
    .bank("max-individual AMOUNT: the most that one payment may take")
  )
  static let limit = Key<String>(
    .bank(
      "limit PERIOD:AMOUNT[:ALIGNMENT]...: the most in a day, week, fortnight, month, half_year "
        + "or year"
    )
  )
  static let paymentID = Key<String>(
    .bank("payment-id ID: go on with a payment that exists already")
  )
  static let mandateID = Key<String>(
    .bank("mandate-id ID: go on with a mandate that exists already")
  )
  static let resourceTokenFile = Key<String>(
    .bank("resource-token-file FILE: its token, in a file or (-) on standard input").with(
      .files,
      readsStandardInput: true
    )
  )
  static let redirectURL = Key<String>(
    .bank("redirect-url URL: the return address (default: localhost:3000)")
  )
  static let returnURL = Key<String>(
    .bank("return-url URL: the address that the payer came back to")
  )
  static let country = Key<String>(.bank("country CODE: whose banks to offer, such as GB"))
  static let bank = Key<String>(.bank("bank ID: the bank, such as mock-payments-gb-redirect"))
  static let branch = Key<String>(.bank("branch ID: the branch, where the bank wants one"))
  static let scheme = Key<String>(.bank("scheme ID: the payment scheme, where it can be chosen"))
  static let account = Key<String>(.bank("account ID: a saved account of the payer's, or new"))
  static let consent = Key<Consent>(
    .bank("consent WHAT: to the payment (default), or to account data too")
  )
  static let form = Key<String>(
    .bank(
      "form ID=VALUE...: a field of the bank's form; sensitive ones only by --form-file or prompt"
    )
  )
  static let formFile = Key<String>(
    .bank("form-file FILE: the form as JSON: a file, or - (standard input)").with(
      .files,
      readsStandardInput: true
    )
  )
  static let retry = Key<Bool>(.bank("retry: allow a failed authorization to restart (GBP)"))
  static let refund = Key<Bool>(.bank("refund: refund a settled payment, whole or by --amount"))
}

/// The options of bank payments and mandates, as commands list them.
enum BankOptions {
  /// The options of a creation: payee, payer, and a mandate's limits.
  static let creation: [any OptionKey] =
    [
      Keys.beneficiaryName, Keys.sortCode, Keys.accountNumber, Keys.iban, Keys.merchantAccount,
      Keys.paymentReference, Keys.user, Keys.preselect, Keys.mandate,
    ] + mandateTerms

  /// The options with the id of an existing resource.
  static let existing: [any OptionKey] = [Keys.paymentID, Keys.mandateID]

  static let flow: [any OptionKey] = [
    Keys.resourceTokenFile, Keys.redirectURL, Keys.returnURL, Keys.country, Keys.bank, Keys.branch,
    Keys.scheme, Keys.account, Keys.consent, Keys.form, Keys.formFile, Keys.retry, Keys.open,
  ]

  /// The options of mandates only.
  static let mandateTerms: [any OptionKey] = [
    Keys.mandateType, Keys.useCase, Keys.validFrom, Keys.validTo, Keys.maxIndividual, Keys.limit,
  ]
}

enum Consent: String, CaseIterable, Sendable {
  /// Only the payment (payment initiation service).
  case payment = "pis"
  /// The payment, and reading account data (account information service).
  case paymentAndAccounts = "pis,ais"
}

extension Invocation {
  /// Returns the content of a file that only its owner can read, or of standard input for `-`.
  ///
  /// Nil if standard input has more than 64 KiB.
  func readOwn(_ path: String, _ option: String) throws(Fault) -> [UInt8]? {
    guard path == "-" else {
      return try Environment.read(path, named: option, rule: .ownersAlone, limit: 65_536)
    }
    return Console.readAll(0, limit: 65_536)
  }
}
