private import Synchronization
package import TenderModel

/// Until when a request that can move money may leave, where a journal lends a reference for a time.
///
/// The time is that of a clock that nobody sets and that goes on while the machine sleeps: a process that was
/// stopped for longer finds its window over, and sends nothing.
package final class SendWindow: Sendable {
  /// What one write of `sent` allows, as moments of this machine's clock.
  package struct Loan: Sendable {
    /// Until when a request may begin, so that its own deadline ends before the loan does.
    package let begin: Moment
    /// When the loan is over: nothing leaves after that.
    package let end: Moment

    package init(begin: Moment, end: Moment) {
      self.begin = begin
      self.end = end
    }
  }

  private let clock: any Clock
  private let loan = Mutex<Loan?>(nil)

  package init(clock: any Clock) { self.clock = clock }

  /// Sets what is lent from now on; nil where nothing is: then only what has no effect is sent.
  package func lend(_ loan: Loan?) { self.loan.withLock { $0 = loan } }

  /// Throws where a request may no longer begin.
  ///
  /// That is effect none, and proven: nothing has left.
  package func check() throws(Fault) { try check { $0.begin } }

  /// Throws where nothing may leave any more, right before it would.
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

/// The right to send one request that can move money, for one operation that the journal has as sent.
///
/// Only this module makes one, from an operation whose state `sent` is written; a transport takes it with the
/// request and uses it up. So no request that can move money goes around the journal.
package final class SendPermit: Sendable {
  private let isUsed = Atomic(false)
  private let window: SendWindow?

  init(_ window: SendWindow?) { self.window = window }

  /// Uses it up, before the first byte leaves.
  ///
  /// Throws `internal` where it was used before, `not_sent` where the journal's time is over.
  package func use() throws(Fault) {
    guard !isUsed.exchange(true, ordering: .relaxed) else {
      throw .bug("a permit to send was used twice").proven
    }
    try window?.checkLeaving()
  }

  /// Throws where nothing may leave any more: asked again right before the bytes go.
  package func checkLeaving() throws(Fault) { try window?.checkLeaving() }
}
