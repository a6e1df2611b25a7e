import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// What the journal costs, how a batch compares with a process for each payment, and how long a
/// look-up takes when the journal is large.
enum JournalBench {
  static func run(_ tender: String, _ folder: String, _ rounds: Int) {
    // The journal is refused where others can read it.
    umask(0o077)
    _ = unsafe mkdir(folder, 0o700)
    do {
      try cost(folder + "/cost")
      batch(tender, folder)
      try lookUp(tender, folder, rounds)
    } catch {
      print("bench: \(error)")
      exit(1)
    }
  }

  private static func journal(_ folder: String) throws -> SQLiteJournal {
    _ = unsafe mkdir(folder, 0o700)
    return try SQLiteJournal(folder: folder, redactor: Redactor())
  }

  private static func attempt(_ reference: String) -> Attempt {
    var attempt = Attempt(
      key: .init(
        env: .simulator,
        provider: ProviderName("paytheory"),
        reference: Reference(stored: reference)
      ),
      number: 1,
      operation: .transact,
      merchant: "merchant",
      content: ["command": "transact", "amount": 1050, "currency": "USD"],
      idempotencyKey: "f316bfd2-cf4c-8a3c-aa8b-1400eca6f872",
      at: 1_800_000_000_000
    )
    attempt.amount = 1050
    attempt.currency = Currency(code: "USD")
    return attempt
  }

  /// The three writes of a payment: opened, sent, its outcome; the last two on the disk each.
  private static func cost(_ folder: String) throws {
    let journal = try journal(folder)
    var times: [Double] = []
    for number in 0..<200 {
      let start = now()
      var attempt = try journal.insert(attempt("R\(number)"), .process)
      attempt.phase = .sent
      try journal.update(&attempt, note: "sent", .power)
      attempt.phase = .done
      attempt.status = .succeeded
      attempt.result = ["type": "PT_COMPLETE", "body": ["receipt_number": "pt-1", "amount": 1050]]
      try journal.update(&attempt, note: "outcome", .power)
      times.append(now() - start)
    }
    print(
      "the journal's part of a payment: \(Bench.decimal(Bench.median(times))) ms (200 payments)"
    )
  }

  /// A thousand payments: one batch, and a process for each of them, four at once either way.
  private static func batch(_ tender: String, _ folder: String) {
    let lines = (0..<1000).map { number in
      """
      {"command":"transact","reference":"B\(number)","amount":"10.50","test_card":"visa"}
      """
    }
    put(lines.joined(separator: "\n"), folder + "/lines.jsonl")
    put((0..<1000).map { "X\($0)" }.joined(separator: "\n"), folder + "/names.txt")
    var contestants = [
      Bench.Contestant(
        name: "tender batch --jobs 4, 1,000",
        arguments: [
          tender, "batch", folder + "/lines.jsonl", "--jobs", "4", "--state-dir", folder + "/batch",
        ],
        target: nil
      ),
      Bench.Contestant(
        name: "xargs -P4 tender transact, 1,000",
        arguments: [
          "/usr/bin/xargs", "-P4", "-I{}", tender, "transact", "--amount", "10.50", "--test-card",
          "visa", "--json", "--state-dir", folder + "/each", "--reference", "{}",
        ],
        target: nil,
        input: folder + "/names.txt"
      ),
    ]
    Bench.race(&contestants, 1, warmUp: 0)
    Bench.report(contestants, 1)
  }

  /// One attempt by its reference, among a thousand and among a million.
  private static func lookUp(_ tender: String, _ folder: String, _ rounds: Int) throws {
    for (name, count) in [("/thousand", 1000), ("/million", 1_000_000)] {
      let journal = try journal(folder + name)
      _ = try journal.insert(attempt("FIRST"), .process)
      let database = try Database(path: folder + name + "/journal.db")
      let columns = """
        number, operation, phase, status, freed, kind, currency, merchant, content, key, result, \
        created, updated
        """
      try database.execute(
        """
        PRAGMA synchronous = OFF;
        INSERT INTO attempt (env, provider, reference, id, amount, last_four, \(columns))
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
        SELECT env, provider, 'R' || i, 'pt-' || i, i % 100000, substr('0000' || i % 10000, -4),
          \(columns) FROM n, attempt WHERE attempt.reference = 'FIRST';
        PRAGMA wal_checkpoint(TRUNCATE)
        """
      )
    }
    var contestants = ["/thousand", "/million"].map { name in
      Bench.Contestant(
        name: name == "/thousand" ? "journal show, among 1,000" : "journal show, among 1,000,000",
        arguments: [tender, "journal", "show", "R500", "--json", "--state-dir", folder + name],
        target: name == "/thousand" ? nil : 2
      )
    }
    Bench.race(&contestants, rounds)
    Bench.report(contestants, rounds)
  }

  private static func put(_ text: String, _ path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { raw in
        unsafe write(descriptor, raw.baseAddress, raw.count)
      }
      guard count > 0 else { break }
      rest.removeFirst(count)
    }
    close(descriptor)
  }

  private static func now() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
  }
}
