import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// The authorization flow of the simulated TrueLayer: which action comes next, and what a submission
/// does (protocol note, sections 2.4 to 2.6 and 6.4).
struct BankFlow {
  let bank: BankWorld
  let kind: BankWorld.Kind
  /// Where the bank's pages are.
  let pages: String

  private var world: SimulatorWorld { bank.world }

  /// Starts the flow with what the client can do.
  func start(_ resource: inout JSONObject, _ capabilities: JSONObject) throws(BankProblem) {
    let isRetry = resource.text("status") == "attempt_failed"
    guard resource.text("status") == "authorization_required" || isRetry else { throw .state }
    guard let redirect = capabilities["redirect"]?.object else {
      if kind == .mandate { throw .invalid("redirect", "Value is required.") }
      return try begin(&resource, capabilities)
    }
    guard let address = redirect.text("return_uri"), address.contains("://") else {
      throw .invalid("redirect.return_uri", "Value is required.")
    }
    try begin(&resource, capabilities)
  }

  private func begin(
    _ resource: inout JSONObject,
    _ capabilities: JSONObject
  )
    throws(BankProblem)
  {
    if let form = capabilities["form"], form["input_types"]?.array?.isEmpty != false {
      throw .invalid("form.input_types", "At least one input type is required.")
    }
    let selection = self.selection(resource)
    if selection["provider_id"] == nil, capabilities["provider_selection"] == nil {
      throw .invalid("provider_selection", "Value is required.")
    }
    for name in ["failed_at", "failure_stage", "failure_reason"] { resource[name] = nil }
    resource["status"] = "authorizing"
    resource["_configuration"] = .object(capabilities)
    if let id = selection.text("provider_id") {
      guard let chosen = BankCatalog.bank(id) else {
        throw .invalid("payment_method.provider_selection.provider_id", "Unknown provider.")
      }
      resource["_queue"] = .array(try steps(chosen, resource).map(JSON.string))
    } else {
      resource["_queue"] = ["provider_selection"]
      if capabilities["user_account_selection"] != nil {
        resource["_queue"] = ["user_account_selection", "provider_selection"]
      }
    }
    try advance(&resource)
  }

  private func selection(_ resource: JSONObject) -> JSONObject {
    (resource["payment_method"] ?? .object(resource))["provider_selection"]?.object ?? [:]
  }

  private func capability(_ name: String, _ resource: JSONObject) -> JSON? {
    resource["_configuration"]?[name]
  }

  /// The banks that a payer of this resource may choose.
  private func banks(_ resource: JSONObject) -> [BankCatalog.Bank] {
    let filter = selection(resource)["filter"]
    let countries = filter?["countries"]?.array?.compactMap(\.text) ?? []
    let wanted = filter?["provider_ids"]?.array?.compactMap(\.text) ?? []
    let excluded = filter?["excludes"]?["provider_ids"]?.array?.compactMap(\.text) ?? []
    return BankCatalog.banks.filter { candidate in
      (countries.isEmpty || countries.contains(candidate.country))
        && (wanted.isEmpty || wanted.contains(candidate.id)) && !excluded.contains(candidate.id)
        && BankCatalog.currency(of: candidate) == resource.text("currency")
        && (candidate.forms.isEmpty || capability("form", resource) != nil)
        && (kind == .payment || candidate.allowsMandates)
    }
  }

  /// What is still to be done once a bank is known.
  private func steps(
    _ chosen: BankCatalog.Bank,
    _ resource: JSONObject
  ) throws(BankProblem) -> [String] {
    var steps: [String] = []
    let selection = selection(resource)
    if !chosen.branches.isEmpty, selection["branch_selection"]?["branch_id"] == nil {
      steps.append("branch_selection")
    }
    let scheme = selection["scheme_selection"]
    if kind == .payment, scheme?["type"]?.text == "user_selected",
      selection["scheme_id"] == nil
    {
      steps.append("scheme_selection")
    }
    let consent = capability("consent", resource)
    if consent != nil, consent?["action_type"]?.text != "adjacent" { steps.append("consent") }
    if kind == .payment {
      guard chosen.forms.isEmpty || capability("form", resource) != nil else {
        throw .invalid("form", "This provider needs inputs.")
      }
      steps += chosen.forms.indices.map { "form:\($0)" }
    }
    let isDecoupled = chosen.way == .decoupled || world.options.scenario == "bank:decoupled"
    switch chosen.way {
    case .embedded: steps.append("done")
    case _ where isDecoupled: steps.append("wait")
    default: steps.append("redirect")
    }
    return steps
  }

