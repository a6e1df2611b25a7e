import TenderEngine
import TenderModel

/// The bank's web pages, and the mock bank's interface for programs (TrueLayer/README, 10.4). A payer logs in
/// as a documented test user, sees amount and payee, and authorizes or rejects.
///
/// The pages have no scripts, and no addresses of other hosts.
struct BankPages {
  let bank: BankWorld

  /// Handles a request for a page; nil if it is not one of the bank's.
  func handle(
    _ request: SimulatedRequest,
    _ parts: [String]
  ) throws(BankProblem) -> HTTPResponse? {
    switch (request.method, parts.first, parts.count) {
    case ("GET", "login", 2):
      return try page(parts[1]) { BankHTML.login($0) }
    case ("POST", "login", 2), ("POST", "authorise", 2):
      return try post(request, session: parts[1], isLogin: parts[0] == "login")
    case ("GET", "provider-return", 1):
      let state = QueryText.parameters(request.query)["state"] ?? ""
      guard let returned = try takeReturn(state: state) else { return missing }
      return redirect(to: returned.address)
    case ("POST", "api", 4) where parts[3] == "action":
      return try machine(request, parts)
    case ("GET", "payments", 1), ("GET", "mandates", 1), ("GET", "payouts", 1):
      // The API has no request with this path and without a token.
      guard request.fields["authorization"] == nil else { return nil }
      return html(200, BankHTML.hosted)
    default: return nil
    }
  }

  /// A payer's return: the resource, and the merchant's address.
  struct Returned {
    var kind: BankOrder.Kind
    var id: String
    var address: String
  }

  /// Finds the resource of a session. Only its redirect names the session.
  private func find(_ session: String) throws(BankProblem) -> BankResource? {
    for kind in [BankOrder.Kind.payment, .mandate] {
      let known = try bank.all(kind, having: session)
      if let resource = known.first(where: { $0.flow?.session == session }) {
        return try bank.find(kind, resource.id)
      }
    }
    return nil
  }

  private func page(
    _ session: String,
    _ body: (BankResource) -> String
  ) throws(BankProblem) -> HTTPResponse {
    guard let resource = try find(session) else { return missing }
    guard isOpen(resource) else { return ended(resource) }
    return html(200, body(resource))
  }

  private func isOpen(_ resource: BankResource) -> Bool {
    resource.status == .authorizing && resource.flow?.step == .redirect
  }

  private func post(
    _ request: SimulatedRequest,
    session: String,
    isLogin: Bool
  ) throws(BankProblem) -> HTTPResponse {
    guard var resource = try find(session) else { return missing }
    guard isOpen(resource) else { return ended(resource) }
    let form = QueryText.parameters(String(decoding: request.body, as: UTF8.self))
    func finish(_ action: BankFlow.Action) throws(BankProblem) -> HTTPResponse {
      redirect(to: try returnAddress(after: action, &resource, pages: ""))
    }
    if form["action"] == "Cancel" { return try finish(.cancel) }
    if isLogin {
      let typed = (form["username"] ?? "").drop(while: \.isWhitespace)
      let user = String(typed.reversed().drop(while: \.isWhitespace).reversed())
      guard BankHTML.users.contains(where: { $0.name == user }) else {
        return html(422, BankHTML.login(resource, wrongUser: user))
      }
      return html(200, BankHTML.authorise(resource, user: user))
    }
    guard form["action"] == "Authorise" else { return try finish(.rejectAuthorisation) }
    switch form["user"] {
    case "test_authorisation_failed": return try finish(.rejectAuthorisation)
    case "test_execution_rejected": return try finish(.rejectExecution)
    default: return try finish(resource.kind == .mandate ? .authorise : .execute)
    }
  }

  /// Stores the payer's action. Returns the address back, which goes through TrueLayer.
  private func returnAddress(
    after action: BankFlow.Action,
    _ resource: inout BankResource,
    pages: String
  ) throws(BankProblem) -> String {
    resource.flow?.action = action
    try bank.save(&resource)
    let id = resource.id
    let state = resource.kind == .mandate ? "mandate-" + id.filter { $0 != "-" } : id
    let code = bank.uuid()
    if let direct = resource.flow?.capabilities.directReturn {
      return Self.adding("state=\(state)&code=\(code)", to: direct)
    }
    return "\(pages)/provider-return?state=\(state)&code=\(code)"
  }

