package import TenderEngine
package import TenderModel
import TenderWire

/// TrueLayer: bank payments and mandates over its Payments API v3.
package struct TrueLayerProvider: Provider, PayerAuthorizationFlow, RefundFlow {
  /// What it is called in options, records and journals.
  package static let name = ProviderName("truelayer")
  let context: TrueLayerContext
  let client: Client

  package init(_ context: TrueLayerContext) {
    self.context = context
    client = Client(context)
  }

  package var name: ProviderName { Self.name }

  /// The states that the documentation names, and no others.
  package var namesItsStates: Bool { true }

  package var merchant: String { context.configuration.clientID ?? "resource-token" }

  /// A resource token opens one payment or mandate alone, whoever's it is.
  package func owns(_ attempt: Attempt) -> Bool {
    let anyone = "resource-token"
    return attempt.merchant == merchant || attempt.merchant == anyone || merchant == anyone
  }

  package var nothingHeld: JSONObject { ["error": "generic"] }

  package func isID(_ handle: String) -> Bool { ResourceID.isUUID(handle) }

  package func checkReady(for need: Need) throws(Fault) {
    let configuration = context.configuration
    let hasToken = configuration.resourceToken != nil
    switch need {
    case .creation:
      let missing = configuration.missing(key: true)
      guard missing.isEmpty else { throw .sdkNotConfigured(missing, for: "to create it") }
    case .authorization, .withdrawal:
      let missing = configuration.missing(key: true)
      guard hasToken || missing.isEmpty else {
        throw .sdkNotConfigured(
          ["TENDER_TRUELAYER_RESOURCE_TOKEN (or \(missing.joined(separator: ", ")))"],
          for: "this command"
        )
      }
    case .lookUp:
      guard hasToken || configuration.hasClient else {
        throw .sdkNotConfigured(
          [
            "TENDER_TRUELAYER_RESOURCE_TOKEN (or "
              + "\(configuration.missing(key: false).joined(separator: ", ")))"
          ],
          for: "a look-up"
        )
      }
    case .payment, .heldPayment, .reversal, .sale:
      throw Fault(
        .unsupported,
        code: "method_unsupported",
        "truelayer has no cards",
        hint: "see: tender providers"
      )
    }
  }

  package func check(_ order: AuthorizationOrder) throws(Fault) {
    // What cannot be read must be known before anything is made.
    _ = try context.guide.given([])
    if let id = order.existingID, !ResourceID.isUUID(id) {
      throw Fault(
        .usage,
        code: "bad_value",
        "\(id.quotedForMessage) is no id of TrueLayer's",
        hint: "such as 0cd1b0f7-71bc-4d24-b209-95259dadcc20"
      )
    }
  }

  package func authorize(
    _ order: AuthorizationOrder,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    if let id = order.existingID {
      let resource = try client.resource(order.kind, id)
      try progress.record(resource.outcome, note: "made elsewhere")
      return try run(resource, progress)
    }
    // Before anything is made: an address that is taken must not leave a payment behind.
    let visit = try visit()
    defer { visit?.close() }
    let resource = try create(order, progress)
    // The same body under the same key finds it again.
    try progress.remember(resource.outcome, note: "created")
    return try run(resource, progress, visit)
  }

  package func proceed(_ attempt: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    let id = try id(of: attempt)
    _ = try context.guide.given([])
    let returned = try context.options.returnURL.map { text throws(Fault) in
      try ReturnAddress(address: text)
    }
    if let returned {
      try returned.check(attempt.kind, id)
      if !returned.namesResource { try forward(returned, attempt.kind, id) }
    }
    let resource = try client.resource(attempt.kind, id)
    if returned?.isGivenUp(attempt.kind, id) == true, resource.isOpen {
      return try runner(progress).giveUp(resource)
    }
    return try run(resource, progress)
  }

  package func giveUp(_ attempt: Attempt, _ progress: Progress) throws(Fault) -> Outcome {
    try runner(progress).giveUp(
      Resource(kind: attempt.kind, id: try id(of: attempt), body: ["status": "authorizing"])
    )
  }

  package func adopt(_ id: String) throws(Fault) -> Adoption? {
    for kind in [Attempt.Kind.payment, .mandate] {
      do throws(Fault) {
        return Adoption(kind: kind, outcome: try client.resource(kind, id).outcome)
      } catch {
        // A token of a mandate is not let near payments.
        guard error.kind == .notFound || kind == .payment && error.cause == .tokenRefused else {
          throw error
        }
      }
    }
    return nil
  }

  package func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    guard let id = query.id, ResourceID.isSafe(id) else { return nil }
    if query.purpose == .refund { return try refunds(of: id, query) }
    let resource = try client.resource(query.kind, id, decides: query.isKnown)
    var outcome = query.purpose == .status ? resource.lookedUp : resource.outcome
    if case .redirect(let address)? = resource.next, Redirection.isUsable(address) {
      // Opens the bank's page: whoever pays must see it whole.
      if !context.redactor.holdsSecret(address) { context.redactor.exempt(address) }
    }
    try takeRefunds(into: &outcome, resource, query)
    return outcome
  }

  package func preview(_ order: AuthorizationOrder) throws(Fault) -> JSONObject {
    try check(order)
    let configuration = context.configuration
    if let id = order.existingID {
      return [
        "method": "GET",
        "url": .string(configuration.apiURL + Paths.resource(order.kind, id)),
      ]
    }
    return [
      "method": "POST", "url": .string(configuration.apiURL + Paths.collection(order.kind)),
      "body": JSONReader.read(order.creation) ?? [:],
    ]
  }

  func id(of attempt: Attempt) throws(Fault) -> String {
    guard let id = attempt.id else {
      throw Fault(
        .conflict,
        code: "nothing_to_confirm",
        "\(attempt.reference.quotedForMessage) has no payment or mandate at TrueLayer",
        hint: "see: tender journal show \(attempt.reference)"
      )
    }
    return id
  }

  func runner(_ progress: Progress, _ visit: (any RedirectVisit)? = nil) -> FlowRunner {
    var context = context
    context.guide = WritingFirst(guide: context.guide, progress: progress)
    return FlowRunner(context: context, client: client, progress: progress, visit: visit)
  }

  private func visit() throws(Fault) -> (any RedirectVisit)? {
    try context.redirects?.listen(at: context.configuration.redirectURL)
  }

  /// Goes on with what exists, and listens only where its payer comes back here.
  private func run(_ resource: Resource, _ progress: Progress) throws(Fault) -> Outcome {
    let configured =
      resource.body["authorization_flow"]?["configuration"]?["redirect"]?["return_uri"]?.text
    let isOurs = configured == nil || configured == context.configuration.redirectURL
    let visit = resource.isOpen && isOurs ? try visit() : nil
    defer { visit?.close() }
    return try run(resource, progress, visit)
  }

  private func run(
    _ resource: Resource,
    _ progress: Progress,
    _ visit: (any RedirectVisit)?
  ) throws(Fault) -> Outcome {
    visit?.expect(ReturnAddress.parameter(resource.kind), resource.id)
    return try runner(progress, visit).run(resource)
  }

  /// Makes the payment or mandate; the body is in the journal until what it did is known.
  private func create(
    _ order: AuthorizationOrder,
    _ progress: Progress
  ) throws(Fault) -> Resource {
    try progress.prepare(
      .secret(String(decoding: order.creation, as: UTF8.self)),
      id: nil,
      sendingNext: true
    )
    try progress.willSend()
    return try create(order.creation, order.kind, key: progress.attempt.idempotencyKey)
  }

  /// Sends a creation: the same body under the same key makes the same thing (note, section 1.6).
  func create(_ body: [UInt8], _ kind: Attempt.Kind, key: String) throws(Fault) -> Resource {
    let sent = JSONReader.read(body)?.object ?? [:]
    let scope =
      kind == .mandate
      ? Scopes.mandate(sent["mandate"]?["type"]?.text ?? "sweeping") : Scopes.payments
    let answer = try client.send(
      Client.Call(
        method: .post,
        path: Paths.collection(kind),
        body: body,
        key: key,
        credential: .client(scope),
        isEffecting: true,
        kind: kind
      )
    )
    guard let id = answer.body.text("id"), ResourceID.isSafe(id) else {
      throw Fault.unexpectedBehaviour("an answer without id", traceID: answer.traceID).afterSending
    }
    if let token = answer.body.text("resource_token") {
      guard Client.isToken(token) else {
        throw Fault.unexpectedBehaviour("a resource token that is none", traceID: answer.traceID)
          .afterSending
      }
      client.learn(token: token, of: id)
    }
    var made = sent
    made["user"] = nil
    for member in answer.body.members where member.key != "resource_token" {
      made[member.key] = member.value
    }
    return Resource(kind: kind, id: id, body: made, traceID: answer.traceID)
  }

  /// Hands what the bank returned to TrueLayer (direct return; note, section 2.8).
  private func forward(
    _ address: ReturnAddress,
    _ kind: Attempt.Kind,
    _ id: String
  ) throws(Fault) {
    let body: JSON = ["query": .string(address.query), "fragment": .string(address.fragment)]
    let answer = try client.send(
      Client.Call(
        method: .post,
        path: "/v3/payments-provider-return",
        body: Array(JSONWriter.text(body).utf8),
        key: context.randomness.uuid().lowercased(),
        credential: .nobody,
        kind: kind
      )
    )
    let named = answer.body["resource"]?[ReturnAddress.parameter(kind)]?.text
    guard named == id else { throw .otherReturn(named ?? "something else", id) }
  }
}
