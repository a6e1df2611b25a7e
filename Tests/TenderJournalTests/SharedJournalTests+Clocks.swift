import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// A server with a changed clock, and a server that was restored to an earlier time.
extension SharedJournalTests {
  /// A lease that seems to last for days shows that the server's clock was set back. It ends within minutes,
  /// and a waiting command is told.
  @Test func `no reference is locked for as long as a clock was set back`() throws {
    let (first, second) = (try journal(0), try journal(1))
    let held = try lock(first)
    _ = try opened(first)
    #expect(try lock(second) == nil)
    #expect(second.worker(key())?.contains("set back") == false)
    _ = try sql("UPDATE tender.lease SET until = until + interval '2 days'")
    #expect(try lock(second) == nil)
    #expect(second.worker(key())?.contains("was set back") == true)
    let left = try sql(
      "SELECT ceil(extract(epoch FROM until - clock_timestamp())) FROM tender.lease"
    )
    #expect((1...600).contains(Int(left.prefix { $0.isNumber }) ?? 0), "\(left)")
    // The holder still has its fence.
    let fence = try sql("SELECT fence FROM tender.lease")
    #expect(fence.hasPrefix("1"))
    withExtendedLifetime(held) {}
  }

  /// A payment with a date in the future, by this machine or another one, hides no later write.
  @Test(arguments: [0, 1])
  func `a clock that was ahead once does not blind the mark`(_ writer: Int) throws {
    do {
      let (ahead, own) = (try journal(writer), try journal(0))
      let held = [try lock(ahead, "A"), try lock(own, "B")]
      var early = try opened(ahead, "A")
      clock.advance(365 * 86_400_000)
      try early.end(1, .succeeded, at: clock)
      try ahead.update(&early, 1, note: "outcome", .last)
      #expect(try own.payments(matching: "A", filter: PaymentFilter()).count == 1)
      clock.advance(-365 * 86_400_000)
      _ = try sent(own, "B")
      withExtendedLifetime(held) {}
    }
    try lose("B")
    let again = try journal(0)
    again.reachesOutside()
    _ = try again.payments(matching: "A", filter: PaymentFilter())
    let fault = #expect(throws: Fault.self) { try again.checkWhole() }
    #expect(fault?.code == "journal_forgot")
  }

  /// The machine's clock was a year ahead for one payment, and is right again.
  @Test func `a mark that was written by a clock that was ahead gives way`() throws {
    do {
      let ahead = ManualClock(
        at: SystemClock(interruption: NeverInterrupted()).now + 31_536_000_000
      )
      let early = try SharedWorld.journal(at: address, folders[0].path, clock: ahead)
      let own = try journal(0)
      let held = [try lock(early, "A"), try lock(own, "B")]
      _ = try sent(early, "A")
      _ = try sent(own, "B")
      withExtendedLifetime(held) {}
    }
    try lose("B")
    let again = try journal(0)
    again.reachesOutside()
    _ = try again.payments(matching: "A", filter: PaymentFilter())
    let fault = #expect(throws: Fault.self) { try again.checkWhole() }
    #expect(fault?.code == "journal_forgot")
  }

  /// Removes a payment from the database, as an older copy would.
  private func lose(_ reference: String) throws {
    let lost = "SELECT row FROM tender.payment WHERE reference = '\(reference)'"
    for table in ["event", "operation"] {
      _ = try sql("DELETE FROM tender.\(table) WHERE payment IN (\(lost))")
    }
    _ = try sql("DELETE FROM tender.payment WHERE reference = '\(reference)'")
  }

  /// Accepting and pruning cover the writes until that moment. The loss of later ones is noticed.
  @Test(arguments: ["accept", "prune"])
  func `accepts nothing in advance`(_ command: String) throws {
    let tomorrow = clock.now + 365 * 86_400_000
    do {
      let first = try journal(0)
      if command == "accept" {
        try first.accept(reason: "test", at: tomorrow)
      } else {
        _ = try first.prune(before: tomorrow, PaymentFilter())
      }
      let held = try lock(first)
      _ = try sent(first)
      withExtendedLifetime(held) {}
    }
    _ = try sql(
      "DELETE FROM tender.event; DELETE FROM tender.operation; DELETE FROM tender.payment"
    )
    let again = try journal(0)
    again.reachesOutside()
    _ = try again.payments(matching: "A", filter: PaymentFilter())
    let fault = #expect(throws: Fault.self) { try again.checkWhole() }
    #expect(fault?.code == "journal_forgot")
  }

  /// The loss of a write that this machine only read is noticed like that of its own write.
  @Test func `a machine that only read knows that a database was put back`() throws {
    let first = try journal(0)
    let held = [try lock(first), try lock(first, "B")]
    _ = try sent(first)
    #expect(try journal(1).payments(matching: "A", filter: PaymentFilter()).count == 1)
    _ = try sql(
      "DELETE FROM tender.event; DELETE FROM tender.operation; DELETE FROM tender.payment"
    )
    // Newer entries do not hide the missing one.
    _ = try sent(first, "B")
    for _ in 0..<2 {
      let again = try journal(1)
      again.reachesOutside()
      #expect(try again.payments(matching: "B", filter: PaymentFilter()).count == 1)
      let fault = #expect(throws: Fault.self) { try again.checkWhole() }
      #expect(fault?.code == "journal_forgot")
    }
    withExtendedLifetime(held) {}
  }
}
