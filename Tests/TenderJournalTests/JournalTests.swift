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

@Suite final class JournalTests {
  let folder: URL
  let clock = ManualClock()

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func attempt(_ reference: String = "A", number: Int = 1) -> Attempt {
    .payment(reference, number: number, at: clock.now)
  }

  @Test func `keeps what another process wrote`() throws {
    var written = try SQLiteJournal(folder: folder.path, redactor: Redactor()).insert(
      attempt(),
      .process
    )
    written.phase = .done
    written.status = .declined
    written.id = "pt-1"
    written.lastFour = "1111"
    written.result = ["type": "X"]
    written.fault = Fault(.declined, code: "x", "y", hint: "z")
    try SQLiteJournal(folder: folder.path, redactor: Redactor()).update(
      &written,
      note: "outcome",
      .power
    )
    let other = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    let read = try #require(try other.attempts(matching: "pt-1", filter: AttemptFilter()).first)
    #expect(read.reference == "A")
    #expect(read.status == .declined)
    #expect(read.result == written.result)
    #expect(read.fault == written.fault)
    #expect(try other.history(of: read).map(\.note) == ["opened", "outcome"])
  }

  func latest(_ reference: String, _ journal: SQLiteJournal) throws -> Attempt? {
    let own = attempt(reference)
    return try journal.latest(.init(env: own.env, provider: own.provider, reference: reference))
  }

  func contains(_ text: String) throws -> Bool {
    for name in ["journal.db", "journal.db-wal", "journal.db-shm", "journal.seals"] {
      let url = folder.appending(path: name)
      guard let bytes = try? Data(contentsOf: url) else { continue }
      if bytes.range(of: Data(text.utf8)) != nil { return true }
    }
    return false
  }

  @Test func `lets one work on a reference, and frees the lock with its holder`() throws {
    let first = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    let second = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    let provider = ProviderName("paytheory")
    func take(_ journal: SQLiteJournal, _ reference: String) throws -> (any AttemptLock)? {
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
    // A program that is being started has the descriptors too, until it is another program.
    let locks = folder.appending(path: "journal.lock").path
    let inode =
      try FileManager.default.attributesOfItem(atPath: locks)[.systemFileNumber] as? UInt64
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    for descriptor in Int32(3)..<256 {
      var facts = stat()
      guard unsafe fstat(descriptor, &facts) == 0, UInt64(facts.st_ino) == inode else { continue }
      copies.append(dup(descriptor))
    }
    #expect(!copies.isEmpty)
    held = nil
    #expect(try take(second, "A") != nil)
  }

  @Test func `filters, newest first`() throws {
    let journal = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    for (index, status) in [Status.succeeded, .declined, .succeeded].enumerated() {
      var attempt = attempt("R\(index)")
      attempt.phase = .done
      attempt.status = status
      attempt.amount = 100 * (index + 1)
      attempt.createdAt += index * 1000
      _ = try journal.insert(attempt, .process)
    }
    func found(_ filter: AttemptFilter) throws -> [String] {
      var references: [String] = []
      try journal.each(filter) { attempt in
        references.append(attempt.reference.text)
        return true
      }
      return references
    }
    #expect(try found(AttemptFilter()) == ["R2", "R1", "R0"])
    var filter = AttemptFilter()
    filter.statuses = [.succeeded]
    #expect(try found(filter) == ["R2", "R0"])
    filter.since = clock.now + 1000
    #expect(try found(filter) == ["R2"])
    filter = AttemptFilter()
    filter.amount = 200
    #expect(try found(filter) == ["R1"])
  }

  @Test func `forgets what is old and final, and only that`() throws {
    let journal = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    func write(
      _ reference: String,
      _ status: Status,
      number: Int = 1,
      updated: Int = 1000,
      change: (inout Attempt) -> Void = { _ in }
    ) throws {
      var written = try journal.insert(attempt(reference, number: number), .process)
      written.phase = .done
      written.status = status
      written.result = ["secret": .string("forget-me-\(reference)")]
      written.updatedAt = updated
      change(&written)
      try journal.update(&written, note: "outcome", .power)
    }
    try write("paid", .succeeded)
    try write("declined", .declined)
    try write("declined", .succeeded, number: 2)
    try write("young", .succeeded, updated: 2000)
    try write("retried", .declined)
    try write("retried", .pending, number: 2)
    try write("held", .requiresConfirmation)
    try write("waiting", .pending)
    try write("unknown", .succeeded) { $0.phase = .sent }
    try write("retryable", .failed) { $0.nextAction = PayerAction("retry") }
    try write("mandate", .authorized) { $0.kind = .mandate }
    try write("revoked", .revoked) { $0.kind = .mandate }
    try write("live", .succeeded) {
      $0.key = .init(env: .live, provider: $0.provider, reference: $0.reference)
    }

    var filter = AttemptFilter()
    filter.env = .simulator
    let kept = try journal.attempts(matching: "paid", filter: filter)
    #expect(try journal.prunable(before: 2000, filter) == 4)
    #expect(try journal.prune(before: 2000, filter) == 4)
    #expect(try journal.prune(before: 2000, filter) == 0)
    var left = Set<String>()
    try journal.each(AttemptFilter()) { left.insert($0.reference.text).inserted || true }
    #expect(
      left == [
        "young", "retried", "held", "waiting", "unknown", "retryable", "mandate", "live",
      ]
    )
    #expect(try journal.history(of: try #require(kept.first)).isEmpty)
    #expect(try !contains("forget-me-paid"))
    #expect(try contains("forget-me-young"))
  }

