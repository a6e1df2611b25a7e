import Foundation
import Synchronization
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

@Suite final class JournalTests: JournalFolder {
  @Test func `keeps what another process wrote`() throws {
    var written = try open().open(payment())
    written.lastFour = "1111"
    try open().end(&written, .declined) {
      $0.id = "pt-1"
      $0.result = ["type": "X"]
      $0.fault = Fault(.declined, code: "x", "y", hint: "z")
    }
    let other = try open()
    let read = try #require(try other.payments(matching: "pt-1", filter: PaymentFilter()).first)
    #expect(read.reference == "A")
    #expect(read.state.status == .declined)
    #expect(read.charge.result == written.charge.result)
    #expect(read.charge.fault == written.charge.fault)
    #expect(try other.history(of: read).map(\.note) == ["opened", "outcome"])
  }

  @Test func `lets one work on a reference, and frees the lock with its holder`() throws {
    let first = try open()
    let second = try open()
    let provider = ProviderName("paytheory")
    func take(_ journal: SQLiteJournal, _ reference: String) throws -> (any ReferenceLock)? {
      try journal.lock(
        .init(env: .simulator, provider: provider, reference: reference),
        by: Deadline(in: 0, on: clock),
        interruption: NeverInterrupted()
      )
    }
    var held = try take(first, "A")
    #expect(held != nil)
    #expect(try take(second, "A") == nil)
    #expect(try take(second, "B") != nil)
    // A starting process has the descriptors too, until its exec.
    let locks = state.appending(path: "journal.lock").path
    let inode =
      try FileManager.default.attributesOfItem(atPath: locks)[.systemFileNumber] as? UInt64
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    // Tests that run beside this one hold hundreds of descriptors.
    for descriptor in Int32(3)..<min(getdtablesize(), 65_536) {
      var facts = stat()
      guard unsafe fstat(descriptor, &facts) == 0, UInt64(facts.st_ino) == inode else { continue }
      copies.append(dup(descriptor))
    }
    #expect(!copies.isEmpty)
    held = nil
    #expect(try take(second, "A") != nil)
  }

  /// A payment and its operations are read in one state.
  @Test func `reads whole payments beside a writer`() throws {
    let (writer, reader) = (try open(), try open())
    var written = try writer.open(payment("A"))
    written.send()
    try writer.update(&written, note: "sent")
    let isDone = Atomic(false)
    let key = written.key
    let thread = Thread { [written] in
      var written = written
      for number in 0..<400 {
        written.charge.id = "id-\(number)"
        written.updatedAt += 1
        try? writer.update(&written, note: "looked up")
      }
      isDone.store(true, ordering: .releasing)
    }
    thread.start()
    var filter = PaymentFilter()
    filter.handle = "A"
    while !isDone.load(ordering: .acquiring) {
      #expect(try reader.payment(key) != nil)
      #expect(try reader.references(filter) == ["A"])
    }
  }

  @Test func `filters, newest first`() throws {
    let journal = try open()
    for (index, status) in [Operation.State.succeeded, .declined, .succeeded].enumerated() {
      var payment = payment("R\(index)")
      payment.charge.state = status
      payment.charge.amount = 100 * (index + 1)
      payment.createdAt += index * 1000
      _ = try journal.open(payment)
    }
    #expect(try journal.references() == ["R2", "R1", "R0"])
    var filter = PaymentFilter()
    filter.statuses = [.succeeded]
    #expect(try journal.references(filter) == ["R2", "R0"])
    filter.since = clock.now + 1000
    #expect(try journal.references(filter) == ["R2"])
    filter = PaymentFilter()
    filter.amount = .init(minorUnits: 200)
    #expect(try journal.references(filter) == ["R1"])
  }

  /// A line names its writer. A filter for it also narrows the result of an index.
  @Test func `finds by who wrote`() throws {
    for by in ["ann@till1", "ben@till2"] {
      let journal = try SQLiteJournal(folder: state.path, redactor: Redactor(), by: by)
      _ = try journal.open(payment(by))
    }
    let journal = try open()
    for (by, expected) in [("ann@till1", "ann@till1"), ("till2", "ben@till2")] {
      var filter = PaymentFilter()
      filter.by = by
      #expect(try journal.references(filter) == [expected])
      #expect(try journal.count(filter, upTo: .max) == 1)
      filter.handle = "*till*"
      #expect(try journal.references(filter) == [expected])
    }
  }

