import TenderEngine
import TenderModel
import TenderWire

/// What the simulated TrueLayer checks of a creation (protocol note, sections 2.1 and 2b).
struct BankCreation {
  let bank: BankWorld

  /// A payment from a request's body.
  func payment(_ body: JSONObject) throws(BankProblem) -> JSONObject {
    guard let amount = body["amount_in_minor"], case .integer(let units) = amount, units >= 1 else {
      throw .invalid("amount_in_minor", "Must be at least 1.")
    }
    guard let currency = body.text("currency"), ["GBP", "EUR", "PLN", "NOK"].contains(currency)
    else { throw .invalid("currency", "Unknown currency.") }
    guard var method = body["payment_method"]?.object else {
      throw .invalid("payment_method", "Value is required.")
    }
    if method.text("type") == "mandate" { return try mandatePayment(body, method) }
    guard method.text("type") == "bank_transfer" else {
      throw .invalid("payment_method.type", "Unknown value.")
    }
    try check(selection: method["provider_selection"], at: "payment_method.provider_selection")
    let payee = method["beneficiary"]
    try check(payee: payee, at: "payment_method.beneficiary", wantsReference: true)
    if payee?["type"]?.text == "merchant_account", units > 5_000_000 {
      throw .invalid("amount_in_minor", "The sandbox takes at most 5000000.")
    }
    try check(user: body["user"])
    try check(metadata: body["metadata"])
    if var selection = method["provider_selection"]?.object,
      let scheme = selection["scheme_selection"]?["scheme_id"]
    {
      selection["scheme_id"] = scheme
      method["provider_selection"] = .object(selection)
    }
    var members: JSONObject = ["amount_in_minor": .integer(units), "currency": .string(currency)]
    members["user"] = ["id": body["user"]?["id"] ?? .string(bank.uuid())]
    members["payment_method"] = .object(method)
    members["metadata"] = body["metadata"]
    return bank.fresh(members, id: bank.uuid())
  }

  /// A payment on a mandate needs nobody to authorize it.
  private func mandatePayment(
    _ body: JSONObject,
    _ method: JSONObject
  ) throws(BankProblem) -> JSONObject {
    let mandate = method.text("mandate_id").flatMap { try? bank.find(.mandate, $0) }
    guard let mandate, mandate.text("status") == "authorized" else {
      throw .invalid("payment_method.mandate_id", "There is no authorized mandate of this id.")
    }
    let most = mandate["constraints"]?["maximum_individual_amount"]?.wholeNumber ?? Int.max
    var payment = bank.fresh(
      [
        "amount_in_minor": body["amount_in_minor"] ?? 0, "currency": body["currency"] ?? "GBP",
        "payment_method": .object(method),
      ],
      id: bank.uuid()
    )
    payment["metadata"] = body["metadata"]
    payment["status"] = "authorized"
    if (body["amount_in_minor"]?.wholeNumber ?? 0) > most {
      bank.fail(&payment, "constraint_violation")
    } else {
      payment["_due"] = [["status": "executed", "at": .integer(bank.now)]]
    }
    return payment
  }

