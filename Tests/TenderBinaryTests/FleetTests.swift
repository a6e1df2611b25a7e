import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// One journal in PostgreSQL for several machines: a reference is charged once, by any machine and with any
/// process that ends in between.
@Suite(
  .enabled(if: PostgresCluster.isAvailable, Comment(rawValue: PostgresCluster.isMissing)),
  .serialized,
  .onOwnThread
)
struct FleetTests {
  static func pay(_ reference: String, _ more: String...) -> [String] {
    ["transact", "--amount", "5", "--test-card", "visa", "--json", "--reference", reference] + more
  }

  @Test(arguments: Works.providers)
  func `charges once, whenever it is killed`(_ provider: Works.Provider) throws {
    let fleet = try Fleet(machines: 1, timeout: 5)
    let runs = Works.setting("TENDER_FLEET_RUNS", 12)
    try KillTests.prove(provider, fleet.shop, runs: runs, label: ", shared journal")
  }

  @Test(arguments: Works.providers)
  func `goes on where another machine was killed`(_ provider: Works.Provider) throws {
    let fleet = try Fleet()
    try KillTests.prove(
      provider,
      fleet.shop,
      runs: Works.setting("TENDER_FLEET_RUNS", 8),
      successor: fleet.machines[1],
      label: ", the other machine"
    )
  }

  @Test(arguments: Works.providers)
  func `charges once where many try the same reference`(_ provider: Works.Provider) throws {
    let fleet = try Fleet(machines: 5, timeout: 10)
    let work = provider.works[0]
    let words = Works.words(work.line("SAME"))
    let runs = try (0..<10).map { try fleet.machines[$0 % 5].start(words) }
    for (process, output, errors) in runs {
      let text = output.fileHandleForReading.readDataToEndOfFile()
      let problem = errors.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      let status = process.terminationStatus
      let said = String(decoding: text + problem, as: UTF8.self)
      #expect(status == 0 || status == 6, "\(said)")
    }
    let books = Works.Books(path: fleet.shop.books)
    let effects = try work.effects?(books, "SAME")
    #expect(effects == 1)
  }

  @Test func `confirms and cancels on another machine what was held on the first`() throws {
    let fleet = try Fleet()
    let (first, second) = (fleet.machines[0], fleet.machines[1])
    for reference in ["H1", "H2"] {
      let held = try first.run(Self.pay(reference, "--confirmation"))
      #expect(held.status == 0, "\(held.errors)")
    }
    let confirmed = try second.run("confirm", "H1", "--json")
    #expect(confirmed.status == 0, "\(confirmed.errors)")
    #expect(confirmed.record.text("status") == "succeeded")
    let released = try second.run("cancel", "H2", "--json")
    #expect(released.record.text("status") == "cancelled", "\(released.errors)")
    let again = try first.run("confirm", "H1", "--json")
    #expect(again.record["replayed"] == true)
    let books = Works.Books(path: fleet.shop.books)
    #expect(try books.charges("H1") == 1)
    #expect(try books.charges("H2") == 0)
    // The sealed data are deleted together with their purpose.
    let left = try PostgresCluster.shared().sql(
      "SELECT count(*) FROM tender.preparation",
      in: String(fleet.address.split(separator: "/").last ?? "")
    )
    #expect(left == "0\n")
  }

  /// Without the fleet's key, each machine seals with a separate key, and cannot open the data of another
  /// one.
  @Test func `refuses before anything is sent what it cannot open`() throws {
    let fleet = try Fleet()
    let books = Works.Books(path: fleet.shop.books)
    let keyless = fleet.machines.map { machine in
      var machine = machine
      machine.variables["TENDER_JOURNAL_KEY_FILE"] = nil
      return machine
    }
    for reference in ["K1", "K2"] {
      let held = try keyless[0].run(Self.pay(reference, "--confirmation"))
      #expect(held.status == 0, "\(held.errors)")
    }
    for other in [keyless[1], fleet.machines[0]] {
      for command in ["confirm", "cancel"] {
        let refused = try other.run(command, "K1", "--json")
        #expect(refused.status == 16, "\(refused.errors)")
        #expect(refused.errorRecord["error"]?["code"] == "journal_key")
      }
    }
    #expect(try books.charges("K1") == 0)
    #expect(try keyless[0].run("confirm", "K1", "--json").status == 0)
    #expect(try books.charges("K1") == 1)
    #expect(try keyless[0].run("cancel", "K2", "--json").status == 0)
  }

