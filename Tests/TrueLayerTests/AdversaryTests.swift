import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing
import TrueLayer

/// Creations and refunds over a misbehaving provider.
@Suite struct AdversaryTests {
  static let window = 60_000

  static func classify(_ request: HTTPRequest) -> Adversary.Kind {
    if request.url.hasSuffix("/connect/token") { return .other }
    return request.method == .get ? .read : .effect(isKeyed: true)
  }

  @Test(arguments: ["creation", "refund"], Adversary.Manner.allCases)
  func `says nothing that the books contradict, whatever happens`(
    _ subject: String,
    _ manner: Adversary.Manner
  ) throws {
    let name = "truelayer, \(subject), \(manner)"
    let (problems, troubles) = try History.judge(name, usually: 20) { try run($0, subject, manner) }
    #expect(problems == [])
    #expect(troubles > 0.3)
  }

  private func run(
    _ seed: Int,
    _ subject: String,
    _ manner: Adversary.Manner
  ) throws -> (History, standing: Int, troubles: Int) {
    let world = try World()
    let order = try world.payment("A", amount: 2000) { creation in
      creation.sortCode = nil
      creation.accountNumber = nil
      creation.merchantAccount = "8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6"
    }
    let path = world.folder.path + "/simulator.db"
    func standing() throws -> Int {
      let books = try world.books()
      return subject == "refund" ? books.refunds : books.made
    }
    if subject == "refund" {
      _ = try world.engine(change: FlowTests.bank)
        .pay(order)
      world.clock.advance(10_000)
    }
    let simulator = try InProcessSimulator(
      SimulatorWorld(
        ledgerPath: path,
        clock: world.clock,
        randomness: SeededRandomness(seed: seed, label: "sim"),
        options: SimulatorOptions(),
        providers: [SimulatedTrueLayer()]
      )
    )
    let other = Adversary(
      simulator,
      world.clock,
      seed: seed,
      window: Self.window,
      lie: manner == .lying ? Lies.json : nil,
      lag: manner.lag,
      classify: Self.classify
    )
    var history = History("\(subject), seed \(seed)")
    func perform(_ command: String) throws {
      let troubles = other.troubles
      let engine = world.engine(over: other, env: .simulator, change: FlowTests.bank)
      let known = try world.latest()
      var exit: Int32 = 0
      var status: Status?
      do throws(Fault) {
        let report: Report
        if command == "resume", let known {
          report = try engine.finish(known)
        } else if subject == "creation" {
          report = try engine.pay(order)
        } else {
          report = try engine.refund(
            known,
            handle: "A",
            try .test(700),
            idempotencyKey: nil
          )
        }
        exit = report.fault?.exitStatus ?? 0
        // An answered refund is certain. Its progress is not.
        status = exit == 0 && (command != "resume" || subject == "creation") ? .succeeded : nil
      } catch {
        exit = error.exitStatus
      }
      history.add(
        History.Entry(
          command: command,
          exit: exit,
          status: status,
          standing: try standing(),
          wasCalm: other.troubles == troubles
        )
      )
    }
    for _ in 0..<(3 + other.next(5)) {
      try perform(["pay", "pay", "resume"][other.next(3)])
      world.clock.advance([1000, 20_000, 70_000][other.next(3)])
      other.deliver()
    }
    other.calm()
    other.deliver(everything: true)
    world.clock.advance(120_000)
    try perform("pay")
    return (history, try standing(), other.troubles)
  }
}
