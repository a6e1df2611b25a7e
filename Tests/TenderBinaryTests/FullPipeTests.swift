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

  /// Whether a process handles signals itself.
  private func handlesSignals(_ process: Process) -> Bool {
    let status = try? String(
      contentsOfFile: "/proc/\(process.processIdentifier)/status",
      encoding: .utf8
    )
    let line = status?.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
    // All 64 bits may be set, since a process inherits the mask of the thread that starts it.
    let blocked = line.flatMap { UInt64($0.dropFirst(7).filter { !$0.isWhitespace }, radix: 16) }
    return blocked.map { $0 >> UInt64(SIGTERM - 1) & 1 == 1 } ?? false
  }

  /// Neither the record nor the fault is read.
  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "there is no /proc"),
    arguments: [
      ["journal", "show", "NONE"], ["refund", "NONE"], ["journal", "list"], ["find", "A"],
      // It holds signals up, so that printing ends by itself.
      ["journal", "import", "LINES"],
      ["transact", "--amount", "90.05", "--test-card", "visa", "--reference", "B"],
      ["transact", "--provider", "toro", "--amount", "5", "--reference", "C", "--events"],
    ],
    [SIGTERM, SIGINT, SIGHUP]
  )
  func `ends on a signal where both pipes are full`(_ words: [String], _ signal: Int32) throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try binary.run("transact", "--amount", "5", "--test-card", "visa", "--reference", "A")
    let lines = try Works.write([try binary.run("journal", "export").output], binary)
    let pipes = [fullPipe(), fullPipe()]
    let process = Process()
    process.executableURL = Binary.path
    process.arguments = words.map { $0 == "LINES" ? lines : $0 } + ["--json"]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    process.standardOutput = pipes[0].fileHandleForWriting
    process.standardError = pipes[1].fileHandleForWriting
    let hasEnded = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in hasEnded.signal() }
    try process.run()
    let start = ContinuousClock.now
    while !handlesSignals(process), start.duration(to: .now) < .seconds(20) {}
    if words.contains("LINES") { usleep(500_000) }
    kill(process.processIdentifier, signal)
    let isOver = hasEnded.wait(timeout: .now() + 10) == .success
    #expect(isOver)
    if !isOver { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    if isOver { #expect(process.terminationReason == .exit) }
    // Only printing was under way.
    if ["list", "A", "import"].contains(words[1]) {
      #expect(process.terminationStatus == 128 + signal)
    }
    withExtendedLifetime(pipes) {}
  }
}
