import TenderModel

/// A payment or mandate in the simulated TrueLayer's books.
struct BankResource: Equatable, BookedPart {
  /// The status in TrueLayer's terms (TrueLayer/README, 5.1 and 5.2).
  enum Status: String, CaseIterable, BookedValue {
    case authorizationRequired = "authorization_required"
    case authorizing, authorized, executed, settled, failed
    case attemptFailed = "attempt_failed"
    case revoked
  }

  struct Failure: Equatable, BookedPart {
    /// The status in which it failed.
    var stage = Status.authorizing
    var reason = ""

    mutating func exchange(_ book: inout BookedMembers) {
      book.needed("stage", &stage)
      book.needed("reason", &reason)
    }
  }

  private(set) var id = ""
  private(set) var order = BankOrder()
  private(set) var userID = ""
  /// Milliseconds since 1970.
  private(set) var created = 0
  var selection = BankSelection()
  private(set) var status = Status.authorizationRequired
  /// The times at which it entered a status, in milliseconds since 1970.
  private(set) var times: [Status: Int] = [:]
  private(set) var failure: Failure?
  /// Whether the payer revoked it at the bank, and not the merchant.
  private(set) var isRevokedByPayer = false
  /// The payer's flow; nil before its start.
  var flow: BankFlow?
  /// The statuses that it has entered since it was written, oldest first.
  private var news: [Status] = []

  init() {}

  init(_ order: BankOrder, id: String, userID: String, at time: Int) {
    self.order = order
    self.id = id
    self.userID = order.userID ?? userID
    created = time
    selection = order.selection
    news = [status]
  }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("user", &userID)
    book.needed("created", &created)
    book.needed("status", &status)
    book.needed("order", &order)
    book.member("selection", &selection)
    var entered: JSONObject = [:]
    for status in Status.allCases { entered[status.rawValue] = times[status]?.json }
    book.member("times", &entered)
    for member in entered.members {
      if let status = Status(rawValue: member.key) { times[status] = member.value.boundedNumber }
    }
    book.member("failure", &failure)
    book.member("revoked_by_payer", &isRevokedByPayer)
    book.member("flow", &flow)
  }

  var kind: BankOrder.Kind { order.kind }

  var banks: [BankCatalog.Bank] {
    BankCatalog.banks.filter { candidate in
      order.allows(candidate) && BankCatalog.currency(of: candidate) == order.currency
        && (candidate.forms.isEmpty || flow?.capabilities.takesForms == true)
        && (candidate.way != .redirect || flow?.capabilities.redirects == true)
        && (kind == .payment || candidate.allowsMandates)
    }
  }

  /// Whether its payer may still authorize it.
  var isOpen: Bool {
    [.authorizationRequired, .authorizing, .attemptFailed].contains(status)
  }

  /// Starts the flow with a client's capabilities.
  mutating func begin(_ capabilities: BankCapabilities) {
    failure = nil
    times[.failed] = nil
    status = .authorizing
    news.append(status)
    flow = BankFlow(capabilities)
  }

  /// Fails finally, or as an attempt that another may follow.
  mutating func fail(_ reason: String, at time: Int) {
    let retries =
      order.retries && flow?.capabilities.retries == true
      && ["authorization_failed", "provider_rejected"].contains(reason)
    failure = Failure(stage: status == .attemptFailed ? .authorizing : status, reason: reason)
    times[.failed] = time
    status = retries ? .attemptFailed : .failed
    news.append(status)
    flow?.end()
    if retries { flow?.show(.retry, at: time) }
  }

  /// Whether it can enter a status that was planned for it: it has not failed or ended since.
  func awaits(_ next: Status) -> Bool {
    switch next {
    case .executed: kind == .payment && status == .authorized
    case .settled: status == .executed
    case .revoked: kind == .mandate && status == .authorized
    default: false
    }
  }

  mutating func enter(_ next: Status, at time: Int) {
    status = next
    times[next] = time
    news.append(next)
    flow?.end()
    if next == .revoked { isRevokedByPayer = true }
    if kind == .payment, next == .authorized, selection.scheme == nil {
      selection.scheme =
        selection.bank.flatMap(BankCatalog.bank)?.schemes.last ?? "faster_payments_service"
    }
  }

  mutating func revoke(at time: Int) {
    enter(.revoked, at: time)
    isRevokedByPayer = false
  }

  /// Returns its news, which are told once.
  mutating func takeNews() -> [Status] {
    defer { news = [] }
    return news
  }
}
