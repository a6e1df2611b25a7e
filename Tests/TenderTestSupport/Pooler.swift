import Foundation

/// A PgBouncer in transaction mode in front of a PostgreSQL server of the tests.
package final class Pooler {
  private static let program = "/usr/sbin/pgbouncer"

  package static var isAvailable: Bool { FileManager.default.fileExists(atPath: program) }

  package let port: Int
  private let folder: URL
  private var process = Process()
  private var ended = DispatchGroup()

  private let database: String

  package init(before cluster: PostgresCluster, _ database: String) throws {
    folder = FileManager.default.temporaryDirectory.appending(
      path: "pool-\(UUID().uuidString.prefix(8))"
    )
    self.database = database
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    port = try FreePort.next()
    try Self.write(folder, port, cluster, database)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    try start()
  }

  private func start() throws {
    process = PostgresCluster.process(
      Self.program,
      [folder.appending(path: "pgbouncer.ini").path],
      asUser: true
    )
    process.standardError = try PostgresCluster.log(folder)
    ended = try PostgresCluster.runOnThreadOfItsOwn(process)
    guard PostgresCluster.isAnswering("\(port)", "127.0.0.1", process, database) else {
      throw PostgresCluster.Failure(text: "PgBouncer does not start")
    }
  }

  /// With `any`, all clients use the server as one user.
  private static func write(
    _ folder: URL,
    _ port: Int,
    _ cluster: PostgresCluster,
    _ database: String
  ) throws {
    let settings = """
      [databases]
      \(database) = host=127.0.0.1 port=\(cluster.port) dbname=\(database) user=tender
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
    try Data(settings.utf8).write(to: folder.appending(path: "pgbouncer.ini"))
  }

  /// Starts again in front of another server, as an operator does after a failover.
  package func point(at cluster: PostgresCluster) throws {
    stop()
    try Self.write(folder, port, cluster, database)
    try start()
  }

  private func stop() {
    kill(process.processIdentifier, SIGKILL)
    ended.wait()
  }

  deinit {
    stop()
    try? FileManager.default.removeItem(at: folder)
  }
}
