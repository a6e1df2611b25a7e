import TenderModel

/// A search for purchases that were paid twice.
///
/// The payments of a group share env, amount and currency, and a payer or the last four digits. Between two
/// neighbors lies at most the span. Payments arrive newest first. Only the groups that a further payment may
/// join are in memory.
package struct DuplicateSearch {
  /// In milliseconds.
  private let span: Int
  /// Groups that a further payment may join, by number.
  private var open: [Int: [Payment]] = [:]
  private var groups: [String: Int] = [:]
  private var next = 0
  /// The number of open groups from which on `add` closes old ones.
  private var mostOpen = 64

  /// Creates a search; `span` in milliseconds.
  package init(within span: Int) { self.span = span }

  /// Adds a payment that is not newer than the one before. Returns the groups that are now complete.
  ///
  /// A payment with another charge under its reference is a group of its own.
  package mutating func add(_ payment: Payment) -> [[Payment]] {
    if payment.state.surplus > 0 { return [[payment]] }
    guard payment.mayHoldMoney, let amount = payment.state.amount else { return [] }
    let place = "\(payment.env.rawValue) \(amount) \(payment.currency?.code ?? "")"
    let keys = payment.payers.map { "\(place) \($0)" }
    guard !keys.isEmpty else { return [] }
    let done = open.count < mostOpen ? [] : close(before: payment.createdAt + span)
    let joined = Set(
      keys.compactMap { groups[$0] }.filter { number in
        open[number]?.last.map { $0.createdAt <= payment.createdAt + span } ?? false
      }
    ).sorted()
    let number = joined.first ?? next
    if joined.isEmpty { next += 1 }
    for other in joined.dropFirst() {
      open[number, default: []] += open.removeValue(forKey: other) ?? []
      for (key, group) in groups where group == other { groups[key] = number }
    }
    if joined.count > 1 { open[number]?.sort { ($0.createdAt, $0.row) > ($1.createdAt, $1.row) } }
    open[number, default: []].append(payment)
    for key in keys {
      // An earlier group of this key that was not joined is too far away in time.
      groups[key] = number
    }
    return done
  }

  /// Returns the remaining groups.
  package mutating func finish() -> [[Payment]] { close(before: .max) }

  /// Removes the groups whose oldest payment is later than `time`. Returns those with several payments.
  private mutating func close(before time: Int) -> [[Payment]] {
    let closed = open.filter { time == .max || ($0.value.last?.createdAt ?? 0) > time }
    for number in closed.keys { open[number] = nil }
    groups = groups.filter { open[$0.value] != nil }
    mostOpen = max(64, 2 * open.count)
    return closed.values.filter { $0.count > 1 }
      .sorted { ($0[0].createdAt, $0[0].row) > ($1[0].createdAt, $1[0].row) }
  }
}

extension Payment {
  /// Whether the payment took the payer's money, holds it or may still take it.
  fileprivate var mayHoldMoney: Bool {
    guard kind == .payment, attempt?.kind != .refund else { return false }
    if state.isCaptured || state.isUnknown { return true }
    return switch state.status {
    case .requiresConfirmation, .pending, .authorized, .succeeded: true
    case .requiresAction, .declined, .cancelled, .refunded, .partiallyRefunded, .returned, .expired,
      .revoked, .failed, .unknown:
      false
    }
  }

  /// The payer's identifiers: last four digits, e-mail address, phone number, whole name and id.
  fileprivate var payers: Set<String> {
    var found = Set<String>()
    if let lastFour { found.insert("… \(lastFour)") }
    if let id = content.text("payor_id") { found.insert("id \(id)") }
    for person in people {
      for name in ["email", "phone", "name", "id"] {
        guard let text = person.text(name) else { continue }
        let phone = name == "phone" ? PhoneNumber(text)?.end : nil
        found.insert("\(name) \(phone ?? text.folded)")
      }
      if let first = person.text("first_name"), let last = person.text("last_name") {
        found.insert("name \(first) \(last)".folded)
      }
    }
    return found
  }
}