  /// A byte order mark is a part of the key, as it was for the versions before.
  @Test func `takes a key file byte by byte`() throws {
    let fleet = try Fleet()
    let key = fleet.shop.server.home.appending(path: "marked.key")
    try Data([0xef, 0xbb, 0xbf] + [UInt8](repeating: 9, count: 32)).write(to: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
    let marked = fleet.machines.map { machine in
      var machine = machine
      machine.variables["TENDER_JOURNAL_KEY_FILE"] = key.path
      return machine
    }
    #expect(try marked[0].run(Self.pay("K1", "--confirmation")).status == 0)
    let refused = try fleet.machines[1].run("confirm", "K1", "--json")
    #expect(refused.errorRecord["error"]?["code"] == "journal_key", "\(refused)")
    #expect(try marked[1].run("confirm", "K1", "--json").status == 0)
  }

  /// Two runners have the same file. One is killed and started again. Each line is charged once.
  @Test func `charges each line once where two runners share a file`() throws {
    let fleet = try Fleet(timeout: 2)
    let count = Works.setting("TENDER_FLEET_LINES", 100)
    let lines = (0..<count).map { Works.card("L\($0)") }
    var random = Seeded(Works.setting("TENDER_KILL_SEED", Int.random(in: 1..<1_000_000)))
    let words = ["--jobs", "8", "--json", "--resume"]
    let first = try fleet.machines[0].start(
      ["batch", Works.write(lines, fleet.machines[0])] + words
    )
    let drain = Thread { _ = first.1.fileHandleForReading.readDataToEndOfFile() }
    drain.start()
    let file = try Works.write(lines, fleet.machines[1])
    for _ in 0..<4 {
      _ = Victim.run(
        ["batch", file] + words,
        fleet.machines[1],
        killedAfter: random.below(400_000)
      )
    }
    let last = try fleet.machines[1].run(["batch", file] + words)
    first.0.waitUntilExit()
    #expect(first.0.terminationStatus == 0)
    #expect(last.status == 0, "\(last.records.last ?? [:]) \(last.errors)")
    let books = Works.Books(path: fleet.shop.books)
    for number in 0..<count {
      let charges = try books.charges("L\(number)")
      #expect(charges == 1, "L\(number)")
    }
  }

  @Test func `splits a file by reference`() throws {
    let fleet = try Fleet(machines: 1)
    let lines = (0..<40).map { Works.card("S\($0)") }
    let file = try Works.write(lines, fleet.machines[0])
    var seen: [String] = []
    for share in 1...3 {
      let run = try fleet.machines[0].run("batch", file, "--shard", "\(share)/3", "--json")
      #expect(run.status == 0, "\(run.errors)")
      let own = run.records.dropLast().compactMap { $0.text("reference") }
      #expect(own.count > 4)
      #expect(run.records.last?["lines"]?.wholeNumber == own.count)
      seen += own
    }
    #expect(seen.sorted() == (0..<40).map { "S\($0)" }.sorted())
    for share in ["0/3", "4/3", "3", "a/b", "1/0"] {
      #expect(try fleet.machines[0].run("batch", file, "--shard", share).status == 2)
    }
  }

  /// A holder sleeps longer than its lease, at any point.
  @Test(arguments: Works.providers)
  func `never charges twice when a holder sleeps through its lease`(
    _ provider: Works.Provider
  ) throws {
    let fleet = try Fleet()
    let (first, second) = (fleet.machines[0], fleet.machines[1])
    let work = provider.works[0]
    // The number of calls at which it can sleep.
    let report = first.home.appending(path: "calls")
    var counting = first.faulty("count:0")
    counting.variables["TENDER_FAULT_REPORT"] = report.path
    for reference in ["COUNT0", "COUNT1"] {
      #expect(try counting.run(Works.words(work.line(reference))).status == 0)
    }
    let text = try String(contentsOf: report, encoding: .utf8)
    let calls = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(calls > 5)
    let stride = Works.setting("TENDER_FLEET_STRIDE", 3)
    let points = Array(
      Swift.stride(from: 1 + Int.random(in: 0..<stride), through: calls, by: stride)
    )
    let sleepers = try points.map { point in
      try first.faulty("stop:\(point)").start(Works.words(work.line("Z\(point)")))
    }
    defer { for sleeper in sleepers { kill(sleeper.0.processIdentifier, SIGKILL) } }
    var exits: [Int: Int32] = [:]
    for point in points {
      let result = try Fleet.untilFree(second, Works.words(work.line("Z\(point)")))
      exits[point] = result.status
      // There is one reader, and the sleeping process may hold it.
      let hasReader =
        result.errorRecord["error"]?["code"] == "transaction_already_started"
        || result.record["error"]?["code"] == "transaction_already_started"
      if hasReader { exits[point] = nil }
      #expect(hasReader || [0, 12].contains(result.status), "\(point): \(result.errors)")
    }
    let books = Works.Books(path: fleet.shop.books)
    for (point, sleeper) in zip(points, sleepers) {
      kill(sleeper.0.processIdentifier, SIGCONT)
      let output = sleeper.1.fileHandleForReading.readDataToEndOfFile()
      let errors = sleeper.2.fileHandleForReading.readDataToEndOfFile()
      sleeper.0.waitUntilExit()
      let said = String(decoding: output + errors, as: UTF8.self)
      let effects = try #require(try work.effects?(books, "Z\(point)"))
      #expect(effects <= 1, "charged twice at \(point): \(said)")
      if let exit = exits[point] {
        #expect(effects == (exit == 12 ? 0 : 1), "at \(point): \(said)")
      }
      let status = sleeper.0.terminationStatus
      let isKnown = [0, 6, 9, 12].contains(status) || FaultMatrixTests.saysNone.contains(status)
      #expect(isKnown, "\(status) at \(point): \(said)")
      // Either machine looks once more. The result stays the same.
      let last = try Fleet.untilFree(second, Works.words(work.line("Z\(point)")))
      #expect([0, 12].contains(last.status), "at \(point): \(last.errors) \(said)")
      let left = try #require(try work.effects?(books, "Z\(point)"))
      #expect(left == (last.status == 12 ? 0 : 1), "at \(point): \(said)")
    }
    print(
      "\(provider.name): \(points.count) sleepers through their leases, each charged once or not at all"
    )
  }

  @Test func `lets a support reader look, and write nothing`() throws {
    let fleet = try Fleet(machines: 1)
    let machine = fleet.machines[0]
    #expect(try machine.run(Self.pay("R1")).status == 0)
    let cluster = try PostgresCluster.shared()
    let database = String(fleet.address.split(separator: "/").last ?? "")
    // Roles belong to the cluster. Grants from before, or for another database, are not errors.
    let grants = try machine.run("journal", "grants").output
    for _ in 0..<2 { try cluster.sql(grants, in: database) }
    for role in ["support", "runner", "auditor"] {
      let user = "\(role)_\(database)"
      try cluster.sql("CREATE ROLE \(user) LOGIN IN ROLE tender_\(role)", in: database)
    }
    func with(_ role: String) -> Binary {
      var other = machine
      other.variables["TENDER_JOURNAL"] = cluster.address(database, user: "\(role)_\(database)")
      return other
    }
    let support = with("support")
    for words in [
      ["journal", "list"], ["journal", "show", "R1"], ["find", "--amount", "5"],
      ["payment-status", "R1"], ["journal", "export"], ["journal", "verify"],
      ["find", "--failure", "x"], ["explain", "R1"],
    ] {
      let run = try support.run(words + ["--json"])
      #expect(run.status == 0, "\(words): \(run.errors)")
    }
    let refused = try support.run(Self.pay("R2"))
    #expect(refused.status == 16)
    #expect(refused.errorRecord["error"]?["code"] == "journal_denied", "\(refused.errors)")
    #expect(try cluster.sql("SELECT count(*) FROM tender.payment", in: database) == "1\n")
    let runner = with("runner")
    func rights(_ machine: Binary) throws -> JSONObject? {
      try machine.run("doctor", "--json").records.first { $0.text("name") == "journal-rights" }
    }
    #expect(try rights(runner)?.text("detail") == "all that a runner needs")
    #expect(try rights(support)?.text("detail") == "look-ups and lists alone")
    try cluster.sql("REVOKE INSERT ON tender.term FROM tender_runner", in: database)
    #expect(try rights(runner)?.text("outcome") == "fail")
    try cluster.sql(grants, in: database)
    #expect(try runner.run(Self.pay("R3", "--confirmation")).status == 0)
    #expect(try runner.run("confirm", "R3", "--json").status == 0)
    let now = Date().formatted(.iso8601)
    #expect(try runner.run("journal", "prune", "--before", now, "--yes").status == 16)
    // History can only be appended.
    for text in ["UPDATE tender.event SET note = ''", "DELETE FROM tender.event"] {
      #expect(throws: PostgresCluster.Failure.self) {
        try cluster.sql("SET ROLE tender_runner; \(text)", in: database)
      }
    }
    #expect(try with("auditor").run("journal", "show", "R3", "--json").status == 0)
  }

