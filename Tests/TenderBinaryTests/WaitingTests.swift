import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The time limits of commands, and their output while they wait.
@Suite struct WaitingTests {
  /// Each payment has a different port for the payer's return.
  static var bank: [String] {
    [
      "transact", "--provider", "truelayer", "--amount", "10", "--beneficiary-name", "Ben",
      "--sort-code", "56-00-29", "--account-number", "26207729", "--user", "name=Remi", "--user",
      "email=remi@example.com", "--bank", "mock-payments-gb-redirect", "--reference", "A",
      "--sim-scenario", "bank:abandon", "--redirect-url", "http://127.0.0.1:\(port())/back",
    ]
  }

  private static func port() -> Int { (try? FreePort.next()) ?? 0 }

  static let sale = [
    "transact", "--provider", "toro", "--amount", "9", "--reference", "A", "--sim-scenario",
    "card:no_card",
  ]

  /// The payer does nothing, or no card is presented. The payment is ended as with Ctrl-C.
  @Test(arguments: [(bank, "user_canceled"), (sale, "operator_cancelled")])
  func `ends in time while somebody else is awaited`(_ words: [String], _ code: String) throws {
    let shop = try Shop()
    let binary = shop.binary
    let start = ContinuousClock.now
    let result = try binary.run(words + ["--deadline", "500ms", "--no-input", "--json"])
    #expect(ContinuousClock.now - start < .seconds(10))
    #expect(result.status == 12, "\(result.output) \(result.errors)")
    #expect(result.record["error"]?["code"]?.text == code)
    #expect(try binary.run("journal", "verify", "--json").status == 0)
  }

  /// A line that looks again and again is no work to finish.
  @Test func `a batch ends in time while its lines wait for the final state`() throws {
    let shop = try Shop()
    let lines = ["A", "B"].map { Works.bank($0).dropLast() + #","wait":true}"# }
    let start = ContinuousClock.now
    let words = ["batch", "-", "--deadline", "900ms", "--json"]
    let result = try shop.binary.run(words, input: lines.joined(separator: "\n") + "\n")
    #expect(ContinuousClock.now - start < .seconds(8))
    #expect(result.status == 8, "\(result.output) \(result.errors)")
    let codes = result.records.dropLast().map { $0["error"]?["code"]?.text }
    #expect(codes == ["user_canceled", "user_canceled"], "\(result.output)")
    #expect(try shop.binary.run("journal", "verify", "--json").status == 0)
  }

  @Test func `ends in time while the other side is silent, and says what is known`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    func pay(_ reference: String, _ more: [String]) throws -> Binary.Result {
      let words = ["transact", "--amount", "5", "--test-card", "visa", "--reference", reference]
      return try binary.run(words + ["--json"] + more)
    }
    let before = try pay("A", ["--sim-fault", "part1:silence-after", "--deadline", "700ms"])
    #expect(before.status == 8, "\(before.output) \(before.errors)")
    #expect(before.errorRecord["error"]?["code"] == "deadline_passed")
    #expect(before.errorRecord["error"]?["effect"] == "none")
    // The hint is to run the same command again.
    #expect(before.errorRecord["error"]?["retry"] == ["class": "same_command"])
    func kept(_ reference: String) throws -> [String?] {
      let shown = try binary.run("journal", "show", reference, "--json").record
      return [shown["error"]?["code"]?.text, shown["history"]?.array?.last?["note"]?.text]
    }
    // No signal came.
    #expect(try kept("A") == ["deadline_passed", "ended with no effect: deadline_passed"])
    #expect(try pay("A", []).status == 0)
    // Money may have moved, which is reported before the end of the time.
    let after = try pay("B", ["--sim-fault", "part2:silence-after", "--deadline", "700ms"])
    #expect(after.status == 9, "\(after.output) \(after.errors)")
    #expect(try kept("B") == ["deadline_passed", "result unknown: deadline_passed"])
    #expect(try pay("B", []).record["status"] == "succeeded")
    #expect(try pay("C", ["--deadline", "30s"]).status == 0)
  }

