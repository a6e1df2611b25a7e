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

  @Test func `erases what its holds needed`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for number in 0..<9 {
      let words = "transact --amount 5 --test-card visa --hold --reference E\(number)"
      #expect(try binary.run(line: words).status == 0)
    }
    let state = binary.home.appending(path: ".local/state/tender")
    func files(with text: String) throws -> [String] {
      try binary.everyByte().filter { file, bytes in
        file.hasPrefix("journal.db") && bytes.firstRange(of: Data(text.utf8)) != nil
      }
      .map(\.0)
    }
    #expect(try !files(with: "fleet:").isEmpty)
    #expect(try files(with: #""session""#) == [])
    let lines = (0..<9).map { #"{"command":"confirm","reference":"E\#($0)"}"# }
    let result = try binary.run("batch", try write(lines, binary), "--json")
    #expect(result.status == 0, "\(result.output)")
    #expect(!FileManager.default.fileExists(atPath: state.appending(path: "journal.erase").path))
    #expect(try files(with: "fleet:") == [])
    #expect(try files(with: #""session""#) == [])
  }
}
