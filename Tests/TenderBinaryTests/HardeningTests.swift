import Foundation
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
}
