import TenderModel
import TenderTestSupport
import Testing

/// The warning of a fault that strikes nothing.
@Suite struct StrikeTests {
  private static let card = "transact --amount 10 --test-card visa --reference R"

  /// The words of a fault, and whether it strikes a card payment.
  @Test(arguments: [
    ("reversal:http-500", false), ("part2:close-after", true), ("token:latency=10ms", true),
    ("part2:close-after*1,for=OTHER", false),
  ])
  func `warns of a fault that strikes nothing`(_ fault: String, _ strikes: Bool) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let paid = try binary.run(line: Self.card, ["--sim-fault", fault])
    #expect(paid.status == 0)
    #expect(paid.errors.contains("did not strike") != strikes, "\(paid.errors)")
  }
}
