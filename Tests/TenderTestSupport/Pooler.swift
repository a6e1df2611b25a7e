import Foundation

/// A PgBouncer in transaction mode before a PostgreSQL of the tests' own.
package final class Pooler {
  private static let program = "/usr/sbin/pgbouncer"

  package static var isAvailable: Bool { FileManager.default.fileExists(atPath: program) }

  package let port: Int
  private let folder: URL
  private let process: Process

  package init(before cluster: PostgresCluster, _ database: String) throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "pool-\(UUID().uuidString.prefix(8))"
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    port = try PostgresCluster.freePort()
    let settings = """
      [databases]
      \(database) = host=127.0.0.1 port=\(cluster.port) dbname=\(database)
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(port)
      unix_socket_dir =
      auth_type = any
      pool_mode = transaction
      default_pool_size = 5
      max_client_conn = 200
      server_login_retry = 1
      """
    // With `any` the server is asked as one user.
    let named = settings.replacing(
      "dbname=\(database)\n",
      with: "dbname=\(database) user=tender\n"
    )
    let file = folder.appending(path: "pgbouncer.ini")
    try Data(named.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    process = PostgresCluster.process(Self.program, [file.path], asUser: true)
    process.standardError = try PostgresCluster.log(folder)
    try PostgresCluster.runOnThreadOfItsOwn(process)
    guard PostgresCluster.isAnswering("\(port)", "127.0.0.1", process, database) else {
      throw PostgresCluster.Failure(text: "PgBouncer does not start")
    }
  }

  deinit {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }
}
