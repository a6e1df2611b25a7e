import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// The lease, its fence, and the facts that a shared journal reports.
@Suite(.enabled(if: PostgresCluster.isAvailable, Comment(rawValue: PostgresCluster.isMissing)))
final class SharedJournalTests {
  /// Contains the folders, and the marks beside them.
  let root = FileManager.default.temporaryDirectory.appending(path: "s-\(UUID().uuidString)")
  let folders: [URL]
  let clock = ManualClock()
  let provider = ProviderName("paytheory")
  let address: String

  init() throws {
    folders = [root.appending(path: "0"), root.appending(path: "1")]
    for folder in folders {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    address = try PostgresCluster.shared().database()
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  var database: String { String(address.split(separator: "/").last ?? "") }

  func sql(_ text: String) throws -> String {
    try PostgresCluster.shared().sql(text, in: database)
  }

  func journal(_ machine: Int, key: JournalKey? = .ofTests) throws -> SharedJournal {
    try SharedWorld.journal(at: address, folders[machine].path, key: key)
  }

  /// The key of a reference on the simulator.
  func key(_ reference: String = "A") -> ReferenceKey {
    .init(env: .simulator, provider: provider, reference: reference)
  }

  /// Opens a card payment.
  func opened(_ journal: any Journal, _ reference: String = "A") throws -> Payment {
    try journal.open(.test(reference, at: clock.now), OpeningTerms(), .process)
  }

  func lock(_ journal: any Journal, _ reference: String = "A") throws -> (any ReferenceLock)? {
    try journal.lock(
      key(reference),
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
  }

  func end(_ reference: String = "A") throws {
    _ = try sql(
      "UPDATE tender.lease SET until = clock_timestamp() WHERE reference = '\(reference)'"
    )
  }

  /// A process with an old fence changes nothing, and gets the name of the process with the reference.
  @Test func `a write with an old fence fails`() throws {
    let (first, second) = (try journal(0), try journal(1))
    let held = try lock(first)
    #expect(held != nil)
    var sleeper = try opened(first)
    #expect(try lock(second) == nil)
    #expect(second.worker(key()) != nil)
    try end()
    let taken = try lock(second)
    #expect(taken != nil)
    try sleeper.send(1, at: clock)
    for durability in [Durability.process, .power] {
      let fault = #expect(throws: Fault.self) {
        try first.update(&sleeper, 1, note: "sent", durability)
      }
      #expect(fault?.cause == .leaseLost)
      #expect(fault?.kind == .conflict)
      #expect(fault?.message.contains("anna@till-3") == true)
    }
    sleeper.append(try #require(Payment.test("A", at: clock.now).attempt))
    #expect(throws: Fault.self) { try first.open(sleeper, OpeningTerms(), .process) }
    let latest = try second.payment(key())
    #expect(latest?.operations.map(\.state) == [.prepared])
    #expect(latest?.isElsewhere == true)
    // The fence grows with each lease. The sleeping process cannot release the new lease, either.
    #expect(try sql("SELECT fence FROM tender.lease") == "2\n")
    withExtendedLifetime(held) {}
  }

  @Test func `lends a reference with what is sent, and gives it back with its outcome`() throws {
    let (first, second) = (try journal(0), try journal(1))
    var held = try lock(first)
    var paid = try opened(first)
    try paid.send(1, at: clock)
    try first.update(&paid, 1, note: "sent", .power)
    #expect(try lock(second) == nil)
    try first.window?.check()
    let left = try sql(
      "SELECT round(extract(epoch FROM until - clock_timestamp())) FROM tender.lease"
    )
    // The five seconds of a request, and a third of that.
    #expect(["6\n", "7\n"].contains(left))
    try paid.end(1, .succeeded, at: clock)
    try first.update(&paid, 1, note: "outcome", .last)
    #expect(try lock(second) != nil)
    held = nil
    withExtendedLifetime(held) {}
  }

  /// A machine was stopped for too long. By its monotonic clock, its window is over, and it sends nothing.
  @Test func `says when nothing may leave any more`() throws {
    let window = SendWindow(clock: clock)
    try window.check()
    let now = clock.moment
    func later(_ milliseconds: Int) -> Moment {
      Moment(boot: now.boot, milliseconds: now.milliseconds + milliseconds)
    }
    window.lend((later(100), later(300)))
    try window.check()
    try clock.pause(milliseconds: 100)
    let late = #expect(throws: Fault.self) { try window.check() }
    #expect(late?.code == "lease_over")
    #expect(late?.cause == .leaseOver)
    try window.checkLeaving()
    try clock.pause(milliseconds: 200)
    #expect(throws: Fault.self) { try window.checkLeaving() }
    window.lend(nil)
    try window.checkLeaving()
    window.lend((Moment(boot: "x", milliseconds: 1), later(1 << 40)))
    let other = Moment(boot: "x", milliseconds: 1 << 50)
    window.lend((other, other))
    // The time of another boot is unknown.
    #expect(throws: Fault.self) { try window.check() }
  }

  @Test func `seals what is secret under the fleet's key alone`() throws {
    let journal = try journal(0)
    let held = try lock(journal)
    var paid = try opened(journal)
    try paid.hold(.secret("a session that confirms"), at: clock)
    try journal.update(&paid, 1, note: "held", .power)
    let stored = try sql("SELECT text FROM tender.preparation")
    #expect(stored.hasPrefix("fleet:"))
    #expect(!stored.contains("session"))
    let read = try journal.payment(key())
    #expect(read?.attempt?.preparation == .secret("a session that confirms"))
    // With another key, or none, nothing is opened or destroyed.
    var bytes = [UInt8](repeating: 8, count: 32)
    for key in [JournalKey(consuming: &bytes), nil] {
      let other = try self.journal(1, key: key)
      var found = try #require(
        try other.payment(self.key())
      )
      #expect(found.attempt?.preparation == nil)
      #expect(found.attempt?.isSealed == true)
      try end()
      let taken = try lock(other)
      try found.change(1) { $0.updatedAt += 1 }
      try other.update(&found, 1, note: "looked up", .power)
      withExtendedLifetime(taken) {}
    }
    #expect(try sql("SELECT text FROM tender.preparation") == stored)
    var short = [UInt8](repeating: 1, count: 31)
    #expect(JournalKey(consuming: &short) == nil)
    withExtendedLifetime(held) {}
  }

  /// A preparation that is no longer needed is deleted, even if another machine sealed it.
  @Test func `deletes a sealed preparation once its operation has ended`() throws {
    let journal = try journal(0)
    var held: (any ReferenceLock)? = try lock(journal)
    var paid = try opened(journal)
    try paid.hold(.secret("x"), at: clock)
    try journal.update(&paid, 1, note: "held", .power)
    held = nil
    try end()
    var bytes = [UInt8](repeating: 8, count: 32)
    let other = try self.journal(1, key: JournalKey(consuming: &bytes))
    held = try lock(other)
    var found = try #require(try other.payment(key()))
    try found.end(1, .cancelled, at: clock)
    try other.update(&found, 1, note: "found out", .power)
    #expect(try sql("SELECT count(*) FROM tender.preparation") == "0\n")
    #expect(try other.verify() == [])
    withExtendedLifetime(held) {}
  }

  @Test func `notices what was changed behind its back`() throws {
    let journal = try journal(0)
    for reference in ["A", "B", "C", "D", "E", "F"] {
      var paid = try opened(journal, reference)
      try paid.end(1, .succeeded, at: clock)
      try journal.update(&paid, 1, note: "outcome", .power)
    }
    #expect(try journal.verify() == [])
    _ = try sql("UPDATE tender.payment SET amount = 1 WHERE reference = 'A'")
    _ = try sql("DELETE FROM tender.event WHERE payment = 2 AND line = 1")
    _ = try sql("UPDATE tender.event SET sum = 'x' WHERE payment = 3 AND line = 2")
    _ = try sql("DELETE FROM tender.payment WHERE reference = 'D'")
    _ = try sql("UPDATE tender.operation SET approved = 1 WHERE payment = 5")
    _ = try sql("DELETE FROM tender.operation WHERE payment = 6")
    let problems = try journal.verify()
    #expect(problems.count == 6, "\(problems)")
    for name in ["'A'", "'B'", "'C'", "1 payments of the history are missing", "'E'", "'F'"] {
      #expect(problems.contains { $0.contains(name) }, "\(name)")
    }
  }

  func open(
    _ journal: any Journal,
    _ payment: Payment,
    _ terms: OpeningTerms = OpeningTerms()
  ) throws -> (any ReferenceLock)? {
    try journal.lock(
      payment.key,
      opening: (payment, terms),
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
  }

  func written() throws -> String {
    try sql("SELECT reference, attempt, status, by FROM tender.payment ORDER BY row")
  }

  /// A payment that is opened together with its lock is the first at its reference, or is not written.
  @Test func `opens the first attempt as its lock is taken`() throws {
    let (first, second) = (try journal(0), try journal(1))
    let payment = Payment.test("A", at: clock.now)
    do {
      // A process without the lock opens nothing.
      let held = try lock(first)
      #expect(held != nil)
      #expect(try open(second, payment) == nil)
      #expect(try written() == "")
    }
    do {
      let held = try open(first, payment)
      #expect(held != nil)
      #expect(try written() == "A|1|pending|anna@till-3\n")
      #expect(try first.payment(key()) == nil)
      // The same order, made a moment later.
      clock.advance(3)
      var opened = try first.open(.test("A", at: clock.now), OpeningTerms(), .process)
      #expect(opened.createdAt == payment.createdAt)
      #expect(try written() == "A|1|pending|anna@till-3\n")
      try opened.end(1, .declined, at: clock)
      try first.update(&opened, 1, note: "outcome", .power)
      #expect(try first.history(of: opened).map(\.note) == ["opened", "outcome"])
    }
    // An existing payment is returned.
    let held = try open(second, .test("A", at: clock.now + 9))
    #expect(held != nil)
    var known = try #require(try second.payment(key()))
    #expect(known.state.status == .declined)
    #expect(try written() == "A|1|declined|anna@till-3\n")
    known.append(try #require(payment.attempt))
    let next = try second.open(known, OpeningTerms(), .process)
    #expect(try written() == "A|2|pending|anna@till-3\n")
    #expect(try second.history(of: next).map(\.note) == ["opened", "outcome", "opened"])
    #expect(try second.verify() == [])
  }

  /// Another order is not accepted in place of the opened one.
  @Test func `refuses what was not opened`() throws {
    let journal = try journal(0)
    let held = try open(journal, .test("A", at: clock.now))
    #expect(held != nil)
    var other = Payment.test("A", at: clock.now)
    try other.change(1) { $0.amount = 7 }
    let fault = #expect(throws: Fault.self) {
      try journal.open(other, OpeningTerms(), .process)
    }
    #expect(fault?.code == "journal_conflict")
  }

  /// The server's text is in its language, but the code is the same in all languages.
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
    let fault = #expect(throws: Fault.self) { try journal.extent() }
    #expect(fault?.code == "journal_unreachable")
    #expect(fault?.message.contains("Passwort-Authentifizierung fehlgeschlagen") == true)
    #expect(fault?.message.contains("auth.c") == false)
    #expect(server.visits == 1)
  }

  /// The database is waited for once, and not again at each write of a command that gives up.
  @Test func `waits once for a database that is gone`() throws {
    let server = try RefusingServer(code: "57P03", text: "the database system is starting up")
    server.stop()
    let journal = try SharedWorld.journal(
      at: "postgres://tender@127.0.0.1:\(server.port)/payments",
      folders[0].path,
      migrates: false,
      clock: clock
    )
    // A minor question does not use up the time of the others.
    #expect(!journal.isStopRequested(key()))
    var waited: [Int] = []
    for _ in 0..<3 {
      let start = clock.now
      #expect(throws: Fault.self) { try journal.extent() }
      waited.append(clock.now - start)
    }
    #expect(waited[0] > 3000)
    #expect(waited[1] < 1500 && waited[2] < 1500, "\(waited)")
  }

  @Test func `names tables that are missing, older or newer`() throws {
    let bare = try SharedWorld.journal(at: address, folders[0].path, migrates: false)
    func code(_ journal: SharedJournal) -> String? {
      let fault = #expect(throws: Fault.self) { try journal.extent() }
      #expect(fault?.kind == .state)
      return fault?.code
    }
    #expect(code(bare) == "journal_unmigrated")
    #expect(try bare.migrate().contains("were made"))
    #expect(try bare.migrate().contains("nothing to do"))
    for (version, expected) in [(1, "journal_older"), (1000, "journal_newer")] {
      _ = try sql("UPDATE tender.journal SET version = \(version)")
      let other = try SharedWorld.journal(at: address, folders[1].path, migrates: false)
      #expect(code(other) == expected)
      // The look-up wrote nothing.
      #expect(throws: Fault.self) { _ = try self.lock(other) }
      #expect(try sql("SELECT count(*) FROM tender.lease") == "0\n")
      #expect(throws: Fault.self) { try other.migrate() }
    }
  }

  /// An answer of a provider may contain any text.
  @Test func `keeps any text as it is`() throws {
    let journal = try journal(0)
    let texts = ["'; DROP TABLE x; --", "\\", "\"{}\"", "ü€😀", "a\u{1}b\n", "%_*", "{NULL}", "$1"]
    for text in texts {
      var paid = try opened(journal, text)
      try paid.end(1, .failed, at: clock)
      try paid.change(1) { $0.result = ["x": .string(text + "\0")] }
      try journal.update(&paid, 1, note: text, .power)
      let found = try #require(try journal.payment(key(text)))
      #expect(found.reference == text)
      #expect(found.attempt?.result == paid.attempt?.result)
      #expect(try journal.history(of: found).last?.note == text)
      var filter = PaymentFilter()
      filter.handle = text
      if !text.contains("*") { #expect(try journal.counted(filter, upTo: 9) == 1, "\(text)") }
    }
    #expect(try journal.verify() == [])
    var filter = PaymentFilter()
    for (pattern, count) in [("ü*", 1), ("*😀", 1), ("%*", 1), ("*_*", 1), ("\\*", 1), ("*", 8)] {
      filter.handle = pattern
      #expect(try journal.counted(filter, upTo: 99) == count, "\(pattern)")
    }
  }
}

extension Payment {
  /// Records an operation as sent.
  mutating func send(_ sequence: Int, at clock: ManualClock) throws {
    try change(sequence) { operation throws(Fault) in
      let sent = TenderEngine.Operation.State.sent(at: clock.now, moment: clock.moment)
      try operation.move(.send, to: sent, at: clock.now)
    }
  }

  /// Ends an operation.
  mutating func end(
    _ sequence: Int,
    _ state: TenderEngine.Operation.State,
    at clock: ManualClock
  ) throws {
    try change(sequence) {
      $0.state = state
      if state != .waiting(nil) { $0.preparation = nil }
    }
  }

  /// Makes its attempt a hold with what confirms it.
  mutating func hold(
    _ preparation: TenderEngine.Operation.Preparation,
    at clock: ManualClock
  ) throws {
    try end(1, .waiting(nil), at: clock)
    try change(1) {
      $0.kind = .authorize
      $0.preparation = preparation
    }
  }
}
