import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import Testing

/// Preparations are never in the journal's files in plain text, and are gone with their keys.
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

  /// The number of keys in the file.
  private func keys() throws -> Int {
    let bytes = [UInt8](try Data(contentsOf: file("journal.seals")))
    #expect(bytes.count % 64 == 0)
    return stride(from: 0, to: bytes.count, by: 64).count { start in
      bytes[start..<start + 64].contains { $0 != 0 }
    }
  }

  @Test(arguments: ["plain:{}", "{\"a\":1}", "", "plain:"])
  func `reads a preparation`(_ stored: String) {
    let read = Operation.Preparation(stored: stored)
    #expect(read.stored == stored)
    #expect((read.secret == nil) == stored.hasPrefix("plain:"))
  }

  @Test func `a preparation is never in the files, and its outcome takes its key away`() throws {
    let secret = "prep-\(UUID().uuidString)"
    let held = try hold("A", secret, try open())
    let other = try open()
    #expect(try self.secret("A", other) == secret)
    for name in Self.files + ["journal.seals"] {
      let bytes = try Data(contentsOf: file(name))
      #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
    }
    let before = try keys()
    // The files are copied while the payment is held.
    try copy(Self.files, from: "state", to: "copied")
    try end(held, other)
    #expect(try keys() == before - 1)
    try copy(["journal.seals"], from: "state", to: "copied")
    let copied = try SQLiteJournal(
      folder: root.appending(path: "copied").path,
      redactor: Redactor()
    )
    #expect(try self.secret("A", copied) == nil)
    #expect(try copied.payments(matching: "A", filter: PaymentFilter()).count == 1)
    #expect(try other.verify() == [])
  }

  /// The process was killed between the outcome and the destruction of the key, or a power failure restored
  /// the key.
  @Test func `the next command destroys a key that was left`() throws {
    let journal = try open()
    let held = try hold("A", "prep", journal)
    let before = try Data(contentsOf: file("journal.seals"))
    try end(held, journal)
    let count = try keys()
    let handle = try FileHandle(forWritingTo: file("journal.seals"))
    try handle.write(contentsOf: before)
    try handle.close()
    #expect(try keys() == count + 1)
    _ = try open()
    #expect(try keys() == count)
  }

  @Test func `what cannot be opened any more is no preparation, and its place is used again`()
    throws
  {
    let journal = try open()
    let first = try hold("A", "one", journal)
    try FileManager.default.removeItem(at: file("journal.seals"))
    let other = try open()
    #expect(try secret("A", other) == nil)
    _ = try hold("B", "two", other)
    try end(first, other)
    #expect(try secret("B", other) == "two")
    #expect(try other.verify() == [])
  }

  @Test func `a key that is used up is never taken again, whatever an old copy says`() throws {
    let journal = try open()
    _ = try hold("A", "one", journal)
    try copy(Self.files, from: "state", to: "copied")
    let second = try hold("B", "two", journal)
    try end(second, journal)
    try copy(["journal.seals"], from: "state", to: "copied")
    // It treats the key of B as new, because nothing of B is left.
    let copied = try SQLiteJournal(
      folder: root.appending(path: "copied").path,
      redactor: Redactor()
    )
    _ = try hold("C", "three", copied)
    #expect(try secret("A", copied) == "one")
    #expect(try secret("C", copied) == "three")
  }

  /// More preparations than keys at once, by several threads that create and destroy them at the same time.
  @Test func `each opens its own, however many come and go`() throws {
    _ = try open()
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        let journal = try open(patience: 60_000)
        for turn in 0..<60 {
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
      for turn in stride(from: 0, to: 60, by: 3) {
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
