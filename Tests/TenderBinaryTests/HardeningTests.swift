import Foundation
import TenderModel
import TenderTestSupport
import Testing

enum HardeningTools {
  static let hasReader = FileManager.default.isExecutableFile(atPath: "/usr/bin/readelf")
}

/// Protections of the program against exploits of its errors.
@Suite(.enabled(if: HardeningTools.hasReader, "readelf is not installed, or this is no Linux"))
struct HardeningTests {
  private static func check(_ program: String) throws -> (status: Int32, text: String) {
    let process = Process()
    process.executableURL = URL(filePath: Project.path("Tests/hardening.sh"))
    process.arguments = [program]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  @Test func `is built with all of it`() throws {
    let result = try Self.check(Binary.path.path)
    #expect(result.status == 0, "\(result.text)")
    #expect(result.text == "hardened: tender\n")
  }

  /// The check detects a missing protection.
  @Test func `sees what is missing`() throws {
    let library = Binary.products.appending(path: "libtender-faults.so")
    let result = try Self.check(library.path)
    #expect(result.status == 1)
    #expect(result.text.contains("missing: all symbols bound at start (BIND_NOW)"))
  }

  /// Runs a command with the loader's list of files on standard error.
  private static func traced(_ arguments: [String]) throws -> Binary.Result {
    var program = try Binary()
    defer { program.remove() }
    program.variables["LD_DEBUG"] = "files"
    return try program.run(arguments)
  }

  @Test(arguments: [
    ["--version"], ["help", "transact"], ["__complete", "bash", "tender transact --am"],
  ])
  func `opens no library for its version, help and completion`(_ arguments: [String]) throws {
    let result = try Self.traced(arguments)
    #expect(result.status == 0)
    #expect(result.errors.contains("libc.so"))
    #expect(!result.errors.contains("libsodium") && !result.errors.contains("libsqlite3"))
    let command = try Self.traced(["providers"])
    #expect(command.errors.contains("libsodium") && command.errors.contains("libsqlite3"))
  }

  @Test(arguments: ["libsodium.so.23", "libsqlite3.so.0"])
  func `reports a library that cannot be opened`(_ name: String) throws {
    var program = try Binary()
    defer { program.remove() }
    try Data("damaged".utf8).write(to: program.home.appending(path: name))
    program.variables["LD_LIBRARY_PATH"] = program.home.path
    let result = try program.run(["providers", "--json"])
    #expect(result.status == Fault.Kind.internal.exitStatus)
    #expect(result.errorRecord["error"]?["code"] == "library_missing")
    #expect(try program.run(["--version"]).status == 0)
  }
}
