import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The rights of a runner's password on a shared journal, tested on a real server.
@Suite(.enabled(if: PostgresCluster.isAvailable, "\(PostgresCluster.isMissing)"))
struct FleetRightsTests {
  /// A fleet of one machine whose user of the database is a runner.
  private final class Till {
    let fleet: Fleet
    let cluster: PostgresCluster
    let database: String
    var binary: Binary
    var user: String { "till_\(database)" }

    init() throws {
      fleet = try Fleet(machines: 1)
      cluster = try PostgresCluster.shared()
      database = String(fleet.address.split(separator: "/").last ?? "")
      binary = fleet.machines[0]
    }

    func grant() throws {
      try cluster.sql(try fleet.machines[0].run("journal", "grants").output, in: database)
    }

    func makeUser() throws {
      try cluster.sql("CREATE ROLE \(user) LOGIN IN ROLE tender_runner", in: database)
      binary.variables["TENDER_JOURNAL"] = cluster.address(database, user: user)
    }

    /// Runs psql with the runner's password. Returns the output; nil if it was refused.
    func psql(_ text: String) throws -> String? {
      let process = Process()
      process.executableURL = URL(filePath: (PostgresCluster.programs ?? "") + "/psql")
      process.arguments = [
        cluster.address(database, user: user), "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text,
      ]
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let said = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return process.terminationStatus == 0 ? String(decoding: said, as: UTF8.self) : nil
    }
  }

  private static func pay(_ reference: String, _ more: String...) -> [String] {
    ["transact", "--amount", "5", "--test-card", "visa", "--reference", reference, "--json"] + more
  }

  private static func ownCatalog(_ user: String) -> String {
    """
    CREATE TEMPORARY TABLE pg_class AS SELECT c.oid, r.oid AS relowner
    FROM pg_catalog.pg_class c, pg_catalog.pg_roles r WHERE r.rolname = '\(user)';
    """
  }

  @Test func `moves no payment to another reference`() throws {
    let till = try Till()
    // The rights of earlier versions. The new ones replace them.
    try till.grant()
    try till.cluster.sql(
      "GRANT UPDATE ON tender.payment, tender.operation, tender.lease, tender.preparation TO tender_runner",
      in: till.database
    )
    try till.grant()
    try till.makeUser()
    #expect(try till.binary.run(Self.pay("R1")).status == 0)
    for text in [
      "UPDATE tender.payment SET reference = 'R9'", "UPDATE tender.payment SET env = 'live'",
      "UPDATE tender.payment SET provider = 'toro'", "UPDATE tender.payment SET row = 99",
      "UPDATE tender.operation SET payment = 99", "UPDATE tender.operation SET sequence = 9",
      "UPDATE tender.lease SET reference = 'R9'", "UPDATE tender.preparation SET payment = 99",
      "DELETE FROM tender.payment", "DELETE FROM tender.operation", "DELETE FROM tender.lease",
      "TRUNCATE tender.payment", "UPDATE tender.journal SET accepted = 9",
      "DROP TRIGGER stamp ON tender.event", "ALTER TABLE tender.event DISABLE TRIGGER ALL",
      "SET session_replication_role = replica", "CREATE TABLE tender.mine (a int)",
    ] {
      #expect(try till.psql(text) == nil, "\(text)")
    }
    let again = try till.binary.run(Self.pay("R1"))
    #expect(again.record["replayed"] == true, "\(again.errors)")
    #expect(try till.binary.run("journal", "verify").status == 0)
  }

