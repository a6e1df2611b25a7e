import Foundation
import TenderModel
import TenderTestSupport
import Testing

/// `find --online`: the provider's payments, also those that no journal has.
@Suite struct FindOnlineTests {
  /// Payments of another machine: the simulated world exists, the journal does not.
  private func elsewhere() throws -> Binary {
    let binary = try Binary()
    let card = ["transact", "--test-card", "visa", "--json"]
    for (amount, reference, customer) in [
      ("1.50", "O-1", "ann@example.com"), ("2.50", "O-2", "ben@example.com"),
      ("3.50", "P-3", "cleo@example.com"),
    ] {
      let more = ["--reference", reference, "--payor", "email=\(customer)"]
      let tag = ["--metadata", "till=\(reference.suffix(1))", "--account-code", "shop-\(amount)"]
      #expect(try binary.run(card + ["--amount", amount] + more + tag).status == 0)
    }
    #expect(try binary.run(card + ["--amount", "1.93", "--reference", "D-1"]).status == 3)
    #expect(try binary.run("refund", "O-1", "--amount", "1", "--json").status == 0)
    let state = binary.home.appending(path: ".local/state")
    let folder = state.appending(path: "tender")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where name.hasPrefix("journal") {
      try FileManager.default.removeItem(at: folder.appending(path: name))
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: state.path)
    where name.hasPrefix(".tender") {
      try FileManager.default.removeItem(at: state.appending(path: name))
    }
    return binary
  }

  private static let cases: [(words: [String], found: [String])] = [
    ([], ["D-1", "P-3", "O-2", "O-1"]), (["--amount", "2.50"], ["O-2"]),
    (["--amount", "9"], []), (["O-*"], ["O-2", "O-1"]), (["P-3"], ["P-3"]),
    (["--status", "declined"], ["D-1"]),
    (["--status", "partially_refunded", "--status", "declined"], ["D-1", "O-1"]),
    (["--status", "open"], []), (["--since", "today", "--amount", "3.50"], ["P-3"]),
    (["--until", "2020-01-01"], []), (["--last-four", "1111", "--customer", "BEN@"], ["O-2"]),
    (["--last-four", "4242"], []), (["--metadata", "till=3"], ["P-3"]),
    (["--account-code", "shop-2.50"], ["O-2"]), (["--account-code", "shop-"], []),
    (["--failure", "insufficient"], ["D-1"]), (["--currency", "GBP"], []),
  ]

