import TenderEngine
import TenderModel

/// The simulated TrueLayer's payments, mandates and refunds at a time, and the actions of their payers.
struct BankWorld {
  private let parts: SimulatorParts

  var world: SimulatorWorld { parts.world }
  private var ledger: Ledger { parts.ledger }

  init(_ parts: SimulatorParts) { self.parts = parts }

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

  /// Returns the resource of an id; nil without one.
  func find(_ kind: BankOrder.Kind, _ id: String) throws(BankProblem) -> BankResource? {
    let found = try stored { () throws(Fault) in
      try ledger.find(kind.table, id).flatMap(BankResource.read(_:))
    }
    if let found { return found }
    guard var made = wellKnown(kind, id) else { return nil }
    try save(&made)
    return made
  }

  /// The resources of a kind as last written, oldest first. With a text, those that have it anywhere.
  func all(
    _ kind: BankOrder.Kind,
    having text: String? = nil
  ) throws(BankProblem) -> [BankResource] {
    try stored { () throws(Fault) in try ledger.list(kind.table, having: text) }
      .compactMap(BankResource.read(_:))
  }

  /// Writes a resource, and publishes its news. One that waits for its payer expires later.
  func save(_ resource: inout BankResource) throws(BankProblem) {
    let reference = resource.order.metadata?.text("reference")
    let body = resource.json.object ?? [:]
    let account = resource.order.payee?.account
    _ = try stored { () throws(Fault) in
      try ledger.put(resource.kind.table, resource.id, body, reference: reference, parent: account)
    }
    for status in resource.takeNews() {
      try publish(BankEvent(resource, status), about: resource.id, reference)
      guard status == resource.status, resource.isOpen, status != .attemptFailed else { continue }
      try plan(.expired, of: resource, at: max(now, resource.created + Self.lifetime))
    }
  }

  /// The payments into a merchant account, oldest first.
  func payments(into account: BankAccount) throws(BankProblem) -> [BankResource] {
    if var opening = BankResource(opening: account), try find(.payment, opening.id) == nil {
      try save(&opening)
    }
    let booked = try stored { () throws(Fault) in
      try ledger.list(BankOrder.Kind.payment.table, column: "parent", value: account.id)
    }
    return booked.compactMap(BankResource.read(_:))
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
    BankBalance(try payments(into: account), try transfers(from: account.id))
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
    let balance = BankBalance(try payments(into: account), transfers)
    return amount <= balance.available ? .executed : .failed
  }

  /// Returns the payments, mandates, payouts and merchant accounts with an id or a reference; for nil, the latest of each.
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
    let returned = refunds.filter { $0.status == .executed }.reduce(0) { $0 + $1.amount }
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
      "kind": kind.json, "id": transfer.id.json, "status": transfer.status.rawValue.json,
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

  /// A change of the books that is due at a time.
  enum Change: String {
    /// The payer acts at the bank.
    case payer
    case executed, settled, revoked, rejected, expired
    /// A refund or payout ends, or comes back.
    case transferred
  }

  func plan(
    _ change: Change,
    of resource: BankResource,
    at time: Int,
    _ detail: String? = nil
  ) throws(BankProblem) {
    let detail = detail.map { "\(resource.kind.rawValue) \($0)" } ?? resource.kind.rawValue
    try plan(change, resource.id, at: time, detail)
  }

  private func plan(
    _ change: Change,
    _ id: String,
    at time: Int,
    _ detail: String? = nil
  ) throws(BankProblem) {
    try stored { () throws(Fault) in
      try parts.plan(change.rawValue, of: id, at: time, detail, by: SimulatedTrueLayer.name)
    }
  }

  private func publish(
    _ event: BankEvent?,
    about id: String,
    _ reference: String?
  ) throws(BankProblem) {
    guard let event else { return }
    let eventID = parts.eventID()
    try stored { () throws(Fault) in
      try parts.publish(
        event.type,
        id: eventID,
        about: id,
        reference,
        at: event.at,
        by: SimulatedTrueLayer.name,
        event.body(id: eventID)
      )
    }
  }

