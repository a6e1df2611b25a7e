import TenderEngine
import TenderModel

/// The simulated TrueLayer's payments, mandates and refunds at a time, and the actions of their payers.
struct BankWorld {
  let world: SimulatorWorld
  private let ledger: Ledger

  init(_ parts: SimulatorParts) {
    world = parts.world
    ledger = parts.ledger
  }

  /// The time limit of an authorization (TrueLayer/README, 1.3), in milliseconds.
  static let lifetime = 900_000
  /// The time until a payer confirms in an app.
  private static let decoupledPause = 3000

  var now: Int { world.now }
  var time: String { Timestamp.microseconds(now) }

  func uuid() -> String { world.randomness.uuid().lowercased() }

  func fresh(_ order: BankOrder, id: String? = nil) -> BankResource {
    BankResource(order, id: id ?? uuid(), userID: uuid(), at: now)
  }

  // MARK: The books

  /// Returns the current resource of an id, after the events that are due.
  ///
  /// `isAwaited`: a client looks. Only then does the payer of a scenario act, never during a write.
  func find(
    _ kind: BankOrder.Kind,
    _ id: String,
    isAwaited: Bool = false
  ) throws(BankProblem) -> BankResource? {
    var found = try stored { () throws(Fault) in
      try ledger.find(kind.table, id).flatMap(BankResource.read(_:))
    }
    if found == nil, let made = wellKnown(kind, id) {
      try save(made)
      found = made
    }
    guard var resource = found else { return nil }
    let before = resource
    age(&resource, isAwaited: isAwaited)
    if resource != before { try save(resource) }
    return resource
  }

  /// The resources of a kind as last written, oldest first. With a text, those that have it anywhere.
  func all(
    _ kind: BankOrder.Kind,
    having text: String? = nil
  ) throws(BankProblem) -> [BankResource] {
    try stored { () throws(Fault) in try ledger.list(kind.table, having: text) }
      .compactMap(BankResource.read(_:))
  }

  func save(_ resource: BankResource) throws(BankProblem) {
    let reference = resource.order.metadata?.text("reference")
    let body = resource.json.object ?? [:]
    let account = resource.order.payee?.account
    _ = try stored { () throws(Fault) in
      try ledger.put(resource.kind.table, resource.id, body, reference: reference, parent: account)
    }
  }

  /// The current payments into a merchant account, oldest first.
  func payments(into account: BankAccount) throws(BankProblem) -> [BankResource] {
    if let opening = BankResource(opening: account), try find(.payment, opening.id) == nil {
      try save(opening)
    }
    let booked = try stored { () throws(Fault) in
      try ledger.list(BankOrder.Kind.payment.table, column: "parent", value: account.id)
    }
    return booked.compactMap(BankResource.read(_:)).map { payment in
      var payment = payment
      payment.happen(by: now)
      return payment
    }
  }

  /// Returns a merchant account: an initial one, or one that a payment named.
  func account(_ id: String) throws(BankProblem) -> BankAccount? {
    try stored { () throws(Fault) in try ledger.find(BankAccount.self, id) }
      ?? BankCatalog.accounts.first { $0.id == id }
  }

  func accounts() throws(BankProblem) -> [BankAccount] {
    let booked = try stored { () throws(Fault) in try ledger.list(BankAccount.self) }
    return BankCatalog.accounts.filter { known in !booked.contains { $0.id == known.id } } + booked
  }

  /// Returns the current period of a mandate's limit, and the amount that payments used of it, in minor units.
  func used(
    _ limit: BankConstraints.Limit,
    of mandate: BankResource
  ) throws(BankProblem) -> (start: Int, end: Int, amount: Int) {
    let (start, end) = BankPeriod(limit.period)
      .around(now, since: mandate.created, limit.isCalendar)
    let payments = try all(.payment).filter { payment in
      payment.order.mandateID == mandate.id && payment.status != .failed
        && (start..<end).contains(payment.created)
    }
    return (start, end, payments.reduce(0) { $0 + $1.order.amount })
  }

  /// The refunds of a payment, oldest first.
  func refunds(of payment: String) throws(BankProblem) -> [BankTransfer] {
    try stored { () throws(Fault) in try ledger.list(BankTransfer.self, parent: payment) }
  }

  /// The refunds and payouts of a merchant account, oldest first.
  func transfers(from account: String) throws(BankProblem) -> [BankTransfer] {
    try stored { () throws(Fault) in try ledger.list(BankTransfer.self, reference: account) }
  }

  func balance(of account: BankAccount) throws(BankProblem) -> BankBalance {
    BankBalance(try payments(into: account), try transfers(from: account.id), at: now)
  }

