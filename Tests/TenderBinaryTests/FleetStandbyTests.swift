import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Payments in a shared journal whose database has a standby: commits that wait for it, and failovers.
@Suite(
  .enabled(if: PostgresCluster.isAvailable, Comment(rawValue: PostgresCluster.isMissing)),
  .serialized,
  .onOwnThread
)
struct FleetStandbyTests {
  /// The event that ends the wait for a standby that confirms no commit.
  enum Ending: CaseIterable { case cancelled, terminated, restarted }

  /// A commit that no standby has confirmed is lost with its server. Nothing is sent after it, however the
  /// wait ends. On the standby that takes over, the same command pays.
  @Test(arguments: Ending.allCases)
  func `sends nothing after a commit that no standby confirmed`(_ ending: Ending) throws {
    let primary = try PostgresCluster(["synchronous_standby_names=*", "wal_level=replica"])
    let standby = try PostgresCluster(copyOf: primary)
    let database = try primary.database()
    let name = String(database.split(separator: "/").last ?? "")
    let fleet = try Fleet(
      machines: 1,
      at: "postgres://tender@127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)/\(name)",
      timeout: 5
    )
    let shelf = Shelf.all[0]
    standby.kill()
    let (process, output, errors) = try fleet.machines[0].start(FleetTests.pay("S1"))
    if ending == .restarted {
      try Self.awaitStandby(primary)
      primary.kill()
      try primary.restart()
    }
    let end = ending == .terminated ? "pg_terminate_backend" : "pg_cancel_backend"
    while process.isRunning {
      try primary.sql(
        "SELECT \(end)(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
        in: "postgres"
      )
    }
    let said = errors.fileHandleForReading.readDataToEndOfFile()
    #expect(output.fileHandleForReading.readDataToEndOfFile().isEmpty)
    #expect(process.terminationStatus == 16)
    let text = String(decoding: said, as: UTF8.self)
    // A server that ends the connection may give no other reason.
    let isLost = ending == .terminated && text.contains("journal_unreachable")
    #expect(isLost || text.contains("journal_unconfirmed"), "\(text)")
    #expect(try shelf.money(fleet.shop.books, "S1").standing == 0)
    primary.kill()
    try standby.restart()
    try standby.promote()
    #expect(try Fleet.untilFree(fleet.machines[0], FleetTests.pay("S1")).status == 0)
    #expect(try shelf.money(fleet.shop.books, "S1").standing == 1)
  }

  /// Waits until a commit waits for the standby.
  private static func awaitStandby(_ primary: PostgresCluster) throws {
    let asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    while try primary.sql(asked, in: "postgres").hasPrefix("0") {}
  }

  /// A command that waits in vain names the standby.
  @Test func `says that the standby does not confirm`() throws {
    let primary = try PostgresCluster()
    let fleet = try Fleet(machines: 1, at: primary.database(), timeout: 2)
    try primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", in: "postgres")
    try primary.sql("SELECT pg_reload_conf()", in: "postgres")
    let run = try fleet.machines[0].run(FleetTests.pay("S1"))
    #expect(run.status == 16)
    #expect(run.errorRecord["error"]?["code"] == "journal_unconfirmed", "\(run.errors)")
    #expect(try Shelf.all[0].money(fleet.shop.books, "S1").standing == 0)
  }

  /// The user can end the wait for a stalled standby.
  @Test(arguments: [(["--deadline", "1s"], 8, "deadline_passed"), ([], 130, "interrupted")])
  func `a stop ends the wait for a standby`(
    _ words: [String],
    _ status: Int32,
    _ code: String
  ) throws {
    let primary = try PostgresCluster()
    let fleet = try Fleet(machines: 1, at: primary.database(), timeout: 600)
    try primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", in: "postgres")
    try primary.sql("SELECT pg_reload_conf()", in: "postgres")
    let (process, _, errors) = try fleet.machines[0].start(FleetTests.pay("S1") + words)
    try Self.awaitStandby(primary)
    // It has waited for a moment. Without the signal, it would wait for half a minute.
    let begun = Date.now
    if words.isEmpty { process.interrupt() }
    process.waitUntilExit()
    #expect(begun.distance(to: .now) < 15)
    let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(process.terminationStatus == status)
    #expect(said.contains(#""code":"\#(code)""#) && said.contains(#""effect":"none""#), "\(said)")
    #expect(try Shelf.all[0].money(fleet.shop.books, "S1").standing == 0)
  }

  /// Payments at the three providers, with an answer after two seconds.
  static let slow: [(shelf: Int, words: [String])] = [
    (0, ["--sim-fault", "part2:latency=2s"]), (1, ["--sim-fault", "authorisation:latency=2s"]),
    (2, ["--sim-fault", "create:latency=2s"]),
  ]

