import Foundation
import TenderTestSupport
import Testing

/// Files that never end, are never read, or never begin. A command's time limit applies to them as to a
/// network.
@Suite struct EndlessInputTests {
  /// Lines of a shell, with `$tender` as the program, and the exit that each must have.
  static let rows: [(script: String, exit: Int32)] = [
    ("tr '\\0' a < /dev/zero | $tender batch - --deadline 1s --json", 8),
    ("tr '\\0' a < /dev/zero | $tender journal import - --deadline 1s --json", 8),
    ("exec 3<>pipe; $tender batch pipe --deadline 1s --json", 8),
    ("exec 3<>pipe; $tender journal import pipe --deadline 1s --json", 8),
    ("exec 3<>pipe; $tender journal list --config pipe --deadline 1s --json", 8),
    ("$tender journal list --config pipe --deadline 1s --json", 8),
    (
      "mkdir -m 700 -p .config/tender; mkfifo -m 600 .config/tender/config.json; "
        + "$tender journal list; $tender __complete bash 'tender refund '",
      0
    ),
    ("while echo; do sleep 0.2; done | $tender journal list --config /dev/stdin --deadline 1s", 8),
    ("exec 3<>pipe; $lines | $tender batch - --trace pipe --deadline 2s --json", 8),
  ]

  @Test(arguments: rows) func `ends in time`(_ row: (script: String, exit: Int32)) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines =
      #"seq 400 | sed 's/.*/{"command":"transact","reference":"B-&","amount":"5","test_card":"visa"}/'"#
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c",
      "mkfifo -m 600 pipe; "
        + row.script.replacing("$tender", with: "timeout -s KILL 20 \(binary.executable.path)")
        .replacing("$lines", with: lines),
    ]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    process.currentDirectoryURL = binary.home
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let said = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(),
      as: UTF8.self
    )
    process.waitUntilExit()
    #expect(process.terminationStatus == row.exit, "\(said.suffix(500))")
  }
}
