import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Preparations are never in the journal's files in plain text, and those of ended holds go with the log.
@Suite final class SealingTests: JournalFolder, @unchecked Sendable {
  // Unchecked: several threads share only the folder's path.
  private func file(_ name: String) -> URL { state.appending(path: name) }

  private func hold(
    _ reference: String,
    _ secret: String,
    _ journal: SQLiteJournal
  ) throws -> Payment {
    try journal.hold(payment(reference), secret)
  }

  private func end(_ held: Payment, _ journal: SQLiteJournal) throws {
    var held = held
    try journal.end(&held) { $0.preparation = nil }
  }

  private func secret(_ reference: String, _ journal: SQLiteJournal) throws -> String? {
    try journal.payment(reference)?.charge.preparation?.secret
  }

  @Test(arguments: ["plain:{}", "{\"a\":1}", "", "plain:"])
  func `reads a preparation`(_ stored: String) {
    let read = Operation.Preparation(stored: stored)
    #expect(read.stored == stored)
    #expect((read.secret == nil) == stored.hasPrefix("plain:"))
  }

  /// The texts of preparations, as the database has them.
  private func stored() throws -> [String] {
    let database = try Database(path: file("journal.db").path)
    return try database.all("SELECT text FROM preparation").compactMap(\.[0].text)
  }

  @Test func `what a hold needs is sealed, and gone with the log after its end`() throws {
    let secret = "prep-\(UUID().uuidString)"
    let held = try hold("A", secret, try open())
    let other = try open()
    #expect(try self.secret("A", other) == secret)
    #expect(try !contains(secret))
    let sealed = try #require(try stored().first)
    #expect(try contains(sealed))
    try end(held, other)
    #expect(try stored().isEmpty)
    // After each 250 pages a commit does it, and the next ones write over the log.
    _ = try Database(path: file("journal.db").path).first("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try !contains(sealed))
    #expect(try other.verify() == [])
  }

  @Test func `what cannot be opened any more is no preparation`() throws {
    let journal = try open()
    let first = try hold("A", "one", journal)
    try FileManager.default.removeItem(at: file("journal.key"))
    let other = try open()
    #expect(try secret("A", other) == nil)
    _ = try hold("B", "two", other)
    try end(first, other)
    #expect(try secret("B", other) == "two")
    #expect(try other.verify() == [])
  }

  /// Version 0.2.0 sealed each preparation under a key in `journal.seals`.
  @Test(arguments: [true, false])
  func `an upgrade seals what 0.2.0 sealed`(_ hasKeys: Bool) throws {
    for old in OldJournal.released {
      try old.put(into: state)
      let aside = file("journal.seals.aside")
      if !hasKeys { try FileManager.default.moveItem(at: file("journal.seals"), to: aside) }
      let before = try stored()
      #expect(before.contains { $0.hasPrefix("sealed:") })
      var journal = try open()
      if !hasKeys {
        // Keys that were not there at the upgrade are taken up when they are.
        #expect(try journal.payment("HELD")?.charge.preparation == nil)
        try FileManager.default.moveItem(at: aside, to: file("journal.seals"))
        journal = try open()
      }
      let held = try #require(try journal.payment("HELD"))
      #expect(held.charge.preparation?.secret?.contains("session") == true)
      #expect(try !stored().contains { $0.hasPrefix("sealed:") })
      for text in before where text.hasPrefix("sealed:") { #expect(try !contains(text)) }
      #expect(!FileManager.default.fileExists(atPath: file("journal.seals").path))
      #expect(try journal.verify() == [])
    }
  }

  /// Several threads that seal and erase at the same time.
  @Test func `each opens its own, however many come and go`() throws {
    _ = try open()
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        let journal = try open(patience: 60_000)
        for turn in 0..<20 {
          let reference = "\(thread)-\(turn)"
          let held = try hold(reference, "secret of \(reference)", journal)
          if try secret(reference, journal) != "secret of \(reference)" {
            failures.add("\(reference) lost its preparation")
          }
          if turn % 3 != 0 { try end(held, journal) }
        }
      } catch {
        failures.add("\(error)")
      }
    }
    #expect(failures.all == [])
    let journal = try open()
    for thread in 0..<4 {
      for turn in stride(from: 0, to: 20, by: 3) {
        let reference = "\(thread)-\(turn)"
        #expect(try secret(reference, journal) == "secret of \(reference)")
      }
    }
    #expect(try journal.verify() == [])
  }

  private final class Failures: @unchecked Sendable {
    // Unchecked: the lock guards it.
    private let lock = NSLock()
    private var found: [String] = []
    var all: [String] { lock.withLock { found } }
    func add(_ text: String) { lock.withLock { found.append(text) } }
  }
}
