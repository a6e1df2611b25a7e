import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// The bank's own web pages and the mock bank's interface for machines (protocol note, section 6.1):
/// log in as one of the documented test users, see amount and payee, authorise or reject.
///
/// Plain pages: no script, no address of anybody else's.
struct BankPages {
  let bank: BankWorld

  /// Handles a request for a page; nil where it is none of the bank's.
  func handle(_ request: SimulatedRequest, _ parts: [String]) throws(Fault) -> HTTPReaction? {
    switch (request.method, parts.first, parts.count) {
    case ("GET", "login", 2):
      return .answer(try page(parts[1]) { kind, resource in BankHTML.login(kind, resource) })
    case ("POST", "login", 2), ("POST", "authorise", 2):
      return .answer(try post(request, session: parts[1], isLogin: parts[0] == "login"))
    case ("GET", "provider-return", 1):
      let state = QueryText.parameters(request.query)["state"] ?? ""
      guard let returned = try takeReturn(state: state) else { return .answer(missing) }
      return .answer(redirect(to: returned.address))
    case ("POST", "api", 4) where parts[3] == "action":
      return .answer(try machine(request, parts))
    default: return nil
    }
  }

  /// What became of a payer's way back: which resource, and where its merchant wants them.
  struct Returned {
    var kind: BankWorld.Kind
    var id: String
    var address: String
  }

  /// Finds the resource of a session, which is named in its redirect alone.
  private func find(_ session: String) throws(Fault) -> (BankWorld.Kind, JSONObject)? {
    for kind in [BankWorld.Kind.payment, .mandate] {
      for resource in try bank.ledger.list(kind.table)
      where resource.text("_session") == session {
        guard let current = try bank.find(kind, resource.text("id") ?? "") else { return nil }
        return (kind, current)
      }
    }
    return nil
  }

  private func page(
    _ session: String,
    _ body: (BankWorld.Kind, JSONObject) -> String
  ) throws(Fault) -> HTTPResponse {
    guard let (kind, resource) = try find(session) else { return missing }
    guard isOpen(resource) else { return ended(resource) }
    return html(200, body(kind, resource))
  }

  private func isOpen(_ resource: JSONObject) -> Bool {
    resource.text("status") == "authorizing"
      && bank.next(resource)?.text("type") == "redirect"
  }

  private func post(
    _ request: SimulatedRequest,
    session: String,
    isLogin: Bool
  ) throws(Fault) -> HTTPResponse {
    guard let (kind, found) = try find(session) else { return missing }
    var resource = found
    guard isOpen(resource) else { return ended(resource) }
    let form = QueryText.parameters(String(decoding: request.body, as: UTF8.self))
    if form["action"] == "Cancel" { return try finish("Cancel", &resource, kind) }
    if isLogin {
      let user = (form["username"] ?? "").trimmed
      guard BankHTML.users.contains(where: { $0.name == user }) else {
        return html(422, BankHTML.login(kind, resource, wrongUser: user))
      }
      return html(200, BankHTML.authorise(kind, resource, session: session, user: user))
    }
    guard form["action"] == "Authorise" else {
      return try finish("RejectAuthorisation", &resource, kind)
    }
    switch form["user"] {
    case "test_authorisation_failed": return try finish("RejectAuthorisation", &resource, kind)
    case "test_execution_rejected": return try finish("RejectExecution", &resource, kind)
    default:
      return try finish(kind == .mandate ? "Authorise" : "Execute", &resource, kind)
    }
  }

  /// Writes down what the payer did and sends them back by way of TrueLayer.
  private func finish(
    _ action: String,
    _ resource: inout JSONObject,
    _ kind: BankWorld.Kind
  ) throws(Fault) -> HTTPResponse {
    redirect(to: try returnAddress(after: action, &resource, kind, pages: ""))
  }

  private func returnAddress(
    after action: String,
    _ resource: inout JSONObject,
    _ kind: BankWorld.Kind,
    pages: String
  ) throws(Fault) -> String {
    resource["_action"] = .string(action)
    try bank.save(kind, resource)
    let id = resource.text("id") ?? ""
    let state =
      kind == .mandate ? "mandate-" + id.filter { $0 != "-" } : id
    let code = bank.uuid()
    if let direct = resource["_configuration"]?["redirect"]?["direct_return_uri"]?.text {
      return Self.adding("state=\(state)&code=\(code)", to: direct)
    }
    return "\(pages)/provider-return?state=\(state)&code=\(code)"
  }

  /// Takes in that a payer came back: what they did at the bank happens now.
  func takeReturn(state: String) throws(Fault) -> Returned? {
    // `mandate-` may stand before the id, and the id of a mandate comes without its dashes.
    let id = state.hasPrefix("mandate-") ? String(state.dropFirst("mandate-".count)) : state
    for kind in [BankWorld.Kind.payment, .mandate] {
      for name in [id, Self.withDashes(id)] {
        guard var resource = try bank.find(kind, name) else { continue }
        if let action = resource.text("_action") {
          resource["_action"] = nil
          bank.act(action, on: &resource, kind)
        } else if bank.world.playsPayer {
          bank.play(bank.world.options.scenario ?? "bank:execute", &resource, kind)
        }
        try bank.save(kind, resource)
        let merchant = resource["_configuration"]?["redirect"]?["return_uri"]?.text ?? ""
        return Returned(
          kind: kind,
          id: name,
          address: Self.adding("\(kind.parameter)=\(name)", to: merchant)
        )
      }
    }
    return nil
  }

  private static func withDashes(_ text: String) -> String {
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

  /// `POST /api/single-immediate-payments/{id}/action` and `/api/vrp-consents/{id}/action`.
  private func machine(
    _ request: SimulatedRequest,
    _ parts: [String]
  ) throws(Fault) -> HTTPResponse {
    let token = (request.fields["authorization"] ?? "").dropFirst("Bearer ".count)
    guard let claims = WebToken.verify(String(token), now: bank.now),
      claims.text("jti") == parts[2]
    else { return HTTPResponse(status: 401) }
    guard let (kind, found) = try find(parts[2]) else { return HTTPResponse(status: 404) }
    var resource = found
    let wanted = JSONReader.read(request.body)?["action"]?.text ?? ""
    let known =
      kind == .mandate
      ? ["Authorise", "RejectAuthorisation", "Revoke", "Cancel"]
      : ["Execute", "RejectAuthorisation", "RejectExecution", "Cancel"]
    guard known.contains(wanted), isOpen(resource) else { return HTTPResponse(status: 400) }
    let pages = request.fields["host"].map { "http://\($0)" } ?? "https://bank.simulator.invalid"
    let address = try returnAddress(after: wanted, &resource, kind, pages: pages)
    return HTTPResponse(
      status: 202,
      body: Array(address.utf8),
      fields: ["content-type": "text/plain; charset=utf-8"]
    )
  }

  private func redirect(to address: String) -> HTTPResponse {
    HTTPResponse(status: 303, fields: ["location": address, "content-type": "text/plain"])
  }

  private var missing: HTTPResponse {
    html(404, BankHTML.message("Not found", "There is no payment to authorise at this address."))
  }

  private func ended(_ resource: JSONObject) -> HTTPResponse {
    let status = (resource.text("status") ?? "").split(separator: "_").joined(separator: " ")
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

extension String {
  fileprivate var trimmed: String {
    var text = Substring(self)
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
