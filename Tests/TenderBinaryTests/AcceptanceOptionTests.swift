import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// The options by which a person accepts what would stop a command, and the notes about other journals.
@Suite struct AcceptanceOptionTests {
  private static func run(_ binary: Binary, _ line: String) throws -> Binary.Result {
    try binary.run(line.split(separator: " ").map(String.init))
  }

  @Test func `a refund takes the ids of refunds made elsewhere, and a dispute`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for reference in ["A", "B", "C"] {
      let paid = try Self.run(
        binary,
        "transact --amount 5 --test-card visa --json --reference \(reference)"
      )
      #expect(paid.status == 0)
    }
    // An id that names no refund made elsewhere is not ignored.
    let unknown = "--despite-refund R1 --despite-refund R2 --despite-dispute --json"
    for command in ["refund A --amount 2", "cancel A"] {
      let strange = try Self.run(binary, "\(command) \(unknown)")
      #expect(strange.status == 2, "\(strange.errors)")
      #expect(
        strange.errorRecord["error"]?["message"]
          == "'R1' is not a refund of 'A' that was made elsewhere, and that counts now; nothing was sent"
      )
    }
    let part = try Self.run(binary, "refund A --amount 2 --despite-dispute --json")
    #expect(part.status == 0 && part.record["refunded_amount"] == 200, "\(part.errors)")
    let lines =
      #"{"command":"refund","reference":"B","despite_refund":["R1","R2"],"despite_dispute":true}"#
    let batch = try binary.run("batch", "-", "--json", input: lines + "\n")
    #expect(
      batch.status == 14 && batch.output.contains("'R1' is not a refund of 'B'"),
      "\(batch.output)"
    )
    let file = binary.home.appending(path: "lines.csv")
    try Data("command,reference,despite_refund,despite_dispute\nrefund,C,R1,true\n".utf8)
      .write(to: file)
    let csv = try binary.run("batch", "--csv", file.path, "--json")
    #expect(csv.status == 14 && csv.output.contains("'R1' is not a refund of 'C'"), "\(csv.output)")
  }

  @Test(arguments: [
    ("transact --provider truelayer --amount 5 --despite-payment X", "truelayer"),
    ("transact --provider toro --amount 5 --despite-payment X", "toro"),
    ("refund A --provider toro --despite-refund X", "toro"),
    ("cancel A --provider toro --despite-dispute", "toro"),
  ])
  func `a provider that cannot be asked takes none of them`(
    _ line: String,
    _ provider: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try Self.run(binary, line + " --json")
    #expect(result.status == 2)
    let option = line.split(separator: " ").first { $0.hasPrefix("--despite") } ?? ""
    #expect(
      result.errorRecord["error"]?["message"]
        == .string("\(option) cannot be used with \(provider)")
    )
  }

  @Test func `accepting the provider's values excludes a status and needs a reason`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for (words, code) in [
      ("--from-provider --as failed --reason x", "bad_options"),
      ("--from-provider --operation 1 --reason x", "bad_options"),
      ("--from-provider", "missing_option"),
    ] {
      let result = try Self.run(binary, "journal resolve A \(words) --yes --json")
      #expect(result.status == 2, "\(words)")
      #expect(result.errorRecord["error"]?["code"] == .string(code), "\(words)")
    }
  }

  private static let lack = [
    "paytheory": "paytheory cannot be searched without its merchant credentials",
    "toro": "toro has no look-up",
  ]
  private static let pay = [
    "paytheory": "transact --provider paytheory --amount 5 --test-card visa --json --no-input",
    "toro": "transact --provider toro --amount 5 --signature-matches yes --json --no-input",
  ]
  private static let rest =
    ": the same reference in another journal is charged again. Another journal is another state "
    + "folder, user or machine, or a container without a volume. Keep one journal"

  private static func notes(_ result: Binary.Result) -> [JSON?] {
    Binary.Result(status: 0, output: result.errors, errors: "").records
      .filter { $0["text"]?.text?.contains("another journal") == true }.map { $0["text"] }
  }

  /// Without a look-up, only this journal stops a second charge.
  @Test(arguments: ["paytheory", "toro"])
  func `the first payment of a journal says who else can charge its reference`(
    _ provider: String
  ) throws {
    let server = try Binary()
    defer { server.remove() }
    let (process, output, _) = try server.start(["simulator", "serve", "--json"])
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = Served.variables(output)
    binary.variables["TENDER_PAYTHEORY_SECRET_KEY"] = nil
    let pay = (Self.pay[provider] ?? "") + " --env sandbox --reference "
    let first = try Self.run(binary, pay + "A")
    #expect(first.status == 0, "\(first.errors)")
    #expect(Self.notes(first) == [.string((Self.lack[provider] ?? "") + Self.rest)])
    let second = try Self.run(binary, pay + "B")
    #expect(second.status == 0 && Self.notes(second).isEmpty, "\(second.errors)")
  }

  @Test(arguments: ["paytheory", "toro"])
  func `a simulator in the process needs no such note`(_ provider: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = try Self.run(binary, (Self.pay[provider] ?? "") + " --reference A")
    #expect(paid.status == 0 && Self.notes(paid).isEmpty, "\(paid.errors)")
  }
}