  func payout(_ id: String) throws(BankProblem) -> BankTransfer? {
    try stored { () throws(Fault) in try ledger.find(BankTransfer.self, id) }
      .flatMap { $0.isPayout ? $0 : nil }
  }

  /// The course of a refund or payout, from the scenario and the account's balance.
  func course(
    _ amount: Int,
    from account: BankAccount?,
    isPayout: Bool
  ) throws(BankProblem) -> BankTransfer.Course {
    switch world.options.scenario {
    case "refund:failed": return .failed
    case "refund:returned": return .returned
    default: break
    }
    guard let account else { return .executed }
    let transfers = try transfers(from: account.id)
    // Without payouts, a payment's money covers its refunds.
    guard isPayout || transfers.contains(where: \.isPayout) else { return .executed }
    let balance = BankBalance(try payments(into: account), transfers, at: now)
    return amount <= balance.available ? .executed : .failed
  }

  /// Returns the payments, mandates, payouts and merchant accounts with an id or a reference, as they are now;
  /// for nil, the latest of each.
  func books(about name: String?) throws(BankProblem) -> [JSONObject] {
    var shown: [JSONObject] = []
    for kind in [BankOrder.Kind.mandate, .payment] {
      let known = try stored { () throws(Fault) in try ledger.latest(kind.table, about: name) }
      for id in known.compactMap({ $0.text("id") }) {
        guard let resource = try find(kind, id), name != nil || !resource.isOpening else {
          continue
        }
        let refunds = try refunds(of: id)
        shown.append(entry(resource, refunds))
      }
    }
    let transfers = try stored { () throws(Fault) in
      try ledger.latest(BankTransfer.self, about: name)
    }
    shown += transfers.filter(\.isPayout).map { entry("payout", $0) }
    for account in try accounts() where name == nil || name == account.id {
      let balance = try balance(of: account)
      let entry: JSONObject = [
        "kind": "merchant_account", "id": account.id.json, "status": "open",
        "amount": balance.current.json, "currency": account.currency.json,
        "available": balance.available.json,
      ]
      shown.append(entry)
    }
    return shown
  }

  private func entry(_ resource: BankResource, _ refunds: [BankTransfer]) -> JSONObject {
    let order = resource.order
    let returned = refunds.filter { $0.status(at: now) == .executed }.reduce(0) { $0 + $1.amount }
    let isPayment = resource.kind == .payment
    return [
      "kind": resource.kind.rawValue.json, "id": resource.id.json, "status": resource.status.json,
      "reference": order.metadata?.text("reference")?.json,
      "failure": resource.failure?.reason.json, "currency": order.currency.json,
      "amount": isPayment ? order.amount.json : nil,
      "captured": isPayment ? resource.times[.executed] == nil ? 0 : order.amount.json : nil,
      "returned": isPayment ? returned.json : nil,
      "operations": isPayment ? refunds.map { entry("refund", $0) }.json : nil,
    ]
  }

  private func entry(_ kind: String, _ transfer: BankTransfer) -> JSONObject {
    [
      "kind": kind.json, "id": transfer.id.json, "status": transfer.status(at: now).rawValue.json,
      "amount": transfer.amount.json, "currency": transfer.currency.json,
    ]
  }

  /// Returns the public key of an id: that of the simulator, of the ledger, or of a client.
  func publicKey(_ id: String) -> String? {
    if id == BankCatalog.keyID { return BankCatalog.publicKey }
    return world.trustedKeys[id] ?? (try? ledger.find(SimulatedSigner.self, id))?.publicKey
  }

  func key(_ id: String) throws(BankProblem) -> BankKey? {
    try stored { () throws(Fault) in try ledger.find(BankKey.self, id) }
  }

  func save(_ thing: some Booked) throws(BankProblem) {
    try stored { () throws(Fault) in try ledger.put(thing) }
  }

  /// Faults of the ledger end as errors of the server.
  private func stored<Value>(_ body: () throws(Fault) -> Value) throws(BankProblem) -> Value {
    do throws(Fault) {
      return try body()
    } catch {
      throw .of(500)
    }
  }

