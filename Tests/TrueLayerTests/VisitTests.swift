import Foundation
import Synchronization
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// The effect of any page in the payer's browser on a waiting command.
@Suite struct VisitTests {
  /// A visitor at each wait. Time passes for waits that no visit ends.
  final class Crowd: RedirectListener, RedirectVisit, Sendable {
    func listen(at address: String) throws(Fault) -> any RedirectVisit { self }

    func expect(_ name: String, _ value: String) {}

    func wait(milliseconds: Int) throws(Fault) -> String? { "" }

    func close() {}
  }

  final class Counting: HTTPExchange {
    private let inner: any HTTPExchange
    private let count = Mutex(0)

    init(_ inner: any HTTPExchange) { self.inner = inner }

    var looks: Int { count.withLock { $0 } }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      if request.method == .get { count.withLock { $0 += 1 } }
      return try inner.send(request, permit, by: deadline)
    }
  }

  @Test func `looks at the API no oftener for visits that anybody can make`() throws {
    let world = try World()
    var options = SimulatorOptions()
    try options.set(scenario: "bank:abandon", among: [SimulatedTrueLayer()])
    let simulator = try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: world.folder.path + "/simulator.db",
        clock: world.clock,
        randomness: SeededRandomness(seed: 1, label: "sim"),
        options: options,
        providers: [SimulatedTrueLayer()]
      )
    )
    let http = Counting(simulator)
    let engine = world.engine(over: http, redirects: Crowd()) { options, configuration in
      FlowTests.bank(&options, &configuration)
      options.patience = 60_000
      options.interval = 2000
    }
    _ = try? engine.pay(try world.payment("A"))
    // There is a look every two seconds, and three more because of visits.
    #expect((20...36).contains(http.looks))
  }
}
