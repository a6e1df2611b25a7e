import Foundation
import TenderModel
import TenderTestSupport
import TenderWire

/// A simulator with its own books in its own process, and a program that goes there.
final class Shop {
  let server: Binary
  let process: Process
  var binary: Binary

  init() throws {
    server = try Binary()
    let (process, output, _) = try server.start(["simulator", "serve", "--json"])
    self.process = process
    binary = try Binary()
    for (name, value) in try Served.addresses(output) { binary.variables[name] = value }
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
    server.remove()
    binary.remove()
  }

  var books: String { server.home.appending(path: ".local/state/tender/simulator.db").path }

  var journal: String { binary.home.appending(path: ".local/state/tender/journal.db").path }
}

/// What `simulator serve` says that it serves.
enum Served {
  /// The variables that point there, once all have been said.
  static func addresses(_ output: Pipe) throws -> [String: String] {
    let said = output.read(until: "TENDER_TRUELAYER_AUTH_URL")
    var addresses: [String: String] = [:]
    for line in said.split(separator: "\n") {
      guard let record = JSONReader.read(String(line))?.object, let name = record.text("name")
      else {
        continue
      }
      addresses[name] = record.text("value")
    }
    return addresses
  }
}
