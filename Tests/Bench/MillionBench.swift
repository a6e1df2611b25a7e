import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The journal's commands among a thousand and among a million attempts with orders, answers, times and a
/// history like real ones: two years of them, one in fifty declined, a thousand not final among the million.
enum MillionBench {
  /// Rows that every filter below selects few of, at the same places in both journals.
  private static let rare = 500

  static func run(_ tender: String, _ folder: String, _ rounds: Int) {
    umask(0o077)
    _ = unsafe mkdir(folder, 0o700)
    do {
      for (name, count) in [("/thousand", 1000), ("/million", 1_000_000)] {
        try fill(folder + name, count)
      }
    } catch {
      print("bench: \(error)")
      exit(1)
    }
    for words in [
      ["journal", "show", "ORDER-0000500"], ["find", "--customer", "ada500@example.com"],
      ["find", "--customer", "lovelace500000"], ["find", "--metadata", "order=500"],
      ["find", "--trace-id", "trace-500"], ["find", "--failure", "stolen"],
      ["find", "--amount", "1234.56"], ["find", "--last-four", "0500"],
      ["find", "--status", "unknown"], ["find", "--status", "open"],
      ["find", "--status", "returned"], ["find", "--provider", "toro"], ["find", "--env", "live"],
      ["find", "--currency", "GBP"], ["find", "ORDER-00005*"], ["find", "*-0000500"],
      ["find", "--since", "2026-11-20T12:00:00Z"], ["find", "*R-0000500*"], ["journal", "list"],
    ] {
      compare(tender, words, folder, rounds)
    }
    // What both sent nobody else knows: it stays unknown.
    compare(tender, ["journal", "resume", "--all"], folder, rounds, exit: 9)
    for (words, target) in [
      (["journal", "export"], "at least 100,000/s"),
      (["journal", "list", "--all", "-o", "table"], "at most 64 MB"),
    ] {
      guard let result = Bench.run([tender] + words + ["--state-dir", folder + "/million"]) else {
        continue
      }
      print(
        Bench.pad(words.joined(separator: " "), 44)
          + Bench.pad("\(Int(1_000_000_000 / result.milliseconds))/s", 10)
          + Bench.pad(Bench.decimal(Double(result.kilobytes) / 1024) + " MB", 11)
          + "target \(target)"
      )
    }
    prune(tender, folder + "/million")
  }

  /// The longest that a payment takes while a million attempts are forgotten.
  private static func prune(_ tender: String, _ folder: String) {
    let arguments = [
      tender, "journal", "prune", "--before", "2028-01-01", "--yes", "--state-dir", folder,
    ]
    guard let pruning = Bench.begin(arguments) else { return }
    var times: [Double] = []
    for number in 0..<200 {
      let pay = [tender, "transact", "--amount", "1", "--test-card", "visa", "--state-dir", folder]
      guard let result = Bench.run(pay + ["--reference", "P\(number)"]) else { continue }
      times.append(result.milliseconds)
    }
    kill(pruning, SIGTERM)
    var status: Int32 = 0
    _ = unsafe waitpid(pruning, &status, 0)
    print(
      Bench.pad("a payment during journal prune", 44)
        + Bench.pad(Bench.decimal(Bench.median(times)) + " ms", 10)
        + "longest of 200: \(Bench.decimal(times.max() ?? 0)) ms"
    )
  }

  private static func compare(
    _ tender: String,
    _ words: [String],
    _ folder: String,
    _ rounds: Int,
    exit: Int32 = 0
  ) {
    var contestants = ["/thousand", "/million"].map { name in
      Bench.Contestant(
        name: name,
        arguments: [tender] + words + ["--state-dir", folder + name, "--output", "table"],
        target: nil,
        exit: exit
      )
    }
    Bench.race(&contestants, rounds)
    let times = contestants.map { Bench.median($0.milliseconds) }
    print(
      Bench.pad(words.joined(separator: " "), 44) + Bench.pad(Bench.decimal(times[0]) + " ms", 10)
        + Bench.pad(Bench.decimal(times[1]) + " ms", 11)
        + Bench.pad(Bench.decimal(times[1] / times[0]) + "x", 8) + "target at most 2x"
    )
  }

