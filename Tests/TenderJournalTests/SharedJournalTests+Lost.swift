import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// A database that lost something is noticed.
extension SharedJournalTests {
  /// A payment that another boot of the machine sent, under a lock that is still held.
  func sent(_ journal: SharedJournal, _ reference: String = "A") throws -> Payment {
    var paid = try opened(journal, reference)
    let moment = Moment(boot: "another", milliseconds: 5)
    try paid.change(1) { operation throws(Fault) in
      try operation.move(.send, to: .sent(at: clock.now, moment: moment), at: clock.now)
    }
    try journal.update(&paid, 1, note: "sent", .power)
    return paid
  }

  func known(_ journal: SharedJournal, _ reference: String = "A") throws -> Payment? {
    try journal.payment(key(reference))
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

  /// A machine remembers its writes. If a database lacks one, it takes no more payments until that is
  /// accepted.
  @Test func `refuses a database that was put back, until that is accepted`() throws {
    for machine in 0..<2 {
      let journal = try journal(machine)
      let held = try lock(journal, "M\(machine)")
      var paid = try sent(journal, "M\(machine)")
      try paid.end(1, .succeeded, at: clock)
      try journal.update(&paid, 1, note: "outcome", .last)
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
    #expect(try world.loss() != nil)
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

  /// A refund is written between the search of prune and its deletion, which waits for the row.
  @Test func `a payment that changes while it is pruned stays`() throws {
    let journal = try journal(0)
    do {
      let held = try lock(journal)
      var paid = try sent(journal)
      try paid.end(1, .succeeded, at: clock)
      try journal.update(&paid, 1, note: "outcome", .last)
      withExtendedLifetime(held) {}
      try end()
    }
    let done = DispatchSemaphore(value: 0)
    Thread { [database] in
      defer { done.signal() }
      _ = try? PostgresCluster.shared().sql(
        """
        UPDATE tender.payment SET updated = updated + 1000000000;
        SET application_name = 'changing';
        DO $$ BEGIN
          WHILE NOT EXISTS (
            SELECT 1 FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND query LIKE '%DELETE FROM tender.payment%'
              AND datname = current_database()
          ) LOOP PERFORM pg_sleep(0.01); PERFORM pg_stat_clear_snapshot(); END LOOP;
        END $$
        """,
        in: database
      )
    }
    .start()
    let isChanging = """
      SELECT count(*) FROM pg_stat_activity
      WHERE application_name = 'changing' AND datname = current_database()
      """
    while try sql(isChanging) != "1\n" {}
    #expect(try journal.prune(before: clock.now + 1, PaymentFilter()) == 0)
    done.wait()
    #expect(try sql("SELECT count(*) FROM tender.payment") == "1\n")
  }

  /// A deleted payment is not reported as lost.
  @Test func `does not miss what was pruned`() throws {
    do {
      let journal = try journal(0)
      let held = try lock(journal)
      var paid = try sent(journal)
      try paid.end(1, .succeeded, at: clock)
      try journal.update(&paid, 1, note: "outcome", .last)
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
}
