import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// A mistyped state folder: no command that only reads or changes payments makes it, and each names it.
@Suite struct MissingFolderTests {
  /// A command, its exit status, and the text that it says about the folder.
  private static let cases: [(line: String, exit: Int32, text: String)] =
    ["find X", "journal show X", "explain X"].map { ($0, 5, "no journal") }
    + [
      "confirm X", "cancel X", "refund X", "refund X --dry-run", "payment-status X",
      "mandate-status X --provider truelayer", "journal resume X", "journal resume X --finish",
      "journal resolve X --as failed --reason r --yes",
    ].map { ($0, 5, "which has no journal") }
    + [
      "find --status unknown", "find X --online", "find --duplicates", "journal list",
      "journal export", "totals",
      "journal resume --all", "journal resume --all --finish", "journal verify",
      "journal backup copy.db", "journal accept --reason r --yes",
      "journal prune --before 2026-01-01", "journal prune --before 2026-01-01 --dry-run",
    ].map { ($0, 2, "there is no journal in ") }
    + [("simulator save world", 2, "there is no simulated world in ")]
    + ["simulator show", "simulator requests", "simulator requests --unmatched", "simulator reset"]
    .map { ($0, 0, "there is no simulated world in ") }

  @Test(arguments: cases)
  func `says that there is no journal, and makes no folder`(
    _ line: String,
    _ exit: Int32,
    _ text: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let folder = binary.home.appending(path: "mistyped").path
    for output in ["--json", "--output=table"] {
      let words = line.split(separator: " ").map(String.init)
      let result = try binary.run(words + ["--no-input", "--state-dir", folder, output])
      #expect(result.status == exit, "\(line): \(result.errors)")
      #expect(result.errors.contains(text), "\(line): \(result.errors)")
      #expect(result.errors.contains("mistyped"), "\(line): \(result.errors)")
      #expect(!FileManager.default.fileExists(atPath: folder), "\(line)")
    }
  }

  /// On a new machine the default folder does not exist yet.
  @Test(arguments: [
    ("find --status unknown", Int32(0)), ("journal list", 0), ("totals", 0),
    ("journal resume --all", 0), ("find X", 5), ("confirm X", 5), ("payment-status X", 5),
  ])
  func `the default folder need not exist`(_ line: String, _ exit: Int32) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run(line.split(separator: " ").map(String.init) + ["--json"])
    #expect(result.status == exit, "\(result.errors)")
    #expect(result.errors.contains("which has no journal"), "\(result.errors)")
    let folder = binary.home.appending(path: ".local/state/tender").path
    #expect(!FileManager.default.fileExists(atPath: folder), "\(line)")
  }

  @Test func `a file in the place of the folder is no empty journal`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let path = binary.home.appending(path: "file")
    try Data().write(to: path)
    let result = try binary.run("totals", "--state-dir", path.path, "--json")
    #expect(result.status == 2 && result.errors.contains("there is no journal in "))
  }

  @Test func `an empty world is named`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try binary.run("transact", "--amount", "5", "--test-card", "visa", "--json")
    _ = try binary.run("simulator", "reset", "--json")
    for (line, text) in [
      ("simulator show", "no payments in "),
      ("simulator requests --unmatched", "no unmatched requests in "),
    ] {
      let result = try binary.run(line.split(separator: " ").map(String.init) + ["--json"])
      #expect(result.status == 0 && result.errors.contains(text), "\(result.errors)")
    }
  }
}
