import Foundation
import TenderModel
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A reader of standard output that reads nothing: what was paid is in the journal, and the program ends
/// when it is asked to.
@Suite struct FullPipeTests {
  /// A pipe that takes not one byte more.
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
    ["transact", "--amount", "10", "--test-card", "visa"],
    ["transact", "--provider", "toro", "--amount", "10"],
    ["transact", "--provider", "toro", "--amount", "10", "--events", "--timeout", "1s"],
  ])
  func `holds nothing up that is under way, and hears a signal`(_ words: [String]) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pipe = fullPipe()
    let process = Process()
    process.executableURL = Binary.path
    process.arguments = words + ["--reference", "A", "--json"]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    process.standardOutput = pipe.fileHandleForWriting
    process.standardError = FileHandle.nullDevice
    try process.run()
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(20)
    var status: String?
    // Nobody reads what it says, and it is paid all the same.
    while status != "succeeded", clock.now < deadline {
      usleep(20_000)
      status = try binary.run("journal", "list", "--json").records.first?.text("status")
    }
    #expect(status == "succeeded")
    process.terminate()
    while process.isRunning, clock.now < deadline { usleep(20_000) }
    #expect(!process.isRunning)
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    // A write keeps its own exit, whoever reads it.
    #expect(process.terminationReason == .exit)
    withExtendedLifetime(pipe) {}
  }
}
