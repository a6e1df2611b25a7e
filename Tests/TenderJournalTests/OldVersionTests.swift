import Foundation
import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel
import Testing

/// Files of versions 1 to 6 are taken over: what was held, lost, refunded in parts or declined goes on.
@Suite final class OldVersionTests: JournalFolder {
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

  private var path: String { state.appending(path: "journal.db").path }

  @Test(arguments: [1, 2, 3])
  func `takes over what an older version wrote`(_ version: Int) throws {
    do {
      let old = try Database(path: path)
      try old.useLog()
      try old.execute(Self.version2)
      if version == 1 { try old.execute("ALTER TABLE attempt RENAME COLUMN kind TO token") }
      for (row, reference) in ["paid", "token", "held"].enumerated() {
        try old.execute(
          """
          INSERT INTO attempt VALUES (\(row + 1), 'simulator', 'paytheory', '\(reference)', 1,
            'transact', 'done', '\(reference == "held" ? "requires_confirmation" : "succeeded")', 0,
            \(reference == "token" ? 1 : 0), 'pt-\(reference)', 1050, NULL, 'USD', '1111', 'VISA',
            'm', '{"amount":1050,"fee_mode":"merchant_fee","payor":{"email":"\(reference)@example.com"}}',
            'key', '{}', NULL, NULL, NULL, 1, 2, 3);
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
      let journal = try open()
      try journal.checkWhole()
      let found = try ["paid", "token", "held"].map { reference in
        try #require(try journal.payment(reference))
      }
      #expect(found.map(\.kind) == [.payment, .storedMethod, .payment])
      #expect(found.map(\.charge.kind) == [.charge, .store, .authorize])
      var searched = PaymentFilter()
      searched.customer = "Token@"
      #expect(try journal.count(searched, upTo: .max) == 1)
      #expect(found.map(\.state.id) == ["pt-paid", "pt-token", "pt-held"])
      #expect(found.map(\.state.amount) == [1050, 1050, 1050])
      #expect(found.map(\.charge.preparation?.text) == [nil, nil, turn == 0 ? "sealed" : nil])
      let history = try journal.history(of: found[0])
      #expect(history.map(\.note) == ["opened", "outcome"])
      #expect(history.map(\.operation) == ["charge 1", "charge 1"])
      // There is no mark before the first write.
      #expect(try journal.verify().filter { !$0.hasPrefix("there is no mark") } == [])
      guard turn == 0 else { continue }
      var held = found[2]
      try journal.end(&held, note: "captured") { $0.preparation = nil }
      #expect(try journal.history(of: held).map(\.note) == ["opened", "outcome", "captured"])
      #expect(try journal.verify() == [])
    }
  }

  /// Preparations of version 4 were not sealed, and are erased.
  @Test func `erases a preparation of version 4 so that no byte of it is left`() throws {
    let secret = "prep-\(UUID().uuidString)"
    try holdByVersion4(secret)
    #expect(try contains(secret))
    let journal = try open()
    var held = try #require(try journal.payment("A"))
    #expect(held.charge.preparation?.secret?.hasPrefix(secret) == true)
    // Others come and go meanwhile.
    for number in 0..<20 { _ = try journal.open(payment("B\(number)")) }
    try journal.end(&held) { $0.preparation = nil }
    #expect(try !contains(secret))
  }

  @Test func `leaves the erasing to the next command while another reads`() throws {
    let secret = "prep-\(UUID().uuidString)"
    try holdByVersion4(secret)
    let journal = try open()
    var held = try #require(try journal.payment("A"))
    let reader = try Database(path: path)
    try reader.execute("BEGIN")
    _ = try reader.first("SELECT count(*) FROM payment")
    // The outcome is written in spite of readers.
    try journal.end(&held) { $0.preparation = nil }
    #expect(try journal.payment("A")?.charge.state == .succeeded)
    #expect(try contains(secret))
    #expect(try open().count() == 1)
    #expect(try contains(secret))
    try reader.execute("COMMIT")
    _ = try open()
    #expect(try !contains(secret))
    #expect(!FileManager.default.fileExists(atPath: state.path + "/journal.erase"))
  }

  /// A held attempt in a file of version 4.
  private func holdByVersion4(_ secret: String) throws {
    let file = try Database(path: path)
    try file.useLog()
    try file.execute(Self.version2 + ";" + Self.version3 + "; PRAGMA user_version = 4")
    try file.query(
      """
      INSERT INTO attempt (row, env, provider, reference, number, operation, phase, status, freed, kind, amount,
        merchant, content, key, result, created, updated)
      VALUES (1, 'simulator', 'paytheory', 'A', 1, 'transact', 'done', 'requires_confirmation', 0, 0,
        1050, 'm', '{"amount":1050,"fee_mode":"merchant_fee"}', 'k', '{}', 1, 1)
      """
    )
    try file.query(
      "INSERT INTO preparation VALUES (1, ?)",
      [.text(String(repeating: secret, count: 200))]
    )
  }

  /// A damaged row of an old file is taken over, and still refused.
  @Test func `a row that was damaged before stays refused`() throws {
    try holdByVersion4("x")
    try Database(path: path).execute("UPDATE attempt SET sum = 'another'")
    let journal = try open()
    #expect(code { _ = try journal.payment("A") } == "journal_damaged")
    #expect(try journal.verify().first == "the row of 'A' does not match its checksum")
  }
}
