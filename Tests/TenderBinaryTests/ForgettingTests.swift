import Foundation
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// A journal that was restored, damaged or removed does not pay its lost payments again.
@Suite struct ForgettingTests {
  static let pay = [
    "transact", "--amount", "10.50", "--test-card", "visa", "--json", "--reference",
  ]

  static func code(_ result: Binary.Result) -> String? {
    result.errorRecord["error"]?["code"]?.text
  }

  @Test func `an old copy is noticed by every command, and settled by hand`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let state = binary.home.appending(path: ".local/state/tender")
    let old = binary.home.appending(path: "old")
    #expect(try binary.run(Self.pay + ["A"]).status == 0)
    try FileManager.default.copyItem(at: state, to: old)
    #expect(try binary.run(Self.pay + ["B"]).status == 0)
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
      try FileManager.default.removeItem(at: state.appending(path: name))
      try FileManager.default.copyItem(
        at: old.appending(path: name),
        to: state.appending(path: name)
      )
    }
    for words in [
      Self.pay + ["B"], Self.pay + ["A"], ["cancel", "A", "--json"], ["journal", "list", "--json"],
      ["journal", "export"], ["journal", "show", "A", "--json"],
      ["journal", "backup", "x.db", "--json"], ["journal", "resume", "--all", "--json"],
    ] {
      let result = try binary.run(words)
      #expect(result.status == 16, "\(words)")
      #expect(Self.code(result) == "journal_forgot", "\(words)")
    }
    // Its remaining entries are shown anyway, and the provider can be asked for its payments.
    #expect(
      try binary.run("journal", "list", "--json").records.map { $0.text("reference") } == ["A"]
    )
    #expect(try binary.run("payment-status", "A", "--json").record.text("status") == "succeeded")
    let verified = try binary.run("journal", "verify", "--json")
    #expect(verified.status == 16)
    #expect(verified.record.text("outcome") == "fail")
    let settle = [
      "journal", "settle", "--all", "--as", "restored", "--reason", "B was looked up", "--json",
    ]
    #expect(try binary.run(settle).status == 17)
    #expect(try binary.run(settle + ["--yes"]).status == 0)
    #expect(Self.code(try binary.run(settle + ["--yes"])) == "nothing_forgotten")
    #expect(try binary.run(Self.pay + ["C"]).status == 0)
    #expect(try binary.run("journal", "verify", "--json").status == 0)
  }

  /// A restricted process detects that the original exists, although it cannot open it.
  @Test func `a copy elsewhere on this machine takes no money`() throws {
    let shop = try Shop()
    let binary = shop.binary
    func folder(_ place: String) -> URL { binary.home.appending(path: place) }
    func at(_ place: String) -> [String] { ["--state-dir", folder(place).path + "/state"] }
    for place in ["one", "two", "three"] {
      try FileManager.default.createDirectory(
        at: folder(place),
        withIntermediateDirectories: true
      )
    }
    #expect(try binary.run(Self.pay + ["A"] + at("one")).status == 0)
    try FileManager.default.copyItem(
      at: folder("one/state"),
      to: folder("two/state")
    )
    let verified = try binary.run(["journal", "verify", "--json"] + at("two"))
    #expect(verified.status == 16, "\(verified.output)")
    let copy = try binary.run(Self.pay + ["B"] + at("two"))
    #expect(copy.status == 16)
    #expect(Self.code(copy) == "journal_copy", "\(copy.errors)")
    let doctor = try binary.run(["doctor", "--json"] + at("two"))
    #expect(doctor.records.first { $0["name"] == "state" }?["outcome"] == "fail")
    #expect(try binary.run(Self.pay + ["B"] + at("one")).status == 0)
    let charges = try LedgerAudit.charges(path: shop.books, reference: "B")
    #expect(charges == 1)
    // A moved journal is not a copy.
    try FileManager.default.moveItem(at: folder("one/state"), to: folder("three/state"))
    #expect(try binary.run(Self.pay + ["C"] + at("three")).status == 0)
  }

  @Test func `a card is not called another one where the key of the comparison is lost`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(try binary.run(Self.pay + ["A"]).status == 0)
    let key = binary.home.appending(path: ".local/state/tender/journal.key")
    try FileManager.default.removeItem(at: key)
    #expect(try binary.run(Self.pay + ["A"]).record["replayed"] == true)
    // A hold without its preparation is resolved by hand.
    #expect(try binary.run(Self.pay + ["H", "--hold"]).status == 0)
    try FileManager.default.removeItem(at: key)
    #expect(try binary.run("confirm", "H", "--json").status == 16)
    let words = [
      "journal", "resolve", "H", "--as", "expired", "--reason", "released at the provider", "--yes",
      "--json",
    ]
    let resolved = try binary.run(words)
    #expect(resolved.status == 0, "\(resolved.errors)")
    #expect(try binary.run("journal", "show", "H", "--json").record["status"] == "expired")
  }

  @Test func `a backup in another folder pays nothing until it is accepted`() throws {
    let shop = try Shop()
    let binary = shop.binary
    #expect(try binary.run(Self.pay + ["A"]).status == 0)
    let held = try binary.run(Self.pay + ["H", "--hold"])
    #expect(held.status == 0, "\(held.errors)")
    let backup = binary.home.appending(path: "backup.db")
    #expect(try binary.run("journal", "backup", backup.path).status == 0)
    #expect(try binary.run(Self.pay + ["B"]).status == 0)
    let place = binary.home.appending(path: "elsewhere/tender")
    try FileManager.default.createDirectory(
      at: place,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    try FileManager.default.copyItem(at: backup, to: place.appending(path: "journal.db"))
    func run(_ words: [String]) throws -> Binary.Result {
      try binary.run(words + ["--state-dir", place.path])
    }
    for words in [
      Self.pay + ["B"], Self.pay + ["C"], ["confirm", "H", "--json"], ["cancel", "A", "--json"],
      ["refund", "A", "--amount", "1", "--json"],
    ] {
      let refused = try run(words)
      #expect(refused.status == 16, "\(words)")
      #expect(Self.code(refused) == "journal_copy", "\(words)")
      #expect(refused.output.isEmpty, "\(words)")
    }
    // It can be read, looked up and checked.
    #expect(try run(["payment-status", "A", "--json"]).record["status"] == "succeeded")
    let verified = try run(["journal", "verify", "--json"])
    #expect(verified.status == 16)
    #expect(verified.records.first?.text("detail")?.contains("is a copy from") == true)
    let doctor = try run(["doctor", "--json"])
    #expect(doctor.status == 16)
    let failed = doctor.records.filter { $0["outcome"] != "ok" }
    #expect(failed.map { $0.text("name") } == ["state"])
    #expect(failed.first?["error"]?["code"] == "journal_copy")
    #expect(try LedgerAudit.charges(path: shop.books, reference: "B") == 1)
    // The original continues to work.
    #expect(try binary.run(Self.pay + ["B"]).record["replayed"] == true)
    let accept = ["journal", "accept", "--reason", "B was looked up", "--json"]
    #expect(try run(accept).status == 17)
    #expect(try run(accept + ["--yes"]).status == 0)
    let paid = try run(Self.pay + ["C"])
    #expect(paid.record["status"] == "succeeded", "\(paid.errors)")
    #expect(try run(["journal", "verify", "--json"]).status == 0)
    #expect(try run(["doctor", "--json"]).status == 0)
    #expect(try LedgerAudit.charges(path: shop.books, reference: "C") == 1)
    #expect(try LedgerAudit.reversals(path: shop.books, reference: "A") == 0)
  }

  @Test func `a state folder that is removed while a payment runs sells nothing twice`() throws {
    // The provider delays the answer by a second.
    let shop = try Shop(serving: ["--sim-fault", "part2:latency=2s"], isSandbox: true)
    let state = shop.binary.home.appending(path: ".local/state/tender")
    #expect(try shop.binary.run(Self.pay + ["FIRST"]).status == 0)
    let (process, output, errors) = try shop.binary.start(Self.pay + ["A", "--events"])
    #expect(output.read(until: #""state":"sent""#).contains(#""state":"sent""#))
    try FileManager.default.removeItem(at: state)
    _ = output.fileHandleForReading.readDataToEndOfFile()
    _ = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 9)
    let again = try shop.binary.run(Self.pay + ["A"])
    #expect(again.status == 16)
    #expect(Self.code(again) == "journal_forgot")
    #expect(try LedgerAudit.charges(path: shop.books, reference: "A") == 1)
  }

  /// As `help promises` says. The provider is a simulator in another process, or in this one.
  @Test func `a folder with only simulated payments can be removed`() throws {
    let shop = try Shop()
    let alone = try Binary()
    defer { alone.remove() }
    for (index, binary) in [shop.binary, alone].enumerated() {
      let state = binary.home.appending(path: ".local/state/tender")
      for round in 1...3 {
        let paid = try binary.run(Self.pay + ["R\(index)\(round)"])
        #expect(paid.status == 0, "\(paid.errors)")
        #expect(try binary.run("refund", "R\(index)\(round)", "--json").status == 0)
        try FileManager.default.removeItem(at: state)
        let empty = try binary.run("journal", "list", "--json")
        #expect(empty.status == 0 && empty.records.isEmpty, "\(empty.errors)")
      }
    }
    // One payment at a provider's test host is enough to keep it.
    let other = try Shop(isSandbox: true)
    #expect(try other.binary.run(Self.pay + ["S"]).status == 0)
    try FileManager.default.removeItem(at: other.binary.home.appending(path: ".local/state/tender"))
    #expect(Self.code(try other.binary.run(Self.pay + ["S"])) == "journal_forgot")
  }

  /// That a lost journal does not have a payment says nothing about it.
  @Test func `no command calls a payment of a lost journal missing`() throws {
    let shop = try Shop(isSandbox: true)
    #expect(try shop.binary.run(Self.pay + ["A"]).status == 0)
    let state = shop.binary.home.appending(path: ".local/state/tender")
    try FileManager.default.removeItem(at: state)
    for line in [
      "journal resume A", "journal resume A --finish --yes", "explain A", "journal show A",
      "find A", "payment-status Q",
      "journal resolve A --as failed --reason seen --yes", "refund A", "confirm A", "cancel A",
    ] {
      let refused = try shop.binary.run(line: line)
      #expect(refused.status == 16, "\(line): \(refused.errors)")
      #expect(Self.code(refused) == "journal_forgot", "\(line): \(refused.errors)")
      #expect(refused.output.isEmpty, "\(line)")
    }
    #expect(try shop.binary.run(line: "explain insufficient_funds").status == 0)
  }

  @Test func `what stays unknown is the exit of a resume, whatever else fails`() throws {
    let shop = try Shop()
    // In this process, because a server accepts only the key of its merchant.
    var other = shop.binary
    other.variables = [
      "TENDER_PAYTHEORY_API_KEY": "other-paytheorylab-00112233445566778899aabbccddeeff"
    ]
    let lost = ["--sim-fault", "part2:reset-before", "--timeout", "2s"]
    // The older payment belongs to another merchant, and is resumed last.
    let foreign = try other.run(Self.pay + ["X"] + lost)
    #expect(foreign.status == 9, "\(foreign.errors)")
    #expect(try shop.binary.run(Self.pay + ["U"] + lost).status == 9)
    shop.process.terminate()
    shop.process.waitUntilExit()
    let resumed = try shop.binary.run("journal", "resume", "--all", "--json")
    let codes = resumed.records.map { $0["error"]?["code"]?.text }
    #expect(codes == ["outcome_unknown", "other_merchant"])
    #expect(resumed.status == 9)
  }

  @Test func `an unknown payment is settled by hand, once, with its reason`() throws {
    let shop = try Shop()
    let binary = shop.binary
    let lost = try binary.run(Self.pay + ["A", "--sim-fault", "part2:reset-before"])
    #expect(lost.status == 9)
    let settle = [
      "journal", "settle", "A", "--json", "--reason", "on the statement of May", "--as",
    ]
    #expect(try binary.run(settle + ["succeeded"]).status == 17)
    #expect(Self.code(try binary.run(settle + ["refunded", "--yes"])) == "bad_value")
    #expect(Self.code(try binary.run(settle + ["restored", "--yes"])) == "missing_option")
    #expect(
      try binary.run("journal", "settle", "A", "--as", "succeeded", "--yes", "--json").status == 2
    )
    // A person resolves it where no credentials are.
    var office = binary
    office.variables = [:]
    #expect(Self.code(try office.run(settle + ["failed", "--yes"])) == "may_still_appear")
    let settled = try office.run(settle + ["succeeded", "--yes"])
    #expect(settled.status == 0)
    #expect(settled.record.text("status") == "succeeded")
    #expect(
      settled.record["history"]?.array?.last?["note"]
        == "resolved by hand as succeeded: on the statement of May"
    )
    #expect(Self.code(try binary.run(settle + ["failed", "--yes"])) == "nothing_to_resolve")
    // The operator resolved it as paid, so it is not charged again.
    let again = try binary.run(Self.pay + ["A"])
    #expect(again.status == 0)
    #expect(again.record["replayed"] == true)
    #expect(try LedgerAudit.charges(path: shop.books, reference: "A") == 0)
  }
}