  /// Makes a journal of `count` attempts by SQL: through the engine a million takes minutes.
  private static func fill(_ folder: String, _ count: Int) throws {
    _ = unsafe mkdir(folder, 0o700)
    _ = try SQLiteJournal(folder: folder, redactor: Redactor())
    let database = try Database(path: folder + "/journal.db")
    // Statuses of which there are few are the same many in both; the newest is of today.
    let digits = (1...7).reversed().map { "substr(name, \($0 + 6), 1)" }.joined(separator: " || ")
    try database.execute(
      """
      PRAGMA synchronous = OFF;
      BEGIN;
      CREATE TEMP TABLE plan AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        SELECT i, printf('ORDER-%07d', i) AS name, i = 500 AS rare, i = 501 AS odd,
          i % 50 = 49 AS declined, 1800000000000 + i * (63072000000 / \(count)) AS at FROM n;
      INSERT INTO attempt (row, env, provider, reference, number, operation, phase, status, freed, kind,
        id, amount, requested, currency, last_four, brand, merchant, content, key, result, fault,
        created, updated, sent, version)
      SELECT i, iif(odd, 'live', 'simulator'), iif(odd, 'toro', 'paytheory'), name, 1, 'transact',
        iif(i = 502, 'sent', 'done'),
        iif(rare, 'returned', iif(i = 503, 'pending', iif(declined, 'declined', 'succeeded'))), 1, 0,
        'pt-' || i, iif(rare, 123456, 1000 + i % 90000), NULL, iif(odd, 'GBP', 'USD'),
        iif(rare, '0500', printf('%04d', 1000 + i % 9000)), 'VISA', 'merchant',
        '{"amount":1050,"command":"transact","currency":"USD","metadata":{"order":' || i
          || '},"payor":{"email":"ada' || i || '@example.com","name":"Ada Lovelace' || i || '"}}',
        'f316bfd2-cf4c-8a3c-aa8b-1400eca6f872',
        '{"body":{"amount":1050,"brand":"VISA","created_at":"2026-11-20T12:00:00Z","currency":"USD",'
          || '"last_four":"1111","receipt_number":"pt-' || i || '","service_fee":0,"state":"settled"},'
          || '"trace_id":"trace-' || i || '","type":"PT_COMPLETE"}',
        iif(rare, '{"code":"stolen_card","effect":"none","kind":"declined","message":"it is stolen"}',
          iif(declined, '{"code":"insufficient_funds","effect":"none","kind":"declined",'
            || '"message":"insufficient funds"}', NULL)),
        at, at, at, 3
      FROM plan;
      INSERT INTO history (attempt, at, phase, status, note)
        SELECT i, at, iif(k.n = 1, 'prepared', iif(k.n = 2, 'sent', 'done')),
          iif(k.n = 3, 'succeeded', 'pending'), iif(k.n = 1, 'opened', iif(k.n = 2, 'sent', 'outcome'))
        FROM plan, (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) k;
      INSERT INTO term (text, created, attempt)
        SELECT 'c:ada' || i || '@example.com' AS text, at, i FROM plan
        UNION ALL SELECT 'c:example.com', at, i FROM plan UNION ALL SELECT 'c:com', at, i FROM plan
        UNION ALL SELECT 'c:ada lovelace' || i, at, i FROM plan
        UNION ALL SELECT 'c:lovelace' || i, at, i FROM plan
        UNION ALL SELECT 'm:order=' || i, at, i FROM plan UNION ALL SELECT 't:trace-' || i, at, i FROM plan
        UNION ALL SELECT 'r:' || \(digits) || '-REDRO', at, i FROM plan
        UNION ALL SELECT 'f:insufficient_funds', at, i FROM plan WHERE declined
        UNION ALL SELECT 'f:stolen_card', at, i FROM plan WHERE rare
        UNION ALL SELECT 'f:stolen', at, i FROM plan WHERE rare
        UNION ALL SELECT 'e:' || iif(odd, 'live', 'simulator'), at, i FROM plan
        UNION ALL SELECT 'p:' || iif(odd, 'toro', 'paytheory'), at, i FROM plan
        UNION ALL SELECT 'u:' || iif(odd, 'GBP', 'USD'), at, i FROM plan
        UNION ALL SELECT 's:open', at, i FROM plan WHERE i IN (502, 503)
        ORDER BY 1, 2, 3;
      COMMIT;
      DROP TABLE plan;
      PRAGMA wal_checkpoint(TRUNCATE)
      """
    )
  }
}
