import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The files that a batch opens, and their contents afterwards.
extension BatchTests {
  @Test func `runs as many lines at once as may have their files open`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = try write((0..<20).map { Self.pay("U\($0)") }, binary)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    let command = "ulimit -n 300; exec \"$0\" batch \"$1\" --jobs 64 --json"
    process.arguments = ["-c", command, binary.executable.path, file]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let warned = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(said)")
    #expect(said.contains(#""ok":20,"failed":0"#))
    #expect(warned.contains("9 lines at once, not 64: only 300 files may be open (ulimit -n)"))
  }

  @Test func `destroys the keys of what its payments prepared`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(
      "batch",
      try write((0..<9).map { Self.pay("E\($0)") }, binary),
      "--json"
    )
    #expect(result.status == 0)
    let state = binary.home.appending(path: ".local/state/tender")
    #expect(!FileManager.default.fileExists(atPath: state.appending(path: "journal.erase").path))
    let keys = [UInt8](try Data(contentsOf: state.appending(path: "journal.seals")))
    let places = stride(from: 0, to: keys.count, by: 64).map { keys[$0..<$0 + 64] }
    #expect(places.count { $0.allSatisfy { $0 == 0 } } == 9)
    for (file, bytes) in try binary.everyByte() where file.hasPrefix("journal.db") {
      #expect(bytes.firstRange(of: Data(#""session""#.utf8)) == nil, "\(file)")
    }
  }
}
