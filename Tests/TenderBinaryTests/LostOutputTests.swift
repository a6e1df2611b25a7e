import Foundation
import TenderTestSupport
import Testing

/// Standard output that accepts nothing. A command that did something has its usual exit and warns. A command
/// that only prints exits with 16 and a reason.
@Suite struct LostOutputTests {
  private func run(_ line: String, _ binary: Binary) throws -> (status: Int32, errors: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", line, Binary.path.path]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    process.standardInput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let said = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: said, as: UTF8.self))
  }

  private static let pay = "transact --amount 5 --test-card visa --reference A"

  @Test(arguments: [
    ("--version", 16), ("version", 16), ("version --json", 16), ("--help", 16),
    ("help transact", 16),
    ("schema payment", 16), ("providers", 16), ("schema", 16), ("completion bash", 16),
    ("config show", 16), ("journal grants", 16), ("simulator scenarios", 16), ("doctor", 16),
    ("explain declined", 16), ("__complete fish ''", 16), (pay + " --dry-run", 16),
    (pay, 0),
  ])
  func `says that it was lost, on a full device and closed`(_ words: String, _ status: Int) throws {
    for (name, way) in [("full", "> /dev/full"), ("closed", ">&-")] {
      let binary = try Binary()
      defer { binary.remove() }
      if name == "full", !FileManager.default.fileExists(atPath: "/dev/full") { continue }
      let result = try run(#"exec "$0" "# + words + " " + way, binary)
      #expect(result.status == Int32(status), "\(words) \(name): \(result.errors)")
      #expect(result.errors.contains("standard output cannot be written"), "\(words) \(name)")
      if status == 0 { #expect(try binary.run("journal", "list", "--json").records.count == 1) }
    }
  }

  @Test func `ends as other filters do where its reader has gone`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for words in ["--version", "help transact", "schema"] {
      let result = try run(
        #"{ trap '' PIPE; "$0" "# + words + #"; echo "exit $?" >&2; } | true"#,
        binary
      )
      // The reader may be faster or slower.
      #expect(["exit 141\n", "exit 0\n"].contains(result.errors), "\(words): \(result.errors)")
    }
  }
}
