import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// A provider is one folder, one line of the manifest and one entry of a list. All other code uses that
/// entry.
@Suite struct FourthProviderTests {
  private static func binary() throws -> Binary {
    var binary = try Binary()
    binary.program = "tender-with-example"
    return binary
  }

  @Test func `pays, confirms, cancels and looks up`() throws {
    let binary = try Self.binary()
    defer { binary.remove() }
    let pay = ["transact", "--provider", "example", "--json", "--amount"]
    let held = try binary.run(pay + ["5", "--reference", "E1", "--hold"])
    #expect(held.status == 0)
    #expect(held.record.text("status") == "requires_confirmation")
    #expect(held.record.text("currency") == "EUR")
    #expect(try binary.run("confirm", "E1", "--json").record.text("status") == "succeeded")
    #expect(try binary.run("payment-status", "E1", "--json").record.text("status") == "succeeded")
    #expect(try binary.run("cancel", "E1", "--json").record.text("status") == "cancelled")
    let refused = try binary.run(pay + ["5.13", "--reference", "E2"])
    #expect(refused.status == 3)
    #expect(refused.record["error"]?["code"] == "declined")
    let lost = pay + ["5", "--reference", "E3"]
    #expect(try binary.run(lost + ["--sim-fault", "example:close-after"]).status == 9)
    let again = try binary.run(lost)
    #expect(again.status == 0)
    #expect(again.record["replayed"] == true)
    let listed = try binary.run("journal", "list", "--provider", "example", "--json").records
    #expect(listed.compactMap { $0.text("reference") }.sorted() == ["E1", "E2", "E3"])
  }

  @Test func `is there for help, completions, doctor, explain, configuration and batch`() throws {
    let binary = try Self.binary()
    defer { binary.remove() }
    #expect(try binary.run("help", "transact").output.contains("--hold"))
    #expect(try binary.run("help", "transact").output.contains("EUR)"))
    let names = try binary.run("__complete", "zsh", "transact", "--provider", "").output
    #expect(names.contains("example\n"))
    #expect(try binary.run("__complete", "zsh", "transact", "--ho").output.contains("--hold\t"))
    let checks = try binary.run("doctor", "--provider", "example", "--json").records
    #expect(checks.contains { $0.text("name") == "example credentials" })
    let pages = try binary.run("explain", "EXAMPLE", "--json").records
    #expect(pages.map { $0.text("code") } == ["example_code", "example"])
    #expect(try binary.run("providers", "--json").output.contains("pays by example"))
    #expect(try binary.run("simulator", "scenarios").output.contains("example:refuse"))
    let shown = try binary.run("config", "show", "--json").records
    #expect(shown.contains { $0.text("name") == "example.access_key" })
    let lines = try Works.write(
      [
        #"{"command":"transact","provider":"example","reference":"B1","amount":"5","hold":true}"#,
        #"{"command":"confirm","reference":"B1"}"#,
      ],
      binary
    )
    let batch = try binary.run("batch", lines, "--ordered", "--json")
    #expect(batch.status == 0, "\(batch.output)")
    let config = binary.home.appending(path: "config.json")
    try #"{"profiles":{"a":{"example":{"acces_key":"x"}}}}"#
      .write(to: config, atomically: true, encoding: .utf8)
    let wrong = try binary.run("config", "check", "--config", config.path, "--json")
    #expect(wrong.status == 2)
    #expect(wrong.errorRecord["error"]?["hint"] == "did you mean access_key?")
  }

  @Test func `refuses the options of the others, and lacks their flows`() throws {
    let binary = try Self.binary()
    defer { binary.remove() }
    let other = ["--provider", "example", "--json", "--test-card=visa"]
    let pay = try binary.run(["transact", "--amount", "5", "--reference", "E"] + other)
    #expect(pay.errorRecord["error"]?["code"] == "bad_options")
    let theirs = ["--provider", "paytheory", "--test-card=visa", "--hold", "--json"]
    let hold = try binary.run(["transact", "--amount", "5"] + theirs)
    #expect(hold.status == 0, "\(hold.errors)")
    #expect(try binary.run(["tokenize"] + other).status == 15)
    #expect(try binary.run("mandate-status", "M", "--provider", "example").status == 15)
    #expect(try binary.run("cancel", "E", "--provider", "example", "--amount=1").status == 2)
  }

  /// It can only void whole payments, not parts.
  @Test func `refuses a part, and gives nothing back`() throws {
    let binary = try Self.binary()
    defer { binary.remove() }
    let own = ["--provider", "example", "--json"]
    #expect(try binary.run(["transact", "--amount", "5", "--reference", "E"] + own).status == 0)
    for (words, exit) in [
      (["--amount", "1"], 15), (["--amount-minor", "100"], 15), (["--currency", "EUR"], 2),
    ] {
      for dry in [[], ["--dry-run"]] {
        let refused = try binary.run(["refund", "E"] + words + dry + own)
        #expect(refused.status == Int32(exit), "\(words) \(dry)")
      }
    }
    #expect(try binary.run(["payment-status", "E"] + own).record.text("status") == "succeeded")
    #expect(try binary.run(["refund", "E"] + own).record.text("status") == "cancelled")
  }

  /// The files that name it outside of its folder and the tests: the manifest's one target, and the documents
  /// for newcomers.
  @Test func `is one folder, one target and one entry`() throws {
    let root = Project.path("")
    let manifest = try String(contentsOfFile: root + "/Package.swift", encoding: .utf8)
    #expect(manifest.components(separatedBy: "Tests/ExampleProvider").count == 2)
    let entry = try String(
      contentsOfFile: root + "/Tests/ExampleProvider/main.swift",
      encoding: .utf8
    )
    #expect(entry.components(separatedBy: "ExampleModule()").count == 2)
    var naming: [String] = []
    let files = FileManager.default.enumerator(atPath: root)
    while let file = files?.nextObject() as? String {
      if [".git", ".build", "Tests"].contains(file) { files?.skipDescendants() }
      guard let text = try? String(contentsOfFile: root + "/" + file, encoding: .utf8),
        ["ExampleModule", "ExampleProvider", "\"example\""].contains(where: text.contains)
      else { continue }
      naming.append(file)
    }
    #expect(naming.sorted() == ["Package.swift", "Sources/README.md"])
  }
}
