private import Synchronization
package import TenderModel

/// The time in which a request that can move money may leave, if the journal leases references.
///
/// The time is monotonic, and runs while the machine sleeps. After a longer stop of the process the window is
/// over, and nothing is sent.
package final class SendWindow: Sendable {
  /// The limits that one write of `sent` gives, as moments of this machine's clock.
  package struct Loan: Sendable {
    /// The last moment to start a request, so that its deadline ends before the loan.
    package let begin: Moment
    /// The end of the loan. Nothing leaves after it.
    package let end: Moment

    package init(begin: Moment, end: Moment) {
      self.begin = begin
      self.end = end
    }
  }

  private let clock: any Clock
  private let loan = Mutex<Loan?>(nil)

  package init(clock: any Clock) { self.clock = clock }

  /// Sets the limits from now on. With nil there is no limit: then no operation is recorded as `sent`.
  package func lend(_ loan: Loan?) { self.loan.withLock { $0 = loan } }

  /// Throws if a request may no longer start.
  ///
  /// The fault has effect none, with proof: nothing has left.
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
      "this process was held up for longer than the journal lends it the reference: nothing was sent",
      hint: "run the same command again: it finds out first what others did meanwhile"
    ).proven
  }
}

/// The right to send one request that can move money, for one operation that the journal has as `sent`.
///
/// Only this module makes one, from an operation whose state `sent` is written. A transport takes it with the
/// request and uses it up. So no request that can move money is sent without a record in the journal.
package final class SendPermit: Sendable {
  private let isUsed = Atomic(false)
  private let window: SendWindow?

  init(_ window: SendWindow?) { self.window = window }

  /// Uses the permit up, before the first byte leaves.
  ///
  /// Throws `internal` if it was used before, and `not_sent` if the journal's window has ended.
  package func use() throws(Fault) {
    guard !isUsed.exchange(true, ordering: .relaxed) else {
      throw .bug("a permit to send was used twice").proven
    }
    try window?.checkLeaving()
  }

  /// Throws if nothing may leave any more. The transport asks again right before the bytes leave.
  package func checkLeaving() throws(Fault) { try window?.checkLeaving() }
}
