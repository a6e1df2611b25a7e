import TenderEngine
import TenderModel

/// What the simulated Pay Theory does after a charge: settlements with their transfers, returns and disputes
/// (PayTheory/README, 12.3).
extension PayTheoryBooks {
  // MARK: Settlements

  /// Settles captured transactions in one batch, which is transferred later.
  func settle(_ lines: [BookedLine]) throws(Fault) {
    guard !lines.isEmpty else { return }
    let batch = 1000 + (try ledger.count("counter", "batch", upTo: .max) ?? 0)
    for line in lines {
      try ledger.delete(BookedLine.kind, line.key)
      try note(batch, of: line)
    }
    try ledger.put(BookedSettlement(lines, batch: batch, at: world.now))
    try plan(.transfer, String(batch), at: NewYork.morning(11, after: world.now))
  }

  /// Writes the batch into the books of a settled transaction or dispute.
  private func note(_ batch: Int, of line: BookedLine) throws(Fault) {
    if line.type == .withdrawal || line.type == .deposit {
      guard var dispute = try ledger.find(BookedDispute.self, line.id) else { return }
      if line.type == .deposit {
        dispute.depositBatch = batch
      } else {
        dispute.withdrawalBatch = batch
      }
      return try save(dispute)
    }
    guard var payment = try ledger.find(BookedPayment.self, line.payment) else { return }
    switch line.type {
    case .achReturn: payment.returned?.batch = batch
    case .reversal:
      let place = payment.operations.firstIndex { $0.refund == line.id }
      if let place { payment.operations[place].batch = batch }
    default: payment.batch = batch
    }
    try save(payment)
  }

  /// The transactions and disputes that no settlement has, oldest first.
  func unsettled() throws(Fault) -> [BookedLine] { try ledger.list(BookedLine.self) }

  /// Adds a line to the settlement of the next morning, or of another time.
  func add(
    _ type: BookedLine.Kind,
    _ id: String,
    _ payment: String,
    _ amount: Int,
    fees: Int = 0
  )
    throws(Fault)
  {
    let morning = NewYork.morning(11, after: world.now)
    var line = BookedLine()
    (line.type, line.id, line.payment) = (type, id, payment)
    (line.amount, line.fees, line.from) = (amount, fees, morning)
    try ledger.put(line)
    try plan(.settle, PayTheoryCatalog.merchantUID, at: morning)
  }

  /// Transfers a batch to the merchant.
  private func transfer(_ batch: Int) throws(Fault) {
    let key = Ledger.sorted(batch)
    guard var settlement = try ledger.find(BookedSettlement.self, key) else { return }
    settlement.transferredAt = world.now
    try ledger.put(settlement)
    let net = settlement.net
    var funding = BookedFunding()
    (funding.id, funding.batch, funding.at) = ("pt_ft_" + code(16), batch, world.now)
    (funding.amount, funding.isFromMerchant) = (abs(net), net < 0)
    try ledger.put(funding)
  }

  // MARK: Captures and returns

  /// Captures a pending payment, unless it was voided.
  func capture(_ payment: BookedPayment) throws(Fault) {
    guard payment.isPending, payment.left > 0 else { return }
    var payment = payment
    payment.isPending = false
    try save(payment)
    try settleLater(payment)
  }

  /// Adds a captured payment to the next settlement.
  func settleLater(_ payment: BookedPayment) throws(Fault) {
    guard let row = payment.rows.last(where: { $0.type == .debit }) else { return }
    try add(.debit, row.id, payment.receipt, row.gross, fees: row.fees)
  }

  /// Returns a captured ACH payment. Returns the id of the return.
  func giveBack(_ id: String, _ code: String) throws(Fault) -> String {
    guard var payment = try payment(of: id), payment.current == id, payment.method.type == .ach
    else { throw .simulatedRefusal("ACH transaction not found") }
    guard payment.failure == nil, !payment.isPending, payment.returned == nil, payment.left > 0
    else { throw .simulatedRefusal("Transaction cannot be returned") }
    // A bank returns the whole entry, never a part (moderntreasury.com/learn/ach-payment-returns): the payer has what
    // was refunded before twice.
    let entry = payment.charged - payment.voided
    let returned = BookedReturn(id: receipt(), code: code, amount: entry, at: world.now)
    payment.returned = returned
    try save(payment)
    try add(.achReturn, returned.id, payment.receipt, returned.amount)
    return returned.id
  }

  // MARK: Disputes

