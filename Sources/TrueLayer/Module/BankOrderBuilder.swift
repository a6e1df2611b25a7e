internal import TenderEngine
internal import TenderModel
internal import TenderModule

/// Typed words as a bank payment or mandate, new or existing.
struct BankOrderBuilder {
  let invocation: Invocation
  private let general: OptionReader

  init(_ invocation: Invocation) {
    self.invocation = invocation
    general = OptionReader(invocation, currency: "GBP")
  }

  /// The id of what exists already; nil where it is to be made.
  ///
  /// Throws `usage` for two of them.
  func existing() throws(Fault) -> (id: String, kind: Attempt.Kind)? {
    switch (invocation["payment-id"], invocation["mandate-id"]) {
    case (nil, nil): return nil
    case (let id?, nil): return (id, .payment)
    case (nil, let id?): return (id, .mandate)
    default:
      throw Fault(
        .usage,
        code: "bad_options",
        "--payment-id and --mandate-id exclude each other",
        hint: "give one of them"
      )
    }
  }

  func order(_ reference: Reference) throws(Fault) -> AuthorizationOrder {
    guard let existing = try existing() else { return try creation(reference).order() }
    let making =
      TrueLayerModule.creation.map(\.name) + [
        "amount", "amount-minor", "currency", "metadata", "metadata-file",
      ]
    for name in making where invocation.has(name) {
      throw Fault(
        .usage,
        code: "bad_options",
        "--\(name) is for what is made, and this exists already",
        hint: "leave it out, or leave --\(existing.kind)-id out"
      )
    }
    return AuthorizationOrder(
      reference: reference,
      kind: existing.kind,
      existingID: existing.id,
      content: ["command": "transact", "id": .string(existing.id)]
    )
  }

  private func creation(_ reference: Reference) throws(Fault) -> Creation {
    let currency = try general.currencyValue()
    guard ["GBP", "EUR", "PLN", "NOK"].contains(currency.code) else {
      throw Fault(
        .usage,
        code: "bad_currency",
        "--currency \(currency.code) is none of TrueLayer's",
        hint: "GBP, EUR, PLN or NOK"
      )
    }
    var creation = Creation(reference: reference, currency: currency)
    creation.beneficiaryName = invocation["beneficiary-name"]
    creation.sortCode = invocation["sort-code"]
    creation.accountNumber = invocation["account-number"]
    creation.iban = invocation["iban"]
    creation.merchantAccount = invocation["merchant-account"]
    creation.statement = invocation["payment-reference"]
    creation.user = try general.fields("user", among: Self.userFields)
    creation.metadata = try general.metadata()
    creation.scheme = invocation["scheme"]
    creation.branch = invocation["branch"]
    creation.retries = invocation.has("retry")
    if invocation.has("preselect") {
      guard let bank = invocation["bank"] else {
        throw Fault(
          .usage,
          code: "missing_option",
          "--preselect needs --bank",
          hint: "such as --bank mock-payments-gb-redirect"
        )
      }
      creation.preselectedBank = bank
    }
    guard invocation.has("mandate") else {
      for name in ["mandate-type", "use-case", "valid-from", "valid-to", "max-individual", "limit"]
      where invocation.has(name) {
        throw Fault(
          .usage,
          code: "bad_options",
          "--\(name) is for mandates",
          hint: "add --mandate"
        )
      }
      creation.amount = try general.amount()
      return creation
    }
    for name in ["amount", "amount-minor"] where invocation.has(name) {
      throw Fault(
        .usage,
        code: "bad_options",
        "--\(name) does not go with --mandate",
        hint: "a mandate has --max-individual and --limit"
      )
    }
    creation.kind = .mandate
    creation.mandateType = invocation["mandate-type"] ?? "sweeping"
    creation.useCase = invocation["use-case"]
    creation.validFrom = invocation["valid-from"]
    creation.validTo = invocation["valid-to"]
    creation.maximumIndividual = try invocation["max-individual"].map { text throws(Fault) in
      try Money(decimal: text, currency: currency, named: "--max-individual").minorUnits
    }
    for text in invocation.all("limit") {
      creation.limits.append(try limit(text, currency))
    }
    return creation
  }

  private static let userFields = ["name", "email", "phone", "date_of_birth", "id"]

  /// `PERIOD:AMOUNT[:consent|calendar]`.
  private func limit(_ text: String, _ currency: Currency) throws(Fault) -> Creation.Limit {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    let alignment = parts.count == 3 ? parts[2] : "consent"
    guard (2...3).contains(parts.count), ["consent", "calendar"].contains(alignment) else {
      throw .badValue("--limit", text, hint: "such as month:2000.00 or month:2000.00:calendar")
    }
    let amount = try Money(decimal: parts[1], currency: currency, named: "--limit \(parts[0])")
    return Creation.Limit(period: parts[0], amount: amount.minorUnits, alignment: alignment)
  }
}
