import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Payments while the database of a shared journal fails: before, between and after their requests.
@Suite(
  .enabled(if: PostgresCluster.isAvailable, Comment(rawValue: PostgresCluster.isMissing)),
  .serialized,
  .onOwnThread
)
struct FleetFailureTests {
  private static func database(_ fleet: Fleet) -> String {
    String(fleet.address.split(separator: "/").last ?? "")
  }

  /// Locked and opened, sent, concluded and released. A confirm looks up its reference first.
  @Test func `asks three times for a payment, and four times for its confirm`() throws {
    let fleet = try Fleet(machines: 1, timeout: 5)
    let cluster = try PostgresCluster.shared()
    let cutter = try Cutter(before: cluster.port)
    defer { cutter.stop() }
    var watched = fleet.machines[0]
    watched.variables["TENDER_JOURNAL"] =
      "postgres://tender@127.0.0.1:\(cutter.port)/\(Self.database(fleet))"
    // The first command of a machine also asks whether the server can be reached.
    #expect(try watched.run(FleetTests.pay("Q0")).status == 0)
    var before = cutter.questions
    func asked(_ words: [String]) throws -> Int {
      let run = try watched.run(words)
      #expect(run.status == 0, "\(run.errors)")
      defer { before = cutter.questions }
      return cutter.questions - before
    }
    let counts = [
      try asked(FleetTests.pay("Q1")), try asked(FleetTests.pay("Q2", "--confirmation")),
      try asked(["confirm", "Q2"]),
      // The answer has arrived, and the reference is released.
      try asked(FleetTests.pay("Q1")), try asked(["journal", "list"]),
      // A sale may still be undone after its outcome, so its reference is released separately.
      try asked(Works.words(Works.sale("Q3"))),
      // Two of its requests have an effect, and each is recorded before the payer sees anything.
      try asked(Works.words(Works.bank("Q4"))),
    ]
    #expect(counts == [3, 3, 4, 2, 1, 4, 5])
  }

  /// With any lost answer or question, the command reads the state, and completes.
  @Test(arguments: Works.providers)
  func `goes on where a connection is cut at any question`(_ provider: Works.Provider) throws {
    let fleet = try Fleet(machines: 1, timeout: 5)
    let cluster = try PostgresCluster.shared()
    let books = Works.Books(path: fleet.shop.books)
    let work = provider.works[0]
    for number in 1...5 {
      for stroke in [Cutter.Stroke.before(number), .after(number)] {
        let cutter = try Cutter(before: cluster.port, stroke)
        defer { cutter.stop() }
        var cut = fleet.machines[0]
        cut.variables["TENDER_JOURNAL"] =
          "postgres://tender@127.0.0.1:\(cutter.port)/\(Self.database(fleet))"
        let reference = "C\(number)-\(stroke == .before(number) ? "B" : "A")"
        let run = try cut.run(Works.words(work.line(reference)))
        #expect(run.status == 0, "\(stroke): \(run.errors)")
        let effects = try work.effects?(books, reference)
        #expect(effects == 1, "\(stroke)")
      }
    }
    #expect(try fleet.machines[0].run("journal", "verify").status == 0)
    let left = try fleet.machines[0].run("journal", "list", "--status", "unknown", "--json")
    #expect(left.output == "")
    // The payment that was opened before its answer was lost continues. There is no second attempt.
    let all = try fleet.machines[0].run("journal", "list", "--json")
    #expect(all.output.split(separator: "\n").count == 10)
  }

