private import Synchronization
package import TenderModel

/// The time in which a request that can move money may leave, if the journal leases references.
///
/// The time is monotonic, and runs while the machine sleeps. After a longer stop of the process the window is
/// over, and nothing is sent.
package final class SendWindow: Sendable {
  /// The limits that one write of `sent` gives, as moments of this machine's clock: the last moment to start a
  /// request, so that its deadline ends before the loan, and the end of the loan. Nothing leaves after the end.
  package typealias Loan = (begin: Moment, end: Moment)

  private let clock: any Clock
  private let loan = Mutex<Loan?>(nil)

  package init(clock: any Clock) { self.clock = clock }

  /// Sets the limits from now on. With nil there is no limit: then no operation is recorded as `sent`.
  package func lend(_ loan: Loan?) { self.loan.withLock { $0 = loan } }

  /// Throws if a request may no longer start.
  ///
  /// Nothing has left then.
  package func check() throws(Fault) { try check { $0.begin } }

  /// Throws if nothing may leave any more, right before it would leave.
  package func checkLeaving() throws(Fault) { try check { $0.end } }

  private func check(_ limit: (Loan) -> Moment) throws(Fault) {
    guard let loan = loan.withLock({ $0 }) else { return }
    let now = clock.moment
    guard now.boot != loan.end.boot || now.milliseconds >= limit(loan).milliseconds else {
      return
    }
    throw Fault(
      .notSent,
      code: "lease_over",
      cause: .leaseOver,
      "this process was held up for longer than the journal lends it the reference: nothing was sent",
      hint: "run the same command again: it finds out first what others did meanwhile"
    )
  }
}

/// The right to send one request that can move money, for one operation that the journal has as `sent`.
///
/// Only this module makes one, from an operation whose state `sent` is written. A transport takes it with the
/// request and uses it up. So no request that can move money is sent without a record in the journal. The
/// permit knows whether its request left: the engine asks it, and no fault.
package final class SendPermit: Sendable {
  /// What became of the request.
  private enum Fate: Int, AtomicRepresentable {
    case unused
    /// It may have left.
    case used
    /// The transport used the permit, and no byte left.
    case givenBack
    /// The provider refused it, which proves that it was not executed.
    case refused
  }

  private let fate = Atomic(Fate.unused)
  private let window: SendWindow?

  init(_ window: SendWindow?) { self.window = window }

  /// The permit of a request that turned out to move money after it was sent.
  static var spent: SendPermit {
    let permit = SendPermit(nil)
    permit.fate.store(.used, ordering: .relaxed)
    return permit
  }

  /// Whether the request may have left, and no refusal proves that it was not executed.
  package var isOpen: Bool { fate.load(ordering: .relaxed) == .used }

  /// Uses the permit up, before the first byte leaves.
  ///
  /// Throws `internal` if it was used before, and `not_sent` if the journal's window has ended.
  package func use() throws(Fault) {
    try window?.checkLeaving()
    let (isFirst, _) = fate.compareExchange(expected: .unused, desired: .used, ordering: .relaxed)
    guard isFirst else { throw .bug("a permit to send was used twice") }
  }

  /// Throws if nothing may leave any more. The transport asks again right before the bytes leave.
  package func checkLeaving() throws(Fault) { try window?.checkLeaving() }

  /// Gives the used permit back, because the transport knows that no byte left.
  package func giveBack() { end(.givenBack) }

  /// Notes that the provider refused the request without executing it.
  func refuse() { end(.refused) }

  private func end(_ end: Fate) {
    _ = fate.compareExchange(expected: .used, desired: end, ordering: .relaxed)
  }
}
