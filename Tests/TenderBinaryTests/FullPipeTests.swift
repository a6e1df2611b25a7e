import Foundation
import TenderModel
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A reader of standard output that reads nothing. A paid payment is in the journal, and the program ends on
/// a signal.
@Suite struct FullPipeTests {
  /// A full pipe.
  private func fullPipe() -> Pipe {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    let block = [UInt8](repeating: 0x20, count: 4096)
    for size in [4096, 1] { while unsafe write(descriptor, block, size) > 0 {} }
    _ = fcntl(descriptor, F_SETFL, flags)
    return pipe
  }

  @Test(arguments: [
    (["transact", "--amount", "10", "--test-card", "visa"], "succeeded"),
    (["transact", "--provider", "toro", "--amount", "10"], "completed"),
    (
      ["transact", "--provider", "toro", "--amount", "10", "--events", "--timeout", "1s"],
      "completed"
    ),
  ])
  func `holds nothing up that is under way, and hears a signal`(
    _ words: [String],
    _ last: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pipe = fullPipe()
    let process = Process()
    process.executableURL = Binary.path
    process.arguments = words + ["--reference", "A", "--json", "--verbose"]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    process.standardOutput = pipe.fileHandleForWriting
    let errors = Pipe()
    process.standardError = errors
    let hasEnded = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in hasEnded.signal() }
    try process.run()
    // The payment is made even if its output is not read.
    #expect(errors.read(until: last).contains(last))
    let listed = try binary.run("journal", "list", "--json")
    #expect(listed.records.first?.text("status") == "succeeded")
    process.terminate()
    let isOver = hasEnded.wait(timeout: .now() + 20) == .success
    #expect(isOver)
    if !isOver { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    // A write has its usual exit, even without a reader.
    #expect(process.terminationReason == .exit)
    withExtendedLifetime(pipe) {}
  }
}
