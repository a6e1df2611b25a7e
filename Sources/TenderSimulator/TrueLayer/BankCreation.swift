import TenderEngine
import TenderModel

/// The checks of a creation (TrueLayer/README, 3).
struct BankCreation {
  let bank: BankWorld

  /// The largest payment into a merchant account of the sandbox (TrueLayer/README, 10.2), in minor units.
  private static let mostInSandbox = 5_000_000

  private static let periods = ["day", "week", "fortnight", "month", "half_year", "year"]

  /// A payment or mandate from a body that has the published shape.
  func make(_ body: JSONObject) throws(BankProblem) -> BankResource {
    guard let order = BankOrder(body) else {
      throw .invalid("$", "The body is incomplete.")
    }
    if order.kind == .mandate { return try mandate(order, body) }
    if let id = order.mandateID { return try payment(order, onMandate: id) }
    let place = "payment_method.provider_selection.provider_id"
    if let id = order.selection.bank {
      guard let chosen = BankCatalog.bank(id) else { throw .invalid(place, "Unknown provider.") }
      guard BankCatalog.currency(of: chosen) == order.currency else {
        throw .invalid(place, "This provider does not pay in \(order.currency).")
      }
    }
    if order.payee?.isMerchantAccount == true, order.amount > Self.mostInSandbox {
      throw .invalid("amount_in_minor", "The sandbox takes at most \(Self.mostInSandbox).")
    }
    try checkAccount(order, "payment_method")
    try check(user: body["user"])
    try openMerchantAccount(order)
    return bank.fresh(order)
  }

  /// Opens the merchant account that a payment or mandate names, if it is unknown.
  ///
  /// So a client can use the account that it has at TrueLayer.
  private func openMerchantAccount(_ order: BankOrder) throws(BankProblem) {
    guard let id = order.payee?.account else { return }
    let account = try bank.account(id) ?? BankAccount(id: id, currency: order.currency)
    guard account.currency == order.currency else {
      throw .invalid("currency", "The merchant account is in \(account.currency).")
    }
    try bank.save(account)
  }

  /// An account's number has one currency: that of its country. An IBAN can have any.
  private func checkAccount(_ order: BankOrder, _ place: String) throws(BankProblem) {
    let own = ["sort_code_account_number": "GBP", "nrb": "PLN", "bban": "NOK"]
    guard let type = order.payee?.accountType, let currency = own[type], currency != order.currency
    else { return }
    throw .invalid(
      "\(place).beneficiary.account_identifier",
      "\(type) is for \(currency): \(order.currency) needs an IBAN."
    )
  }

  /// A payment on a mandate needs no authorization by its payer.
  private func payment(
    _ order: BankOrder,
    onMandate id: String
  ) throws(BankProblem) -> BankResource {
    guard let mandate = try? bank.find(.mandate, id), mandate.status == .authorized else {
      throw .invalid("payment_method.mandate_id", "There is no authorized mandate of this id.")
    }
    guard mandate.order.currency == order.currency else {
      throw .invalid("currency", "Must be the mandate's.")
    }
    var payment = bank.fresh(order)
    payment.enter(.authorized, at: bank.now)
    var isAllowed = false
    if let constraints = mandate.order.constraints {
      isAllowed = constraints.allows(order.amount, at: bank.now)
      for limit in constraints.limits where isAllowed {
        let used = try bank.used(limit, of: mandate).amount
        isAllowed = used + order.amount <= limit.amount
      }
    }
    if isAllowed {
      try bank.plan(.executed, of: payment, at: bank.now)
    } else {
      payment.fail("constraint_violation", at: bank.now)
    }
    return payment
  }

  private func mandate(_ order: BankOrder, _ body: JSONObject) throws(BankProblem) -> BankResource {
    guard order.currency == "GBP" else { throw .invalid("currency", "Must be GBP.") }
    guard body["mandate"]?["provider_selection"]?["scheme_selection"] == nil else {
      throw .invalid("mandate.provider_selection.scheme_selection", "Unknown member.")
    }
    guard let constraints = order.constraints else {
      throw .invalid("constraints", "Value is required.")
    }
    try check(constraints)
    try checkAccount(order, "mandate")
    try openMerchantAccount(order)
    try check(user: body["user"])
    return bank.fresh(order)
  }

  private func check(_ constraints: BankConstraints) throws(BankProblem) {
    if let name = constraints.unreadable.first {
      throw .invalid("constraints.\(name)", "The format is invalid.")
    }
    if let end = constraints.validTo {
      guard end > constraints.validFrom ?? .min else {
        throw .invalid("constraints.valid_to", "Must be after valid_from.")
      }
      guard end > bank.now else { throw .invalid("constraints.valid_to", "Must be in the future.") }
    }
    guard !constraints.limits.isEmpty else {
      throw .invalid("constraints.periodic_limits", "At least one is required.")
    }
    for limit in constraints.limits {
      let place = "constraints.periodic_limits.\(limit.period)"
      guard Self.periods.contains(limit.period) else {
        throw .invalid(place, "Unknown period.")
      }
      guard limit.amount >= constraints.most else {
        throw .invalid(place, "Less than one payment may take.")
      }
      guard limit.period != "fortnight" || !limit.isCalendar else {
        throw .invalid(place, "Must be aligned with the consent.")
      }
    }
  }

  /// The payer must have an id, or a name and an address or number.
  private func check(user: JSON?) throws(BankProblem) {
    guard user != nil else { throw .invalid("user", "Value is required.") }
    if user?["id"]?.text != nil { return }
    guard user?["name"]?.text != nil else { throw .invalid("user.name", "Value is required.") }
    guard user?["email"]?.text != nil || user?["phone"]?.text != nil else {
      throw .invalid("user", "Either email or phone is required.")
    }
  }
}