  /// Makes a change that was planned, unless its payment, mandate or transfer has gone another way since.
  func make(_ due: DueChange) throws(BankProblem) {
    guard let change = Change(rawValue: due.what) else { return }
    if change == .transferred { return try transfer(due.object) }
    let words = (due.detail ?? "").split(separator: " ", maxSplits: 1).map(String.init)
    guard let kind = words.first.flatMap(BankOrder.Kind.init),
      var resource = try find(kind, due.object)
    else { return }
    switch change {
    case .payer where resource.status == .authorizing: try play(words.last ?? "", &resource)
    case .expired where resource.isOpen && resource.status != .attemptFailed:
      resource.fail("expired", at: now)
    case .rejected where resource.awaits(.executed): resource.fail("provider_rejected", at: now)
    case .executed where resource.awaits(.executed):
      resource.enter(.executed, at: now)
      if resource.order.payee?.isMerchantAccount == true {
        // A client that looks again sees a SEPA payment as executed before the status is `settled`.
        let clearing = world.isServed && resource.order.currency != "GBP" ? 5000 : 0
        try plan(.settled, of: resource, at: now + clearing)
      }
    case .settled where resource.awaits(.settled): resource.enter(.settled, at: now)
    case .revoked where resource.awaits(.revoked): resource.enter(.revoked, at: now)
    default: return
    }
    try save(&resource)
  }

  /// Begins a refund or payout, which ends by its course.
  func begin(_ transfer: inout BankTransfer) throws(BankProblem) {
    transfer.begin()
    try save(transfer)
    guard transfer.course != .waiting else { return }
    try plan(.transferred, transfer.id, at: now + BankTransfer.duration)
  }

  private func transfer(_ id: String) throws(BankProblem) {
    guard
      var transfer = try stored({ () throws(Fault) in try ledger.find(BankTransfer.self, id) })
    else { return }
    transfer.advance(at: now)
    try save(transfer)
    let payment = transfer.isPayout ? nil : try find(.payment, transfer.payment)
    let reference = (payment?.order.metadata ?? transfer.metadata)?.text("reference")
    try publish(BankEvent(transfer, at: now), about: transfer.id, reference)
    guard transfer.course == .returned, transfer.status == .executed else { return }
    try plan(.transferred, transfer.id, at: now + BankTransfer.duration)
  }

  /// Executes the payer's action at the bank.
  func act(
    _ action: BankFlow.Action,
    on resource: inout BankResource,
    delay: Int = 0
  ) throws(BankProblem) {
    guard resource.status == .authorizing else { return }
    switch action {
    case .rejectAuthorisation: return resource.fail("authorization_failed", at: now)
    case .cancel: return resource.fail("not_authorized", at: now)
    case .authorise, .revoke, .execute, .rejectExecution: resource.enter(.authorized, at: now)
    }
    switch action {
    case .revoke: try plan(.revoked, of: resource, at: now)
    case .rejectExecution: try plan(.rejected, of: resource, at: now + delay)
    case .execute: try plan(.executed, of: resource, at: now + delay)
    default: break
    }
    // A mandate is revoked at its end (TrueLayer/README, 5.2).
    if let end = resource.order.constraints?.validTo {
      try plan(.revoked, of: resource, at: max(now, end))
    }
  }

  /// Sends the payer of the scenario to the bank, once a client is shown a step of the payer there.
  ///
  /// Under `serve` only a named scenario has a payer. In this process the payer comes when the command waits for it, and
  /// acts before the answer.
  func sendPayer(to resource: BankResource, isAwaited: Bool = false) throws(BankProblem) {
    guard resource.status == .authorizing, let flow = resource.flow, let step = flow.step,
      world.isServed || isAwaited
    else { return }
    let scenario = world.options.scenario
    let named = scenario.flatMap { name in
      name.hasPrefix("bank:") || name.hasPrefix("mandate:") ? name : nil
    }
    let isUsual = world.playsPayer && !flow.isAbandoned || step == .working
    guard [.redirect, .wait, .working].contains(step),
      let played = named ?? (isUsual ? "bank:execute" : nil)
    else { return }
    let time = step == .wait ? max(now, flow.shownAt + Self.decoupledPause) : now
    try plan(.payer, of: resource, at: time, played)
    if isAwaited { try stored { () throws(Fault) in try parts.catchUp() } }
  }

  /// Executes the payer's action of a scenario.
  func play(_ scenario: String, _ resource: inout BankResource) throws(BankProblem) {
    let usual: BankFlow.Action = resource.kind == .mandate ? .authorise : .execute
    let parts = scenario.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2, parts[0] == "bank" || parts[0] == "mandate" && resource.kind == .mandate
    else { return try act(usual, on: &resource) }
    switch parts[1] {
    case "reject_authorisation": try act(.rejectAuthorisation, on: &resource)
    case "reject_execution": try act(.rejectExecution, on: &resource)
    case "cancel": try act(.cancel, on: &resource)
    case "revoke": try act(.revoke, on: &resource)
    case "slow": try act(.execute, on: &resource, delay: 5000)
    case "expire": resource.fail("expired", at: now)
    // A later look without a scenario still finds the payer gone.
    case "abandon": resource.flow?.isAbandoned = true
    case let reason where reason.hasPrefix("failed:"):
      resource.fail(String(reason.dropFirst("failed:".count)), at: now)
    default: try act(usual, on: &resource)
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
