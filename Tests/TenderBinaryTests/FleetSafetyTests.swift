import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Access to a shared journal: the verification of its server, its password, and the right to take over
/// another machine's work.
@Suite(
  .enabled(if: PostgresCluster.isAvailable, Comment(rawValue: PostgresCluster.isMissing)),
  .serialized,
  .onOwnThread
)
struct FleetSafetyTests {
  /// A local address that does not look local.
  private static let elsewhere = "0.0.0.0"

  /// The lease of a line lasts as long as its request may take, independent of the line before.
  @Test func `lends a reference for the line's own timeout`() throws {
    let fleet = try Fleet(machines: 1, timeout: 5)
    let machine = fleet.machines[0]
    let database = String(fleet.address.split(separator: "/").last ?? "")
    let lines = try Works.write(
      [
        #"{"command":"transact","amount":"5","test_card":"visa","reference":"L1"}"#,
        #"{"command":"transact","amount":"5","test_card":"visa","reference":"L2","timeout":"90s","#
          + #""sim_fault":"part2:latency=2s"}"#,
      ],
      machine
    )
    let (process, _, _) = try machine.start(["batch", lines, "--jobs", "1", "--json"])
    var lent = 0
    while process.isRunning {
      let left = try PostgresCluster.shared().sql(
        "SELECT ceil(extract(epoch FROM until - clock_timestamp())) FROM tender.lease "
          + "WHERE reference = 'L2'",
        in: database
      )
      lent = max(lent, Int(left.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0)
    }
    #expect(process.terminationStatus == 0)
    #expect(lent > 90)
  }

  /// A look-up needs neither a key nor a server that accepts writes. The payment after it needs both.
  @Test func `pays after a look-up in one batch`() throws {
    let fleet = try Fleet(machines: 1)
    var machine = fleet.machines[0]
    machine.variables["TENDER_JOURNAL_KEY_FILE"] = nil
    #expect(try machine.run(FleetTests.pay("S1")).status == 0)
    let lines = try Works.write(
      [#"{"command":"payment-status","id":"S1"}"#, Works.bank("S2")],
      machine
    )
    let run = try machine.run(["batch", lines, "--jobs", "1", "--json"])
    #expect(run.status == 0, "\(run.output) \(run.errors)")
  }

  /// Without its address, a paid reference must not look new.
  @Test func `pays with no other journal where a shared one was used`() throws {
    let fleet = try Fleet(machines: 1)
    var machine = fleet.machines[0]
    #expect(try machine.run(FleetTests.pay("E1")).status == 0)
    for address in [nil, ""] as [String?] {
      machine.variables["TENDER_JOURNAL"] = address
      let run = try machine.run(FleetTests.pay("E1") + ["--json"])
      #expect(run.status == 16)
      #expect(run.errorRecord["error"]?["code"] == "journal_elsewhere", "\(run.errors)")
    }
    #expect(try Works.Books(path: fleet.shop.books).charges("E1") == 1)
  }

  /// With another state folder, as the refusal suggested, the payment was made again.
  @Test func `an address that led nowhere locks no journal in a file`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(FleetTests.pay("F1")).status == 0)
    binary.variables["TENDER_JOURNAL"] = "postgres://owner@127.0.0.1:1/payments"
    #expect(try binary.run(FleetTests.pay("F1") + ["--timeout", "1s"]).status == 16)
    binary.variables["TENDER_JOURNAL"] = nil
    let again = try binary.run(FleetTests.pay("F1") + ["--json"])
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.record["replayed"] == true)
  }

  /// Messages of the server and libpq are not printed between the records.
  @Test func `says in records that a database is gone`() throws {
    let fleet = try Fleet(machines: 1, timeout: 1)
    let cutter = try Cutter(before: PostgresCluster.shared().port, .dark(2, answers: false))
    defer { cutter.stop() }
    var machine = fleet.machines[0]
    let database = String(fleet.address.split(separator: "/").last ?? "")
    machine.variables["TENDER_JOURNAL"] = "postgres://tender@127.0.0.1:\(cutter.port)/\(database)"
    let run = try machine.run(FleetTests.pay("W1"))
    #expect(run.status == 16, "\(run.errors)")
    for line in run.errors.split(separator: "\n") { #expect(line.hasPrefix("{"), "\(line)") }
  }

  @Test func `verifies a server that is not on this machine, unless somebody says otherwise`()
    throws
  {
    let fleet = try Fleet(machines: 1)
    let far = fleet.address.replacing("127.0.0.1", with: Self.elsewhere)
    func run(_ address: String, _ variables: [String: String] = [:]) throws -> Binary.Result {
      var machine = fleet.machines[0]
      machine.variables["TENDER_JOURNAL"] = address
      machine.variables.merge(variables) { $1 }
      return try machine.run("journal", "list", "--json")
    }
    let refused = try run(far)
    #expect(refused.status == 16)
    #expect(refused.errors.contains("SSL"), "\(refused.errors)")
    #expect(try run(far + "?sslmode=disable").status == 0)
    #expect(try run(far, ["PGSSLMODE": "disable"]).status == 0)
    let services = fleet.machines[0].home.appending(path: "services.conf")
    try Data("[plain]\nsslmode=disable\n".utf8).write(to: services)
    let service = try run(far + "?service=plain", ["PGSERVICEFILE": services.path])
    #expect(service.status == 0, "\(service.errors)")
    #expect(try run(far + "?service=other", ["PGSERVICEFILE": services.path]).status == 16)
    let doctor = try {
      var machine = fleet.machines[0]
      machine.variables["TENDER_JOURNAL"] = far + "?sslmode=disable"
      return try machine.run("doctor", "--json")
    }()
    #expect(doctor.output.contains("NO TLS: sslmode is disable"), "\(doctor.output)")
  }

  @Test func `takes the roots of TENDER_CA_FILE`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, subject) in [("server", "/CN=localhost"), ("other", "/CN=other")] {
      try Self.shell(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
          + "-subj \(subject) -addext subjectAltName=DNS:localhost,DNS:db.test "
          + "-keyout \(folder.path)/\(name).key -out \(folder.path)/\(name).crt"
      )
    }
    try Self.shell(
      "chmod 755 \(folder.path); chmod 600 \(folder.path)/server.key; "
        + "if [ $(id -u) = 0 ]; then chown postgres \(folder.path)/server.key; fi"
    )
    let cluster = try PostgresCluster([
      "ssl=on", "ssl_cert_file=\(folder.path)/server.crt",
      "ssl_key_file=\(folder.path)/server.key",
    ])
    let fleet = try Fleet(machines: 1, at: cluster.database())
    let name = String(fleet.address.split(separator: "/").last ?? "")
    var machine = fleet.machines[0]
    machine.variables["TENDER_JOURNAL"] =
      "postgres://tender@localhost:\(cluster.port)/\(name)?sslmode=verify-full"
    for (file, status) in [("server", 0), ("other", 16)] as [(String, Int32)] {
      machine.variables["TENDER_CA_FILE"] = "\(folder.path)/\(file).crt"
      let run = try machine.run("journal", "list", "--json")
      #expect(run.status == status, "\(run.errors)")
    }
    machine.variables["TENDER_CA_FILE"] = "\(folder.path)/server.crt"
    #expect(try machine.run("doctor", "--json").output.contains("TLS, verified"))
    // The name of the database counts, too.
    machine.variables["TENDER_JOURNAL"] =
      "postgres://tender@wrong.test:\(cluster.port)/\(name)?sslmode=verify-full&hostaddr=127.0.0.1"
    #expect(try machine.run("journal", "list", "--json").status == 16)
  }

  private static func shell(_ text: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", text]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw PostgresCluster.Failure(text: text) }
  }

  @Test func `shows no password, and takes one from a file`() throws {
    let cluster = try PostgresCluster()
    let fleet = try Fleet(machines: 1, at: cluster.database())
    let name = String(fleet.address.split(separator: "/").last ?? "")
    try cluster.sql("CREATE ROLE clerk LOGIN SUPERUSER PASSWORD 'p4ss-w0rd!'", in: name)
    try cluster.demandPassword(of: "clerk")
    var machine = fleet.machines[0]
    func use(_ address: String) { machine.variables["TENDER_JOURNAL"] = address }
    let host = "127.0.0.1:\(cluster.port)/\(name)"
    use("postgres://clerk@\(host)")
    let without = try machine.run("journal", "list", "--json")
    #expect(without.status == 16)
    for address in [
      "postgres://clerk:p4ss-w0rd%21@\(host)", "postgresql://clerk@\(host)?password=p4ss-w0rd%21",
    ] {
      use(address)
      for words in [["journal", "list"], ["config", "show"], ["doctor"]] {
        let run = try machine.run(words + ["--json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(!(run.output + run.errors).contains("p4ss"), "\(run.output)")
      }
      #expect(try machine.run("config", "show", "--json").output.contains("[redacted]"))
      use(address.replacing(name, with: "nowhere"))
      let refused = try machine.run("journal", "list", "--json")
      #expect(refused.status == 16)
      #expect(!refused.errors.contains("p4ss"), "\(refused.errors)")
    }
    use("postgres://clerk@\(host)")
    let file = machine.home.appending(path: "pgpass")
    try Data("127.0.0.1:*:*:clerk:p4ss-w0rd!\n".utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    machine.variables["PGPASSFILE"] = file.path
    #expect(try machine.run("journal", "list", "--json").status == 0)
  }

  @Test func `refuses an address that is none, and a profile's password that others can read`()
    throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    var other = binary
    for address in ["mysql://a/b", "journal.db", "postgres://[::1/x"] {
      other.variables["TENDER_JOURNAL"] = address
      let run = try other.run("journal", "list", "--json")
      #expect(run.status == 2 || run.status == 16 && address.hasPrefix("postgres"), "\(run.errors)")
    }
    let config = binary.home.appending(path: ".config/tender")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    let file = config.appending(path: "config.json")
    let text =
      #"{"schema":1,"default_profile":"p","profiles":{"p":{"journal":"postgres://a:b@127.0.0.1:1/x"}}}"#
    try Data(text.utf8).write(to: file)
    for (mode, status) in [(0o644, 2), (0o600, 16)] as [(Int, Int32)] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      let run = try binary.run("journal", "list", "--json", "--timeout", "1s")
      #expect(run.status == status, "\(run.errors)")
    }
  }

  /// A look at a sale may undo it. So another machine's sale is left alone for some time.
  @Test func `asks before another machine's sale is taken over`() throws {
    let fleet = try Fleet()
    let (first, second) = (fleet.machines[0], fleet.machines[1])
    var reference = ""
    for call in 5...80 {
      reference = "T\(call)"
      let struck = try first.faulty("kill:\(call)").run(Works.words(Works.sale(reference)))
      guard struck.status == 137 else { break }
      let shown = try first.run("journal", "show", reference, "--json")
      if shown.record["status"] == "unknown" { break }
    }
    // The profile of these tests allows taking over sales. This one has the defaults.
    let config = second.home.appending(path: ".config/tender/config.json")
    try FileManager.default.removeItem(at: config)
    let refused = try Fleet.untilFree(second, Works.words(Works.sale(reference)))
    #expect(refused.status == 17, "\(refused.errors) \(refused.output)")
    #expect(refused.errorRecord["error"]?["code"] == "takeover_not_confirmed")
    #expect(refused.errors.contains("@"), "\(refused.errors)")
    let own = try second.run("journal", "show", reference, "--json")
    #expect(own.record["status"] == "unknown")
    let taken = try second.run(Works.words(Works.sale(reference)) + ["--yes"])
    #expect([0, 9, 12].contains(taken.status), "\(taken.errors)")
    #expect(taken.errorRecord["error"]?["code"] != "takeover_not_confirmed")
    // The machine itself needs no consent.
    let again = try Fleet.untilFree(first, Works.words(Works.sale(reference)))
    #expect([0, 12].contains(again.status), "\(again.errors)")
  }
}
