import Foundation
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Killed, interrupted, run twice at once: one reference is charged once.
@Suite struct SurvivalTests {
  static let pay = ["transact", "--amount", "5", "--test-card", "visa", "--json", "--reference"]

  @Test func `pays once when two run at the same moment`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for round in 0..<5 {
      let runs = try (0..<4).map { _ in try binary.start(Self.pay + ["R\(round)"]) }
      var ids = Set<String>()
      for (process, output, _) in runs {
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let record = Binary.Result(
          status: 0,
          output: String(decoding: text, as: UTF8.self),
          errors: ""
        ).record
        #expect(record.text("status") == "succeeded")
        if let id = record.text("id") { ids.insert(id) }
      }
      #expect(ids.count == 1)
    }
  }

  @Test func `pays once when it is killed at any moment`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    for round in 0..<25 {
      let reference = "K\(round)"
      let (process, output, _) = try binary.start(Self.pay + [reference, "--events"])
      // The events show its progress. It is killed after none of them, after one, after two, …
      var said = ""
      while said.count(where: { $0 == "\n" }) < round % 5 {
        let more = output.fileHandleForReading.availableData
        guard !more.isEmpty else { break }
        said += String(decoding: more, as: UTF8.self)
      }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let again = try binary.run(Self.pay + [reference])
      #expect(again.status == 0, "\(again.errors)")
      #expect(again.record.text("status") == "succeeded")
      let third = try binary.run(Self.pay + [reference])
      #expect(third.record["replayed"] == true)
      #expect(third.record.text("id") == again.record.text("id"))
    }
  }

  @Test(arguments: [(SIGINT, Int32(130)), (SIGTERM, Int32(143)), (SIGHUP, Int32(129))])
  func `stops on a signal with nothing half done`(_ signal: Int32, _ exit: Int32) throws {
    let shop = try Shop()
    let binary = shop.binary
    let (process, _, errors) = try binary.start(
      Self.pay + ["A", "--sim-fault", "host-token:latency=2s", "--verbose"]
    )
    // It shows `connecting` right before the answer that takes two seconds.
    var said = ""
    while !said.contains("connecting") {
      let more = errors.fileHandleForReading.availableData
      guard !more.isEmpty else { break }
      said += String(decoding: more, as: UTF8.self)
    }
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationStatus == exit)
    let again = try binary.run(Self.pay + ["A"])
    #expect(again.status == 0)
    #expect(again.record["attempt"] == 2)
  }

  @Test func `exports everything, and forgets only what is final`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    // Reading creates no journal.
    #expect(try binary.run("journal", "export").output == "")
    let state = binary.home.appending(path: ".local/state/tender")
    #expect(!FileManager.default.fileExists(atPath: state.appending(path: "journal.db").path))
    _ = try binary.run(Self.pay + ["DONE"])
    _ = try binary.run(Self.pay + ["HELD", "--confirmation"])
    let records = try binary.run("journal", "export").records
    #expect(records.map { $0.text("reference") } == ["HELD", "DONE"])
    #expect(records[1]["history"]?.array?.first?.object?.text("note") == "opened")
    let now = Date.now.ISO8601Format(.init(includingFractionalSeconds: true))
    let would = try binary.run("journal", "prune", "--before", now, "--dry-run")
    #expect(would.errorRecord.text("text") == "1 payment would be deleted")
    // The same command would pay a deleted payment of today again.
    let unasked = try binary.run("journal", "prune", "--before", now, "--no-input")
    #expect(unasked.status == 17)
    #expect(unasked.errorRecord["error"]?["code"] == "prune_not_confirmed")
    #expect(try binary.run(Self.pay + ["DONE"]).record["replayed"] == true)
    let pruned = try binary.run("journal", "prune", "--before", now, "--yes")
    #expect(pruned.status == 0)
    #expect(pruned.errorRecord.text("text") == "1 payment deleted")
    #expect(try binary.run("journal", "show", "DONE").status == 5)
    // The reference stays used, and the provider still has the payment.
    let again = try binary.run(Self.pay + ["DONE"])
    #expect(again.status == 6 && again.errorRecord["error"]?["code"] == "reference_pruned")
    let status = try binary.run("payment-status", "DONE", "--json")
    #expect(status.status == 0 && status.record["status"] == "succeeded")
    #expect(
      status.errorRecord["text"]
        == "journal prune deleted 'DONE' from this journal: its reference cannot be used again"
    )
    let future = try binary.run("journal", "prune", "--before", "2999-01-01", "--yes", "--json")
    #expect(future.status == 2 && future.errorRecord["error"]?["code"] == "bad_value")
    #expect(try binary.run("confirm", "HELD").status == 0)
  }

  @Test func `sends nothing where the journal cannot be written`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let file = binary.home.appending(path: "file")
    try Data().write(to: file)
    let result = try binary.run(Self.pay + ["A", "--state-dir", file.path + "/state"])
    #expect(result.status == 16)
    #expect(result.output == "")
    let state = binary.home.appending(path: "s")
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    try Data(repeating: 0x5a, count: 4096).write(to: state.appending(path: "journal.db"))
    let corrupt = try binary.run(Self.pay + ["A", "--state-dir", state.path])
    #expect(corrupt.status == 16)
    #expect(corrupt.errorRecord["error"]?["effect"] == "none")
  }

  @Test func `keeps its exit when the reader of its output has gone`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let (process, output, _) = try binary.start(Self.pay + ["A"])
    try output.fileHandleForReading.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(try binary.run(Self.pay + ["A"]).record["replayed"] == true)
  }

  /// The check reads one state. Rows that are written in between are not damage.
  @Test func `a check beside payments finds nothing wrong`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let lines = (0..<1200).map { number in
      #"{"command":"transact","amount":"5","test_card":"visa","reference":"V\#(number)"}"#
    }
    let file = binary.home.appending(path: "lines.jsonl")
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    #expect(try binary.run("transact", "--amount", "5", "--test-card", "visa").status == 0)
    let (process, output, errors) = try binary.start(["batch", file.path, "--jobs", "16", "--json"])
    for pipe in [output, errors] {
      pipe.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }
    var checks = 0
    while process.isRunning, checks < 1000 {
      let check = try binary.run("journal", "verify", "--json")
      #expect(check.status == 0, "\(check.output) \(check.errors)")
      checks += 1
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && checks > 0)
  }

  /// A damaged disk changes some bytes. What can no longer be read is no permission to charge.
  @Test(arguments: [
    "UPDATE operation SET content = replace(content, '\"currency\"', '\"currency')",
    "UPDATE operation SET content = NULL", "DELETE FROM operation",
    "UPDATE operation SET payment = payment + 64", "UPDATE operation SET amount = NULL",
  ])
  func `a damaged operation frees no reference`(_ damage: String) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = "transact --amount 5 --test-card visa --reference R --json"
    #expect(try binary.run(line: pay).status == 0)
    let folder = binary.home.appending(path: ".local/state/tender")
    try Database(path: folder.appending(path: "journal.db").path).execute(damage)
    for line in [pay, pay + " --new-attempt", "refund R --json", "cancel R --json"] {
      let result = try binary.run(line: line)
      #expect(result.status != 0, "\(line): \(result.output)")
      if line == pay { #expect(result.status == 16, "\(result.errors)") }
    }
    let books = folder.appending(path: "simulator.db").path
    #expect(try LedgerAudit.charges(path: books, reference: "R") == 1)
    #expect(try binary.run("journal", "verify", "--json").status == 16)
  }
}
