import Foundation
import TenderModel
import TenderTestSupport

/// A simulator in a separate process with separate books, and a program that uses it.
final class Shop {
  let server: Binary
  let process: Process
  var binary: Binary

  /// Starts a server with these arguments. With `isSandbox`, the program pays there as with a provider's test hosts,
  /// so that its journal may not be lost.
  init(
    program: String = "tender",
    serving arguments: [String] = [],
    isSandbox: Bool = false
  ) throws {
    var server = try Binary()
    server.program = program
    self.server = server
    let (process, output, _) = try server.start(["simulator", "serve", "--json"] + arguments)
    self.process = process
    binary = try Binary()
    binary.program = program
    if isSandbox {
      binary.variables = Served.variables(output).filter { $0.key.hasPrefix("TENDER_") }
      binary.variables["TENDER_ENV"] = "sandbox"
      binary.variables["TENDER_PROVIDER"] = "paytheory"
    } else {
      for (name, value) in try Served.addresses(output) { binary.variables[name] = value }
    }
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

/// The output of `simulator serve`.
enum Served {
  /// The variables of a client.
  static func variables(_ output: Pipe) -> [String: String] {
    let variables = JSONReader.read(output.read(until: "\n"))?["variables"]?.object?.members ?? []
    return Dictionary(uniqueKeysWithValues: variables.map { ($0.key, $0.value.text ?? "") })
  }

  /// The variables with addresses.
  static func addresses(_ output: Pipe) throws -> [String: String] {
    variables(output).filter { $0.key.hasSuffix("_URL") || $0.key == "TENDER_TORO_DEVICE" }
  }
}