  /// The lines under way of a batch have some seconds to finish. Their answers are lost here: the sale is undone, the
  /// others are unknown, and the same command finds them out.
  @Test(arguments: [nil, SIGINT, SIGTERM, SIGHUP] as [Int32?])
  func `bounds the lines of a batch whose providers are silent`(_ signal: Int32?) throws {
    let shop = try Shop()
    let books = Works.Books(path: shop.books)
    func file(_ fault: (String) -> String) throws -> String {
      try Works.write(
        [
          Works.card("A", fault("part2")), Works.sale("T", fault("authorisation")),
          Works.bank("B", fault("create")),
        ],
        shop.binary
      )
    }
    func counts() throws -> [Int] {
      [try books.charges("A"), try books.sales("T").authorised, try books.bankPayments("B")]
    }
    let silent = try file { #","sim_fault":"\#($0):silence-after""# }
    let words = ["batch", silent, "--json"] + (signal == nil ? ["--deadline", "3s"] : [])
    if let signal { Foundation.signal(signal, SIG_DFL) }
    var start = ContinuousClock.now
    let (process, output, _) = try shop.binary.start(words)
    if let signal {
      while try counts() != [1, 1, 1], start.duration(to: .now) < .seconds(20) {}
      start = .now
      kill(process.processIdentifier, signal)
    }
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(start.duration(to: .now) < .seconds(12))
    #expect(process.terminationStatus == 9, "\(said)")
    let summary = said.split(separator: "\n").last.flatMap { JSONReader.read(String($0)) }
    #expect(summary?["unknown"] == 2 && summary?["stopped"] == true, "\(said)")
    let unknown = try shop.binary.run("journal", "list", "--status", "unknown", "--json").records
    #expect(Set(unknown.compactMap { $0.text("reference") }) == ["A", "B"])
    let again = try shop.binary.run("batch", try file { _ in "" }, "--resume", "--json")
    #expect(
      try shop.binary.run("journal", "list", "--status", "unknown", "--json").records.isEmpty,
      "\(again.output)"
    )
    #expect(try counts() == [1, 1, 1])
    #expect(try books.sales("T").standing == 0)
    #expect(try shop.binary.run("journal", "verify").status == 0)
  }

  /// A creation without an answer is sent again under its key, but only within the time of `--wait`.
  @Test(arguments: [
    (WaitingTests.bank, false, Int32(9)),
    (["payment-status", "--provider", "truelayer", WaitingTests.id], false, 11),
    (["payment-status", "--provider", "truelayer", WaitingTests.id], true, 11),
  ])
  func `waits no longer where answers are lost`(
    _ words: [String],
    _ isSilent: Bool,
    _ exit: Int32
  ) throws {
    let server = try Server()
    defer { server.stop() }
    let peer = try HostilePeer(at: 1) { if isSilent { $0.hush() } }
    defer { peer.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.announced
    binary.variables["TENDER_TRUELAYER_API_URL"] = "http://127.0.0.1:\(peer.port)"
    let start = ContinuousClock.now
    let result = try binary.run(words + ["--wait=2s", "--no-input", "--json"])
    #expect(start.duration(to: .now) < .seconds(5))
    #expect(result.status == exit, "\(result.errors)")
  }

  private static let id = "00000000-0000-4000-8000-000000001999"

  /// It counts as SIGTERM. The payment neither goes on nor has a crash report.
  @Test func `stops at SIGQUIT`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference", "A", "--json"]
    // A test in the background ignores it, and so would the program.
    signal(SIGQUIT, SIG_DFL)
    let (process, output, errors) = try binary.start(
      pay + ["--events", "--sim-fault", "part2:silence-after"]
    )
    var seen = ""
    while !seen.contains(#""state":"sent""#),
      let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty
    {
      seen += String(decoding: byte, as: UTF8.self)
    }
    kill(process.processIdentifier, SIGQUIT)
    let said = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 9, "\(seen) \(String(decoding: said, as: UTF8.self))")
    // A crash report would be the last line.
    let record = String(decoding: said, as: UTF8.self).split(separator: "\n").last
    #expect(record.flatMap { JSONReader.read(String($0)) }?["error"]?["code"] == "terminated")
    #expect(try binary.run(pay).record["status"] == "succeeded")
    binary.variables = [:]
    #expect(try binary.run("journal", "show", "A", "--json").record["captured_amount"] == 500)
  }