  /// Puts the next step of the queue in front of the payer.
  private func advance(_ resource: inout JSONObject) throws(BankProblem) {
    var queue = resource["_queue"]?.array?.compactMap(\.text) ?? []
    guard let step = queue.first else { throw .state }
    let chosen = selection(resource).text("provider_id").flatMap(BankCatalog.bank)
    switch step {
    case "provider_selection":
      let offered = banks(resource)
      guard !offered.isEmpty else {
        bank.fail(&resource, "provider_error")
        return
      }
      let providers = JSON.array(offered.map { shown($0, resource) })
      bank.show(["type": "provider_selection", "providers": providers], in: &resource)
    case "branch_selection", "scheme_selection", "user_account_selection":
      bank.show(choices(step, chosen), in: &resource)
    case "consent": bank.show(consent(chosen), in: &resource)
    case "redirect":
      let session = bank.uuid()
      resource["_session"] = .string(session)
      let claims: JSONObject = [
        "jti": .string(session), "scope": "pay-mock-connect-api",
        "nbf": .integer(bank.now / 1000), "exp": .integer(bank.now / 1000 + 3600),
        "iss": .string(pages), "aud": .string(pages),
      ]
      let uri = "\(pages)/login/\(session)#token=\(WebToken.sign(claims))"
      bank.show(["type": "redirect", "uri": .string(uri)], in: &resource)
    case "wait":
      bank.show(
        ["type": "wait", "display_message": ["default": "Confirm in your bank's app"]],
        in: &resource
      )
    case "done":
      // A form is answered with `authorizing` or `failed` (OpenAPI, `PerformPaymentAction`): what the
      // bank makes of it is seen at the next look.
      resource["_embedded"] = true
      bank.show(["type": "wait"], in: &resource)
    default:
      guard let page = step.split(separator: ":").last.flatMap({ Int($0) }),
        let forms = chosen?.forms, forms.indices.contains(page)
      else { throw .state }
      bank.show(
        ["type": "form", "inputs": .array(forms[page].map(BankCatalog.input))],
        in: &resource
      )
      if capability("consent", resource)?["action_type"]?.text == "adjacent",
        var flow = resource["authorization_flow"]?.object, var actions = flow["actions"]?.object
      {
        actions["adjacent"] = ["consent": ["requirements": ["pis": [:]]]]
        flow["actions"] = .object(actions)
        resource["authorization_flow"] = .object(flow)
      }
    }
    queue.removeFirst()
    if resource["_queue"] != nil { resource["_queue"] = .array(queue.map(JSON.string)) }
  }

  /// What a payer can choose from once a bank is chosen.
  private func choices(_ step: String, _ chosen: BankCatalog.Bank?) -> JSON {
    switch step {
    case "branch_selection":
      let branches = (chosen?.branches ?? []).map { branch -> JSON in
        ["id": .string(branch.id), "display_name": .string(branch.name)]
      }
      return ["type": .string(step), "branches": .array(branches)]
    case "scheme_selection":
      let schemes = (chosen?.schemes ?? []).enumerated().map { index, id -> JSON in
        ["id": .string(id), "recommended": .bool(index == 0)]
      }
      return ["type": .string(step), "schemes": .array(schemes)]
    default:
      return [
        "type": .string(step),
        "user_accounts": [
          [
            "id": "25bf2298-0000-4000-8000-000000000001",
            "provider": [
              "id": "mock-payments-gb-redirect",
              "display_name": "Mock UK Payments - Redirect Flow",
            ],
            "masked_account_identifier": "******01", "last_used_at": .string(bank.time),
          ]
        ],
      ]
    }
  }

  private func consent(_ chosen: BankCatalog.Bank?) -> JSON {
    let hint =
      chosen?.forms.isEmpty == false ? "form" : chosen?.way == .decoupled ? "wait" : "redirect"
    guard kind == .payment else {
      return ["type": "consent", "subsequent_action_hint": "redirect"]
    }
    var requirements: JSONObject = ["pis": [:]]
    if chosen?.wantsAccountData == true {
      requirements["ais"] = ["required_scopes": ["accounts"], "optional_scopes": ["balance"]]
    }
    return [
      "type": "consent", "subsequent_action_hint": .string(hint),
      "requirements": .object(requirements),
    ]
  }

  private func shown(_ candidate: BankCatalog.Bank, _ resource: JSONObject) -> JSON {
    var object: JSONObject = [
      "id": .string(candidate.id), "display_name": .string(candidate.name),
      "icon_uri": .string(pages + "/icon.svg"), "logo_uri": .string(pages + "/logo.svg"),
      "bg_color": "#FFFFFF", "country_code": .string(candidate.country),
      "availability": [
        "recommended_status": candidate.isHealthy ? "healthy" : "unhealthy",
        "updated_at": .string(bank.time),
      ],
      "search_aliases": [],
    ]
    if kind == .payment {
      object["schemes"] = .array(candidate.schemes.map { ["id": .string($0)] })
    }
    return .object(object)
  }