  /// Handles a payer's return. The payer's action at the bank takes effect now.
  func takeReturn(state: String) throws(BankProblem) -> Returned? {
    // `mandate-` may come before the id, and a mandate's id comes without its dashes.
    let id = state.hasPrefix("mandate-") ? String(state.dropFirst("mandate-".count)) : state
    for kind in [BankOrder.Kind.payment, .mandate] {
      for name in [id, Self.withDashes(id)] {
        guard var resource = try bank.find(kind, name) else { continue }
        if let action = resource.flow?.action {
          resource.flow?.action = nil
          try bank.act(action, on: &resource)
        } else if bank.world.playsPayer {
          try bank.play(bank.world.options.scenario ?? "bank:execute", &resource)
        }
        try bank.save(&resource)
        let merchant = resource.flow?.capabilities.returnAddress ?? ""
        return Returned(
          kind: kind,
          id: name,
          address: Self.adding("\(kind.parameter)=\(name)", to: merchant)
        )
      }
    }
    return nil
  }

  /// Returns a UUID of 32 digits with its dashes.
  static func withDashes(_ text: String) -> String {
    guard text.utf8.count == 32 else { return text }
    var shown = ""
    for (index, character) in text.enumerated() {
      if [8, 12, 16, 20].contains(index) { shown += "-" }
      shown.append(character)
    }
    return shown
  }

  private static func adding(_ query: String, to address: String) -> String {
    address + (address.contains("?") ? "&" : "?") + query
  }

  /// Handles `POST /api/single-immediate-payments/{id}/action` and `/api/vrp-consents/{id}/action`.
  private func machine(
    _ request: SimulatedRequest,
    _ parts: [String]
  ) throws(BankProblem) -> HTTPResponse {
    let token = (request.fields["authorization"] ?? "").dropFirst("Bearer ".count)
    guard let claims = WebToken.verify(String(token), now: bank.now),
      claims.text("jti") == parts[2]
    else { return HTTPResponse(status: 401) }
    guard var resource = try find(parts[2]) else { return HTTPResponse(status: 404) }
    let body = JSONReader.read(request.body)?.object ?? [:]
    let wanted = body.text("action").flatMap(BankFlow.Action.init)
    // Settings with another value would not be honored.
    let isKnown = body.members.allSatisfy { member in
      member.key == "action" || member.key == "redirect" && member.value == false
        || member.key == "settlement_delay_in_seconds" && member.value == 0
    }
    guard isKnown, let wanted, Self.actions(resource.kind).contains(wanted), isOpen(resource) else {
      return HTTPResponse(status: 400)
    }
    // Clients submit query and fragment (TrueLayer/README, 4.6).
    let address = try returnAddress(after: wanted, &resource, pages: request.pages) + "#"
    return HTTPResponse(
      status: 202,
      body: Array(address.utf8),
      fields: ["content-type": "text/plain; charset=utf-8"]
    )
  }

  private static func actions(_ kind: BankOrder.Kind) -> [BankFlow.Action] {
    kind == .mandate
      ? [.authorise, .rejectAuthorisation, .revoke, .cancel]
      : [.execute, .rejectAuthorisation, .rejectExecution, .cancel]
  }

  private func redirect(to address: String) -> HTTPResponse {
    HTTPResponse(status: 303, fields: ["location": address, "content-type": "text/plain"])
  }

  private var missing: HTTPResponse {
    html(404, BankHTML.message("Not found", "There is no payment to authorise at this address."))
  }

  private func ended(_ resource: BankResource) -> HTTPResponse {
    let status = resource.status.rawValue.split(separator: "_").joined(separator: " ")
    return html(
      410,
      BankHTML.message("Nothing to do", "This is \(status): there is nothing left to authorise.")
    )
  }

  private func html(_ status: Int, _ body: String) -> HTTPResponse {
    HTTPResponse(
      status: status,
      body: Array(body.utf8),
      fields: [
        "content-type": "text/html; charset=utf-8", "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
      ]
    )
  }
}

extension SimulatedRequest {
  /// The address of the bank's pages, with the host of the request.
  var pages: String {
    fields["host"].map { "http://\($0)" } ?? "https://bank.simulator.invalid"
  }
}