  /// A mandate from a request's body.
  func mandate(_ body: JSONObject) throws(BankProblem) -> JSONObject {
    guard let mandate = body["mandate"]?.object else {
      throw .invalid("mandate", "Value is required.")
    }
    let type = mandate.text("type") ?? ""
    guard ["sweeping", "commercial"].contains(type) else {
      throw .invalid("mandate.type", "Unknown value.")
    }
    if type == "commercial", mandate.text("use_case") == nil {
      throw .invalid("mandate.use_case", "Value is required.")
    }
    guard body.text("currency") == "GBP" else { throw .invalid("currency", "Must be GBP.") }
    let selection = mandate["provider_selection"]
    guard selection?["type"]?.text != nil else {
      throw .invalid("mandate.provider_selection.type", "Value is required.")
    }
    guard selection?["scheme_selection"] == nil else {
      throw .invalid("mandate.provider_selection.scheme_selection", "Unknown member.")
    }
    try check(payee: mandate["beneficiary"], at: "mandate.beneficiary", wantsReference: false)
    let constraints = body["constraints"]
    guard let most = constraints?["maximum_individual_amount"]?.wholeNumber, most >= 1 else {
      throw .invalid("constraints.maximum_individual_amount", "Value is required.")
    }
    let limits = constraints?["periodic_limits"]?.object?.members ?? []
    guard !limits.isEmpty else {
      throw .invalid("constraints.periodic_limits", "At least one is required.")
    }
    for limit in limits {
      guard let amount = limit.value["maximum_amount"]?.wholeNumber, amount >= most,
        ["consent", "calendar"].contains(limit.value["period_alignment"]?.text ?? "")
      else { throw .invalid("constraints.periodic_limits.\(limit.key)", "The limit is invalid.") }
    }
    try check(user: body["user"])
    var members = mandate
    members["currency"] = "GBP"
    members["constraints"] = constraints
    members["user"] = ["id": body["user"]?["id"] ?? .string(bank.uuid())]
    members["metadata"] = body["metadata"]
    return bank.fresh(members, id: bank.uuid())
  }

  private func check(selection: JSON?, at place: String) throws(BankProblem) {
    switch selection?["type"]?.text {
    case "user_selected": break
    case "preselected":
      guard let id = selection?["provider_id"]?.text, BankCatalog.bank(id) != nil else {
        throw .invalid(place + ".provider_id", "Unknown provider.")
      }
      guard selection?["scheme_selection"] != nil || selection?["scheme_id"] != nil else {
        throw .invalid(place + ".scheme_selection", "Value is required.")
      }
    default: throw .invalid(place + ".type", "Unknown value.")
    }
  }

  private func check(payee: JSON?, at place: String, wantsReference: Bool) throws(BankProblem) {
    switch payee?["type"]?.text {
    case "merchant_account":
      guard payee?["merchant_account_id"]?.text != nil else {
        throw .invalid(place + ".merchant_account_id", "Value is required.")
      }
    case "external_account":
      guard let name = payee?["account_holder_name"]?.text, (1...40).contains(name.count) else {
        throw .invalid(place + ".account_holder_name", "Value is required.")
      }
      let account = payee?["account_identifier"]
      let digits = { (text: String?, count: Int) in
        text?.utf8.count == count
          && text?.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
      }
      switch account?["type"]?.text {
      case "sort_code_account_number":
        guard digits(account?["sort_code"]?.text, 6), digits(account?["account_number"]?.text, 8)
        else { throw .invalid(place + ".account_identifier", "The format is invalid.") }
      case "iban":
        guard let iban = account?["iban"]?.text, (15...34).contains(iban.utf8.count) else {
          throw .invalid(place + ".account_identifier.iban", "The format is invalid.")
        }
      default: throw .invalid(place + ".account_identifier.type", "Unknown value.")
      }
      guard wantsReference else { return }
      guard let reference = payee?["reference"]?.text, (1...18).contains(reference.count) else {
        throw .invalid(place + ".reference", "Must have 1 to 18 characters.")
      }
    default:
      throw .invalid(place + ".type", "Must be either merchant_account or external_account")
    }
  }

  private func check(user: JSON?) throws(BankProblem) {
    guard let user, user["id"]?.text != nil || user["name"]?.text != nil else {
      throw .invalid("user.name", "Value is required.")
    }
    guard user["email"]?.text != nil || user["phone"]?.text != nil else {
      throw .invalid("user", "Either email or phone is required.")
    }
  }

  private func check(metadata: JSON?) throws(BankProblem) {
    let members = metadata?.object?.members ?? []
    guard members.count <= 10, members.allSatisfy({ $0.key.count <= 40 && $0.value.text != nil })
    else { throw .invalid("metadata", "At most 10 pairs of text.") }
  }
}
