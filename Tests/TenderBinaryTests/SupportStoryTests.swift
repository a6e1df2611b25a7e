import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// Screens and files that a support agent draws conclusions about money from.
@Suite struct SupportStoryTests {
  private static func run(_ binary: Binary, _ line: String) throws -> Binary.Result {
    try binary.run(line.split(separator: " ").map(String.init) + ["--no-input"])
  }

  /// A refund at the reader is an operation of its sale.
  private static func refundedSale() throws -> Binary {
    let binary = try Binary()
    _ = try run(binary, "transact --provider toro --amount 50 --reference S1 --json")
    let back =
      "transact --provider toro --type refund --amount 20 --original S1 --reference S1-r --json"
    #expect(try run(binary, back).record["original"] == "S1")
    return binary
  }

  @Test func `a refund at the reader is a part of its sale, so that a column is not summed twice`()
    throws
  {
    let binary = try Self.refundedSale()
    defer { binary.remove() }
    let fields = "--fields reference,original,refunded_amount -o csv"
    for list in ["find", "journal list"] {
      #expect(
        try Self.run(binary, "\(list) \(fields)").output
          == "reference,original,refunded_amount\r\nS1,,20.00\r\n"
      )
    }
    #expect(try Self.run(binary, "find -o csv").output.contains(",original,source,brand,"))
  }

  @Test func `a refund at the reader is no second payment in a list`() throws {
    var binary = try Self.refundedSale()
    defer { binary.remove() }
    binary.variables["COLUMNS"] = "80"
    let list = try Self.run(binary, "journal list -o table")
    let lines = list.output.split(separator: "\n").map(String.init)
    #expect(lines[0] == "REFERENCE  STATUS              AMOUNT     REFUNDED AMOUNT  LAST FOUR")
    #expect(lines[1].hasPrefix("S1         partially_refunded  50.00 GBP  "))
    #expect(lines.count == 2)
    #expect(
      list.errors
        == "tender: no room for env, id, provider, created_at; --fields chooses columns\n"
    )
    binary.variables["COLUMNS"] = "200"
    #expect(try Self.run(binary, "journal list -o table").errors == "")
  }

  /// Rows of two envs must not look alike.
  @Test func `env stays in a narrow list of several envs`() throws {
    var binary = try Binary()
    defer { binary.remove() }
    _ = try Self.run(binary, "transact --amount 5 --test-card visa --reference A1 --json")
    let export = binary.home.appending(path: "export.jsonl")
    let text = try Self.run(binary, "journal export").output
    let other = text.replacing("\"env\":\"simulator\"", with: "\"env\":\"sandbox\"")
    try Data(other.utf8).write(to: export)
    #expect(try Self.run(binary, "journal import \(export.path) --json").status == 0)
    binary.variables["COLUMNS"] = "100"
    let output = try Self.run(binary, "journal list -o table").output
    #expect(output.contains("  sandbox") && output.contains("  simulator"), "\(output)")
  }

  @Test func `a refund without a key is not sent again while it can still appear`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try Self.run(binary, "transact --amount 10 --test-card visa --reference F5 --json")
    let lost = "refund F5 --amount 4 --sim-fault reversal:close-before --json"
    #expect(try Self.run(binary, lost).status == 9)
    for yes in ["", " --yes"] {
      let result = try Self.run(binary, "journal resume F5 --finish\(yes) -o table")
      #expect(result.status == 9)
      #expect(!result.errors.contains("may happen twice"), "\(result.errors)")
      let words =
        #/nothing was sent. It can be sent again from 20[-0-9T:]+Z on; to look only: tender/#
      #expect(result.errors.contains(words), "\(result.errors)")
    }
    _ = try Self.run(binary, "simulator advance 16m --json")
    let asked = try Self.run(binary, "journal resume F5 --finish -o table")
    let risk = "which may refund 4.00 USD a second time: tender journal resume F5 --finish --yes;"
    #expect(asked.status == 9 && asked.errors.contains(risk), "\(asked.errors)")
    let sent = try Self.run(binary, "journal resume F5 --finish --yes --json")
    #expect(sent.status == 0 && sent.record["refunded_amount"] == 400, "\(sent.errors)")
  }

  @Test func `the id of a hold is found after its capture`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let token = try Self.run(binary, "tokenize --test-card visa --reference T --json").record
    let hold = try Self.run(
      binary,
      "transact --amount 20 --token \(token.text("id") ?? "") --reference H3 --hold --json"
    ).record.text("id")
    let id = try #require(hold)
    let captured = try Self.run(binary, "confirm H3 --amount 15 --json").record
    #expect(captured.text("id") != id)
    for line in [
      "find \(id)", "find *\(id.suffix(8))", "journal show \(id)", "payment-status \(id)",
    ] {
      let found = try Self.run(binary, line + " --json")
      #expect(found.status == 0 && found.record["reference"] == "H3", "\(line): \(found.errors)")
      #expect(found.record["requested_amount"] == 2000, "\(line)")
    }
    #expect(try Self.run(binary, "refund \(id) --amount 5 --json").record["refunded_amount"] == 500)
  }

  @Test func `a dispute is recorded by a look-up, and stops a refund until a person accepts it`()
    throws
  {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = "transact --amount 10 --test-card visa --reference D1 --json --sim-scenario dispute"
    _ = try Self.run(binary, paid)
    #expect(try Self.run(binary, "payment-status D1 --json").status == 0)
    let found = try Self.run(binary, "find D1 -o table").output
    #expect(found.contains("10.00 USD paid, disputed (INQUIRY)"), "\(found)")
    for line in ["refund D1 --dry-run", "refund D1", "refund D1 --yes", "cancel D1 --yes"] {
      let result = try Self.run(binary, line + " --json")
      #expect(result.status == 6, "\(line)")
      #expect(result.errorRecord["error"]?["code"] == "disputed", "\(line): \(result.errors)")
    }
    #expect(try Self.run(binary, "refund D1 --despite-dispute --json").status == 0)
  }

  @Test func `an unknown payment fails a report, unless it was expected`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lost = "transact --amount 10 --test-card visa --reference U1 --json"
    #expect(try Self.run(binary, lost + " --sim-fault part2:close-before").status == 9)
    let report = binary.home.appending(path: "report.xml")
    for (expect, failed) in [("", 1), (#","expect":"unknown""#, 0)] {
      let file = try Works.write(
        [#"{"command":"payment-status","reference":"U1"\#(expect)}"#],
        binary
      )
      let result = try binary.run("batch", file, "--junit", report.path, "--json")
      #expect(result.status == 9)
      let summary = result.records.last
      #expect(summary?["ok"]?.wholeNumber == 1 - failed && summary?["unknown"] == 1)
      #expect(summary?["failed"]?.wholeNumber == failed)
      let text = try String(contentsOf: report, encoding: .utf8)
      #expect(text.contains("failures=\"\(failed)\""), "\(text)")
      #expect(text.contains("type=\"outcome_unknown\"") == (failed == 1), "\(text)")
    }
  }

  @Test func `a refund's record has its own amount`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try Self.run(binary, "transact --amount 10 --test-card visa --reference A --json")
    let first = try Self.run(binary, "refund A --amount 1 --json").record
    #expect(first["this_refund"] == 100 && first["refunded_amount"] == 100)
    let second = try Self.run(binary, "refund A --amount 2 --refund-reference b --json").record
    #expect(second["this_refund"] == 200 && second["refunded_amount"] == 300)
    #expect(try Self.run(binary, "find A --json").record["this_refund"] == nil)
  }

  @Test func `another fee is named as an amount`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let line = "transact --amount 10 --fee-mode service_fee --fee 0.50 --test-card visa --json"
    let message = try Self.run(binary, line).errorRecord["error"]?["message"]?.text ?? ""
    #expect(
      message
        == "Pay Theory prepared 10.59 USD (service_fee) where 10.50 USD (service_fee) was ordered"
    )
  }

  @Test func `a batch without lines says so`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let result = try binary.run("batch", try Works.write([], binary), "--json")
    #expect(result.status == 0 && result.errors.contains("there was no line to run"))
  }

  @Test(arguments: [
    ("Nope/Zone", true), (":Nope/Zone", true), ("PST", true), ("UTC", false), ("", false),
    ("EST5EDT,M3.2.0,M11.1.0", false), ("<+03>-3", false),
  ])
  func `a time zone that does not exist is named`(_ zone: String, _ isNamed: Bool) throws {
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables["TZ"] = zone
    let errors = try Self.run(binary, "find --since today --json").errors
    #expect(errors.contains("there is no time zone '\(zone)'") == isNamed, "\(errors)")
  }

  @Test(arguments: [
    "transact --amount 5 --test-card visa --reference B", "payment-status A", "find A", "find",
    "journal list", "journal show A", "explain A", "refund A", "journal export", "explain declined",
  ])
  func `each command that prints a local time names a missing zone once`(_ line: String) throws {
    var binary = try Binary()
    defer { binary.remove() }
    _ = try Self.run(binary, "transact --amount 5 --test-card visa --reference A --json")
    binary.variables["TZ"] = "Nope/Zone"
    let errors = try Self.run(binary, line + " -o table").errors
    let parts = errors.components(separatedBy: "there is no time zone 'Nope/Zone'")
    // An export is JSON, and a page about a word has no time.
    let prints = line != "explain declined"
    #expect(parts.count == (prints ? 2 : 1), "\(errors)")
    guard line.hasPrefix("payment-status") else { return }
    #expect(try !Self.run(binary, line + " --json").errors.contains("time zone"))
  }

  @Test func `online matches have brand and last four digits, and name the journal`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try Self.run(binary, "transact --amount 5 --test-card visa --reference A --json")
    _ = try Self.run(binary, "transact --amount 6 --test-card visa --reference H --hold --json")
    let fields = " --online --provider paytheory --fields reference,brand,last_four,source -o csv"
    let head = "reference,brand,last_four,source\r\n"
    #expect(try Self.run(binary, "find A" + fields).output == head + "A,VISA,1111,\r\n")
    #expect(try Self.run(binary, "find H" + fields).output == head + "H,VISA,1111,journal\r\n")
  }

  @Test func `a suspended sale that its operator cancelled names no other reason`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    _ = try Self.run(binary, "transact --provider toro --amount 90.68 --reference SUS --json")
    #expect(try Self.run(binary, "cancel SUS --json").record["status"] == "cancelled")
    let found = try Self.run(binary, "find SUS -o table").output
    #expect(found.hasPrefix("SUS  90.68 GBP cancelled · "), "\(found)")
  }
}
