import TenderModel
import TenderTestSupport
import Testing

/// Repeatable output: the draws of a seed, and the order of members.
@Suite struct RepeatTests {
  private static let seed = ["--sim-seed", "7", "--sim-clock", "2026-01-01T00:00:00Z", "--json"]

  /// Reader and gateway of a run share one seed. A fault that changes no payment changes no id.
  @Test func `draws the same ids beside a fault of the reader`() throws {
    let sale = ["transact", "--provider", "toro", "--amount", "10", "--reference", "A"] + Self.seed
    func receipt(_ more: String...) throws -> JSON? {
      let binary = try Binary()
      defer { binary.remove() }
      return try binary.run(sale + more).record["result"]?["receipt"]
    }
    let usual = try receipt()
    #expect(usual != nil)
    #expect(try receipt("--sim-fault", "reader:acknowledges") == usual)
    #expect(try receipt("--sim-fault", "reader-tip:busy*1") == usual)
  }

  @Test func `shows why a bank payment failed in one order`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay =
      ["transact", "--provider", "truelayer", "--amount", "10", "--reference", "A"]
      + BankStory.payee + BankStory.payer + BankStory.bank
      + ["--sim-scenario", "bank:failed:blocked"] + Self.seed
    let order = ["error", "reason", "failure_reason", "failure_stage"]
    for _ in 0..<2 {
      let result = try binary.run(pay).record["result"]?.object
      #expect(result?.members.map(\.key) == order)
    }
  }

  /// The words about one attempt would end another one, and the next command would charge again.
  @Test func `ends nothing unknown by the id of an earlier attempt`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let sale = "transact --provider toro --reference A --amount 10.50"
    #expect(try binary.run(line: sale + " --sim-scenario gateway:decline").status == 3)
    let id = try #require(try binary.run(line: "journal show A --json").record.text("id"))
    let lost = " --sim-fault authorisation:close-after --sim-fault cancellation:close-before"
    #expect(try binary.run(line: sale + " --new-attempt" + lost).status == 9)
    for command in ["resolve \(id) --as failed --reason x --yes", "resume \(id) --finish --yes"] {
      let refused = try binary.run(line: "journal \(command) --json")
      #expect(refused.status == 6)
      #expect(refused.errorRecord["error"]?["code"] == "earlier_attempt", "\(refused.errors)")
    }
    #expect(try binary.run(line: "journal show A --json").record["status"] == "unknown")
  }

  /// Before an order uses the reference of an unknown one, the unknown one is looked up. It is not sent again
  /// for the new order.
  @Test(arguments: [["--amount", "99"], ["--amount", "4", "--new-attempt"]])
  func `sends nothing again for the sake of another order`(_ more: [String]) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let words = ["transact", "--test-card", "visa", "--reference", "A", "--json"]
    let fault = ["--amount", "4", "--sim-fault", "part2:reset-before"]
    #expect(try binary.run(words + fault).status == 9)
    let other = try binary.run(words + more)
    // Another order is refused. A new attempt of the same order must wait for the first.
    #expect(other.status == (more.contains("--new-attempt") ? 0 : 6), "\(other.errors)")
    guard other.status == 6 else { return }
    #expect(other.errorRecord["error"]?["effect"] == "none")
    // The provider's books: nothing was charged, and the first order can still continue.
    let found = try binary.run("find", "--online", "--json").records
    #expect(found.map { $0["record"] } == ["journal_entry"])
    #expect(try binary.run(words + ["--amount", "4"]).record["status"] == "succeeded")
    #expect(try binary.run("find", "--online", "--json").records.count == 1)
  }
}