  @Test func `writes history under its own name, and never changes it`() throws {
    let till = try Till()
    try till.grant()
    try till.makeUser()
    #expect(try till.binary.run(Self.pay("R1")).status == 0)
    for text in [
      "UPDATE tender.event SET note = ''", "DELETE FROM tender.event", "TRUNCATE tender.event",
      "UPDATE tender.observation SET at = 0", "DELETE FROM tender.observation",
    ] {
      #expect(try till.psql(text) == nil, "\(text)")
    }
    let insert = """
      INSERT INTO tender.event (payment, line, at, operation, state, status, note, by)
      SELECT row, 99, 0, '', '', '', 'forged', 'boss@office' FROM tender.payment RETURNING by
      """
    #expect(try till.psql(insert) == "\(till.user)/boss@office\n")
    // SET ROLE does not change the logged-in user.
    #expect(
      try till.psql("SET ROLE tender_runner; " + insert.replacing("99", with: "98"))
        == "\(till.user)/boss@office\n"
    )
    // Neither does a temporary table in the place of the system's, in which the runner owns each table.
    #expect(
      try till.psql(Self.ownCatalog(till.user) + insert.replacing("99", with: "97"))
        == "\(till.user)/boss@office\n"
    )
    #expect(
      try till.psql(
        insert.replacing("99", with: "96")
          + "; UPDATE tender.payment SET by = 'boss@office' RETURNING by"
      ) == "\(till.user)/boss@office\n\(till.user)/boss@office\n"
    )
    // Every line that it has written names it, and is found by the person, the machine and the database's
    // user.
    #expect(try till.binary.run(Self.pay("R2")).status == 0)
    let shown = try till.binary.run("journal", "show", "R2", "--json").record
    let writers = Set((shown["history"]?.array ?? []).compactMap { $0["by"]?.text })
    #expect(writers.count == 1)
    let parts = try #require(writers.first).split(separator: "/", maxSplits: 1).map(String.init)
    #expect(parts.count == 2 && parts[0] == till.user)
    for who in [writers.first ?? "", parts[0], parts[1], String(parts[1].split(separator: "@")[1])]
    {
      let found = try till.binary.run("find", "--by", who, "--json").records
      #expect(found.contains { $0.text("reference") == "R2" }, "\(who)")
    }
  }

  @Test func `takes what confirms a held payment away only under its own name`() throws {
    let till = try Till()
    try till.grant()
    try till.makeUser()
    for reference in ["H1", "H2", "H3"] {
      #expect(try till.binary.run(Self.pay(reference, "--hold")).status == 0)
    }
    for text in ["DELETE FROM tender.preparation", "UPDATE tender.preparation SET text = ''"] {
      #expect(try till.psql(text) == nil, "\(text)")
      #expect(try till.psql(Self.ownCatalog(till.user) + text) == nil, "\(text)")
    }
    #expect(try till.binary.run("confirm", "H1", "--json").status == 0)
    #expect(try till.binary.run("cancel", "H2", "--json").status == 0)
    // With a line of the history, which names it, it can.
    let line = """
      WITH said AS (
        INSERT INTO tender.event (payment, line, at, operation, state, status, note, by)
        SELECT row, 99, 0, '', '', '', 'taken', 'boss@office' FROM tender.payment WHERE reference = 'H3'
      )
      """
    #expect(try till.psql(line + "DELETE FROM tender.preparation") != nil)
    let names = try till.cluster.sql(
      "SELECT by FROM tender.event WHERE note = 'taken'",
      in: till.database
    )
    #expect(names == "\(till.user)/boss@office\n")
  }

  @Test func `changes no payment without a line of history under its own name`() throws {
    let till = try Till()
    // A right of an earlier version.
    try till.grant()
    try till.cluster.sql("GRANT DELETE ON tender.operation TO tender_runner", in: till.database)
    try till.cluster.sql("GRANT CREATE ON SCHEMA public TO PUBLIC", in: till.database)
    try till.grant()
    try till.makeUser()
    #expect(try till.binary.run(Self.pay("R1")).status == 0)
    for text in [
      "UPDATE tender.operation SET state = 'failed'", "UPDATE tender.payment SET status = 'failed'",
      "DELETE FROM tender.operation",
      "INSERT INTO tender.operation (payment, sequence, number, kind, state, created, updated) "
        + "SELECT payment, 9, 9, kind, state, created, updated FROM tender.operation",
      """
      INSERT INTO tender.payment
        (row, env, provider, reference, kind, status, created, updated, version, by, machine)
      SELECT 99, env, provider, 'R9', kind, status, created, updated, version, '', '' FROM tender.payment
      """,
      "INSERT INTO tender.observation (payment, at, state) SELECT row, 0, 'returned' FROM tender.payment",
      // In the place of a function of the server's, in another user's session.
      "CREATE FUNCTION public.hashtextextended(text, int) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
      "SET SESSION AUTHORIZATION postgres", "SET ROLE postgres",
      "SELECT setval('tender.payment_row_seq', 1)", "COPY tender.event TO PROGRAM 'true'",
      "ALTER FUNCTION tender.witness() RENAME TO other", "GRANT tender_runner TO PUBLIC",
    ] {
      #expect(try till.psql(text) == nil, "\(text)")
      #expect(try till.psql(Self.ownCatalog(till.user) + text) == nil, "\(text)")
    }
    #expect(try till.binary.run("journal", "verify").status == 0)
  }

  @Test func `does all that a till does`() throws {
    let till = try Till()
    try till.grant()
    try till.makeUser()
    let binary = till.binary
    #expect(try binary.run(Self.pay("D1")).status == 0)
    #expect(try binary.run("refund", "D1", "--amount", "2", "--json").status == 0)
    #expect(try binary.run(Self.pay("D2", "--hold")).status == 0)
    #expect(try binary.run("confirm", "D2", "--json").status == 0)
    #expect(try binary.run("payment-status", "D1", "D2", "--json").status == 0)
    #expect(
      try binary.run(["transact", "--provider", "toro", "--amount", "5", "--reference", "D3"])
        .status == 0
    )
    #expect(try binary.run("cancel", "D3", "--json").status == 0)
    let exported = try binary.run("journal", "export").output
    #expect(try binary.run(["journal", "import", "--json"], input: exported).status == 0)
    let check = try binary.run("doctor", "--json").records.first { $0["name"] == "journal-rights" }
    #expect(check?.text("detail") == "all that a runner needs")
    #expect(try binary.run("journal", "verify").status == 0)
  }

  @Test func `upgrades the tables from a machine on which nothing is changed`() throws {
    var machine = try Binary()
    defer { machine.remove() }
    machine.variables["TENDER_JOURNAL"] = try PostgresCluster.shared().database()
    for said in ["the tables were made", "nothing to do"] {
      let result = try machine.run("journal", "migrate", "--json")
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.record.text("detail")?.contains(said) == true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: machine.home.path).isEmpty)
    }
  }
}
