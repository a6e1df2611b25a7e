import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSharedJournal
import TenderTestSupport
import Testing

/// The lease, its fence, and what a shared journal says of itself.
@Suite(.enabled(if: PostgresCluster.isAvailable, Comment(rawValue: PostgresCluster.isMissing)))
final class SharedJournalTests {
  let folders: [URL]
  let clock = ManualClock()
  let provider = ProviderName("paytheory")
  let address: String

  init() throws {
    folders = try (0..<2).map { _ in
      let folder = FileManager.default.temporaryDirectory.appending(path: "s-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return folder
    }
    address = try PostgresCluster.shared().database()
  }

  deinit { for folder in folders { try? FileManager.default.removeItem(at: folder) } }

  var database: String { String(address.split(separator: "/").last ?? "") }

  func sql(_ text: String) throws -> String {
    try PostgresCluster.shared().sql(text, in: database)
  }

  func journal(_ machine: Int, key: FleetKey? = .ofTests) throws -> SharedJournal {
    try SharedWorld.journal(at: address, folders[machine].path, key: key)
  }

  func lock(_ journal: any Journal, _ reference: String = "A") throws -> (any AttemptLock)? {
    try journal.lock(
      .init(env: .simulator, provider: provider, reference: reference),
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
  }

  func end(_ reference: String = "A") throws {
    _ = try sql(
      "UPDATE tender.lease SET until = clock_timestamp() WHERE reference = '\(reference)'"
    )
  }

  /// Whoever comes back with an old fence changes nothing, and says who has the reference.
  @Test func `a write with an old fence fails`() throws {
    let (first, second) = (try journal(0), try journal(1))
    let held = try lock(first)
    #expect(held != nil)
    var sleeper = try first.insert(.payment("A", number: 1, at: clock.now), .process)
    #expect(try lock(second) == nil)
    #expect(second.worker(.init(env: .simulator, provider: provider, reference: "A")) != nil)
    try end()
    let taken = try lock(second)
    #expect(taken != nil)
    for durability in [Durability.process, .power] {
      sleeper.phase = .sent
      let fault = #expect(throws: Fault.self) {
        try first.update(&sleeper, note: "sent", durability)
      }
      #expect(fault?.cause == .leaseLost)
      #expect(fault?.kind == .conflict)
      #expect(fault?.message.contains("anna@till-3") == true)
    }
    #expect(throws: Fault.self) {
      try first.insert(.payment("A", number: 2, at: self.clock.now), .process)
    }
    let latest = try second.latest(.init(env: .simulator, provider: provider, reference: "A"))
    #expect(latest?.phase == .prepared)
    #expect(latest?.number == 1)
    #expect(latest?.isElsewhere == true)
    // The fence grows with each taking, and giving it back is not the sleeper's either.
    #expect(try sql("SELECT fence FROM tender.lease") == "2\n")
    withExtendedLifetime(held) {}
  }

  @Test func `lends a reference with what is sent, and gives it back with its outcome`() throws {
    let (first, second) = (try journal(0), try journal(1))
    var held = try lock(first)
    var paid = try first.insert(.payment("A", number: 1, at: clock.now), .process)
    paid.phase = .sent
    try first.update(&paid, note: "sent", .power)
    #expect(try lock(second) == nil)
    try first.permit?.check()
    let left = try sql(
      "SELECT round(extract(epoch FROM until - clock_timestamp())) FROM tender.lease"
    )
    // A request's own five seconds, and a third of that.
    #expect(["6\n", "7\n"].contains(left))
    paid.phase = .done
    paid.status = .succeeded
    let warning = try first.conclude(&paid, note: "outcome", isLast: true)
    #expect(warning == nil)
    #expect(try lock(second) != nil)
    held = nil
    withExtendedLifetime(held) {}
  }

  /// A machine that is held up finds its time over by its own clock, and sends nothing.
  @Test func `says when nothing may leave any more`() throws {
    let permit = SendPermit(clock: clock)
    try permit.check()
    let now = clock.moment
    func later(_ milliseconds: Int) -> Moment {
      Moment(boot: now.boot, milliseconds: now.milliseconds + milliseconds)
    }
    permit.lend(SendPermit.Loan(begin: later(100), end: later(300)))
    try permit.check()
    try clock.pause(milliseconds: 100)
    let late = #expect(throws: Fault.self) { try permit.check() }
    #expect(late?.code == "lease_over")
    #expect(late?.isProven == true)
    try permit.checkLeaving()
    try clock.pause(milliseconds: 200)
    #expect(throws: Fault.self) { try permit.checkLeaving() }
    permit.lend(nil)
    try permit.checkLeaving()
    permit.lend(SendPermit.Loan(begin: Moment(boot: "x", milliseconds: 1), end: later(1 << 40)))
    permit.lend(
      SendPermit.Loan(
        begin: Moment(boot: "x", milliseconds: 1 << 50),
        end: Moment(boot: "x", milliseconds: 1 << 50)
      )
    )
    // Of another boot of the machine nothing is known.
    #expect(throws: Fault.self) { try permit.check() }
  }