  /// A copy is accepted once the payments that it lacks are looked up, so the look-up is no error.
  @Test func `searches with a copy of the journal, and says that it is one`() throws {
    let server = try Server()
    defer { server.stop() }
    var binary = try Binary()
    defer { binary.remove() }
    binary.variables = server.variables(scheme: "http", port: server.port)
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--json", "--reference"]
    #expect(try binary.run(pay + ["A"]).status == 0)
    let copy = binary.home.appending(path: "copy")
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: copy.path)
    let file = copy.appending(path: "journal.db").path
    #expect(try binary.run("journal", "backup", file).status == 0)
    #expect(try binary.run(pay + ["B"]).status == 0)
    let place = ["--state-dir", copy.path, "--json"]
    for words in [["find", "--online"], ["find", "A", "--online"]] {
      let found = try binary.run(words + place)
      #expect(found.status == 0, "\(found.errors)")
      #expect(found.errors.contains(" is a copy "), "\(found.errors)")
      #expect(found.records.contains { $0["reference"] == "A" })
    }
    #expect(try binary.run(pay + ["C"] + place.dropLast()).status == 16)
  }

  @Test func `searches all of the merchant's payments`() throws {
    let binary = try elsewhere()
    defer { binary.remove() }
    for (words, found) in Self.cases {
      let result = try binary.run(["find", "--online", "--json"] + words)
      let isOneMissing = found.isEmpty && words.contains("--last-four")
      #expect(result.status == (isOneMissing ? 5 : 0), "\(words): \(result.errors)")
      #expect(result.records.map { $0.text("reference") } == found, "\(words)")
    }
    let all = try binary.run("find", "--online", "--json").records
    // The provider gives the age, long afterwards.
    let later = ["--sim-clock", "2100-01-01T00:00:00Z"]
    let old = try binary.run(["find", "--online", "--json"] + later).records
    #expect(old.count == 4)
    for record in old { #expect((record["age"]?.wholeNumber ?? 0) > 365 * 86_400) }
    #expect(all.first?.text("says") == "1.93 USD declined: the account has insufficient funds")
    // The provider's wildcard is an ordinary character of a reference here.
    #expect(try binary.run("find", "--online", "O_*", "--json").records.isEmpty)
    // Without the journal, the rest is unknown, and is not invented.
    #expect(all.last?.text("says") == "1.50 USD paid, partly refunded")
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  @Test func `refuses what it cannot ask, and says what went wrong`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = ["find", "--online", "--json"]
    #expect(try binary.run(words + ["--trace-id", "x"]).status == 2)
    #expect(try binary.run(words + ["--invoice-id", "x"]).status == 2)
    #expect(try binary.run(words + ["--sim-fault", "graphql:http-500"]).status == 11)
    #expect(try binary.run(words + ["--provider", "example"]).status == 2)
    for more in [[], ["--online"]] {
      let other = ["find", "--provider", "toro", "--account-code", "x", "--json"]
      let refused = try binary.run(other + more)
      #expect(refused.status == 2)
      #expect(refused.errors.contains("--account-code cannot be used with toro"))
    }
    #expect(try binary.run("journal", "list", "--online", "--json").status == 2)
  }

  @Test func `shows the matches of the journal that the search does not have`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--test-card", "visa", "--amount", "8", "--json", "--reference"]
    #expect(try binary.run(pay + ["LOST", "--sim-fault", "part2:close-before"]).status == 9)
    #expect(try binary.run(pay + ["HELD", "--hold"]).status == 0)
    #expect(try binary.run(pay + ["PAID"]).status == 0)
    for (words, found) in [
      (["LOST"], ["LOST"]), (["HELD"], ["HELD"]), (["--status", "unknown"], ["LOST"]),
      (["--customer", "test"], ["PAID", "HELD", "LOST"]), (["--status", "succeeded"], ["PAID"]),
    ] {
      let result = try binary.run(["find", "--online", "--json"] + words)
      #expect(result.status == 0)
      #expect(result.records.map { $0.text("reference") } == found, "\(words): \(result.errors)")
    }
  }

  /// Without a search at the provider, the journal's payments are looked up.
  @Test func `asks a bank about the payments of the journal`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = [
      "transact", "--provider", "truelayer", "--amount", "10", "--merchant-account",
      "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6", "--user", "name=Remi", "--user",
      "email=remi@example.com", "--bank", "mock-payments-gb-redirect", "--no-input", "--json",
    ]
    #expect(try binary.run(words + ["--reference", "B-1"]).status == 0)
    #expect(try binary.run(words + ["--reference", "C-1"]).status == 0)
    let result = try binary.run("find", "--online", "--provider", "truelayer", "B-*", "--json")
    #expect(result.status == 0)
    #expect(result.records.map { $0.text("reference") } == ["B-1"])
    #expect(result.record["result"]?["status"]?.text == "settled")
    #expect(result.errors.contains("truelayer has no search"))
    // A search that asked the provider does not propose to ask it.
    for provider in ["truelayer", "paytheory"] {
      let none = try binary.run("find", "--online", "--provider", provider, "NONE", "--json")
      let hint = none.errorRecord["error"]?["hint"]?.text ?? ""
      #expect(none.status == 5 && hint.contains(" may have it"), "\(none.errors)")
      #expect(!hint.contains("--online"), "\(hint)")
    }
  }
}