  @Test func `leaves no byte of what it forgets`() throws {
    let journal = try open()
    for (reference, time) in [("old", 1000), ("young", 2000)] {
      var written = payment(reference)
      written.charge.state = .succeeded
      written.charge.result = ["secret": .string("forget-me-\(reference)")]
      written.updatedAt = time
      _ = try journal.open(written)
    }
    var filter = PaymentFilter()
    filter.env = .live
    #expect(try journal.prune(before: 2000, filter) == 0)
    filter.env = .simulator
    let kept = try #require(try journal.payment("old"))
    #expect(try journal.prune(before: 2000, filter) == 1)
    #expect(try journal.prune(before: 2000, filter) == 0)
    #expect(try journal.history(of: kept).isEmpty)
    #expect(try !contains("forget-me-old"))
    #expect(try contains("forget-me-young"))
  }

  @Test func `gives the pages of what it forgets back`() throws {
    let journal = try open()
    for number in 0..<300 {
      var written = payment("R\(number)")
      written.charge.state = .succeeded
      written.charge.result = ["text": .string(String(repeating: "long ", count: 600))]
      written.updatedAt = number == 299 ? 2000 : 1000
      _ = try journal.open(written)
    }
    let file = state.appending(path: "journal.db")
    _ = try Database(path: file.path).first("PRAGMA wal_checkpoint(TRUNCATE)")
    let before = try Data(contentsOf: file).count
    #expect(before > 900_000)
    #expect(try journal.prune(before: 2000, PaymentFilter()) == 299)
    #expect(try Data(contentsOf: file).count < before / 8)
    #expect(try journal.verify() == [])
    #expect(try journal.payment("R299")?.state.status == .succeeded)
  }

  /// Others can pay in between, and a payment that is used again stays.
  @Test func `forgets in slices, between which others write`() throws {
    let journal = try open()
    for number in 0..<1000 {
      var written = payment("R\(number)")
      written.charge.state = .succeeded
      written.updatedAt = 1000
      _ = try journal.open(written, OpeningTerms(), number == 999 ? .power : .process)
    }
    let database = try Database(path: state.path + "/journal.db", busyTimeout: 2000)
    var largest = 0
    var writes = 0
    let done = DispatchGroup()
    done.enter()
    let path = state.path
    Thread.detachNewThread {
      defer { done.leave() }
      _ = try? SQLiteJournal(folder: path, redactor: Redactor()).prune(
        before: 2000,
        PaymentFilter()
      )
    }
    var before = 1000
    while done.wait(timeout: .now()) == .timedOut || writes == 0 {
      try database.transaction { () throws(Fault) in
        let count = try database.first("SELECT count(*) FROM payment")?.first?.integer ?? 0
        let operations = try database.first("SELECT count(*) FROM operation")?.first?.integer
        #expect(operations == count)
        largest = max(largest, before - count)
        before = count
        writes += 1
      }
      // A writer without a pause locks others out.
      database.pause(milliseconds: 2)
    }
    var old = PaymentFilter()
    old.unneededBefore = 2000
    #expect(try journal.count(old, upTo: .max) == 0)
    let problems = try journal.verify()
    #expect(problems == [], "\(problems)")
    #expect(largest < 1000)
  }

  @Test(arguments: ["garbage", "newer"])
  func `refuses a file that it cannot trust`(_ kind: String) throws {
    let file = state.appending(path: "journal.db")
    if kind == "garbage" {
      try Data(repeating: 0x5a, count: 8192).write(to: file)
    } else {
      _ = try open()
      var bytes = try Data(contentsOf: file)
      // The user version is at offset 60 of a SQLite file, big-endian.
      let wal = state.appending(path: "journal.db-wal")
      try? FileManager.default.removeItem(at: wal)
      bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
      try bytes.write(to: file)
    }
    let fault = #expect(throws: Fault.self) { try open() }
    #expect(fault?.exitStatus == 16)
  }
}