  /// Opens a dispute of a card payment. Returns its id.
  func dispute(_ id: String, _ reason: String) throws(Fault) -> String {
    guard var payment = try payment(of: id), payment.method.type == .card, payment.failure == nil,
      payment.dispute == nil, payment.left > 0
    else { throw .simulatedRefusal("Transaction cannot be disputed") }
    var dispute = BookedDispute()
    dispute.id = "pt_disp_" + code(16)
    (dispute.payment, dispute.transaction) = (payment.receipt, id)
    (dispute.reason, dispute.amount) = (reason, payment.left)
    (dispute.at, dispute.expiresAt) = (world.now, world.now + PayTheoryCatalog.disputeLife)
    payment.dispute = dispute.status
    try save(payment)
    try save(dispute)
    try plan(.disputeEnd, dispute.id, at: dispute.expiresAt)
    return dispute.id
  }

  /// Moves a dispute on its documented course.
  func update(_ id: String?, to next: BookedDispute.Status?) throws(Fault) {
    let dispute: BookedDispute = try known(id, or: "Dispute not found")
    guard let next, dispute.status.allows(next) else {
      throw .simulatedRefusal("Dispute cannot have that status now")
    }
    try move(dispute, to: next)
  }

  /// A chargeback withdraws the money, a won one deposits it again.
  private func move(_ dispute: BookedDispute, to next: BookedDispute.Status) throws(Fault) {
    var dispute = dispute
    if dispute.status == .inquiry {
      try add(.withdrawal, dispute.id, dispute.payment, dispute.amount)
    }
    if next == .won { try add(.deposit, dispute.id, dispute.payment, dispute.amount) }
    dispute.status = next
    if var payment = try ledger.find(BookedPayment.self, dispute.payment) {
      payment.dispute = next
      try save(payment)
    }
    try save(dispute)
  }

  /// Writes a dispute, and publishes that.
  private func save(_ given: BookedDispute) throws(Fault) {
    var dispute = given
    dispute.updated = world.now
    let isNew = try ledger.find(BookedDispute.self, dispute.id) == nil
    try ledger.put(dispute)
    let reference = try ledger.find(BookedPayment.self, dispute.payment)?.terms.reference
    try publish("DISPUTE", isNew: isNew, dispute.id, reference, try shown(dispute))
  }

  /// A dispute with its transaction, as GraphQL and events have it.
  func shown(_ dispute: BookedDispute) throws(Fault) -> JSONObject {
    dispute.graphQL(try rows(id: dispute.transaction).first?.graphQL)
  }

  // MARK: The queue

  /// A change of the books that is due at a time.
  enum Change: String {
    case capture, achReturn, settle, transfer, disputeEnd, barcodePaid, holdExpired
  }

  func plan(_ change: Change, _ id: String, at time: Int, _ detail: String? = nil) throws(Fault) {
    try parts.plan(change.rawValue, of: id, at: time, detail, by: SimulatedPayTheory.name)
  }

  /// Makes a change that was planned, unless something else came before it.
  func make(_ due: DueChange) throws(Fault) {
    switch Change(rawValue: due.what) {
    case .capture:
      if let payment = try ledger.find(BookedPayment.self, due.object) { try capture(payment) }
    case .achReturn:
      _ = try Fault.refusable { () throws(Fault) in try giveBack(due.object, due.detail ?? "R01") }
    case .settle:
      let isWhole = due.detail == "all"
      try settle(unsettled().filter { !$0.isPrepared && (isWhole || $0.from <= due.at) })
    case .transfer: try transfer(Int(due.object) ?? 0)
    case .disputeEnd:
      let dispute = try ledger.find(BookedDispute.self, due.object)
      if let dispute, dispute.status.isOpen { try move(dispute, to: .lost) }
    case .barcodePaid:
      if let barcode = try ledger.find(BookedBarcode.self, due.object), barcode.payment == nil {
        try pay(barcode)
      }
    case .holdExpired:
      guard var intent = try ledger.find(BookedIntent.self, due.object), intent.state == .pending
      else { return }
      intent.state = .expired
      try ledger.put(intent)
    case nil: return
    }
  }

  // MARK: Events

  /// Publishes that an object is new or has changed ([Docs 2026] webhook_events).
  func publish(
    _ event: String,
    isNew: Bool,
    _ id: String,
    _ reference: String?,
    _ payload: JSONObject
  ) throws(Fault) {
    let subtype = isNew ? "CREATED" : "UPDATED"
    try parts.publish(
      "\(event).\(subtype)",
      id: parts.eventID(),
      about: id,
      reference,
      at: world.now,
      by: SimulatedPayTheory.name,
      ["event": event.json, "subtype": subtype.json, "payload": payload.json]
    )
  }
}
