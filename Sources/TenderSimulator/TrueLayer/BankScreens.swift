import TenderModel

/// The simulated TrueLayer's answers about payments and mandates, and about the steps of their payers
/// (TrueLayer/README, 4.3 and 5).
struct BankScreens {
  let bank: BankWorld
  /// The address of the bank's pages.
  let pages: String

  /// Returns a resource for its reader. Some members are only for the client (TrueLayer/README, 5.5).
  func shown(_ resource: BankResource, toClient: Bool) -> JSONObject {
    let isMandate = resource.kind == .mandate
    var shown: JSONObject = ["id": .string(resource.id)]
    for member in resource.order.shown(resource.id, resource.selection).members {
      shown[member.key] = member.value
    }
    shown["user"] = ["id": .string(resource.userID)]
    shown["status"] = .string(resource.status.rawValue)
    shown["authorization_flow"] = flow(resource)
    shown["failure_stage"] = resource.failure.map { .string($0.stage.rawValue) }
    shown["failure_reason"] = resource.failure.map { .string($0.reason) }
    // The published schema requires these two for every reader (OpenAPI, `PaymentSettled`,
    // `GetVRPMandateCommonWithUserDetails`).
    if toClient || isMandate {
      shown["created_at"] = .string(Timestamp.microseconds(resource.created))
    }
    for status in BankResource.Status.allCases {
      guard let time = resource.times[status] else { continue }
      let isWanted = status == .executed && resource.status == .settled || status == .revoked
      if toClient || isWanted {
        shown["\(status.rawValue)_at"] = .string(Timestamp.microseconds(time))
      }
    }
    if resource.times[.revoked] != nil {
      shown["revocation_source"] = resource.isRevokedByPayer ? "provider" : "client"
    }
    if isMandate, toClient, resource.times[.authorized] != nil {
      shown["remitter"] = [
        "account_holder_name": .string(Self.payer), "account_identifier": Self.payerAccount,
      ]
    }
    if !isMandate, resource.times[.executed] != nil, resource.times[.settled] == nil || toClient {
      var source = Self.source
      if resource.times[.settled] != nil { source["id"] = .string(resource.userID) }
      shown["payment_source"] = .object(source)
    }
    return shown
  }

  /// The account of every payer, without its id.
  static let source: JSONObject = [
    "account_holder_name": .string(payer), "account_identifiers": [payerAccount],
  ]

  private static let payer = "Remi Terr"
  private static let payerAccount: JSON = [
    "type": "sort_code_account_number", "sort_code": "500000", "account_number": "12345601",
  ]

  func created(_ resource: BankResource, token: String) -> JSONObject {
    let answer: JSONObject = [
      "id": resource.id.json, "user": ["id": resource.userID.json], "resource_token": token.json,
    ]
    return JSONObject(answer.members + progress(resource).members)
  }

  func progress(_ resource: BankResource) -> JSONObject {
    [
      "status": resource.status.json, "failure_stage": resource.failure?.stage.json,
      "failure_reason": resource.failure?.reason.json,
      "authorization_flow": actions(resource).map { ["actions": $0] },
    ]
  }

  private func flow(_ resource: BankResource) -> JSON? {
    resource.flow.map { flow in
      ["actions": actions(resource), "configuration": flow.capabilities.given.json]
    }
  }

  private func actions(_ resource: BankResource) -> JSON? {
    guard let flow = resource.flow, let step = flow.step else { return nil }
    var actions: JSONObject = ["next": next(step, flow, resource)]
    if case .form = step, flow.capabilities.isConsentAdjacent {
      actions["adjacent"] = ["consent": ["requirements": ["pis": [:]]]]
    }
    return .object(actions)
  }

  private func next(_ step: BankFlow.Step, _ flow: BankFlow, _ resource: BankResource) -> JSON {
    let chosen = resource.selection.bank.flatMap(BankCatalog.bank)
    var next: JSONObject = ["type": .string(step.type)]
    switch step {
    case .providerSelection:
      next["providers"] = .array(resource.banks.map { shown($0, resource.kind) })
    case .branchSelection:
      let branches: [JSON] = (chosen?.branches ?? []).map { branch in
        ["id": branch.id.json, "display_name": branch.name.json]
      }
      next["branches"] = .array(branches)
    case .schemeSelection:
      let schemes: [JSON] = (chosen?.schemes ?? []).enumerated().map { index, id in
        ["id": id.json, "recommended": (index == 0).json]
      }
      next["schemes"] = .array(schemes)
    case .userAccountSelection:
      let provider: JSON = [
        "id": BankCatalog.savedBank.json,
        "display_name": BankCatalog.bank(BankCatalog.savedBank)?.name.json ?? "",
      ]
      let account: JSON = [
        "id": BankCatalog.savedAccount.json, "provider": provider,
        "masked_account_identifier": "******01", "last_used_at": bank.time.json,
      ]
      next["user_accounts"] = [account]
    case .consent: next = JSONObject(next.members + consent(chosen, resource.kind).members)
    case .form(let page):
      let ids = chosen.map { $0.forms.indices.contains(page) ? $0.forms[page] : [] } ?? []
      next["inputs"] = .array(ids.map(BankInput.shown))
    case .redirect:
      let session = flow.session ?? ""
      let begin = flow.shownAt / 1000
      let claims: JSONObject = [
        "jti": session.json, "scope": "pay-mock-connect-api", "nbf": begin.json,
        "exp": (begin + 3600).json, "iss": pages.json, "aud": pages.json,
      ]
      next["uri"] = .string("\(pages)/login/\(session)#token=\(WebToken.sign(claims))")
    case .wait: next["display_message"] = ["default": "Confirm in your bank's app"]
    case .working: break
    case .retry: next["retry_options"] = ["restart"]
    }
    return .object(next)
  }

  private func consent(
    _ chosen: BankCatalog.Bank?,
    _ kind: BankOrder.Kind
  ) -> JSONObject {
    guard kind == .payment else { return ["subsequent_action_hint": "redirect"] }
    let hint =
      chosen?.forms.isEmpty == false ? "form" : chosen?.way == .decoupled ? "wait" : "redirect"
    var requirements: JSONObject = ["pis": [:]]
    if let chosen, chosen.wantsAccountData {
      requirements["ais"] = [
        "required_scopes": .array(chosen.requiredScopes.map(JSON.string)),
        "optional_scopes": ["balance"],
      ]
    }
    return ["subsequent_action_hint": hint.json, "requirements": requirements.json]
  }

  private func shown(_ candidate: BankCatalog.Bank, _ kind: BankOrder.Kind) -> JSON {
    var object = face(of: candidate)
    object["availability"] = availability(of: candidate)
    object["search_aliases"] = []
    if kind == .payment {
      object["schemes"] = .array(candidate.schemes.map { ["id": .string($0)] })
    }
    return .object(object)
  }

  /// The bank's name and pictures.
  func face(of candidate: BankCatalog.Bank) -> JSONObject {
    [
      "id": candidate.id.json, "display_name": candidate.name.json,
      "icon_uri": (pages + "/icon.svg").json, "logo_uri": (pages + "/logo.svg").json,
      "bg_color": "#FFFFFF", "country_code": candidate.country.json,
    ]
  }

  func availability(of candidate: BankCatalog.Bank) -> JSON {
    [
      "recommended_status": candidate.isHealthy ? "healthy" : "unhealthy",
      "updated_at": .string(bank.time),
    ]
  }
}