  @Test func `gives the pages of what it forgets back`() throws {
    let journal = try SQLiteJournal(folder: folder.path, redactor: Redactor())
    for number in 0..<300 {
      var written = try journal.insert(attempt("R\(number)"), .process)
      written.phase = .done
      written.status = .succeeded
      written.result = ["text": .string(String(repeating: "long ", count: 600))]
      written.updatedAt = number == 299 ? 2000 : 1000
      try journal.update(&written, note: "outcome", .process)
    }
    _ = try Database(path: folder.path + "/journal.db").first("PRAGMA wal_checkpoint(TRUNCATE)")
    func size() throws -> Int {
      try Data(contentsOf: folder.appending(path: "journal.db")).count
    }
    let before = try size()
    #expect(before > 900_000)
    #expect(try journal.prune(before: 2000, AttemptFilter()) == 299)
    #expect(try size() < before / 8)
    #expect(try journal.verify() == [])
    #expect(try latest("R299", journal)?.status == .succeeded)
  }

  /// Whoever pays meanwhile is not locked out, a reference goes whole, and one that is used again stays.
  @Test func `forgets in slices, between which others write`() throws {
    let journal = try SQLiteJournal(folder: folder.path, redactor: Redactor(), isMarked: true)
    defer { try? FileManager.default.removeItem(at: Self.mark(of: folder)) }
    for number in 0..<1000 {
      var written = try journal.insert(attempt("R\(number / 2)", number: number % 2 + 1), .process)
      written.phase = .done
      written.status = .succeeded
      written.updatedAt = 1000
      try journal.update(&written, note: "outcome", number == 999 ? .power : .process)
    }
    let database = try Database(path: folder.path + "/journal.db", busyTimeout: 2000)
    var largest = 0
    var writes = 0
    let done = DispatchGroup()
    done.enter()
    let path = folder.path
    Thread.detachNewThread {
      defer { done.leave() }
      _ = try? SQLiteJournal(folder: path, redactor: Redactor()).prune(
        before: 2000,
        AttemptFilter()
      )
    }
    var before = 1000
    while done.wait(timeout: .now()) == .timedOut || writes == 0 {
      try database.transaction { () throws(Fault) in
        let count = try database.first("SELECT count(*) FROM attempt")?.first?.integer ?? 0
        let halves = try database.first(
          "SELECT count(*) FROM (SELECT 1 FROM attempt GROUP BY reference HAVING count(*) = 1)"
        )
        #expect(halves?.first?.integer == 0)
        largest = max(largest, before - count)
        before = count
        writes += 1
      }
      // Whoever writes without a pause locks others out.
      database.pause(milliseconds: 2)
    }
    #expect(try journal.prunable(before: 2000, AttemptFilter()) == 0)
    let problems = try journal.verify()
    #expect(problems == [], "\(problems)")
    #expect(largest < 1000)
  }

  /// The tables of version 2; version 1 called `kind` `token`.
  static let version2 = """
    CREATE TABLE attempt (
      row INTEGER PRIMARY KEY, env TEXT NOT NULL, provider TEXT NOT NULL, reference TEXT NOT NULL,
      number INTEGER NOT NULL, operation TEXT NOT NULL, phase TEXT NOT NULL, status TEXT NOT NULL,
      freed INTEGER NOT NULL, kind INTEGER NOT NULL, id TEXT, amount INTEGER, requested INTEGER,
      currency TEXT, last_four TEXT, brand TEXT, merchant TEXT NOT NULL, content TEXT NOT NULL,
      key TEXT NOT NULL, result TEXT NOT NULL, reversal TEXT, next_action TEXT, fault TEXT,
      created INTEGER NOT NULL, updated INTEGER NOT NULL, sent INTEGER,
      UNIQUE (reference, provider, env, number)
    );
    CREATE TABLE preparation (row INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE TABLE history (
      attempt INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL,
      phase TEXT NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL,
      PRIMARY KEY (attempt, number)
    ) WITHOUT ROWID
    """

