import Foundation
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

/// A journal that lost entries reports it, and takes no payment until a person has accepted it.
@Suite final class WholenessTests: JournalFolder {
  @Test func `is whole while nothing is lost`() throws {
    for round in 0..<3 {
      let journal = try open()
      try journal.checkWhole()
      #expect(try journal.loss() == nil)
      try pay("A\(round)", journal)
      #expect(try journal.verify() == [])
    }
    #expect(try open().references().sorted() == ["A0", "A1", "A2"])
  }

  @Test func `notices an old copy, and goes on once that is accepted`() throws {
    try pay("A", open())
    try copy(Self.files, from: "state", to: "old")
    try pay("B", open())
    try copy(Self.files, from: "old", to: "state")
    // Every later process reports it, too.
    for _ in 0..<2 {
      let journal = try open()
      #expect(code { try journal.checkWhole() } == "journal_forgot")
      #expect(code { try pay("B", journal) } == "journal_forgot")
      #expect(try journal.verify().count == 1)
      #expect(try journal.references().sorted() == ["A"])
    }
    let journal = try open()
    try journal.accept(reason: "looked at the console", at: clock.now)
    #expect(code { try journal.accept(reason: "again", at: clock.now) } == "nothing_forgotten")
    try pay("C", journal)
    #expect(try open().verify() == [])
    // A copy from before the acceptance is an old one again.
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
        // A journal that still opens must be complete.
        #expect(try journal.references().sorted() == ["A0", "A1", "A2", "A3"], "byte \(position)")
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
    try other.execute("UPDATE payment SET amount = 1 WHERE reference = 'A'")
    let problem = "the stored status or amounts of 'A' do not match its operations"
    #expect(try journal.verify().first == problem)
    try other.execute("UPDATE payment SET amount = 1050 WHERE reference = 'A'")
    #expect(try journal.verify() == [])
    try other.execute("UPDATE event SET note = 'nothing' WHERE line = 2")
    #expect(try journal.verify() == ["line 2 of the history does not follow the one before"])
    try other.execute("UPDATE event SET note = 'sent' WHERE line = 2")
    try other.execute("DELETE FROM event WHERE line = 2")
    #expect(try journal.verify() == ["1 lines of the history are missing"])
  }

  @Test func `keeps whatever a provider calls a payment`() throws {
    let journal = try open()
    let names = [
      "a\u{0}b", "", "\u{0}", "é\u{301}\u{202e}", String(repeating: "x", count: 100_000),
    ]
    for (number, name) in names.enumerated() {
      var written = try journal.open(payment("A\(number)"))
      written.brand = name
      try journal.end(&written, note: name) { $0.id = name }
      #expect(try journal.payment("A\(number)")?.charge.id == name)
      #expect(try journal.history(of: written).last?.note == name)
    }
    #expect(try journal.verify() == [])
  }

  @Test func `stays whole over pruning`() throws {
    let journal = try open()
    try pay("A", journal)
    clock.advance(10_000)
    try pay("B", journal)
    #expect(try journal.prune(before: clock.now, PaymentFilter()) == 1)
    #expect(try journal.verify() == [])
    #expect(try open().verify() == [])
    #expect(try journal.prune(before: clock.now + 1, PaymentFilter()) == 1)
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
    #expect(SQLiteJournal.isVacant(state.path) != isOutside)
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
    for _ in 0..<2 {
      let copied = try open("without")
      copied.reachesOutside()
      #expect(code { try copied.checkWhole() } == "journal_copy")
    }
  }

  @Test func `backs up while it is in use, for its owner alone`() throws {
    let journal = try open()
    try pay("A", journal)
    let reader = try Database(path: state.appending(path: "journal.db").path)
    try reader.execute("BEGIN; SELECT count(*) FROM payment")
    let target = root.appending(path: "copy.db")
    try journal.backUp(to: target.path)
    #expect(code { try journal.backUp(to: target.path) } == "bad_file")
    let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    try reader.execute("COMMIT")
    try pay("B", journal)
    // In its old place it is an old copy without the later payment.
    for name in Self.files { try? FileManager.default.removeItem(at: state.appending(path: name)) }
    try FileManager.default.copyItem(at: target, to: state.appending(path: "journal.db"))
    #expect(code { try open().checkWhole() } == "journal_forgot")
  }

  /// A restricted process detects that the original exists, and cannot read it.
  @Test func `a copy whose original cannot be read is one too`() throws {
    try pay("A", open())
    try copy(Self.files, from: "state", to: "copy")
    for name in Self.files { try? FileManager.default.removeItem(at: state.appending(path: name)) }
    try Data(repeating: 0x5a, count: 4096).write(to: state.appending(path: "journal.db"))
    let copied = try open("copy")
    copied.reachesOutside()
    #expect(code { try copied.checkWhole() } == "journal_copy")
  }

