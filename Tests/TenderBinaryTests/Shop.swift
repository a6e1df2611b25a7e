import Foundation
import TenderModel
import TenderTestSupport

/// A simulator with its own books in its own process, and a program that goes there.
final class Shop {
  let server: Binary
  let process: Process
  var binary: Binary

  /// `last` is the variable that the server says last.
  init(program: String = "tender", last: String = Served.last) throws {
    var server = try Binary()
    server.program = program
    self.server = server
    let (process, output, _) = try server.start(["simulator", "serve", "--json"])
    self.process = process
    binary = try Binary()
    binary.program = program
    for (name, value) in try Served.addresses(output, last: last) { binary.variables[name] = value }
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
  static let last = "TENDER_TRUELAYER_AUTH_URL"

  /// The variables that point there, once all have been said.
  static func addresses(_ output: Pipe, last: String = last) throws -> [String: String] {
    let said = output.read(until: last)
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