  /// What version 3 changed.
  static let version3 = """
    ALTER TABLE attempt ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE attempt ADD COLUMN prints TEXT;
    ALTER TABLE attempt ADD COLUMN moment TEXT;
    ALTER TABLE attempt ADD COLUMN sum TEXT;
    ALTER TABLE history RENAME TO earlier;
    CREATE TABLE history (
      line INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, at INTEGER NOT NULL,
      phase TEXT NOT NULL, status TEXT NOT NULL, note TEXT NOT NULL, sum TEXT, link TEXT
    );
    CREATE INDEX history_of_attempt ON history (attempt);
    CREATE TABLE journal (name TEXT NOT NULL, forgotten INTEGER NOT NULL, loss TEXT);
    INSERT INTO journal (name, forgotten) VALUES ('0123456789abcdef0123456789abcdef', 0);
    INSERT INTO history (attempt, at, phase, status, note)
      SELECT attempt, at, phase, status, note FROM earlier ORDER BY at, attempt, number;
    DROP TABLE earlier
    """

  @Test(arguments: [1, 2, 3])
  func `takes over what an older version wrote`(_ version: Int) throws {
    do {
      let old = try Database(path: folder.appending(path: "journal.db").path)
      try old.useLog()
      try old.execute(Self.version2)
      if version == 1 { try old.execute("ALTER TABLE attempt RENAME COLUMN kind TO token") }
      for (row, reference) in ["paid", "token", "held"].enumerated() {
        try old.execute(
          """
          INSERT INTO attempt VALUES (\(row + 1), 'simulator', 'paytheory', '\(reference)', 1,
            'transact', 'done', '\(reference == "held" ? "requires_confirmation" : "succeeded")', 0,
            \(reference == "token" ? 1 : 0), 'pt-\(reference)', 1050, NULL, 'USD', '1111', 'VISA',
            'm', '{"amount":1050,"payor":{"email":"\(reference)@example.com"}}', 'key', '{}', NULL, NULL, NULL, 1, 2, 3);
          INSERT INTO history VALUES (\(row + 1), 0, 1, 'prepared', 'pending', 'opened'),
            (\(row + 1), 1, 2, 'done', 'succeeded', 'outcome')
          """
        )
      }
      try old.execute("INSERT INTO preparation VALUES (3, 'sealed')")
      if version == 3 { try old.execute(Self.version3) }
      try old.execute("PRAGMA user_version = \(version)")
    }
    // Twice: the second finds it done.
    for turn in 0..<2 {
      let journal = try SQLiteJournal(folder: folder.path, redactor: Redactor(), isMarked: true)
      try journal.checkWhole()
      let found = try ["paid", "token", "held"].map { reference in
        try #require(try journal.attempts(matching: reference, filter: AttemptFilter()).first)
      }
      #expect(found.map(\.kind) == [.payment, .token, .payment])
      var searched = AttemptFilter()
      searched.customer = "Token@"
      #expect(try journal.count(searched, upTo: .max) == 1)
      #expect(found.map(\.id) == ["pt-paid", "pt-token", "pt-held"])
      #expect(found.map(\.amount) == [1050, 1050, 1050])
      #expect(found.map(\.preparation?.text) == [nil, nil, turn == 0 ? "sealed" : nil])
      #expect(try journal.history(of: found[0]).prefix(2).map(\.note) == ["opened", "outcome"])
      guard turn == 0 else { continue }
      var held = found[2]
      held.preparation = nil
      held.status = .succeeded
      try journal.update(&held, note: "captured", .power)
      #expect(try journal.history(of: held).map(\.note) == ["opened", "outcome", "captured"])
      #expect(try journal.verify() == [])
    }
    try? FileManager.default.removeItem(at: Self.mark(of: folder))
  }

  /// The mark of a state folder, beside it.
  static func mark(of folder: URL) -> URL {
    let whole = folder.resolvingSymlinksInPath()
    return whole.deletingLastPathComponent()
      .appending(path: ".\(whole.lastPathComponent).tender-mark")
  }

  @Test(arguments: ["garbage", "newer"])
  func `refuses a file that it cannot trust`(_ kind: String) throws {
    let file = folder.appending(path: "journal.db")
    if kind == "garbage" {
      try Data(repeating: 0x5a, count: 8192).write(to: file)
    } else {
      _ = try SQLiteJournal(folder: folder.path, redactor: Redactor())
      var bytes = try Data(contentsOf: file)
      // The user version stands at offset 60 of a SQLite file, big-endian.
      let wal = folder.appending(path: "journal.db-wal")
      try? FileManager.default.removeItem(at: wal)
      bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
      try bytes.write(to: file)
    }
    let fault = #expect(throws: Fault.self) {
      try SQLiteJournal(folder: folder.path, redactor: Redactor())
    }
    #expect(fault?.exitStatus == 16)
  }
}