  /// Takes a submission; it must answer what is in front of the payer.
  func submit(
    _ action: String,
    _ body: JSONObject,
    _ resource: inout JSONObject
  )
    throws(BankProblem)
  {
    guard resource.text("status") == "authorizing", let next = bank.next(resource),
      next.text("type")?.split(separator: "_").joined(separator: "-") == action
    else { throw .state }
    switch action {
    case "provider-selection": try chooseBank(body, &resource)
    case "branch-selection":
      guard let id = body.text("branch_id"), offers(id, next["branches"]) else {
        throw .invalid("branch_id", "Unknown branch.")
      }
      choose("branch_selection", ["type": "user_selected", "branch_id": .string(id)], &resource)
    case "scheme-selection":
      guard let id = body.text("scheme_id"), offers(id, next["schemes"]) else {
        throw .invalid("scheme_id", "Unknown scheme.")
      }
      choose("scheme_id", .string(id), &resource)
    case "user-account-selection":
      switch body.text("type") {
      case "new": break
      case "existing":
        guard let id = body.text("user_account_id"), offers(id, next["user_accounts"]) else {
          throw .invalid("user_account_id", "Unknown account.")
        }
        choose("provider_id", "mock-payments-gb-redirect", &resource)
        if let chosen = BankCatalog.bank("mock-payments-gb-redirect") {
          resource["_queue"] = .array(try steps(chosen, resource).map(JSON.string))
        }
      default: throw .invalid("type", "Unknown value.")
      }
    case "consent":
      let required = next["requirements"]?["ais"]?["required_scopes"]?.array ?? []
      let given = body["captured"]?["ais"]?["scopes"]?.array ?? []
      guard required.allSatisfy(given.contains) else {
        throw .invalid("captured.ais.scopes", "A required scope is missing.")
      }
    case "form": try checkForm(body, next)
    default: throw .state
    }
    try advance(&resource)
  }

  private func chooseBank(
    _ body: JSONObject,
    _ resource: inout JSONObject
  ) throws(BankProblem) {
    guard let id = body.text("provider_id") else {
      throw .invalid("provider_id", "Value is required.")
    }
    guard let chosen = banks(resource).first(where: { $0.id == id }) else {
      throw .invalid("provider_id", "Unknown provider.")
    }
    choose("provider_id", id, &resource)
    if let branch = body.text("branch_id") {
      guard chosen.branches.contains(where: { $0.id == branch }) else {
        throw .invalid("branch_id", "Unknown branch.")
      }
      choose(
        "branch_selection",
        ["type": "user_selected", "branch_id": .string(branch)],
        &resource
      )
    }
    resource["_queue"] = .array(try steps(chosen, resource).map(JSON.string))
  }

  private func offers(_ id: String, _ list: JSON?) -> Bool {
    list?.array?.contains { $0["id"]?.text == id } ?? false
  }

  private func choose(_ name: String, _ value: JSON, _ resource: inout JSONObject) {
    var selection = selection(resource)
    selection[name] = value
    if var method = resource["payment_method"]?.object {
      method["provider_selection"] = .object(selection)
      resource["payment_method"] = .object(method)
    } else {
      resource["provider_selection"] = .object(selection)
    }
  }

  private func choose(_ name: String, _ value: String, _ resource: inout JSONObject) {
    choose(name, .string(value), &resource)
  }

  private func checkForm(_ body: JSONObject, _ next: JSONObject) throws(BankProblem) {
    let given = body["inputs"]?.object ?? [:]
    for input in next["inputs"]?.array ?? [] {
      guard let id = input["id"]?.text else { continue }
      let value = given.text(id) ?? ""
      guard !value.isEmpty else { throw .invalid("inputs.\(id)", "Value is required.") }
      if let options = input["options"]?.array {
        guard options.contains(where: { $0["id"]?.text == value }) else {
          throw .invalid("inputs.\(id)", "Unknown option.")
        }
        continue
      }
      let least = input["min_length"]?.boundedNumber ?? 0
      let most = input["max_length"]?.boundedNumber ?? 4096
      let isNumerical = input["format"]?.text == "numerical"
      guard (least...most).contains(value.count),
        !isNumerical || value.allSatisfy({ $0.isASCII && $0.isNumber })
      else { throw .invalid("inputs.\(id)", "Value has the wrong format.") }
    }
  }
}
