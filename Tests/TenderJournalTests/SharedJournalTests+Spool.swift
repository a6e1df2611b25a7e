import Foundation
import TenderEngine
import TenderModel
import TenderSharedJournal
import TenderTestSupport
import Testing

/// What is known of a payment, whoever else had its reference and whatever the database lost.
extension SharedJournalTests {
  /// A database that was put back, or lost a commit in a failover, says nothing about a known outcome.
  @Test func `an older database does not take what waits in the spool away`() throws {
    let path = folders[0].path
    do {
      let journal = try journal(0)
      let held = try lock(journal)
      var paid = try journal.insert(.payment("A", number: 1, at: clock.now), .process)
      paid.phase = .sent
      try journal.update(&paid, note: "sent", .power)
      paid.phase = .done
      paid.status = .succeeded
      try journal.setAside(&paid, note: "outcome")
      withExtendedLifetime(held) {}
    }
    func status() throws -> Status? {
      try SharedWorld.journal(at: address, path)
        .latest(.init(env: .simulator, provider: provider, reference: "A"))?.status
    }
    _ = try sql(
      "ALTER TABLE tender.attempt RENAME TO kept; CREATE TABLE tender.attempt (LIKE tender.kept)"
    )
    #expect(try status() == nil)
    _ = try sql("DROP TABLE tender.attempt; ALTER TABLE tender.kept RENAME TO attempt")
    #expect(try status() == .succeeded)
    #expect(try sql("SELECT phase FROM tender.attempt") == "done\n")
  }

  /// An attempt that was sent and whose outcome is known here, under a lock that is still held.
  func sent(_ journal: SharedJournal, _ reference: String = "A") throws -> Attempt {
    var paid = try journal.insert(.payment(reference, number: 1, at: clock.now), .process)
    paid.phase = .sent
    paid.sentMoment = Moment(boot: "another", milliseconds: 5)
    try journal.update(&paid, note: "sent", .power)
    return paid
  }

  func conclude(_ attempt: inout Attempt) {
    attempt.phase = .done
    attempt.status = .succeeded
  }

  func latest(_ journal: SharedJournal, _ reference: String = "A") throws -> Attempt? {
    try journal.latest(.init(env: .simulator, provider: provider, reference: reference))
  }

  /// Pays on the first machine, with a database that is gone once the outcome is known.
  private func leaveInSpool() throws {
    let journal = try journal(0)
    let held = try lock(journal)
    var paid = try sent(journal)
    conclude(&paid)
    try journal.setAside(&paid, note: "outcome")
    withExtendedLifetime(held) {}
  }

  /// Another machine that has been up for days has not waited for days.
  @Test func `counts the time since a send of another machine by the server's clock`() throws {
    let first = try journal(0)
    let held = try lock(first)
    _ = try sent(first)
    let days = ManualClock(at: 864_000_000, boot: "here")
    let other = try SharedWorld.journal(
      at: address,
      folders[1].path,
      migrates: false,
      clock: days
    )
    let found = try #require(try latest(other))
    #expect(days.elapsed(since: found) < 60_000)
    days.advance(100_000)
    #expect((100_000..<160_000).contains(days.elapsed(since: found)))
    withExtendedLifetime(held) {}
  }

  /// The reference whose outcome waits is delivered by whoever takes it, and not only by another command.
  @Test func `delivers what waits as its own reference is taken`() throws {
    try leaveInSpool()
    let next = try SharedWorld.journal(at: address, folders[0].path)
    let held = try lock(next)
    #expect(held != nil)
    #expect(try sql("SELECT phase, status FROM tender.attempt") == "done|succeeded\n")
    #expect(try latest(next)?.status == .succeeded)
  }

  /// Whoever took over and learned nothing does not make a known outcome unknown.
  @Test(arguments: [false, true])
  func `a known outcome outlasts who learned nothing`(_ isLost: Bool) throws {
    let first = try journal(0)
    var held: (any AttemptLock)? = try lock(first)
    #expect(held != nil)
    var paid = try sent(first)
    try end()
    let second = try journal(1)
    var taken: (any AttemptLock)? = try lock(second)
    #expect(taken != nil)
    var again = try #require(try latest(second))
    if !isLost {
      // The same thing is sent again, and that answer is lost too.
      try second.update(&again, note: "sent", .power)
    }
    conclude(&paid)
    let fault = #expect(throws: Fault.self) {
      try first.conclude(&paid, note: "outcome", isLast: true)
    }
    #expect(fault?.cause == .leaseLost)
    (held, taken) = (nil, nil)
    let next = try SharedWorld.journal(at: address, folders[0].path)
    #expect(try latest(next)?.status == .succeeded)
    #expect(try sql("SELECT phase, status FROM tender.attempt") == "done|succeeded\n")
    #expect(try next.verify() == [])
  }

  /// A database that was put back gives a row to another payment: neither outcome is taken for the other's.
  @Test func `does not take one payment's outcome for another's`() throws {
    try leaveInSpool()
    for table in ["attempt", "history", "term", "lease"] {
      _ = try sql("DELETE FROM tender.\(table)")
    }
    _ = try sql("ALTER TABLE tender.attempt ALTER row RESTART WITH 1")
    let other = try journal(1)
    let held = try lock(other, "B")
    let paid = try sent(other, "B")
    #expect(paid.row == 1)
    withExtendedLifetime(held) {}
    let next = try SharedWorld.journal(at: address, folders[0].path)
    #expect(try latest(next, "B")?.phase == .sent)
    #expect(try sql("SELECT reference, phase FROM tender.attempt") == "B|sent\n")
    // What this machine knows is not charged again by it.
    for _ in 0..<2 {
      let fault = #expect(throws: Fault.self) {
        _ = try self.open(next, .payment("A", number: 1, at: self.clock.now + 7))
      }
      #expect(fault?.code == "journal_forgot")
    }
    #expect(try sql("SELECT reference, phase FROM tender.attempt") == "B|sent\n")
  }
}