  /// A resource that exists without a creation: `00000000-0000-4000-8000-` and an amount in minor units. It
  /// waits for its payer, so that a flow can be tried with only an id and a token.
  private func wellKnown(_ kind: BankOrder.Kind, _ id: String) -> BankResource? {
    let prefix = "00000000-0000-4000-8000-"
    guard id.hasPrefix(prefix), id.utf8.count == 36, let amount = Int(id.dropFirst(prefix.count)),
      amount > 0
    else { return nil }
    let payee: JSON = [
      "type": "external_account", "account_holder_name": "Ben Eficiary", "reference": "demo",
      "account_identifier": [
        "type": "sort_code_account_number", "sort_code": "560029", "account_number": "26207729",
      ],
    ]
    let selection: JSON = ["type": "user_selected"]
    let body: JSONObject =
      kind == .mandate
      ? [
        "currency": "GBP",
        "mandate": ["type": "sweeping", "beneficiary": payee, "provider_selection": selection],
        "constraints": [
          "maximum_individual_amount": .integer(amount),
          "periodic_limits": [
            "month": ["maximum_amount": .integer(amount * 10), "period_alignment": "consent"]
          ],
        ],
      ]
      : [
        "amount_in_minor": .integer(amount), "currency": "GBP",
        "payment_method": [
          "type": "bank_transfer", "provider_selection": selection, "beneficiary": payee,
        ],
      ]
    return BankOrder(body).map { fresh($0, id: id) }
  }

  // MARK: Time and payers

  /// Lets time pass for a resource: due events happen, and an unauthorized resource expires.
  private func age(_ resource: inout BankResource, isAwaited: Bool) {
    let isWaiting = [.authorizationRequired, .authorizing].contains(resource.status)
    if isWaiting, now - resource.created >= Self.lifetime {
      return resource.fail("expired", at: now)
    }
    if isAwaited { playPayer(&resource) }
    resource.happen(by: now)
  }

  /// Executes the payer's action at the bank.
  func act(_ action: BankFlow.Action, on resource: inout BankResource, delay: Int = 0) {
    guard resource.status == .authorizing else { return }
    switch action {
    case .rejectAuthorisation: return resource.fail("authorization_failed", at: now)
    case .cancel: return resource.fail("not_authorized", at: now)
    case .authorise, .revoke, .execute, .rejectExecution: resource.schedule(.authorized, at: now)
    }
    switch action {
    case .revoke: resource.schedule(.revoked, at: now)
    case .rejectExecution:
      resource.schedule(.failed, at: now + delay, reason: "provider_rejected")
    case .execute where resource.kind == .payment:
      resource.schedule(.executed, at: now + delay)
      if resource.order.payee?.isMerchantAccount == true {
        // A client that looks again sees a SEPA payment as executed before the status is `settled`.
        let clearing = world.isServed && resource.order.currency != "GBP" ? 5000 : 0
        resource.schedule(.settled, at: now + delay + clearing)
      }
    default: break
    }
    resource.happen(by: now)
  }

  /// Plays the payer of the scenario. Under `serve`, there must be a named scenario.
  private func playPayer(_ resource: inout BankResource) {
    guard resource.status == .authorizing, let flow = resource.flow, let step = flow.step else {
      return
    }
    let scenario = world.options.scenario
    let named = scenario.flatMap { name in
      name.hasPrefix("bank:") || name.hasPrefix("mandate:") ? name : nil
    }
    switch step {
    // A form is answered with `authorizing` or `failed` (OpenAPI, `PerformPaymentAction`). The next look
    // shows the bank's result.
    case .working: return play(scenario ?? "bank:execute", &resource)
    case .redirect: break
    case .wait: guard now - flow.shownAt >= Self.decoupledPause else { return }
    default: return
    }
    guard named != nil || !flow.isAbandoned,
      let played = named ?? (world.playsPayer ? "bank:execute" : nil)
    else { return }
    play(played, &resource)
  }

  /// Executes the payer's action of a scenario.
  func play(_ scenario: String, _ resource: inout BankResource) {
    let usual: BankFlow.Action = resource.kind == .mandate ? .authorise : .execute
    let parts = scenario.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2, parts[0] == "bank" || parts[0] == "mandate" && resource.kind == .mandate
    else { return act(usual, on: &resource) }
    switch parts[1] {
    case "reject_authorisation": act(.rejectAuthorisation, on: &resource)
    case "reject_execution": act(.rejectExecution, on: &resource)
    case "cancel": act(.cancel, on: &resource)
    case "revoke": act(.revoke, on: &resource)
    case "slow": act(.execute, on: &resource, delay: 5000)
    case "expire": resource.fail("expired", at: now)
    // A later look without a scenario still finds the payer gone.
    case "abandon": resource.flow?.isAbandoned = true
    case let reason where reason.hasPrefix("failed:"):
      resource.fail(String(reason.dropFirst("failed:".count)), at: now)
    default: act(usual, on: &resource)
    }
  }
}

extension Timestamp {
  /// RFC 3339 with microseconds, as in TrueLayer.
  static func microseconds(_ milliseconds: Int) -> String {
    let precise = text(milliseconds).dropLast()
    let fraction = String((milliseconds % 1000 + 1000) % 1000 + 1000).dropFirst()
    return precise + ".\(fraction)000Z"
  }
}