  @Test func `takes a file's journal over, and the same again changes nothing`() throws {
    let fleet = try Fleet(machines: 1)
    let machine = fleet.machines[0]
    var alone = machine
    alone.variables["TENDER_JOURNAL"] = nil
    alone.variables["TENDER_STATE_DIR"] = machine.home.appending(path: "alone").path
    for reference in ["I1", "I2"] { #expect(try alone.run(Self.pay(reference)).status == 0) }
    #expect(try alone.run("cancel", "I2").status == 0)
    let exported = try alone.run("journal", "export").output
    let first = try machine.run(["journal", "import", "--json"], input: exported)
    #expect(first.status == 0, "\(first.errors) \(first.output)")
    #expect(first.record.text("detail") == "2 payments copied, 0 there already")
    let second = try machine.run(["journal", "import", "--json"], input: exported)
    #expect(second.record.text("detail") == "0 payments copied, 2 there already")
    #expect(try machine.run("journal", "verify").status == 0)
    let replayed = try machine.run(Self.pay("I1"))
    #expect(replayed.record["replayed"] == true, "\(replayed.errors)")
    func told(_ binary: Binary) throws -> [JSON?] {
      let shown = try binary.run("journal", "show", "I2", "--json").record
      return ["id", "status", "operations", "result", "history"].map { shown[$0] }
    }
    let (before, after) = (try told(alone), try told(machine))
    #expect(before == after)
    // Another payment with the same reference is a conflict, and is named.
    var other = try Binary()
    defer { other.remove() }
    other.variables = alone.variables
    other.variables["TENDER_STATE_DIR"] = nil
    let words = ["transact", "--amount", "6", "--test-card", "visa", "--reference", "I1"]
    let found = try other.run(words)
    #expect(found.status == 6, "the provider has it already: \(found.errors)")
    let id = try #require(found.errorRecord["result"]?["id"]?.text)
    #expect(try other.run(words + ["--despite-payment", id]).status == 0)
    let strange = try other.run("journal", "export").output
    let third = try machine.run(["journal", "import", "--json"], input: strange)
    #expect(third.status == 14)
    #expect(third.output.contains("'I1'"), "\(third.output)")
    #expect(try machine.run("journal", "show", "I1", "--json").record["amount"] == 500)
  }

  /// A payment is opened together with its lock. If it could not be sent, it is not opened.
  @Test func `leaves no trace of what is not configured`() throws {
    let fleet = try Fleet(machines: 1)
    let machine = fleet.machines[0]
    let run = try machine.run(Works.words(Works.bank("N1")) + ["--env", "sandbox", "--json"])
    #expect(run.status == 4, "\(run.errors)")
    #expect(try machine.run("journal", "list", "--json").output == "")
  }

  @Test func `says who wrote what, and finds it by that`() throws {
    let fleet = try Fleet(machines: 1)
    let machine = fleet.machines[0]
    #expect(try machine.run(Self.pay("B1")).status == 0)
    let shown = try machine.run("journal", "show", "B1", "--json").record
    let by = try #require(shown["history"]?.array?.first?["by"]?.text)
    let parts = by.split(separator: "@")
    #expect(parts.count == 2)
    for (who, count) in [
      (by, 1), (String(parts[1]), 1), ("nobody@nowhere", 0), (String(parts[0]), 0),
    ] {
      for command in [["journal", "list"], ["find"]] {
        let found = try machine.run(command + ["--by", who, "--json"])
        #expect(found.records.count == count, "\(command) \(who)")
      }
    }
    // A provider does not know the writer of a payment. The option would have no effect, so it is refused.
    #expect(try machine.run("find", "--online", "--by", by).status == 2)
  }
}
