internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// Builds the order for a new or existing bank payment or mandate from the typed options.
extension OptionReader {
  /// Returns the id of an existing resource; nil to create one.
  ///
  /// Throws `usage` for two ids.
  func existing() throws(Fault) -> (id: String, kind: Payment.Kind)? {
    switch (invocation[Keys.paymentID], invocation[Keys.mandateID]) {
    case (nil, nil): return nil
    case (let id?, nil): return (id, .payment)
    case (nil, let id?): return (id, .mandate)
    default:
      throw .exclusive("--payment-id and --mandate-id")
    }
  }

  func order(_ reference: Reference) throws(Fault) -> AuthorizationOrder {
    guard let existing = try existing() else { return try creation(reference).order() }
    let making: [any OptionKey] =
      BankOptions.creation + [Keys.amount, Keys.currency, Keys.metadata, Keys.metadataFile]
    if let option = invocation.given(among: making).first {
      throw .badOptions(
        "--\(option.name) is for what is made, and this exists already",
        hint: "leave it out, or leave --\(existing.kind)-id out"
      )
    }
    let content: JSONObject = ["command": "transact", "id": .string(existing.id)]
    var order = AuthorizationOrder(reference: reference, kind: existing.kind, content: content)
    order.existingID = existing.id
    return order
  }

  /// Throws `usage` with all missing options if there is more than one.
  private func checkComplete(_ creation: Creation) throws(Fault) {
    let isMandate = invocation.has(Keys.mandate)
    let isElsewhere = creation.merchantAccount == nil
    let accounts = [creation.iban, creation.sortCode, creation.accountNumber]
    let contacts = [creation.user["email"], creation.user["phone"]]
    func lacks(_ key: any OptionKey) -> Bool { invocation.given(among: [key]).isEmpty }
    let needed: [(what: String, isMissing: Bool)] = [
      ("--max-individual", isMandate && lacks(Keys.maxIndividual)),
      ("--limit", isMandate && lacks(Keys.limit)),
      ("--amount", !isMandate && lacks(Keys.amount)),
      ("--beneficiary-name", isElsewhere && creation.beneficiaryName == nil),
      (
        "--sort-code with --account-number (or --iban)",
        isElsewhere && accounts.allSatisfy { $0 == nil }
      ),
      ("--user name=…", creation.user["name"] == nil),
      ("--user email=…", contacts.allSatisfy { $0 == nil }),
    ]
    var missing = needed.filter(\.isMissing).map(\.what)
    guard missing.count > 1, let last = missing.popLast() else { return }
    throw .missingOption(
      "transact needs \(missing.joined(separator: ", ")) and \(last)",
      hint: (invocation.has(Keys.bank) ? "" : "--bank too, where there is no terminal to ask on; ")
        + "see the example in: tender transact --provider truelayer --help"
    )
  }

  private func creation(_ reference: Reference) throws(Fault) -> Creation {
    let currency = try currencyValue()
    guard ["GBP", "EUR", "PLN", "NOK"].contains(currency.code) else {
      throw .usage(
        "bad_currency",
        "--currency \(currency.code) is none of TrueLayer's",
        "GBP, EUR, PLN or NOK"
      )
    }
    var creation = Creation(reference: reference, currency: currency)
    creation.beneficiaryName = invocation[Keys.beneficiaryName]
    creation.sortCode = invocation[Keys.sortCode]
    creation.accountNumber = invocation[Keys.accountNumber]
    creation.iban = invocation[Keys.iban]
    creation.merchantAccount = invocation[Keys.merchantAccount]
    creation.statement = invocation[Keys.paymentReference]
    creation.user = try fields(Keys.user, among: Self.userFields)
    creation.metadata = try metadata()
    creation.scheme = invocation[Keys.scheme]
    creation.branch = invocation[Keys.branch]
    creation.retries = invocation.has(Keys.retry)
    try checkComplete(creation)
    if invocation.has(Keys.preselect) {
      guard let bank = invocation[Keys.bank] else {
        throw .missingOption(
          "--preselect needs --bank",
          hint: "such as --bank mock-payments-gb-redirect"
        )
      }
      creation.preselectedBank = bank
    }
    guard invocation.has(Keys.mandate) else {
      if let option = invocation.given(among: BankOptions.mandateTerms).first {
        throw .badOptions("--\(option.name) is for mandates", hint: "add --mandate")
      }
      creation.amount = try amount()
      return creation
    }
    if let option = invocation.given(among: [Keys.amount]).first {
      throw .badOptions(
        "--\(option.name) cannot be used with --mandate",
        hint: "a mandate has --max-individual and --limit"
      )
    }
    creation.kind = .mandate
    creation.mandateType = invocation[Keys.mandateType] ?? "sweeping"
    creation.useCase = invocation[Keys.useCase]
    creation.validFrom = invocation[Keys.validFrom]
    creation.validTo = invocation[Keys.validTo]
    creation.maximumIndividual = try invocation[Keys.maxIndividual].map { text throws(Fault) in
      try Money(decimal: text, currency: currency, named: "--max-individual").minorUnits
    }
    for text in invocation.all(Keys.limit) {
      creation.limits.append(try limit(text, currency))
    }
    return creation
  }

  private static let userFields = ["name", "email", "phone", "date_of_birth", "id"]

  /// Reads `PERIOD:AMOUNT[:consent|calendar]`.
  private func limit(_ text: String, _ currency: Currency) throws(Fault) -> Creation.Limit {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    let alignment = parts.count == 3 ? parts[2] : "consent"
    guard (2...3).contains(parts.count), ["consent", "calendar"].contains(alignment) else {
      throw .badValue("--limit", text, hint: "such as month:2000.00 or month:2000.00:calendar")
    }
    let amount = try Money(decimal: parts[1], currency: currency, named: "--limit \(parts[0])")
    return (parts[0], amount.minorUnits, alignment)
  }
}
