import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// Known outcomes survive, even if another process had the reference or the database lost something.
extension SharedJournalTests {
  /// A restored database, or one that lost a commit in a failover, does not change a known outcome.
  @Test func `an older database does not take what waits in the spool away`() throws {
    let path = folders[0].path
    do {
      let journal = try journal(0)
      let held = try lock(journal)
      var paid = try sent(journal)
      try paid.end(1, .succeeded, at: clock)
      try journal.setAside(&paid, 1, note: "outcome")
      withExtendedLifetime(held) {}
    }
    func status() throws -> Status? {
      try SharedWorld.journal(at: address, path)
        .payment(key())?.state.status
    }
    _ = try sql(
      "ALTER TABLE tender.payment RENAME TO kept; CREATE TABLE tender.payment (LIKE tender.kept)"
    )
    #expect(try status() == nil)
    _ = try sql("DROP TABLE tender.payment; ALTER TABLE tender.kept RENAME TO payment")
    #expect(try status() == .succeeded)
    #expect(try sql("SELECT state FROM tender.operation") == "succeeded\n")
  }

  /// A payment that another boot of the machine sent, under a lock that is still held.
  func sent(_ journal: SharedJournal, _ reference: String = "A") throws -> Payment {
    var paid = try opened(journal, reference)
    let moment = Moment(boot: "another", milliseconds: 5)
    try paid.change(1) { operation throws(Fault) in
      try operation.move(.send, to: .sent(.init(at: clock.now, moment: moment)), at: clock.now)
    }
    try journal.update(&paid, 1, note: "sent", .power)
    return paid
  }

  func known(_ journal: SharedJournal, _ reference: String = "A") throws -> Payment? {
    try journal.payment(key(reference))
  }

  /// Pays on the first machine. The database fails once the outcome is known.
  private func leaveInSpool() throws {
    let journal = try journal(0)
    let held = try lock(journal)
    var paid = try sent(journal)
    try paid.end(1, .succeeded, at: clock)
    try journal.setAside(&paid, 1, note: "outcome")
    withExtendedLifetime(held) {}
  }

  /// The uptime of another machine is not the time since the send.
  @Test func `counts the time since a send of another machine by the server's clock`() throws {
    let first = try journal(0)
    let held = try lock(first)
    _ = try sent(first)
    let days = ManualClock(at: 864_000_000, boot: "here")
    days.set(forward: clock.now - days.now)
    let other = try SharedWorld.journal(
      at: address,
      folders[1].path,
      migrates: false,
      clock: days
    )
    let found = try #require(try known(other)?.attempt)
    #expect(days.elapsed(since: found) < 60_000)
    days.advance(100_000)
    #expect((100_000..<160_000).contains(days.elapsed(since: found)))
    // If the clocks differ, the smaller time counts.
    days.set(forward: -90_000)
    #expect((0..<70_000).contains(days.elapsed(since: found)))
    withExtendedLifetime(held) {}
  }

  /// The next process with the reference delivers its waiting outcome, not only another command.
  @Test func `delivers what waits as its own reference is taken`() throws {
    try leaveInSpool()
    let next = try SharedWorld.journal(at: address, folders[0].path)
    let held = try lock(next)
    #expect(held != nil)
    #expect(try sql("SELECT status FROM tender.payment") == "succeeded\n")
    #expect(try known(next)?.state.status == .succeeded)
  }