  /// The database fails permanently at one query. Nothing was sent, or the outcome is unknown, and the next command
  /// finds it out.
  @Test(arguments: Works.providers)
  func `finds out an outcome that the database could not take`(_ provider: Works.Provider) throws {
    let fleet = try Fleet(machines: 1, timeout: 2)
    let machine = fleet.machines[0]
    // The first command of a machine asks once more.
    #expect(try machine.run(FleetTests.pay("D0")).status == 0)
    let cluster = try PostgresCluster.shared()
    let books = Works.Books(path: fleet.shop.books)
    let work = provider.works[0]
    var runs: [(reference: String, status: Int32, process: (Process, Pipe, Pipe))] = []
    var cutters: [Cutter] = []
    defer { for cutter in cutters { cutter.stop() } }
    // There is one reader, so its sales come one after the other.
    let alone = provider.name == "toro"
    for number in alone ? 3...4 : 1...5 {
      for answers in [false, true] {
        let cutter = try Cutter(before: cluster.port, .dark(number, answers: answers))
        cutters.append(cutter)
        var cut = machine
        cut.variables["TENDER_JOURNAL"] =
          "postgres://tender@127.0.0.1:\(cutter.port)/\(Self.database(fleet))"
        let reference = "D\(number)-\(answers ? "A" : "N")"
        runs.append((reference, 0, try cut.start(Works.words(work.line(reference)))))
        if alone { runs[runs.count - 1].process.0.waitUntilExit() }
      }
    }
    for index in runs.indices {
      let (process, output, errors) = runs[index].process
      let said = output.fileHandleForReading.readDataToEndOfFile()
      let problem = errors.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      runs[index].status = process.terminationStatus
      let text = String(decoding: said + problem, as: UTF8.self)
      let reference = runs[index].reference
      let effects = try work.effects?(books, reference) ?? 0
      switch process.terminationStatus {
      case 0: #expect(effects == 1, "\(reference): \(text)")
      case 12: #expect(effects == 0, "\(reference): \(text)")
      case 16: #expect(effects == 0, "\(reference): \(text)")
      case 9: break
      default: Issue.record("\(process.terminationStatus) of \(reference): \(text)")
      }
    }
    #expect(
      runs.contains { [9, 16].contains($0.status) },
      "\(runs.map { "\($0.reference) \($0.status)" })"
    )
    for run in runs {
      let again = try Fleet.untilFree(machine, Works.words(work.line(run.reference)))
      #expect([0, 12].contains(again.status), "\(run.reference): \(again.errors)")
      let effects = try work.effects?(books, run.reference) ?? 0
      #expect(effects == (again.status == 12 ? 0 : 1), "\(run.reference)")
    }
    #expect(try machine.run("journal", "verify").status == 0)
  }

  /// The server reports a full disk (SQLSTATE 53100), before and after something was sent.
  @Test func `says what is so where the database's disk is full`() throws {
    let fleet = try Fleet(machines: 1, timeout: 2)
    let machine = fleet.machines[0]
    let cluster = try PostgresCluster.shared()
    let database = Self.database(fleet)
    let books = Works.Books(path: fleet.shop.books)
    try cluster.sql(
      """
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
      END $$
      """,
      in: database
    )
    for (state, status) in [("sent", 16), ("succeeded", 9)] as [(String, Int32)] {
      try cluster.sql(
        "CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON tender.operation FOR EACH ROW "
          + "WHEN (NEW.state = '\(state)') EXECUTE FUNCTION full_disk()",
        in: database
      )
      let run = try machine.run(FleetTests.pay("F-\(state)"))
      #expect(run.status == status, "\(state): \(run.errors)")
      #expect(try books.charges("F-\(state)") == (status == 9 ? 1 : 0))
      try cluster.sql("DROP TRIGGER full_disk ON tender.operation", in: database)
      let again = try Fleet.untilFree(machine, FleetTests.pay("F-\(state)"))
      #expect(again.status == 0, "\(again.errors)")
      #expect(try books.charges("F-\(state)") == 1)
    }
  }

  /// The database crashes and starts again at random while four runners work.
  @Test func `charges once while the database crashes`() throws {
    let cluster = try PostgresCluster()
    let fleet = try Fleet(machines: 4, at: cluster.database(), timeout: 10)
    let rounds = Works.setting("TENDER_CRASHES", 1)
    try Self.work(fleet, rounds: rounds, lines: 40) {
      cluster.kill()
      try cluster.restart()
    }
    print(
      "\(rounds * 160) payments through \(rounds) crashes of the database, each once, 0 unknown"
    )
  }

  /// A server restarts with a changed clock, while one machine waits for an answer and another pays too.
  @Test(
    .enabled(if: PostgresCluster.hasOtherClocks, "libfaketime is not installed"),
    arguments: ["+2m", "+20m", "-2d"]
  )
  func `charges once while the clock of the server is set`(_ offset: String) throws {
    let cluster = try PostgresCluster()
    let fleet = try Fleet(machines: 2, at: cluster.database(), timeout: 5)
    let name = String(fleet.address.split(separator: "/").last ?? "")
    let shelf = Shelf.all[0]
    let slow = FleetTests.pay("C1") + ["--sim-fault", "part2:latency=2s"]
    let (process, _, _) = try fleet.machines[0].start(slow)
    let sent = "SELECT count(*) FROM tender.operation WHERE state = 'sent'"
    while try cluster.sql(sent, in: name).hasPrefix("0") {}
    cluster.kill()
    try cluster.restart(clock: offset)
    let now = try cluster.sql("SELECT extract(epoch FROM now())::bigint", in: name)
    let off = (Int(now.prefix { $0.isNumber }) ?? 0) - Int(Date.now.timeIntervalSince1970)
    let wanted = ["+2m": 120, "+20m": 1200, "-2d": -172_800][offset] ?? 0
    #expect(abs(off - wanted) < 60, "\(off)")
    let other = try fleet.machines[1].run(FleetTests.pay("C1"))
    process.waitUntilExit()
    #expect(try shelf.money(fleet.shop.books, "C1").standing == 1)
    if offset == "-2d", other.status == 6 {
      #expect(other.errors.contains("was set back"), "\(other.errors)")
    }
    for machine in fleet.machines {
      let again = try machine.run(FleetTests.pay("C1"))
      #expect([0, 6, 9].contains(again.status), "\(again.errors)")
    }
    #expect(try shelf.money(fleet.shop.books, "C1").standing == 1)
  }

  /// Random commands in any order by two machines, with a crash of the database in each history.
  @Test(arguments: Shelf.all.indices)
  func `books, journal and records agree while the database crashes`(_ index: Int) throws {
    let cluster = try PostgresCluster()
    let fleet = try Fleet(at: cluster.database(), timeout: 10)
    let run = try HistoryRun(Shelf.all[index], fleet.machines, books: fleet.shop.books)
    try run.all((Works.setting("TENDER_BOOKS", 10) + 4) / 5) {
      cluster.kill()
      try cluster.restart()
    }
    #expect(run.problems == [])
  }

  #if os(Linux)
  @Test(.enabled(if: Pooler.isAvailable, "pgbouncer is not installed"))
  func `works behind a pooler in transaction mode, whatever crashes`() throws {
    let cluster = try PostgresCluster()
    let database = try cluster.database()
    let name = String(database.split(separator: "/").last ?? "")
    let pooler = try Pooler(before: cluster, name)
    let fleet = try Fleet(
      machines: 4,
      at: "postgres://tender@127.0.0.1:\(pooler.port)/\(name)",
      timeout: 10
    )
    let rounds = Works.setting("TENDER_CRASHES", 1)
    try Self.work(fleet, rounds: rounds, lines: 40) {
      cluster.kill()
      try cluster.restart()
    }
    print(
      "\(rounds * 160) payments through \(rounds) crashes behind PgBouncer, each once, 0 unknown"
    )
    for provider in Works.providers.dropFirst() {
      let run = try fleet.machines[0].run(Works.words(provider.works[0].line("P-\(provider.name)")))
      #expect(run.status == 0, "\(run.errors)")
    }
  }
  #endif

  /// Every machine runs different lines while something fails. Then each runs them once more.
  static func work(
    _ fleet: Fleet,
    rounds: Int,
    lines count: Int,
    strikes: () throws -> Void
  ) throws {
    var random = Seeded(Works.setting("TENDER_KILL_SEED", Int.random(in: 1..<1_000_000)))
    let books = Works.Books(path: fleet.shop.books)
    for round in 0..<rounds {
      func lines(_ machine: Int) -> [String] {
        (0..<count).map { Works.card("W\(round)-\(machine)-\($0)") }
      }
      let runs = try fleet.machines.enumerated().map { number, machine in
        try machine.start(
          ["batch", Works.write(lines(number), machine), "--jobs", "2", "--json"]
        )
      }
      // After some of the first machine's lines.
      var said = ""
      let moment = 1 + random.below(count / 2)
      while said.count(where: { $0 == "\n" }) < moment {
        let more = runs[0].1.fileHandleForReading.availableData
        guard !more.isEmpty else { break }
        said += String(decoding: more, as: UTF8.self)
      }
      try strikes()
      var told: [JSONObject] = []
      for (number, run) in runs.enumerated() {
        let rest = run.1.fileHandleForReading.readDataToEndOfFile()
        let text = (number == 0 ? said : "") + String(decoding: rest, as: UTF8.self)
        let errors = run.2.fileHandleForReading.readDataToEndOfFile()
        run.0.waitUntilExit()
        let status = run.0.terminationStatus
        #expect([0, 9, 14, 16].contains(status), "\(String(decoding: errors, as: UTF8.self))")
        told += Binary.Result(status: status, output: text, errors: "").records
      }
      // A reported payment is in the books and in the journal.
      for row in told where row["record"] == "payment" && row["status"] == "succeeded" {
        let charges = try books.charges(row.text("reference") ?? "")
        #expect(charges == 1, "\(row)")
      }
      for (number, machine) in fleet.machines.enumerated() {
        let again = try machine.run(
          ["batch", Works.write(lines(number), machine), "--jobs", "4", "--json"]
        )
        #expect(again.status == 0, "\(again.output.suffix(2000)) \(again.errors)")
        for line in 0..<count {
          let charges = try books.charges("W\(round)-\(number)-\(line)")
          #expect(charges == 1, "W\(round)-\(number)-\(line)")
        }
      }
      let left = try fleet.machines[0].run("journal", "list", "--status", "unknown", "--json")
      #expect(left.output == "")
      #expect(try fleet.machines[0].run("journal", "verify").status == 0)
    }
  }
}