  /// Nothing beside the file shows that it is old: neither its mark, which was restored with it, nor an
  /// original.
  @Test(arguments: [true, false])
  func `a copy is known by its file alone`(_ isPutBack: Bool) throws {
    try pay("A", open())
    let mark = try #require(
      FileManager.default.contentsOfDirectory(atPath: root.path).first { $0.hasSuffix("mark") }
    )
    let marks = [root.appending(path: mark), root.appending(path: "mark of then")]
    try FileManager.default.copyItem(at: marks[0], to: marks[1])
    try copy(Self.files, from: "state", to: "old")
    try pay("B", open())
    let other = isPutBack ? "state" : "elsewhere"
    try FileManager.default.removeItem(at: state)
    try FileManager.default.removeItem(at: marks[0])
    try copy(Self.files, from: "old", to: other)
    if isPutBack { try FileManager.default.moveItem(at: marks[1], to: marks[0]) }
    for _ in 0..<2 {
      let journal = try open(other)
      try journal.checkWhole()
      #expect(try journal.loss()?.fault.code == "journal_copy")
      journal.reachesOutside()
      #expect(code { try pay("B", journal) } == "journal_copy")
    }
    let journal = try open(other)
    journal.reachesOutside()
    try journal.accept(reason: "looked at the console", at: clock.now)
    try pay("B", journal)
    #expect(try open(other).loss() == nil)
    // Moved, it is the same file.
    try FileManager.default.moveItem(
      at: root.appending(path: other),
      to: root.appending(path: "moved")
    )
    #expect(try open("moved").loss() == nil)
  }

  /// A backup in a new folder, or a copy beside its living original.
  @Test(arguments: [true, false])
  func `a copy pays only once it is accepted`(_ isBackup: Bool) throws {
    let original = try open()
    try pay("A", original)
    if isBackup {
      try FileManager.default.createDirectory(
        at: root.appending(path: "copy"),
        withIntermediateDirectories: true
      )
      try original.backUp(to: root.appending(path: "copy/journal.db").path)
    } else {
      try copy(Self.files, from: "state", to: "copy")
    }
    try pay("B", original)
    for _ in 0..<2 {
      // The simulator in this process only gets a warning.
      let simulated = try open("copy")
      #expect(code { try simulated.checkWhole() } == nil)
      #expect(try simulated.loss()?.fault.code == "journal_copy")
      let copied = try open("copy")
      copied.reachesOutside()
      #expect(code { try copied.checkWhole() } == "journal_copy")
      #expect(code { try pay("B", copied) } == "journal_copy")
      #expect(try copied.references() == ["A"])
      #expect(try copied.verify().contains { $0.contains("is a copy") })
    }
    try open("copy").accept(reason: "moved to another machine", at: clock.now)
    for _ in 0..<2 {
      let accepted = try open("copy")
      accepted.reachesOutside()
      try accepted.checkWhole()
      #expect(try accepted.loss() == nil)
      #expect(try accepted.verify() == [])
    }
    try pay("C", open("copy"))
    // The original is not affected.
    let again = try open()
    again.reachesOutside()
    try again.checkWhole()
    #expect(try again.loss() == nil)
    #expect(try again.references().sorted() == ["A", "B"])
  }

  @Test func `a journal that was moved, or is reached by another path, goes on`() throws {
    try pay("A", open())
    try FileManager.default.moveItem(at: state, to: root.appending(path: "moved"))
    try FileManager.default.createSymbolicLink(
      at: root.appending(path: "link"),
      withDestinationURL: root.appending(path: "moved")
    )
    for name in ["moved", "link", "moved"] {
      let journal = try open(name)
      journal.reachesOutside()
      try journal.checkWhole()
      try pay("B" + name + UUID().uuidString, journal)
    }
  }

  @Test func `keeps its mark in a folder of its own, and says where it cannot`() throws {
    let marks = root.appending(path: "marks")
    try FileManager.default.createDirectory(at: marks, withIntermediateDirectories: true)
    func again(_ folder: String) throws -> SQLiteJournal {
      try SQLiteJournal(
        folder: state.path,
        redactor: Redactor(),
        isMarked: true,
        markFolder: root.appending(path: folder).path
      )
    }
    let journal = try again("marks")
    journal.reachesOutside()
    try pay("A", journal)
    #expect(journal.markProblem == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: marks.path).count == 1)
    #expect(!FileManager.default.fileExists(atPath: root.path + "/.state.tender-mark"))
    #expect(try again("gone").markProblem?.contains("cannot write") == true)
    try FileManager.default.removeItem(at: state)
    #expect(SQLiteJournal.isExpected(in: state.path, markFolder: marks.path))
    #expect(!SQLiteJournal.isExpected(in: state.path))
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    #expect(code { try again("marks").checkWhole() } == "journal_forgot")
  }

  @Test(arguments: ["journal.db", "journal.lock", ""])
  func `sends nothing once its files are gone`(_ name: String) throws {
    let journal = try open()
    var written = try journal.open(payment())
    let lock = try journal.lock(
      .init(env: .simulator, provider: written.provider, reference: "A"),
      by: Deadline(in: 0, on: clock),
      interruption: NeverInterrupted()
    )
    try FileManager.default.removeItem(at: name.isEmpty ? state : state.appending(path: name))
    written.send()
    #expect(code { try journal.update(&written, note: "sent") } == "journal_moved")
    withExtendedLifetime(lock) {}
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
    try Database(path: state.appending(path: "journal.db").path).execute("DELETE FROM payment")
    #expect(try journal.verify() == ["1 payments of the history are missing"])
    for path in [state.path + "/copy.db", state.path + "/../state/copy.db", ""] {
      #expect(code { try journal.backUp(to: path) } == "bad_file")
    }
    // A mark that is not a file blocks no command.
    let mark = root.appending(path: ".state.tender-mark").path
    try FileManager.default.removeItem(atPath: mark)
    #expect(unsafe mkfifo(mark, 0o600) == 0)
    #expect(code { try open().checkWhole() } == nil)
  }

  @Test func `tells contents apart that it keeps redacted alike`() throws {
    let journal = try open()
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijklmnop"
    let one: JSONObject = ["metadata": ["note": .string(token)], "amount": 4]
    let other: JSONObject = ["metadata": ["note": .string(token + "q")], "amount": 4]
    let redactor = Redactor()
    try #require(redactor.redact(one) == redactor.redact(other))
    let prints = try journal.fingerprints(of: one, instrument: nil)
    #expect(prints.members.map(\.key) == ["metadata"])
    let again = try open()
    #expect(try again.fingerprints(of: one, instrument: nil) == prints)
    #expect(try again.fingerprints(of: other, instrument: nil) != prints)
    let visa = try again.fingerprints(of: one, instrument: "4111 1111")
    #expect(visa.members.map(\.key) == ["metadata", "instrument"])
    #expect(try again.fingerprints(of: one, instrument: "4242 4242") != visa)
    // Without the key, which is in a separate file, they reveal nothing. Its draft is gone.
    let files = try FileManager.default.contentsOfDirectory(atPath: state.path)
    #expect(files.filter { $0.hasPrefix("journal.key") } == ["journal.key"])
    try FileManager.default.removeItem(at: state.appending(path: "journal.key"))
    #expect(try again.fingerprints(of: one, instrument: nil) != prints)
  }

  @Test(arguments: [
    "DELETE FROM operation WHERE kind = 'refund'",
    "UPDATE operation SET state = 'failed' WHERE kind = 'refund'",
    "UPDATE operation SET amount = 200 WHERE kind = 'refund'",
    "UPDATE observation SET at = 7", "DELETE FROM observation",
    "UPDATE payment SET captured = 7",
  ])
  func `notices where payment, operations and observations differ`(
    _ change: String
  ) throws {
    let journal = try open()
    var written = try pay("A", journal)
    let refund = written.append(Operation(.refund, amount: 300, at: clock.now))
    try written.change(refund) {
      $0.state = .waiting(nil)
      $0.preparation = .plain("{\"amount\":300}")
    }
    var seen = Observation(.lookup, at: clock.now, operation: 1, state: .succeeded)
    seen.providerStatus = "SETTLED"
    written.add(seen)
    try journal.update(&written, refund, note: "refund", .power)
    #expect(try journal.verify() == [])
    try Database(path: state.appending(path: "journal.db").path).execute(change)
    let problems = try journal.verify()
    let problem = "the stored status or amounts of 'A' do not match its operations"
    #expect(problems.first == problem, "\(problems)")
  }

  /// A later version may add a column. Rows of older versions stay valid.
  @Test func `takes a column that is added for no damage`() throws {
    let journal = try open()
    try pay("A", journal)
    let other = try Database(path: state.appending(path: "journal.db").path)
    for table in ["payment", "operation", "event"] {
      try other.execute("ALTER TABLE \(table) ADD COLUMN later TEXT")
    }
    #expect(try open().verify() == [])
    try pay("B", open())
    #expect(try open().verify() == [])
  }
}