  /// A process that took over and learned nothing does not make a known outcome unknown.
  @Test(arguments: [false, true])
  func `a known outcome outlasts who learned nothing`(_ isLost: Bool) throws {
    let first = try journal(0)
    var held: (any ReferenceLock)? = try lock(first)
    #expect(held != nil)
    var paid = try sent(first)
    try end()
    let second = try journal(1)
    var taken: (any ReferenceLock)? = try lock(second)
    #expect(taken != nil)
    var again = try #require(try known(second))
    if !isLost {
      // The same request is sent again, and that answer is lost too.
      try again.send(1, at: clock)
      try second.update(&again, 1, note: "sent", .power)
    }
    try paid.end(1, .succeeded, at: clock)
    let fault = #expect(throws: Fault.self) {
      try first.conclude(&paid, 1, note: "outcome", isLast: true)
    }
    #expect(fault?.cause == .leaseLost)
    (held, taken) = (nil, nil)
    let next = try SharedWorld.journal(at: address, folders[0].path)
    #expect(try known(next)?.state.status == .succeeded)
    #expect(try sql("SELECT status FROM tender.payment") == "succeeded\n")
    #expect(try next.verify() == [])
  }

  /// A restored database gives a row to another payment. The outcomes of the two are not confused.
  @Test func `does not take one payment's outcome for another's`() throws {
    try leaveInSpool()
    for table in ["payment", "operation", "event", "term", "lease"] {
      _ = try sql("DELETE FROM tender.\(table)")
    }
    _ = try sql("ALTER TABLE tender.payment ALTER row RESTART WITH 1")
    let other = try journal(1)
    let held = try lock(other, "B")
    let paid = try sent(other, "B")
    #expect(paid.row == 1)
    withExtendedLifetime(held) {}
    let next = try SharedWorld.journal(at: address, folders[0].path)
    #expect(try known(next, "B")?.state.status == .unknown)
    #expect(try sql("SELECT reference, status FROM tender.payment") == "B|unknown\n")
    // A payment that this machine knows is not charged again by it.
    for _ in 0..<2 {
      let fault = #expect(throws: Fault.self) {
        _ = try self.open(next, .test("A", at: self.clock.now + 7))
      }
      #expect(fault?.code == "journal_forgot")
    }
    #expect(try sql("SELECT reference, status FROM tender.payment") == "B|unknown\n")
  }

  /// A machine remembers its writes. If a database lacks one, it takes no more payments until that is
  /// accepted.
  @Test func `refuses a database that was put back, until that is accepted`() throws {
    for machine in 0..<2 {
      let journal = try journal(machine)
      let held = try lock(journal, "M\(machine)")
      var paid = try sent(journal, "M\(machine)")
      try paid.end(1, .succeeded, at: clock)
      _ = try journal.conclude(&paid, 1, note: "outcome", isLast: true)
      withExtendedLifetime(held) {}
    }
    do {
      let whole = try journal(0)
      whole.reachesOutside()
      #expect(try lock(whole, "B") != nil)
    }
    // The writes of both are gone, and another payment has the second one's place.
    for table in ["payment", "operation", "event", "term"] {
      _ = try sql("DELETE FROM tender.\(table)")
    }
    let world = try journal(1)
    #expect(try lock(world, "B") != nil)
    #expect(world.copyWarning != nil)
    #expect(try world.verify().count == 1)
    for machine in 0..<2 {
      let journal = try journal(machine)
      journal.reachesOutside()
      let fault = #expect(throws: Fault.self) { _ = try self.lock(journal, "B") }
      #expect(fault?.code == "journal_forgot")
      #expect(throws: Fault.self) { try journal.checkWhole() }
    }
    #expect(try sql("SELECT count(*) FROM tender.lease WHERE until > clock_timestamp()") == "0\n")
    try journal(0).accept(reason: "looked them up", at: clock.now)
    for machine in 0..<2 {
      let journal = try journal(machine)
      journal.reachesOutside()
      #expect(try lock(journal, "B") != nil)
      #expect(try journal.verify() == [])
    }
    #expect(
      try sql("SELECT note FROM tender.event WHERE payment = 0") == "accepted: looked them up\n"
    )
  }

  /// A deleted payment is not reported as lost.
  @Test func `does not miss what was pruned`() throws {
    do {
      let journal = try journal(0)
      let held = try lock(journal)
      var paid = try sent(journal)
      try paid.end(1, .succeeded, at: clock)
      _ = try journal.conclude(&paid, 1, note: "outcome", isLast: true)
      withExtendedLifetime(held) {}
      try end()
      #expect(try journal.prune(before: clock.now + 1, PaymentFilter()) == 1)
    }
    let next = try journal(0)
    next.reachesOutside()
    #expect(try lock(next, "B") != nil)
    try next.checkWhole()
    #expect(try sql("SELECT count(*) FROM tender.lease WHERE reference = 'A'") == "0\n")
    for table in ["operation", "observation", "event", "term", "preparation"] {
      #expect(try sql("SELECT count(*) FROM tender.\(table)") == "0\n", "\(table)")
    }
  }

  /// Several outcomes of one request are one entry. The last entry has all facts.
  @Test func `adds one outcome that waits to another`() throws {
    do {
      let journal = try journal(0)
      let held = try lock(journal)
      var paid = try sent(journal)
      try paid.end(1, .waiting(nil), at: clock)
      try paid.change(1) { $0.kind = .authorize }
      try journal.setAside(&paid, 1, note: "held")
      #expect(paid.version == 3)
      var seen = Observation(.lookup, at: clock.now, operation: 1, state: .succeeded)
      seen.providerStatus = "settled"
      paid.add(seen)
      try paid.end(1, .succeeded, at: clock)
      try journal.setAside(&paid, 1, note: "outcome")
      #expect(paid.version == 3)
      #expect(try journal.payment(key())?.state.status == .succeeded)
      // The next write comes after the waiting one.
      try paid.change(1) { $0.result = ["x": 1] }
      try journal.update(&paid, 1, note: "later", .power)
      #expect(try journal.history(of: paid).map(\.note) == ["opened", "sent", "outcome", "later"])
      withExtendedLifetime(held) {}
    }
    let next = try journal(0)
    let found = try #require(try next.payment(key()))
    #expect(found.observed.providerStatus == "settled")
    #expect(found.attempt?.result == ["x": 1])
    #expect(try sql("SELECT provider_status FROM tender.observation") == "settled\n")
    #expect(try next.verify() == [])
  }
}
