import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing
import TrueLayer

/// With any answers of TrueLayer, the wait for the payer has its time limit.
@Suite struct PatienceTests {
  /// Answers every request, and fails a client that never stops.
  final class Endless: HTTPExchange {
    private let answer: @Sendable (Int) -> String
    private let count = Mutex(0)

    init(_ answer: @escaping @Sendable (Int) -> String) { self.answer = answer }

    func send(
      _ request: HTTPRequest,
      _ permit: SendPermit?,
      by deadline: Deadline
    ) throws(Fault) -> HTTPResponse {
      let number = count.withLock { count in
        count += 1
        return count
      }
      guard number < 2000 else { throw Fault(.internal, code: "internal", "it never stops asking") }
      return HTTPResponse(status: 200, body: Array(answer(number).utf8))
    }
  }

  /// An answer that never ends the flow.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let answer: @Sendable (Int) -> String

    init(_ name: String, _ answer: @escaping @Sendable (Int) -> String) {
      self.name = name
      self.answer = answer
    }

    var testDescription: String { name }
  }

  private static func next(_ action: String) -> String {
    #"{"status":"authorizing","authorization_flow":{"actions":{"next":\#(action)}}}"#
  }

  static let cases: [Case] = [
    Case("no flow") { _ in #"{"status":"authorizing"}"# },
    Case("an empty flow") { _ in #"{"status":"authorizing","authorization_flow":{}}"# },
    Case("no action") { _ in #"{"status":"authorizing","authorization_flow":{"actions":{}}}"# },
    Case("an action that is null") { _ in next("null") },
    Case("an action without a type") { _ in next("{}") },
    Case("a redirect without an address") { _ in next(#"{"type":"redirect"}"#) },
    Case("another redirect each time") { number in
      next(#"{"type":"redirect","uri":"https://bank.example/\#(number)"}"#)
    },
    Case("now a redirect, now nothing") { number in
      next(number % 2 == 0 ? "{}" : #"{"type":"redirect","uri":"https://bank.example/"}"#)
    },
  ]

  @Test(arguments: cases) func `the wait ends`(_ row: Case) throws {
    let world = try World()
    let engine = world.engine(
      over: Endless(row.answer),
      redirects: VisitTests.Crowd()
    ) { options, configuration in
      configuration.resourceToken = SharedSecret("resource-token-of-the-test")
      options.patience = 4000
    }
    let start = world.clock.now
    let report = try engine.pay(try world.existing(AnswerTests.id))
    #expect(report.status == .requiresAction && !report.isFinal)
    #expect(world.clock.now - start <= 4100)
  }
}
