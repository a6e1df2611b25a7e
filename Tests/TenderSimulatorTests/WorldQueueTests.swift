import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// The queue of changes, and the list of published events.
@Suite final class WorldQueueTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "queue-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func path(_ name: String) -> String { folder.path + "/\(name).db" }

  /// A simulator for one request, as a server makes it.
  private func simulator(_ name: String, _ clock: ManualClock) throws -> InProcessSimulator {
    var options = SimulatorOptions()
    options.seed = 7
    options.scenario = "bank:execute"
    return try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: path(name),
        clock: clock,
        randomness: CountingRandomness(),
        options: options,
        providers: [SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer()]
      ),
      playsPayer: false
    )
  }

  private static let payment = "/v3/payments/00000000-0000-4000-8000-000000001050"

  /// Starts a payment whose payer goes to the bank, and another one that waits for its payer.
  private func story(_ name: String, _ clock: ManualClock) throws -> Ledger {
    func post(_ path: String, _ body: String) throws {
      let answer = try simulator(name, clock).send(
        HTTPRequest(
          method: .post,
          url: "https://simulator" + path,
          fields: [.init("Authorization", "Bearer \(BankCatalog.resourceToken)")],
          body: Array(body.utf8)
        ),
        by: Deadline(in: 1000, on: clock)
      )
      #expect(answer.status == 200)
    }
    let start = Self.payment + "/authorization-flow"
    let redirect = #""redirect":{"return_uri":"http://localhost:3000/callback"}"#
    try post(start, #"{"provider_selection":{},\#(redirect)}"#)
    try post(
      start + "/actions/provider-selection",
      #"{"provider_id":"mock-payments-gb-redirect"}"#
    )
    let other = start.replacing("1050", with: "2050")
    try post(other, #"{"provider_selection":{},\#(redirect)}"#)
    return try Ledger(path: path(name))
  }

  @Test func `changes happen at their own times, whenever the queue is looked at`() throws {
    let clock = ManualClock()
    let ledger = try story("a", clock)
    // The payer acted before the next request, and the bank executed.
    #expect(try ledger.events().map(\.type) == ["payment_authorized", "payment_executed"])
    let start = clock.now
    clock.advance(3_600_000)
    #expect(try simulator("a", clock).catchUp() == nil)
    let last = try #require(try ledger.events(after: 2).first)
    #expect(last.type == "payment_failed" && last.at == start + 900_000 && last.number == 3)
    let body = JSONReader.read(last.body)
    #expect(body?["failure_reason"] == "expired" && body?["event_version"] == 1)
    #expect(body?["event_id"]?.text == last.id && body?["payment_id"]?.text == last.object)
    #expect(body?["failed_at"]?.text == Timestamp.milliText(last.at))
    #expect(body?["payment_method"] == ["type": "bank_transfer"])
  }

  @Test func `one seed gives the same bytes, at whatever moments the queue is looked at`() throws {
    func world(_ name: String, looks: Int) throws -> [String] {
      let clock = ManualClock()
      let ledger = try story(name, clock)
      for _ in 0..<looks {
        clock.advance(3_600_000 / looks)
        try simulator(name, clock).catchUp()
      }
      var lines: [String] = []
      try ledger.save { line in
        lines.append(line)
        return true
      }
      // A server counts its simulators for the ids of requests.
      return lines.filter { !$0.contains(#""kind":"counter","id":"seed""#) }
    }
    let once = try world("once", looks: 1)
    #expect(once.contains { $0.contains("payment_executed") })
    #expect(try world("often", looks: 12) == once)
  }

  @Test func `events survive a save, and none is handed on again`() throws {
    let ledger = try story("a", ManualClock())
    let events = try ledger.events()
    #expect(try ledger.handedOn() == 0)
    try ledger.handOn(upTo: 1)
    let next = try ledger.events(after: ledger.handedOn())
    #expect(next.map(\.number) == [2] && next.first?.type == "payment_executed")
    var lines: [String] = []
    try ledger.save { line in
      lines.append(line)
      return true
    }
    let other = try Ledger(path: path("b"))
    var rest = lines[...]
    try other.load { () throws(Fault) in rest.popFirst() }
    #expect(try other.events().map(\.body) == events.map(\.body))
    #expect(try other.events(after: other.handedOn()).isEmpty)
  }
}
