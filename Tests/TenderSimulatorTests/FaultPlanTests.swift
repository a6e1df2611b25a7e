import Foundation
import TenderEngine
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// The grammar of faults, and the number of their strikes.
@Suite final class FaultPlanTests {
  private let folder: URL
  private let providers: [any SimulatedProvider] = [
    SimulatedPayTheory(), SimulatedToro(), SimulatedTrueLayer(),
  ]

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "plan-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The result of a request: its status or the code of its fault, its size, and its duration.
  private struct Result: Equatable {
    var status = 0
    var code = ""
    var size = 0
    var milliseconds = 0
  }

  /// Sends some requests for one path with a header, each to a separate simulator, as when served.
  private func results(_ header: String, _ count: Int, body: String = "{}") throws -> [Result] {
    let options = try SimulatorOptions(headerValue: header, among: providers)
    return (0..<count).map { _ in
      let clock = ManualClock()
      let world = SimulatorWorld(
        ledgerPath: folder.path + "/simulator.db",
        clock: clock,
        randomness: CountingRandomness(),
        options: options,
        providers: providers
      )
      let start = clock.now
      var result = Result()
      let request = HTTPRequest(
        method: .post,
        url: "https://simulator/connect/token",
        fields: [],
        body: Array(body.utf8)
      )
      do throws(Fault) {
        let simulator = try InProcessSimulator(world, playsPayer: false)
        let answer = try simulator.send(request, by: Deadline(in: 900_000, on: clock))
        (result.status, result.size) = (answer.status, answer.body.count)
      } catch {
        result.code = error.code
      }
      result.milliseconds = clock.now - start
      return result
    }
  }

  private func statuses(_ header: String, _ count: Int, body: String = "{}") throws -> [Int] {
    try results(header, count, body: body).map(\.status)
  }

  @Test func `counts each fault and each match, also where each request has a simulator`() throws {
    let twice = "fault=bank-token:http-500*2"
    #expect(try statuses(twice, 4) == [500, 500, 400, 400])
    #expect(try statuses(twice + ";payment=A", 3) == [500, 500, 400])
    #expect(try statuses(twice + ";payment=B", 3) == [500, 500, 400])
    let both = "fault=bank-token:http-500*1;fault=bank-token:http-429*1"
    #expect(try statuses(both, 3) == [500, 429, 400])
    let match = "fault=bank-token:http-502*1,for=ORDER-7"
    #expect(try statuses(match, 1, body: #"{"a":"ORDER-8"}"#) == [400])
    #expect(try statuses(match, 2, body: #"{"a":"ORDER-7"}"#) == [502, 400])
    for (header, status) in [
      ("fault=bank-token:http-403*1;for=ORDER-9", 403),
      ("for=ORDER-9;fault=bank-token:http-404*1", 404),
    ] {
      #expect(try statuses(header, 1, body: #"{"a":"ORDER-8"}"#) == [400])
      #expect(try statuses(header, 2, body: #"{"a":"ORDER-9"}"#) == [status, 400])
    }
    #expect(try statuses("fault=bank-token:http-502;for=A%3BB", 1, body: #"{"a":"A;B"}"#) == [502])
    #expect(try statuses("fault=POST/connect/*:http-418*1", 2) == [418, 400])
    #expect(try statuses("fault=GET/connect/*:http-418", 1) == [400])
  }

  @Test func `draws a latency from its range by the seed`() throws {
    func delays(_ text: String, seed: Int = 1) throws -> [Int] {
      try? FileManager.default.removeItem(at: folder.appending(path: "simulator.db"))
      return try results("seed=\(seed);fault=bank-token:latency=\(text)", 200).map(\.milliseconds)
    }
    #expect(try Set(delays("250ms")) == [250])
    let drawn = try delays("100ms..900ms")
    #expect(drawn.allSatisfy { (100...900).contains($0) })
    #expect((400...600).contains(drawn.sorted()[100]))
    #expect(try delays("100ms..900ms") == drawn)
    #expect(try delays("100ms..900ms", seed: 2) != drawn)
  }

  @Test func `cuts, slows and ends answers`() throws {
    func result(_ what: String) throws -> Result {
      try results("fault=bank-token:\(what)", 1)[0]
    }
    let whole = try result("latency=1ms").size
    #expect(try result("cut=\(whole)").status == 400)
    #expect(try result("bandwidth=10").milliseconds == whole * 100)
    for (what, code) in [
      ("cut=5", "connection_closed"), ("close-before", "connection_closed"),
      ("close-after", "connection_closed"), ("reset-before", "connection_closed"),
      ("reset-amid", "connection_closed"), ("reset-after", "connection_closed"),
      ("silence-before", "no_answer"), ("silence-after", "no_answer"),
    ] {
      let found = try result(what)
      #expect(found.code == code && found.status == 0, "\(what)")
    }
  }

  @Test(arguments: [
    ("part2", "--sim-fault: 'part2' cannot happen at part2"),
    ("part3:x", "--sim-fault has no 'part3:x'"),
    ("part2:http-500", "--sim-fault: 'part2:http-500' cannot happen at part2"),
    ("reader-pin:latency=1s", "--sim-fault: 'reader-pin:latency=1s' cannot happen at reader-pin"),
    ("GET/x:declined", "--sim-fault has no 'GET/x:declined'"),
    ("POST/v3/pay*:http-500", "--sim-fault 'POST/v3/pay*:http-500' matches no request"),
    ("/v3/payments:http-500", "matches no request"),
    ("post/v3/payments:http-500", "matches no request"),
    ("GET/v3/payments?limit=1:http-500", "matches no request"),
    ("GET/x:http-200", "--sim-fault has no 'GET/x:http-200'"),
    ("create:http-500*0", "has no count behind the *"),
    ("create:http-500*2*2", "has no count behind the *"),
    ("create:http-500%50", "--sim-fault: 'create:http-500%50' cannot happen at create"),
    ("create:http-500+1", "--sim-fault: 'create:http-500+1' cannot happen at create"),
    ("part2:silence", "--sim-fault: 'part2:silence' cannot happen at part2"),
    ("create:http-500*x", "has no count behind the *"),
    ("create:latency", "has no latency"), ("create:latency=3s..1s", "has no latency"),
    ("create:latency=1s/p99=2s", "has no latency"), ("create:cut", "has no number of bytes"),
    ("create:bandwidth=0", "has no number of bytes"), ("create:garbage=1", "takes no value"),
    ("create:garbage,by=A", "something else than for=TEXT"), ("create:garbage,for=", "for=TEXT"),
  ])
  func `refuses what no point can play`(_ text: String, _ message: String) {
    let fault = #expect(throws: Fault.self) { try PlannedFault(text, among: providers) }
    #expect(fault?.kind == .usage && fault?.message.contains(message) == true, "\(fault as Any)")
  }

  @Test(arguments: ["fault=create:unreachable", "nothing=1", "seed=x", "clock=+-1", "scenario"])
  func `refuses a header that is wrong`(_ header: String) {
    #expect(throws: Fault.self) { try SimulatorOptions(headerValue: header, among: providers) }
  }
}