  /// Nothing has started yet, because the instrument does not arrive.
  @Test func `ends in time before anything has begun`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = #"tender transact --amount 5 --instrument-stdin --deadline 300ms --json"#
    let command = words.replacing("tender", with: binary.executable.path, maxReplacements: 1)
    let process = Process()
    let (input, errors) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "exec \(command)"]
    process.environment = ["HOME": binary.home.path, "PATH": "/usr/bin:/bin"]
    process.standardInput = input
    process.standardError = errors
    try process.run()
    let said = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 8)
    #expect(String(decoding: said, as: UTF8.self).contains(#""code":"deadline_passed""#))
  }

  /// The wait includes the time of the bank's flow. It does not start again.
  @Test func `waits no longer than --wait says`() throws {
    let shop = try Shop()
    let binary = shop.binary
    let start = ContinuousClock.now
    let result = try binary.run(Self.bank + ["--wait", "2s", "--no-input", "--json"])
    #expect(ContinuousClock.now - start < .milliseconds(3700))
    #expect(result.status == 8, "\(result.output)")
    let message = result.record["error"]?["message"]?.text ?? ""
    #expect(message.hasSuffix("after 2 s"), "\(message)")
  }

  /// A command that waits for a payer at a bank has no unanswered request.
  @Test(arguments: [1, 3])
  func `stops a batch that waits for payers in time`(_ jobs: Int) throws {
    let shop = try Shop()
    var binary = shop.binary
    // A contained batch may not open a port of a single line.
    binary.variables["TENDER_CONTAINMENT"] = "off"
    let lines = (1...4).map {
      #"{"command":"transact","provider":"truelayer","reference":"P-\#($0)","amount":"5","#
        + #""beneficiary_name":"Ben","sort_code":"56-00-29","account_number":"26207729","#
        + #""user":{"name":"R","email":"r@example.com"},"bank":"mock-payments-gb-redirect","#
        + #""redirect_url":"http://127.0.0.1:\#(Self.port())/back","#
        + #""sim_scenario":"bank:abandon"}"#
    }
    let file = try Works.write(lines, binary)
    let start = ContinuousClock.now
    let words = ["batch", file, "--deadline", "900ms", "--jobs", "\(jobs)", "--json"]
    let result = try binary.run(words)
    #expect(ContinuousClock.now - start < .seconds(8))
    #expect(result.status == 8, "\(result.errors)")
    let summary = try #require(result.records.last)
    #expect(summary["lines"]?.wholeNumber == jobs && summary["left"]?.wholeNumber == 4 - jobs)
    #expect(summary["stopped"] == true && summary["statuses"]?["cancelled"]?.wholeNumber == jobs)
  }

  /// Two payers cannot use one port at the same time.
  @Test func `has payers of a batch come back to one port in turn`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.announced
    let port = try FreePort.next()
    binary.variables["TENDER_TRUELAYER_REDIRECT_URL"] = "http://localhost:\(port)/callback"
    let lines = (1...2).map {
      #"{"command":"transact","provider":"truelayer","reference":"P-\#($0)","amount":"5","#
        + #""beneficiary_name":"Ben","sort_code":"56-00-29","account_number":"26207729","#
        + #""user":{"name":"R","email":"r@example.com"},"bank":"mock-payments-gb-redirect"}"#
    }
    let file = try Works.write(lines, binary)
    let result = try binary.run("batch", file, "--deadline", "2s", "--jobs", "2", "--json")
    #expect(!result.output.contains("port_busy"), "\(result.output)")
    #expect(result.status == 8, "\(result.output)\(result.errors)")
  }

  /// A line that still waits when the time is over does not start. The report names each.
  @Test func `begins no line after the time is over`() throws {
    let shop = try Shop()
    let binary = shop.binary
    let lines = (1...12).map {
      #"{"command":"transact","reference":"S-\#($0)","amount":"5","test_card":"visa","#
        + #""sim_fault":"part2:latency=2s"}"#
    }
    let file = try Works.write(lines, binary)
    let report = binary.home.appending(path: "report.xml")
    let words = [
      "batch", file, "--deadline", "900ms", "--jobs", "2", "--json", "--junit", report.path,
    ]
    let result = try binary.run(words)
    #expect(result.status == 8, "\(result.errors)")
    let summary = try #require(result.records.last)
    #expect(summary["lines"] == 2 && summary["ok"] == 2 && summary["left"] == 10)
    for number in 1...12 {
      let charges = try LedgerAudit.charges(path: shop.books, reference: "S-\(number)")
      #expect(charges == (number <= 2 ? 1 : 0))
    }
    let text = try String(contentsOf: report, encoding: .utf8)
    for number in 1...12 { #expect(text.contains(" S-\(number)\"")) }
    #expect(text.components(separatedBy: "<skipped").count == 11)
  }

  @Test func `stops a batch in time`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = (1...50).map {
      #"{"command":"transact","reference":"B-\#($0)","amount":"5","test_card":"visa"}"#
    }
    let file = try Works.write(lines, binary)
    let words = ["batch", file, "--rate", "5", "--deadline", "900ms", "--json"]
    let result = try binary.run(words)
    #expect(result.status == 8, "\(result.output)")
    let paid = result.records.filter { $0.text("status") == "succeeded" }.count
    #expect((1..<50).contains(paid))
    #expect(result.records.last?["stopped"] == true)
  }

  /// A payment whose payer never returned is still open the next day, in every look-up.
  @Test func `leaves an abandoned payment open`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let waited = try binary.run(Self.bank + ["--wait=1s", "--json"])
    #expect(waited.status == 8, "\(waited.output)")
    for _ in 0..<2 {
      let seen = try binary.run("payment-status", "A", "--json")
      #expect(seen.record["status"] == "requires_action", "\(seen.output)")
    }
    let back = ["payment-status", "A", "--sim-scenario", "bank:execute", "--json"]
    _ = try binary.run(back)
    #expect(try binary.run("payment-status", "A", "--json").record["status"] == "succeeded")
  }

  /// A payment that the journal does not have cannot be confirmed here, only looked at again.
  @Test(arguments: ["mandate-status", "payment-status"])
  func `says how to look again at what was not made here`(_ command: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let id = "00000000-0000-4000-8000-000000003300"
    // Without any simulated world, a look-up finds nothing.
    let pay = "transact --amount 1 --test-card visa --reference OTHER"
    #expect(try binary.run(pay.split(separator: " ").map(String.init)).status == 0)
    let seen = try binary.run(command, "--provider", "truelayer", id, "-o", "table")
    let what = command == "mandate-status" ? "mandate" : "33.00 GBP"
    let next = "tender \(command) \(id) --wait --provider truelayer --env simulator"
    #expect(seen.output.hasPrefix("\(what) waiting for the payer"), "\(seen.output)")
    // It is the step of the headline, or that of the note before it.
    #expect((seen.output + seen.errors).contains("to wait for its end: \(next)\n"))
  }

  /// One changing line: the progress in the file, and the results.
  @Test func `shows how far a batch has come`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    var lines = (1...9).map {
      #"{"command":"transact","reference":"B-\#($0)","amount":"5","test_card":"visa"}"#
    }
    lines[1] = #"{"command":"transact","reference":"B-2","amount":"1.93","test_card":"visa"}"#
    let file = try Works.write(lines, binary)
    let words = ["batch", file, "--rate", "5", "--jobs", "1"]
    let shown = try binary.onTerminal(words, [], width: 100)
    let states = shown.screen.matches(
      of: /\r\e\[K\[(#*)(\.*)\] (\d+) %  (\d+) done, (\d) failed, 0 unknown/
    )
    #expect(states.count >= 4, "\(shown.screen)")
    let shares = states.compactMap { Int($0.3) }
    let done = states.compactMap { Int($0.4) }
    #expect(shares == shares.sorted() && done == done.sorted(), "\(shares) \(done)")
    for state in states {
      #expect(state.1.count + state.2.count == 10)
      #expect(state.1.count == (Int(state.3) ?? 0) / 10)
      // The second line is declined.
      #expect(state.5 == ((Int(state.4) ?? 0) < 2 ? "0" : "1"))
    }
  }

  /// The speed comes after the counts, once a second has passed: five lines a second.
  @Test func `shows how fast a batch goes, and how long it will take`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = (1...9).map {
      #"{"command":"transact","reference":"B-\#($0)","amount":"5","test_card":"visa"}"#
    }
    let words = ["batch", try Works.write(lines, binary), "--rate", "5", "--jobs", "1"]
    let screen = try binary.onTerminal(words, [], width: 100).screen
    let rates = screen.matches(of: /0 unknown · (\d+)\/s · (\d+) s left/)
    #expect(!rates.isEmpty, "\(screen)")
    for rate in rates {
      #expect((1...6).contains(Int(rate.1) ?? 0) && (0...2).contains(Int(rate.2) ?? 9))
    }
  }

  @Test(arguments: [
    (bank, "waiting for the payer at the bank · ", 2),
    (sale, "the customer is to present a card · ", 2),
  ])
  func `shows what is awaited and how long`(
    _ words: [String],
    _ what: String,
    _ seconds: Int
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let shown = try binary.onTerminal(words + ["--deadline", "1500ms"], [])
    let times = shown.screen.components(separatedBy: what).dropFirst().compactMap { part in
      part.components(separatedBy: " left").first
    }
    // More than one second was counted down.
    #expect(Set(times).count >= seconds, "\(shown.screen)")
    #expect(times.allSatisfy { $0.contains(":") || $0.hasSuffix(" s") }, "\(times)")
  }

  @Test func `takes a time behind --wait with a space, and no id for a time`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = ["transact", "--amount", "5", "--test-card", "visa", "--json"]
    #expect(try binary.run(words + ["--reference", "5", "--wait", "5s"]).status == 0)
    let one = try binary.run("payment-status", "--wait", "5", "--json")
    #expect(one.record["reference"] == "5")
    let timed = try binary.run("payment-status", "--wait", "5s", "5", "--json")
    #expect(timed.record["reference"] == "5" && timed.records.count == 1)
    for time in ["soon", "0s", "25h"] {
      #expect(try binary.run("payment-status", "5", "--deadline", time, "--json").status == 2)
    }
  }
}
