import Foundation
import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A journal that lost something says so, and sells nothing until somebody has looked after it.
@Suite final class WholenessTests {
  let root: URL
  let clock = ManualClock()

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "whole-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: root.appending(path: "state"),
      withIntermediateDirectories: true
    )
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  var state: URL { root.appending(path: "state") }

  func open(_ name: String = "state") throws -> SQLiteJournal {
    let folder = root.appending(path: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try SQLiteJournal(folder: folder.path, redactor: Redactor(), isMarked: true)
  }

  func attempt(_ reference: String) -> Attempt {
    Attempt(
      env: .simulator,
      provider: ProviderName("paytheory"),
      reference: reference,
      number: 1,
      operation: .transact,
      merchant: "m",
      content: ["command": "transact", "amount": 1050],
      idempotencyKey: "key",
      at: clock.now
    )
  }

  /// Pays under a reference, as far as the journal is concerned.
  @discardableResult func pay(_ reference: String, _ journal: SQLiteJournal) throws -> Attempt {
    var written = try journal.insert(attempt(reference), .process)
    written.phase = .sent
    try journal.update(&written, note: "sent", .power)
    written.phase = .done
    written.status = .succeeded
    try journal.update(&written, note: "outcome", .power)
    return written
  }

  func references(_ journal: SQLiteJournal) throws -> [String] {
    var found: [String] = []
    try journal.each(AttemptFilter()) { attempt in
      found.append(attempt.reference)
      return true
    }
    return found.sorted()
  }

  func code(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? Fault)?.code
    }
  }

  func copy(_ names: [String], from one: String, to other: String) throws {
    let (from, to) = (root.appending(path: one), root.appending(path: other))
    try FileManager.default.createDirectory(at: to, withIntermediateDirectories: true)
    for name in names {
      try? FileManager.default.removeItem(at: to.appending(path: name))
      let source = from.appending(path: name)
      guard FileManager.default.fileExists(atPath: source.path) else { continue }
      try FileManager.default.copyItem(at: source, to: to.appending(path: name))
    }
  }

  static let files = ["journal.db", "journal.db-wal", "journal.db-shm"]

  @Test func `is whole while nothing is lost`() throws {
    for round in 0..<3 {
      let journal = try open()
      try journal.checkWhole()
      try pay("A\(round)", journal)
      #expect(try journal.verify() == [])
    }
    #expect(try references(open()) == ["A0", "A1", "A2"])
  }

  @Test func `notices an old copy, and goes on once that is settled`() throws {
    try pay("A", open())
    try copy(Self.files, from: "state", to: "old")
    try pay("B", open())
    try copy(Self.files, from: "old", to: "state")
    // Not once: every process after it hears the same.
    for _ in 0..<2 {
      let journal = try open()
      #expect(code { try journal.checkWhole() } == "journal_forgot")
      #expect(code { try pay("B", journal) } == "journal_forgot")
      #expect(try journal.verify().count == 1)
      #expect(try references(journal) == ["A"])
    }
    let journal = try open()
    try journal.settleLoss(reason: "looked at the console", at: clock.now)
    #expect(code { try journal.settleLoss(reason: "again", at: clock.now) } == "nothing_forgotten")
    try pay("C", journal)
    #expect(try open().verify() == [])
    // A copy from before that is an old one again.
    try copy(Self.files, from: "old", to: "state")
    #expect(code { try open().checkWhole() } == "journal_forgot")
  }

  @Test func `notices a log of which one byte is another`() throws {
    for number in 0..<4 { try pay("A\(number)", open()) }
    try copy(Self.files, from: "state", to: "good")
    let good = try Data(contentsOf: root.appending(path: "good/journal.db-wal"))
    var noticed = 0
    for position in stride(from: 0, to: good.count, by: good.count / 60) {
      try copy(Self.files, from: "good", to: "state")
      var bad = good
      bad[position] ^= 0x10
      try bad.write(to: state.appending(path: "journal.db-wal"))
      try? FileManager.default.removeItem(at: state.appending(path: "journal.db-shm"))
      let fault = code {
        let journal = try open()
        try journal.checkWhole()
        // What is still there must be all.
        #expect(try references(journal) == ["A0", "A1", "A2", "A3"], "byte \(position)")
      }
      if fault != nil { noticed += 1 }
    }
    #expect(noticed > 50)
  }

  @Test func `notices a row that was changed behind its back`() throws {
    let journal = try open()
    try pay("A", journal)
    try pay("B", journal)
    let other = try Database(path: state.appending(path: "journal.db").path)
    try other.execute("UPDATE attempt SET amount = 1 WHERE reference = 'A'")
    #expect(code { _ = try references(journal) } == "journal_damaged")
    #expect(try journal.verify() == ["the row of 'A' does not match its checksum"])
    try other.execute("UPDATE attempt SET amount = NULL WHERE reference = 'A'")
    #expect(try journal.verify() == [])
    try other.execute("UPDATE history SET note = 'nothing' WHERE line = 2")
    #expect(try journal.verify() == ["line 2 of the history does not follow the one before"])
    try other.execute("UPDATE history SET note = 'sent' WHERE line = 2")
    try other.execute("DELETE FROM history WHERE line = 2")
    #expect(try journal.verify() == ["1 lines of the history are missing"])
  }

  @Test func `keeps whatever a provider calls a payment`() throws {
    let journal = try open()
    let names = [
      "a\u{0}b", "", "\u{0}", "é\u{301}\u{202e}", String(repeating: "x", count: 100_000),
    ]
    for (number, name) in names.enumerated() {
      var written = try journal.insert(attempt("A\(number)"), .process)
      written.id = name
      written.brand = name
      try journal.update(&written, note: name, .power)
      let found = try journal.latest(
        env: .simulator,
        provider: written.provider,
        reference: "A\(number)"
      )
      #expect(found?.id == name)
      #expect(try journal.history(of: written).last?.note == name)
    }
    #expect(try journal.verify() == [])
  }

  @Test func `stays whole over pruning`() throws {
    let journal = try open()
    try pay("A", journal)
    clock.advance(10_000)
    try pay("B", journal)
    #expect(try journal.prune(before: clock.now, AttemptFilter()) == 1)
    #expect(try journal.verify() == [])
    #expect(try open().verify() == [])
    #expect(try journal.prune(before: clock.now + 1, AttemptFilter()) == 1)
    #expect(try open().verify() == [])
    try copy(Self.files, from: "state", to: "empty")
    try pay("C", open())
    try copy(Self.files, from: "empty", to: "state")
    #expect(code { try open().checkWhole() } == "journal_forgot")
  }

  @Test(arguments: [false, true])
  func `notices that its folder was removed, unless its payments went too`(
    _ isOutside: Bool
  ) throws {
    do {
      let journal = try open()
      if isOutside { journal.reachesOutside() }
      try pay("A", journal)
    }
    try FileManager.default.removeItem(at: state)
    #expect(SQLiteJournal.isExpected(in: state.path))
    for _ in 0..<2 {
      #expect(code { try open().checkWhole() } == (isOutside ? "journal_forgot" : nil))
    }
    if !isOutside { try pay("A", open()) }
  }

  @Test func `notices a copy without its log, and takes one with it`() throws {
    try pay("A", open())
    try copy(Self.files, from: "state", to: "with")
    #expect(code { try open("with").checkWhole() } == nil)
    try copy(["journal.db"], from: "state", to: "without")
    for _ in 0..<2 { #expect(code { try open("without").checkWhole() } == "journal_forgot") }
  }

  @Test func `backs up while it is in use, for its owner alone`() throws {
    let journal = try open()
    try pay("A", journal)
    let reader = try Database(path: state.appending(path: "journal.db").path)
    try reader.execute("BEGIN; SELECT count(*) FROM attempt")
    let target = root.appending(path: "copy.db")
    try journal.backUp(to: target.path)
    #expect(code { try journal.backUp(to: target.path) } == "bad_file")
    let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    try reader.execute("COMMIT")
    try pay("B", journal)
    // In another place it is a journal of its own; in its old place it is an old copy.
    try FileManager.default.createDirectory(
      at: root.appending(path: "elsewhere"),
      withIntermediateDirectories: true
    )
    try FileManager.default.copyItem(
      at: target,
      to: root.appending(path: "elsewhere/journal.db")
    )
    let elsewhere = try open("elsewhere")
    try elsewhere.checkWhole()
    #expect(try references(elsewhere) == ["A"])
    try pay("C", elsewhere)
    #expect(code { try open("elsewhere").checkWhole() } == nil)
    for name in Self.files { try? FileManager.default.removeItem(at: state.appending(path: name)) }
    try FileManager.default.copyItem(at: target, to: state.appending(path: "journal.db"))
    #expect(code { try open().checkWhole() } == "journal_forgot")
  }

  @Test(arguments: ["journal.db", "journal.lock", ""])
  func `sends nothing once its files are gone`(_ name: String) throws {
    let journal = try open()
    var written = try journal.insert(attempt("A"), .process)
    let lock = try journal.lock(
      env: .simulator,
      provider: written.provider,
      reference: "A",
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
    try FileManager.default.removeItem(at: name.isEmpty ? state : state.appending(path: name))
    written.phase = .sent
    #expect(code { try journal.update(&written, note: "sent", .power) } == "journal_moved")
    withExtendedLifetime(lock) {}
  }

  @Test func `takes an outcome in later that it could not take at once`() throws {
    let path = state.appending(path: "journal.db").path
    let full = "CREATE TRIGGER full BEFORE UPDATE ON attempt BEGIN SELECT RAISE(ABORT, 'full'); END"
    do {
      let journal = try open()
      var written = try journal.insert(attempt("A"), .process)
      written.preparation = "sealed-preparation"
      written.phase = .sent
      try journal.update(&written, note: "sent", .power)
      try Database(path: path).execute(full)
      written.phase = .done
      written.status = .succeeded
      written.id = "pt-1"
      written.preparation = nil
      #expect(throws: Fault.self) { try journal.update(&written, note: "outcome", .power) }
      try journal.setAside(&written, note: "outcome")
    }
    func found(_ journal: SQLiteJournal) throws -> Attempt? {
      try journal.latest(env: .simulator, provider: ProviderName("paytheory"), reference: "A")
    }
    // Others see it while the database still cannot take it.
    let early = try #require(try found(open()))
    #expect(early.status == .succeeded)
    #expect(early.phase == .done)
    #expect(try Database(path: path).first("SELECT phase FROM attempt")?.first?.text == "sent")
    try Database(path: path).execute("DROP TRIGGER full")
    let journal = try open()
    #expect(try Database(path: path).first("SELECT phase FROM attempt")?.first?.text == "done")
    #expect(try found(journal)?.id == "pt-1")
    #expect(try found(journal)?.preparation == nil)
    #expect(try journal.history(of: early).map(\.note) == ["opened", "sent", "outcome"])
    #expect(try journal.verify() == [])
    // Its room is free again, and what was in it is not taken in twice.
    var next = try #require(try found(journal))
    next.status = .refunded
    try journal.update(&next, note: "looked up", .power)
    #expect(try found(open())?.status == .refunded)
    let head = try FileHandle(forReadingFrom: state.appending(path: "journal.aside"))
    #expect(try head.read(upToCount: 1) == Data([0]))
  }

  @Test func `whoever waited for a reference sees what was set aside meanwhile`() throws {
    let early = try open()
    let path = state.appending(path: "journal.db").path
    let journal = try open()
    var written = try journal.insert(attempt("A"), .process)
    written.phase = .sent
    try journal.update(&written, note: "sent", .power)
    try Database(path: path).execute(
      "CREATE TRIGGER full BEFORE UPDATE ON attempt BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    written.phase = .done
    written.status = .succeeded
    try journal.setAside(&written, note: "outcome")
    // Nothing more is written over it, and it is not lost to another that is set aside.
    var next = written
    next.status = .refunded
    #expect(throws: Fault.self) { try journal.update(&next, note: "looked up", .power) }
    func found(_ journal: SQLiteJournal) throws -> Attempt? {
      try journal.latest(env: .simulator, provider: ProviderName("paytheory"), reference: "A")
    }
    #expect(try found(early)?.phase == .sent)
    let lock = try early.lock(
      env: .simulator,
      provider: ProviderName("paytheory"),
      reference: "A",
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
    #expect(lock != nil)
    #expect(try found(early)?.status == .succeeded)
    try Database(path: path).execute("DROP TRIGGER full")
    try journal.update(&next, note: "looked up", .power)
    #expect(try found(open())?.status == .refunded)
    #expect(try open().verify() == [])
  }

  @Test func `an old copy does not take what was set aside away`() throws {
    do {
      // Its process is gone afterwards, and holds no room any more.
      let journal = try open()
      try copy(Self.files, from: "state", to: "old")
      var written = try journal.insert(attempt("A"), .process)
      written.phase = .sent
      try journal.update(&written, note: "sent", .power)
      try copy(Self.files, from: "state", to: "new")
      written.phase = .done
      written.status = .succeeded
      try journal.setAside(&written, note: "outcome")
    }
    for name in ["old", "new"] {
      try copy(Self.files, from: name, to: "state")
      _ = try open()
    }
    let found = try open().attempts(matching: "A", filter: AttemptFilter())
    #expect(found.map(\.status) == [.succeeded])
  }

  @Test func `knows its mark where the folder was moved with it`() throws {
    let journal = try open()
    journal.reachesOutside()
    try pay("A", journal)
    try copy(Self.files, from: "state", to: "old")
    try pay("B", journal)
    let moved = root.deletingLastPathComponent().appending(path: "moved-\(UUID().uuidString)")
    try FileManager.default.moveItem(at: root, to: moved)
    defer { try? FileManager.default.removeItem(at: moved) }
    func again() throws -> SQLiteJournal {
      try SQLiteJournal(
        folder: moved.appending(path: "state").path,
        redactor: Redactor(),
        isMarked: true
      )
    }
    try again().checkWhole()
    #expect(try again().verify() == [])
    for name in Self.files {
      let place = moved.appending(path: "state/" + name)
      try FileManager.default.removeItem(at: place)
      try FileManager.default.copyItem(at: moved.appending(path: "old/" + name), to: place)
    }
    #expect(code { try again().checkWhole() } == "journal_forgot")
  }

  @Test func `misses a row that its history has, and keeps its folder to itself`() throws {
    let journal = try open()
    try pay("A", journal)
    try Database(path: state.appending(path: "journal.db").path).execute("DELETE FROM attempt")
    #expect(try journal.verify() == ["1 attempts of the history are missing"])
    for path in [state.path + "/copy.db", state.path + "/../state/copy.db", ""] {
      #expect(code { try journal.backUp(to: path) } == "bad_file")
    }
    // A mark that is no file holds nobody up.
    let mark = root.appending(path: ".state.tender-mark").path
    try FileManager.default.removeItem(atPath: mark)
    #expect(unsafe mkfifo(mark, 0o600) == 0)
    #expect(code { try open().checkWhole() } == nil)
  }

  @Test func `has room for as many at once as there are, each its own`() throws {
    let journals = try (0..<20).map { _ in try open() }
    var attempts: [Attempt] = []
    for (number, journal) in journals.enumerated() {
      var written = try journal.insert(attempt("A\(number)"), .process)
      written.phase = .sent
      try journal.update(&written, note: "sent", .power)
      attempts.append(written)
    }
    for (number, journal) in journals.enumerated() {
      attempts[number].phase = .done
      attempts[number].id = "pt-\(number)"
      try journal.setAside(&attempts[number], note: "outcome")
    }
    let journal = try open()
    for number in 0..<20 {
      let found = try journal.attempts(matching: "pt-\(number)", filter: AttemptFilter())
      #expect(found.map(\.reference) == ["A\(number)"])
    }
  }

  @Test func `tells contents apart that it keeps redacted alike`() throws {
    let journal = try open()
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijklmnop"
    let one: JSONObject = ["metadata": ["note": .string(token)], "amount": 4]
    let other: JSONObject = ["metadata": ["note": .string(token + "q")], "amount": 4]
    let redactor = Redactor()
    try #require(redactor.redact(one) == redactor.redact(other))
    let prints = try journal.fingerprints(of: one)
    #expect(prints.members.map(\.key) == ["metadata"])
    var written = attempt("A")
    written.content = one
    written.fingerprints = prints
    written.phase = .done
    written.status = .succeeded
    _ = try journal.insert(written, .power)
    let again = try open()
    let kept = try again.latest(env: .simulator, provider: written.provider, reference: "A")
    func decide(_ content: JSONObject) throws -> Decision {
      Decision(
        latest: kept,
        content: content,
        fingerprints: try again.fingerprints(of: content),
        newAttempt: false
      )
    }
    guard case .replay = try decide(one) else { throw Fault(.internal, code: "t", "not the same") }
    guard case .refuse = try decide(other) else { throw Fault(.internal, code: "t", "the same") }
    // Without the key, which lies in a file of its own, they tell nothing.
    try FileManager.default.removeItem(at: state.appending(path: "journal.key"))
    #expect(try again.fingerprints(of: one) != prints)
  }
}
