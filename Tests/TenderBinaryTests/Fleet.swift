import Foundation
import TenderModel
import TenderTestSupport

/// Machines with a shared journal in PostgreSQL, and one simulator for all of them.
final class Fleet {
  let shop: Shop
  /// Machines, each with a separate home and state folder.
  private(set) var machines: [Binary] = []
  let address: String

  /// Creates a fleet. `timeout` is the time limit of one request in seconds. A lease lasts one second more.
  init(machines count: Int = 2, at address: String? = nil, timeout: Int = 1) throws {
    shop = try Shop()
    self.address = try address ?? PostgresCluster.shared().database()
    let key = shop.server.home.appending(path: "fleet.key")
    try Data(repeating: 9, count: 32).write(to: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
    shop.binary.variables["TENDER_JOURNAL"] = self.address
    shop.binary.variables["TENDER_JOURNAL_KEY_FILE"] = key.path
    shop.binary.variables["TENDER_TIMEOUT"] = "\(timeout)s"
    machines = [shop.binary]
    for _ in 1..<max(1, count) {
      var other = try Binary()
      other.variables = shop.binary.variables
      machines.append(other)
    }
    for machine in machines { try Works.waitForNothing(machine, takesOver: true) }
    let made = try machines[0].run("journal", "migrate", "--json")
    guard made.status == 0 else { throw PostgresCluster.Failure(text: made.errors) }
  }

  deinit { for machine in machines.dropFirst() { machine.remove() } }

  /// Runs a command until no other process has its reference, at most for the duration of a lease.
  static func untilFree(_ binary: Binary, _ words: [String]) throws -> Binary.Result {
    for _ in 0..<20 {
      let result = try binary.run(words)
      // The command itself waits before this error.
      guard result.status == 6, result.errorRecord["error"]?["code"] == "in_progress" else {
        return result
      }
    }
    return try binary.run(words)
  }
}