  @Test func `seals what is secret under the fleet's key alone`() throws {
    let journal = try journal(0)
    let held = try lock(journal)
    var paid = try journal.insert(.payment("A", number: 1, at: clock.now), .process)
    paid.preparation = .secret("a session that confirms")
    paid.phase = .done
    paid.status = .requiresConfirmation
    try journal.update(&paid, note: "held", .power)
    let stored = try sql("SELECT text FROM tender.preparation")
    #expect(stored.hasPrefix("fleet:"))
    #expect(!stored.contains("session"))
    let read = try journal.latest(.init(env: .simulator, provider: provider, reference: "A"))
    #expect(read?.preparation == .secret("a session that confirms"))
    // Another key, or none, opens nothing and destroys nothing.
    var bytes = [UInt8](repeating: 8, count: 32)
    for key in [FleetKey(consuming: &bytes), nil] {
      let other = try self.journal(1, key: key)
      var found = try #require(
        try other.latest(.init(env: .simulator, provider: provider, reference: "A"))
      )
      #expect(found.preparation == nil)
      try end()
      let taken = try lock(other)
      found.phase = .sent
      #expect(throws: Fault.self) { try other.update(&found, note: "sent", .power) }
      withExtendedLifetime(taken) {}
    }
    #expect(try sql("SELECT text FROM tender.preparation") == stored)
    var short = [UInt8](repeating: 1, count: 31)
    #expect(FleetKey(consuming: &short) == nil)
    withExtendedLifetime(held) {}
  }

  /// What one machine sealed, another without that key neither opens nor throws away.
  @Test func `leaves a sealed preparation of a held payment alone`() throws {
    let journal = try journal(0)
    var held: (any AttemptLock)? = try lock(journal)
    var paid = try journal.insert(.payment("A", number: 1, at: clock.now), .process)
    paid.preparation = .secret("x")
    paid.phase = .done
    paid.status = .requiresConfirmation
    try journal.update(&paid, note: "held", .power)
    held = nil
    try end()
    var bytes = [UInt8](repeating: 8, count: 32)
    let other = try self.journal(1, key: FleetKey(consuming: &bytes))
    held = try lock(other)
    var found = try #require(
      try other.latest(.init(env: .simulator, provider: provider, reference: "A"))
    )
    #expect(throws: Fault.self) { try other.update(&found, note: "found out", .power) }
    #expect(try sql("SELECT count(*) FROM tender.preparation") == "1\n")
    withExtendedLifetime(held) {}
  }

  @Test func `notices what was changed behind its back`() throws {
    let journal = try journal(0)
    for reference in ["A", "B", "C", "D"] {
      var paid = try journal.insert(.payment(reference, number: 1, at: clock.now), .process)
      paid.phase = .done
      paid.status = .succeeded
      try journal.update(&paid, note: "outcome", .power)
    }
    #expect(try journal.verify() == [])
    _ = try sql("UPDATE tender.attempt SET amount = 1 WHERE reference = 'A'")
    _ = try sql("DELETE FROM tender.history WHERE attempt = 2 AND number = 1")
    _ = try sql("UPDATE tender.history SET sum = 'x' WHERE attempt = 3 AND number = 2")
    _ = try sql("DELETE FROM tender.attempt WHERE reference = 'D'")
    let problems = try journal.verify()
    #expect(problems.count == 4, "\(problems)")
    for name in ["'A'", "'B'", "'C'", "1 attempts of the history are missing"] {
      #expect(problems.contains { $0.contains(name) }, "\(name)")
    }
    #expect(throws: Fault.self) {
      try journal.latest(.init(env: .simulator, provider: self.provider, reference: "A"))
    }
  }

  func open(_ journal: any Journal, _ attempt: Attempt) throws -> (any AttemptLock)? {
    try journal.lock(
      opening: attempt,
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
  }

  func opened() throws -> String {
    try sql(
      "SELECT reference, number, status, by FROM tender.attempt ORDER BY row"
    )
  }

  /// What is opened together with its lock is the first at its reference, or nothing.
  @Test func `opens the first attempt as its lock is taken`() throws {
    let (first, second) = (try journal(0), try journal(1))
    let attempt = Attempt.payment("A", number: 1, at: clock.now)
    do {
      // Whoever does not get the lock opens nothing.
      let held = try lock(first)
      #expect(held != nil)
      #expect(try open(second, attempt) == nil)
      #expect(try opened() == "")
    }
    do {
      let held = try open(first, attempt)
      #expect(held != nil)
      #expect(try opened() == "A|1|pending|anna@till-3\n")
      #expect(try first.latest(.init(env: .simulator, provider: provider, reference: "A")) == nil)
      var written = try first.insert(attempt, .process)
      #expect(try opened() == "A|1|pending|anna@till-3\n")
      written.phase = .done
      written.status = .declined
      try first.update(&written, note: "outcome", .power)
      #expect(try first.history(of: written).map(\.note) == ["opened", "outcome"])
    }
    // Where there is an attempt already, that is the latest.
    let held = try open(second, .payment("A", number: 1, at: clock.now + 9))
    #expect(held != nil)
    let latest = try second.latest(.init(env: .simulator, provider: provider, reference: "A"))
    #expect(latest?.status == .declined)
    #expect(try opened() == "A|1|declined|anna@till-3\n")
    let next = try second.insert(.payment("A", number: 2, at: clock.now + 9), .process)
    #expect(try second.history(of: next).map(\.note) == ["opened"])
    #expect(try second.verify() == [])
  }

  /// Another attempt than the one that was opened is another: it does not pass for it.
  @Test func `inserts what was not opened`() throws {
    let journal = try journal(0)
    let held = try open(journal, .payment("A", number: 1, at: clock.now))
    #expect(held != nil)
    #expect(throws: Fault.self) {
      try journal.insert(.payment("A", number: 1, at: self.clock.now + 1), .process)
    }
    let second = try journal.insert(.payment("A", number: 2, at: clock.now), .process)
    #expect(second.row > 1)
  }

  /// The server says so in its own language: the code says it in all of them.
  @Test func `does not ask again for what no waiting mends`() throws {
    let server = try RefusingServer(
      code: "28P01",
      text: "Passwort-Authentifizierung fehlgeschlagen"
    )
    defer { server.stop() }
    let journal = try SharedWorld.journal(
      at: "postgres://tender@127.0.0.1:\(server.port)/payments?sslmode=disable",
      folders[0].path,
      migrates: false
    )
    let fault = #expect(throws: Fault.self) { try journal.count() }
    #expect(fault?.code == "journal_unreachable")
    #expect(fault?.message.contains("Passwort-Authentifizierung fehlgeschlagen") == true)
    #expect(fault?.message.contains("auth.c") == false)
    #expect(server.visits == 1)
  }

  /// The database is waited for once, not again at each write of a command that gives up.
  @Test func `waits once for a database that is gone`() throws {
    let server = try RefusingServer(code: "57P03", text: "the database system is starting up")
    server.stop()
    let journal = try SharedWorld.journal(
      at: "postgres://tender@127.0.0.1:\(server.port)/payments",
      folders[0].path,
      migrates: false,
      clock: clock
    )
    // A question that is not worth a long wait takes none from the others.
    #expect(!journal.isStopRequested(.init(env: .simulator, provider: provider, reference: "A")))
    var waited: [Int] = []
    for _ in 0..<3 {
      let start = clock.now
      #expect(throws: Fault.self) { try journal.count() }
      waited.append(clock.now - start)
    }
    #expect(waited[0] > 3000)
    #expect(waited[1] < 1500 && waited[2] < 1500, "\(waited)")
  }

  @Test func `names tables that are missing, older or newer`() throws {
    let bare = try SharedWorld.journal(at: address, folders[0].path, migrates: false)
    func code(_ journal: SharedJournal) -> String? {
      let fault = #expect(throws: Fault.self) { try journal.count() }
      #expect(fault?.kind == .state)
      return fault?.code
    }
    #expect(code(bare) == "journal_unmigrated")
    #expect(try bare.migrate().contains("were made"))
    #expect(try bare.migrate().contains("nothing to do"))
    for (version, expected) in [(0, "journal_unmigrated"), (2, "journal_newer")] {
      _ = try sql("UPDATE tender.journal SET version = \(version)")
      let other = try SharedWorld.journal(at: address, folders[1].path, migrates: false)
      #expect(code(other) == expected)
      // Nothing was written on the way to finding out.
      #expect(throws: Fault.self) { _ = try self.lock(other) }
      #expect(try sql("SELECT count(*) FROM tender.lease") == "0\n")
      if version == 2 { #expect(throws: Fault.self) { try other.migrate() } }
    }
  }

  /// What providers echo may be anything that is text.
  @Test func `keeps any text as it is`() throws {
    let journal = try journal(0)
    let texts = ["'; DROP TABLE x; --", "\\", "\"{}\"", "ü€😀", "a\u{1}b\n", "%_*", "{NULL}", "$1"]
    for text in texts {
      var paid = try journal.insert(.payment(text, number: 1, at: clock.now), .process)
      paid.result = ["x": .string(text + "\0")]
      paid.phase = .done
      paid.status = .failed
      try journal.update(&paid, note: text, .power)
      let found = try #require(
        try journal.latest(.init(env: .simulator, provider: provider, reference: text))
      )
      #expect(found.reference == text)
      #expect(found.result == paid.result)
      #expect(try journal.history(of: found).last?.note == text)
      var filter = AttemptFilter()
      filter.handle = text
      if !text.contains("*") { #expect(try journal.counted(filter, upTo: 9) == 1, "\(text)") }
    }
    #expect(try journal.verify() == [])
    var filter = AttemptFilter()
    for (pattern, count) in [("ü*", 1), ("*😀", 1), ("%*", 1), ("*_*", 1), ("\\*", 1), ("*", 8)] {
      filter.handle = pattern
      #expect(try journal.counted(filter, upTo: 99) == count, "\(pattern)")
    }
  }
}
