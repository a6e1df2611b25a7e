package import TenderEngine
package import TenderModel

/// TrueLayer: bank payments and mandates over its Payments API v3.
package struct TrueLayerProvider: Provider {
  /// The provider's name in options, records and journals.
  package static let name = ProviderName("truelayer")
  let context: TrueLayerContext
  let client: Client

  package init(_ context: TrueLayerContext) {
    self.context = context
    client = Client(context)
  }

  package var name: ProviderName { Self.name }

  /// The abilities of TrueLayer's interface.
  package static let traits = Traits(
    kinds: [.charge, .createMandate, .void, .revoke, .refund]
  ) { traits in
    traits.takesKeys = true
    // A key is valid for 30 days (README, 7.1).
    traits.keyLife = 30 * 86_400_000
    traits.namesItsStates = true
    traits.hasPayerFlow = true
    traits.cancelsCaptured = false
    traits.recovery = recovery
  }

  package var merchant: String { context.configuration.clientID ?? "resource-token" }

  /// A resource token works for one payment or mandate only, of any client.
  package func owns(_ payment: Payment) -> Bool {
    let anyone = "resource-token"
    return payment.merchant == merchant || payment.merchant == anyone || merchant == anyone
  }

  /// The documented answer to a capture where nothing is held.
  package static var nothingHeld: JSONObject { ["error": "generic"] }

  package func isID(_ handle: String) -> Bool { ResourceID.isUUID(handle) }

  package func checkReady(
    for order: OrderOf<AuthorizationOrder>?,
    of payment: Payment?
  ) throws(Fault) {
    let configuration = context.configuration
    let (missing, purpose): ([String], String)
    switch order {
    case nil:
      if configuration.hasClient { return }
      (missing, purpose) = (configuration.missing(key: false), "a look-up")
    case .placed(let order)? where order.existingID == nil:
      return try requireClient(for: "to create it")
    case .placed?, .capture?, .cancel?, .refund?:
      (missing, purpose) = (configuration.missing(key: true), "this command")
    }
    guard configuration.resourceToken == nil, !missing.isEmpty else { return }
    throw .sdkNotConfigured(
      ["TENDER_TRUELAYER_RESOURCE_TOKEN (or \(missing.joined(separator: ", ")))"],
      for: purpose
    )
  }

  package func way(of order: Order, _ payment: Payment?) -> String? {
    switch order {
    case .cancel: payment?.kind == .mandate ? "revocation" : "cancellation"
    case .refund: "refund"
    case .placed, .capture: nil
    }
  }

  package func check(_ order: AuthorizationOrder) throws(Fault) {
    if let id = order.existingID, !ResourceID.isUUID(id) {
      throw .usage(
        "bad_value",
        "\(id.quotedForMessage) is not an id of TrueLayer's",
        "such as 0cd1b0f7-71bc-4d24-b209-95259dadcc20"
      )
    }
  }

  package func check(_ draft: Operation, of payment: Payment) throws(Fault) {
    guard draft.kind == .refund else { return }
    // TrueLayer cannot refund a payment to an external account. Only such a payment ends as executed.
    let isElsewhere =
      payment.content["payee"]?["type"]?.text == "external_account"
      || payment.state.isFinal && payment.providerStatus == "executed"
    guard payment.kind == .payment, !isElsewhere else { throw .nothingToRefund(payment) }
    if payment.attempt?.id == nil { throw .idUnknown(payment) }
    try requireClient(for: "a refund")
  }

  package func preview(_ order: AuthorizationOrder) throws(Fault) -> JSONObject {
    let api = context.configuration.apiURL
    if let id = order.existingID {
      return ["method": "GET", "url": .string(api + Paths.resource(order.kind, id))]
    }
    return [
      "method": "POST", "url": .string(api + Paths.collection(order.kind)),
      "body": JSONReader.read(order.creation) ?? [:],
    ]
  }

  package func perform(
    _ order: OrderOf<AuthorizationOrder>?,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    switch (progress.operation.kind, order) {
    case (.void, _): try cancel(progress)
    case (.revoke, _): try revoke(progress)
    case (.refund, .refund(let request)?): try refund(request, progress)
    case (.refund, _): try refundAgain(progress)
    case (_, .placed(let order)?): try authorize(order, progress)
    default: try createAgain(progress)
    }
  }

  /// Sends a creation with a lost answer again. The answer has the resource that the first one created.
  ///
  /// If it is refused after the lifetime of an unauthorized resource, the payment has ended.
  private func createAgain(_ progress: Progress) throws(Fault) -> Outcome {
    guard let body = progress.operation.preparation?.secret else {
      throw .requestLost(progress.payment)
    }
    try requireClient(for: "to create it")
    // The age is read before the request, because sending restarts it.
    let age = progress.sinceSent
    do throws(Fault) {
      return try create(Array(body.utf8), progress).outcome
    } catch {
      guard error.kind == .rejected, error.isProven, age > Self.lifetime else { throw error }
      // The payer cannot have authorized it.
      let fault = Fault.neverAuthorized(error, progress.payment.kind)
      return Outcome(status: .expired, result: fault.result ?? [:], fault: fault)
    }
  }

  /// A time longer than the lifetime of an unauthorized payment or mandate (README, 7.3), in milliseconds.
  ///
  /// If a creation got no answer, no payer was shown how to authorize it.
  private static let lifetime = 960_000

  private func authorize(
    _ order: AuthorizationOrder,
    _ progress: Progress
  ) throws(Fault) -> Outcome {
    if let id = order.existingID {
      let resource = try client.adopted(order.kind, id)
      try progress.record(resource.outcome, note: "made elsewhere")
      return try run(resource, progress)
    }
    // The port is opened first: a busy port must not leave a created payment behind.
    let visit = try visit()
    defer { visit?.close() }
    // The body stays in the journal until its effect is known.
    try progress.prepare(
      .secret(String(decoding: order.creation, as: UTF8.self)),
      sendingNext: true
    )
    let resource = try create(order.creation, progress)
    // The same body with the same key finds the resource again.
    try progress.remember(resource.outcome, note: "created")
    return try run(resource, progress, visit)
  }

  package func proceed(_ progress: Progress) throws(Fault) -> Outcome {
    let kind = progress.payment.kind
    let id = try id(of: progress)
    let returned = try context.options.returnURL.map { text throws(Fault) in
      try ReturnAddress(address: text)
    }
    if let returned {
      try returned.check(kind, id)
      if !returned.namesResource { try forward(returned, kind, id) }
    }
    // The return address was passed on, so the payment may be paid now.
    if returned != nil { progress.hands = .banks }
    let resource = try runner(progress).look(kind, id)
    if returned?.isGivenUp(kind, id) == true, resource.isOpen {
      return try runner(progress).giveUp(resource)
    }
    return try run(resource, progress)
  }

  package func giveUp(_ progress: Progress) throws(Fault) -> Outcome {
    let runner = runner(progress)
    let kind = progress.payment.kind
    let id = try id(of: progress)
    let seen = kind == .mandate ? try? runner.look(kind, id) : nil
    return try runner.giveUp(seen ?? Resource(kind: kind, id: id, body: ["status": "authorizing"]))
  }

  package func adopt(_ id: String) throws(Fault) -> (kind: Payment.Kind, outcome: Outcome)? {
    for kind in [Payment.Kind.payment, .mandate] {
      do throws(Fault) {
        return (kind, try client.adopted(kind, id).outcome)
      } catch {
        // The token of a mandate is refused for payments.
        guard error.kind == .notFound || kind == .payment && error.cause == .tokenRefused else {
          throw error
        }
      }
    }
    return nil
  }

  package func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    guard let id = query.id, ResourceID.isSafe(id) else { return nil }
    let resource = try client.resource(query.kind, id, decides: query.isKnown)
    if query.hasConsent { try resource.checkIsAfterConsent() }
    var outcome = resource.lookedUp
    if case .redirect(let address)? = resource.next, Redirection.isUsable(address) {
      context.redactor.showWhole(address)
    }
    try takeRefunds(into: &outcome, resource, query)
    return outcome
  }

  /// Returns the id of the payment or mandate of an operation.
  func id(of progress: Progress) throws(Fault) -> String {
    guard let id = progress.attempt.id else { throw .idUnknown(progress.payment) }
    return id
  }

  /// Throws `auth` if a credential for the client's own signed requests is missing.
  func requireClient(for what: String) throws(Fault) {
    let missing = context.configuration.missing(key: true)
    guard missing.isEmpty else { throw .sdkNotConfigured(missing, for: what) }
  }

  func runner(_ progress: Progress, _ visit: (any RedirectVisit)? = nil) -> FlowRunner {
    FlowRunner(context: context, client: client, progress: progress, visit: visit)
  }

  private func visit() throws(Fault) -> (any RedirectVisit)? {
    try context.redirects?.listen(at: context.configuration.redirectURL)
  }

  /// Continues with an existing resource. It listens only if the payer returns to this process.
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

  /// Sends a creation. The same body with the same key creates one resource (README, 7.1).
  ///
  /// An answer that contradicts the order leaves the result unknown. A repetition gets the same answer again,
  /// so then a look at the resource decides.
  func create(_ body: [UInt8], _ progress: Progress) throws(Fault) -> Resource {
    guard let key = progress.operation.key else { throw .requestLost(progress.payment) }
    let kind = progress.payment.kind
    let sent = JSONReader.read(body)?.object ?? [:]
    let scope =
      kind == .mandate
      ? Scopes.mandate(sent["mandate"]?["type"]?.text ?? "sweeping") : Scopes.payments
    let isRepeated = progress.operation.isUnknown
    try progress.willSend()
    let path = Paths.collection(kind)
    let answer = try client.post(path, body, key: key, .client(scope), progress, about: kind)
    guard let id = answer.body.text("id"), ResourceID.isSafe(id) else {
      throw .unexpectedBehaviour("an answer without id", traceID: answer.traceID)
    }
    if let token = answer.body.text("resource_token") {
      guard Client.isToken(token) else {
        throw .unexpectedBehaviour("a resource token that is none", traceID: answer.traceID)
      }
      client.learn(token: token, of: id)
    }
    do throws(Fault) {
      try Resource(kind: kind, id: id, body: answer.body, traceID: answer.traceID)
        .check(against: progress.payment)
    } catch {
      guard isRepeated, let seen = try? runner(progress).look(kind, id), seen.body["id"] != nil,
        seen.currency != nil, kind == .mandate || seen.amount != nil
      else { throw error }
      return seen
    }
    var made = sent
    made["user"] = nil
    let ignored = ["resource_token", "amount_in_minor", "currency"]
    for member in answer.body.members where !ignored.contains(member.key) {
      made[member.key] = member.value
    }
    let resource = Resource(kind: kind, id: id, body: made, traceID: answer.traceID)
    return try runner(progress).confirmed(resource)
  }

  /// Passes the bank's return address to TrueLayer (direct return; README, 4.6).
  private func forward(_ address: ReturnAddress, _ kind: Payment.Kind, _ id: String) throws(Fault) {
    let body: JSON = ["query": .string(address.query), "fragment": .string(address.fragment)]
    let text = Array(JSONWriter.text(body).utf8)
    let answer = try client.post("/v3/payments-provider-return", text, .nobody, nil, about: kind)
    let named = answer.body["resource"]?[ReturnAddress.parameter(kind)]?.text
    guard named == id else { throw .otherReturn(named ?? "something else", id) }
  }
}
