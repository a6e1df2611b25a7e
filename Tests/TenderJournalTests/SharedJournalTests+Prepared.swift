import Foundation
import TenderEngine
import TenderJournal
import TenderTestSupport
import Testing

/// Statements that the server prepares for a connection.
extension SharedJournalTests {
  /// A server whose log has all statements and errors.
  private static func cluster() throws -> PostgresCluster {
    try PostgresCluster(["log_statement=all", "log_min_messages=error"])
  }

  private static func log(of cluster: PostgresCluster) throws -> [Substring] {
    try String(contentsOf: cluster.folder.appending(path: "log"), encoding: .utf8)
      .split(separator: "\n")
  }

  private func open(_ references: [String], _ journal: SharedJournal) throws {
    for reference in references {
      let held = try lock(journal, reference)
      #expect(held != nil)
      #expect(try opened(journal, reference).row > 0)
    }
  }

  @Test func `a statement that runs again is prepared once`() throws {
    let cluster = try Self.cluster()
    let journal = try SharedWorld.journal(at: cluster.database(), folders[0].path)
    try open(["A", "B", "C", "D"], journal)
    let writes = try Self.log(of: cluster).filter { $0.contains(": WITH held AS (UPDATE") }
    #expect(writes.count == 4)
    #expect(writes.first?.contains("execute <unnamed>:") == true)
    let names = Set(writes.dropFirst().compactMap { $0.split(separator: " ").dropLast(4).last })
    #expect(!writes.dropFirst().contains { $0.contains("<unnamed>") })
    #expect(names.count == 1, "\(names)")
  }

  #if os(Linux)
  /// In transaction mode, an older PgBouncer uses one server for several clients, and several for one client.
  @Test(.enabled(if: Pooler.isAvailable, "pgbouncer is not installed"))
  func `a pooler that loses prepared statements loses no write`() throws {
    let cluster = try Self.cluster()
    let direct = try cluster.database()
    let name = String(direct.split(separator: "/").last ?? "")
    _ = try SharedWorld.journal(at: direct, folders[0].path)
    let pooler = try Pooler(before: cluster, name)
    let address = "postgres://tender@127.0.0.1:\(pooler.port)/\(name)"
    func journal(_ machine: Int) throws -> SharedJournal {
      try SharedWorld.journal(at: address, folders[machine].path, migrates: false)
    }
    let (first, second) = (try journal(0), try journal(1))
    try open(["A", "B", "C"], first)
    // The server of the first one has the statement already.
    try open(["D", "E", "F"], second)
    let third = try journal(1)
    try open(["G", "H", "I"], third)
    // Another server does not have it.
    _ = try cluster.sql(
      """
      SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
      WHERE datname = '\(name)' AND pid <> pg_backend_pid()
      """,
      in: name
    )
    try open(["J", "K"], first)
    #expect(try cluster.sql("SELECT count(*) FROM tender.payment", in: name).hasPrefix("11"))
    let errors = try Self.log(of: cluster).filter { $0.contains("ERROR:  prepared statement") }
    #expect(errors.contains { $0.contains("already exists") }, "\(errors)")
    #expect(errors.contains { $0.contains("does not exist") }, "\(errors)")
  }
  #endif
}
