import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// What the simulated TrueLayer checks of a creation (protocol note, sections 2.1 and 2b).
struct BankCreation {
  let bank: BankWorld

  /// A payment from a body that has the published shape.
  func payment(_ body: JSONObject) throws(BankProblem) -> JSONObject {
    let units = body["amount_in_minor"]?.boundedNumber ?? 0
    var method = body["payment_method"]?.object ?? [:]
    if method.text("type") == "mandate" { return try mandatePayment(body, method) }
    let selection = method["provider_selection"]
    if let id = selection?["provider_id"]?.text, BankCatalog.bank(id) == nil {
      throw .invalid("payment_method.provider_selection.provider_id", "Unknown provider.")
    }
    if method["beneficiary"]?["type"] == "merchant_account", units > 5_000_000 {
      throw .invalid("amount_in_minor", "The sandbox takes at most 5000000.")
    }
    try check(user: body["user"])
    if var chosen = selection?.object, let scheme = chosen["scheme_selection"]?["scheme_id"] {
      chosen["scheme_id"] = scheme
      method["provider_selection"] = .object(chosen)
    }
    var members: JSONObject = [
      "amount_in_minor": .integer(units), "currency": body["currency"] ?? "GBP",
    ]
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
    let most = mandate["constraints"]?["maximum_individual_amount"]?.boundedNumber ?? Int.max
    var payment = bank.fresh(
      [
        "amount_in_minor": body["amount_in_minor"] ?? 0, "currency": body["currency"] ?? "GBP",
        "payment_method": .object(method),
      ],
      id: bank.uuid()
    )
    payment["metadata"] = body["metadata"]
    payment["status"] = "authorized"
    if (body["amount_in_minor"]?.boundedNumber ?? 0) > most {
      bank.fail(&payment, "constraint_violation")
    } else {
      payment["_due"] = [["status": "executed", "at": .integer(bank.now)]]
    }
    return payment
  }

  /// A mandate from a body that has the published shape.
  func mandate(_ body: JSONObject) throws(BankProblem) -> JSONObject {
    let mandate = body["mandate"]?.object ?? [:]
    guard body.text("currency") == "GBP" else { throw .invalid("currency", "Must be GBP.") }
    guard mandate["provider_selection"]?["scheme_selection"] == nil else {
      throw .invalid("mandate.provider_selection.scheme_selection", "Unknown member.")
    }
    guard let constraints = body["constraints"] else {
      throw .invalid("constraints", "Value is required.")
    }
    let most = constraints["maximum_individual_amount"]?.boundedNumber ?? 0
    let limits = constraints["periodic_limits"]?.object?.members ?? []
    guard !limits.isEmpty else {
      throw .invalid("constraints.periodic_limits", "At least one is required.")
    }
    for limit in limits {
      let place = "constraints.periodic_limits.\(limit.key)"
      guard BankRequests.periods.contains(limit.key) else {
        throw .invalid(place, "Unknown period.")
      }
      guard limit.value["maximum_amount"]?.boundedNumber ?? 0 >= most else {
        throw .invalid(place, "Less than one payment may take.")
      }
      guard limit.key != "fortnight" || limit.value["period_alignment"] == "consent" else {
        throw .invalid(place, "Must be aligned with the consent.")
      }
    }
    try check(user: body["user"])
    var members = mandate
    members["currency"] = "GBP"
    members["constraints"] = constraints
    members["user"] = ["id": body["user"]?["id"] ?? .string(bank.uuid())]
    members["metadata"] = body["metadata"]
    let id = bank.uuid()
    if members["reference"] == nil { members["reference"] = .string(BankWorld.reference(of: id)) }
    return bank.fresh(members, id: id)
  }

  /// Who pays must be known by an id, or by name and a way to reach them.
  private func check(user: JSON?) throws(BankProblem) {
    if user?["id"]?.text != nil { return }
    guard user?["name"]?.text != nil else { throw .invalid("user.name", "Value is required.") }
    guard user?["email"]?.text != nil || user?["phone"]?.text != nil else {
      throw .invalid("user", "Either email or phone is required.")
    }
  }
}
