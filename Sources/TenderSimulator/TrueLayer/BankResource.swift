import TenderModel

/// A payment or mandate in the simulated TrueLayer's books.
struct BankResource: Equatable {
  /// In TrueLayer's words (TrueLayer/README, 5.1 and 5.2).
  enum Status: String, CaseIterable {
    case authorizationRequired = "authorization_required"
    case authorizing, authorized, executed, settled, failed
    case attemptFailed = "attempt_failed"
    case revoked
  }

  struct Failure: Equatable {
    /// The status in which it failed.
    var stage: Status
    var reason: String
  }

  /// A status that it enters at a time to come, in milliseconds since 1970.
  struct Due: Equatable {
    var status: Status
    var at: Int
    var reason: String?
  }

  let id: String
  let order: BankOrder
  let userID: String
  /// Milliseconds since 1970.
  let created: Int
  var selection: BankSelection
  private(set) var status = Status.authorizationRequired
  /// When it entered a status, in milliseconds since 1970.
  private(set) var times: [Status: Int] = [:]
  private(set) var failure: Failure?
  /// Whether the payer revoked it at the bank; the merchant did otherwise.
  private(set) var isRevokedByPayer = false
  /// What the payer goes through; nil before it is started.
  var flow: BankFlow?
  private var due: [Due] = []

  init(_ order: BankOrder, id: String, userID: String, at time: Int) {
    self.order = order
    self.id = id
    self.userID = order.userID ?? userID
    created = time
    selection = order.selection
  }

  var kind: BankOrder.Kind { order.kind }

  /// The banks that its payer may choose.
  var banks: [BankCatalog.Bank] {
    BankCatalog.banks.filter { candidate in
      selection.allows(candidate) && BankCatalog.currency(of: candidate) == order.currency
        && (candidate.forms.isEmpty || flow?.capabilities.takesForms == true)
        && (kind == .payment || candidate.allowsMandates)
    }
  }

  /// Whether its payer may still authorize it.
  var isOpen: Bool {
    [.authorizationRequired, .authorizing, .attemptFailed].contains(status)
  }

  /// Begins the flow with what a client can do.
  mutating func begin(_ capabilities: BankCapabilities) {
    failure = nil
    times[.failed] = nil
    status = .authorizing
    flow = BankFlow(capabilities)
  }

  /// Fails, for good or as an attempt that may be followed by another.
  mutating func fail(_ reason: String, at time: Int) {
    let retries =
      order.retries && flow?.capabilities.retries == true && reason == "authorization_failed"
    failure = Failure(stage: status == .attemptFailed ? .authorizing : status, reason: reason)
    times[.failed] = time
    status = retries ? .attemptFailed : .failed
    due = []
    flow?.end()
    if retries { flow?.show(.retry, at: time) }
  }

  /// Enters a status at a time to come.
  mutating func schedule(_ status: Status, at time: Int, reason: String? = nil) {
    due.append(Due(status: status, at: time, reason: reason))
  }

  /// Enters what is due by now.
  mutating func happen(by now: Int) {
    while let next = due.first, next.at <= now {
      due.removeFirst()
      if next.status == .failed {
        fail(next.reason ?? "unknown_error", at: next.at)
      } else {
        enter(next.status, at: next.at)
      }
    }
    // A mandate is revoked once its time is over (TrueLayer/README, 5.2).
    if kind == .mandate, status == .authorized, let end = order.constraints?.validTo, end <= now {
      enter(.revoked, at: end)
    }
  }

  private mutating func enter(_ next: Status, at time: Int) {
    status = next
    times[next] = time
    flow?.end()
    if next == .revoked { isRevokedByPayer = true }
    if kind == .payment, next == .authorized, selection.scheme == nil {
      selection.scheme =
        selection.bank.flatMap(BankCatalog.bank)?.schemes.last ?? "faster_payments_service"
    }
  }

  /// The merchant revokes it.
  mutating func revoke(at time: Int) {
    enter(.revoked, at: time)
    isRevokedByPayer = false
  }

  /// A payment on a mandate: no payer has to authorize it.
  mutating func authorizeByMandate(at time: Int) { enter(.authorized, at: time) }
}

extension BankResource {
  /// Reads what the ledger has; nil for what is not a resource.
  init?(_ stored: JSONObject) {
    guard let id = stored.text("id"), let userID = stored.text("user"),
      let created = stored["created"]?.boundedNumber,
      let status = stored.text("status").flatMap(Status.init),
      let order = stored["order"]?.object.flatMap(BankOrder.init)
    else { return nil }
    self.init(order, id: id, userID: userID, at: created)
    self.status = status
    selection.bank = stored["selection"]?["bank"]?.text
    selection.scheme = stored["selection"]?["scheme"]?.text
    selection.branch = stored["selection"]?["branch"]?.text
    for member in stored["times"]?.object?.members ?? [] {
      if let status = Status(rawValue: member.key) { times[status] = member.value.boundedNumber }
    }
    if let stage = stored["failure"]?["stage"]?.text.flatMap(Status.init),
      let reason = stored["failure"]?["reason"]?.text
    {
      failure = Failure(stage: stage, reason: reason)
    }
    isRevokedByPayer = stored["revoked_by_payer"] == true
    flow = stored["flow"]?.object.flatMap(BankFlow.init)
    due = stored["due"]?.array?.compactMap(Due.init) ?? []
  }

  /// What the ledger keeps.
  var stored: JSONObject {
    var stored: JSONObject = [
      "id": .string(id), "user": .string(userID), "created": .integer(created),
      "status": .string(status.rawValue), "order": .object(order.stored),
    ]
    var chosen: JSONObject = [:]
    chosen["bank"] = selection.bank.map(JSON.string)
    chosen["scheme"] = selection.scheme.map(JSON.string)
    chosen["branch"] = selection.branch.map(JSON.string)
    stored["selection"] = .object(chosen)
    var entered: JSONObject = [:]
    for status in Status.allCases { entered[status.rawValue] = times[status].map(JSON.integer) }
    stored["times"] = .object(entered)
    stored["failure"] = failure.map { failure in
      ["stage": .string(failure.stage.rawValue), "reason": .string(failure.reason)]
    }
    if isRevokedByPayer { stored["revoked_by_payer"] = true }
    stored["flow"] = flow.map { .object($0.stored) }
    if !due.isEmpty { stored["due"] = .array(due.map(\.stored)) }
    return stored
  }
}

extension BankResource.Due {
  fileprivate init?(_ stored: JSON) {
    guard let status = stored["status"]?.text.flatMap(BankResource.Status.init),
      let time = stored["at"]?.boundedNumber
    else { return nil }
    self.init(status: status, at: time, reason: stored["reason"]?.text)
  }

  fileprivate var stored: JSON {
    var stored: JSONObject = ["status": .string(status.rawValue), "at": .integer(at)]
    stored["reason"] = reason.map(JSON.string)
    return .object(stored)
  }
}