  /// After a request, a stop of the wait for the standby does not change the request's effect.
  @Test(arguments: slow.indices)
  func `a stop at a later write never says that nothing was sent`(_ index: Int) throws {
    let (number, words) = Self.slow[index]
    let shelf = Shelf.all[number]
    let primary = try PostgresCluster()
    let fleet = try Fleet(machines: 1, at: primary.database(), timeout: 600)
    let name = String(fleet.address.split(separator: "/").last ?? "")
    var random = Seeded(2)
    let pay =
      shelf.first(&random, "S1")
      + ["--provider", shelf.name, "--json", "--no-input"]
    let (process, output, errors) = try fleet.machines[0].start(pay + words)
    let sent = "SELECT count(*) FROM tender.operation WHERE state = 'sent'"
    while try primary.sql(sent, in: name).hasPrefix("0") {}
    try primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", in: "postgres")
    try primary.sql("SELECT pg_reload_conf()", in: "postgres")
    try Self.awaitStandby(primary)
    process.interrupt()
    process.waitUntilExit()
    let said =
      String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      + String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    // A sale whose approval could not be recorded was undone (16).
    let isUndone = number == 1 && process.terminationStatus == 16
    #expect([0, 9].contains(process.terminationStatus) || isUndone, "\(said)")
    #expect(isUndone || !said.contains(#""effect":"none""#), "\(said)")
    try primary.sql("ALTER SYSTEM RESET synchronous_standby_names", in: "postgres")
    try primary.sql("SELECT pg_reload_conf()", in: "postgres")
    let again = try Fleet.untilFree(fleet.machines[0], pay)
    #expect(again.status == 0, "\(again.errors)")
    let money = try shelf.money(fleet.shop.books, "S1")
    // The payer of a bank payment is still at the bank.
    #expect(money.standing == (number == 2 || again.status == 12 ? 0 : 1))
  }

  /// Counts the losses that are promised, and not promised, with a standby that confirms nothing.
  @Test func `a machine that knew of a payment misses it after a failover`() throws {
    let primary = try PostgresCluster(["wal_level=replica"])
    let standby = try PostgresCluster(copyOf: primary)
    let database = try primary.database()
    let name = String(database.split(separator: "/").last ?? "")
    let fleet = try Fleet(
      machines: 3,
      at: "postgres://tender@127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)/\(name)",
      timeout: 5
    )
    let (payer, reader, stranger) = (fleet.machines[0], fleet.machines[1], fleet.machines[2])
    let shelf = Shelf.all[0]
    #expect(try !payer.run("doctor", "--json").output.contains("must confirm each commit"))
    // Waits until the standby has the tables.
    let isMissing = "SELECT to_regclass('tender.payment') IS NULL"
    while (try? standby.sql(isMissing, in: name).hasPrefix("t")) ?? true {}
    standby.kill()
    #expect(try payer.run(FleetTests.pay("L1")).status == 0)
    #expect(try reader.run("payment-status", "L1").status == 0)
    primary.kill()
    try standby.restart()
    // With a replica that is behind, no machine pays.
    for machine in fleet.machines { #expect(try machine.run(FleetTests.pay("L1")).status == 16) }
    try standby.promote()
    for machine in [payer, reader] {
      let again = try machine.run(FleetTests.pay("L1"))
      #expect(again.errorRecord["error"]?["code"] == "journal_forgot", "\(again.errors)")
    }
    #expect(try shelf.money(fleet.shop.books, "L1").standing == 1)
    // The machine never read the payment. The look before the first charge finds it at the provider.
    let last = try stranger.run(FleetTests.pay("L1"))
    #expect(last.errorRecord["error"]?["code"] == "reference_at_provider", "\(last.errors)")
    #expect(try shelf.money(fleet.shop.books, "L1").standing == 1)
    print(
      "1 payment lost with an asynchronous standby: refused by the 2 machines that knew of it, "
        + "and found at the provider by the 1 that did not"
    )
  }

  /// The primary of a cluster with a synchronous standby is killed, and the standby takes over.
  @Test func `loses nothing in a failover`() throws { try failover(isPooled: false) }

  @Test(.enabled(if: Pooler.isAvailable, "pgbouncer is not installed"))
  func `loses nothing in a failover behind PgBouncer`() throws { try failover(isPooled: true) }

  private func failover(isPooled: Bool) throws {
    let rounds = (Works.setting("TENDER_FAILOVERS", 2) + 1) / 2
    for round in 0..<rounds {
      let primary = try PostgresCluster(["synchronous_standby_names=*", "wal_level=replica"])
      let database = try primary.database()
      let standby = try PostgresCluster(copyOf: primary)
      let name = String(database.split(separator: "/").last ?? "")
      let pooler = isPooled ? try Pooler(before: primary, name) : nil
      let address =
        pooler.map { "postgres://tender@127.0.0.1:\($0.port)/\(name)" }
        ?? "postgres://tender@127.0.0.1:\(primary.port),127.0.0.1:\(standby.port)/\(name)"
      let fleet = try Fleet(machines: 2, at: address, timeout: 10)
      let doctor = try fleet.machines[0].run("doctor", "--json")
      #expect(doctor.output.contains("must confirm each commit"), "round \(round)")
      func takeOver() throws {
        primary.kill()
        try standby.promote()
        try pooler?.point(at: standby)
      }
      guard round % 4 < 3 else {
        // Every fourth time, a history of random commands.
        let shelf = Shelf.all[round / 4 % Shelf.all.count]
        let run = try HistoryRun(shelf, fleet.machines, books: fleet.shop.books)
        try run.all(1, strike: takeOver)
        #expect(run.problems == [])
        continue
      }
      try FleetFailureTests.work(fleet, rounds: 1, lines: 30, strikes: takeOver)
    }
    let place = isPooled ? " behind PgBouncer" : ""
    print(
      "\((rounds - rounds / 4) * 60) payments through \(rounds) failovers\(place), each once, 0 unknown"
    )
  }
}
