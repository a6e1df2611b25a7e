import PayTheory
import TenderEngine
import TenderJournal
import TenderModel
import TenderSimulator
import TenderTestSupport
import Testing

/// Every fault at every step in one table: the result of the run, and that the same command again leads to
/// exactly one charge.
@Suite struct FaultTableTests {
  struct Case: CustomTestStringConvertible {
    let fault: String
    let exit: Int32
    let code: String
    let type: String

    var testDescription: String { fault }
  }

  static let noToken = "NO_TOKEN: No pt-token found"
  static let unknownError = "SOCKET_ERROR: An unknown socket error occured"
  static let expired = "SESSION_EXPIRED: Socket session has expired"

  static let early: [Case] =
    [
      Case(fault: "token:refused", exit: 4, code: "no_token_refused", type: noToken),
      Case(
        fault: "attestation:refused",
        exit: 4,
        code: "invalid_app",
        type: "INVALID_APP: App Attestation Failed"
      ),
      Case(fault: "socket:refused", exit: 11, code: "socket_error", type: unknownError),
    ]
    + [
      "http-429", "http-500", "http-503", "garbage", "silence-after", "close-before", "close-after",
    ].map {
      Case(fault: "token:\($0)", exit: 11, code: "no_token_unavailable", type: noToken)
    }
    + ["host-token", "part1"].flatMap { step in
      [
        Case(fault: "\(step):close-before", exit: 13, code: "session_expired", type: expired),
        Case(fault: "\(step):close-after", exit: 13, code: "session_expired", type: expired),
      ]
        + ["reset-before", "reset-after", "silence-after", "garbage"].map {
          Case(fault: "\(step):\($0)", exit: 11, code: "socket_error", type: unknownError)
        }
        + [
          Case(
            fault: "\(step):gateway-error",
            exit: 11,
            code: "socket_error",
            type: "SOCKET_ERROR: Internal server error"
          ),
          Case(
            fault: "\(step):error",
            exit: 11,
            code: "socket_error",
            type: "SOCKET_ERROR: Simulated error"
          ),
          Case(
            fault: "\(step):error-array",
            exit: 11,
            code: "socket_error",
            type: "SOCKET_ERROR: Simulated errors"
          ),
        ]
    } + [
      Case(fault: "part1:wrong-key", exit: 11, code: "socket_error", type: unknownError)
    ]

  @Test(arguments: early)
  func `ends with no effect before the effecting request, and the reference is free`(
    _ example: Case
  ) throws {
    let world = try World()
    let engine = try world.engine(fault: example.fault)
    let order = try world.order()
    let fault: Fault?
    do throws(Fault) {
      fault = try engine.pay(order).fault
    } catch {
      fault = error
    }
    #expect(fault?.exitStatus == example.exit)
    #expect(fault?.effect == Fault.Effect.none)
    #expect(fault?.code == example.code)
    #expect(fault?.result?.text("type") == example.type)
    #expect(try world.charges() == 0)
    #expect(try world.latest()?.isFree == true)
    #expect(try world.latest()?.attempt?.preparation == nil)
    // The next run may have other content.
    let again = try world.engine().pay(world.order(amount: 2000))
    #expect(again.status == .succeeded)
    #expect(again.attemptNumber == 2)
    #expect(try world.charges() == 1)
  }

  static let late = [
    "close-before", "close-after", "reset-before", "reset-after", "silence-after", "garbage",
    "wrong-key",
    "gateway-error", "error", "error-array", "other-receipt", "other-decline", "other-amount",
  ]

  /// Requests that were executed although their answer was lost, or was about another payment.
  @Test(
    arguments: [
      "close-after", "reset-after", "silence-after", "garbage", "wrong-key", "other-receipt",
      "other-decline", "other-amount",
    ]
  )
  func `asks once before it says that an outcome is unknown`(_ name: String) throws {
    let world = try World()
    let report = try world.engine(fault: "part2:" + name).pay(world.order())
    #expect(report.status == .succeeded)
    #expect(report.replayed == false)
    #expect(report.result.text("type") == "PT_COMPLETE")
    #expect(try world.latest()?.phase == .succeeded)
    #expect(try world.latest()?.attempt?.preparation == nil)
    #expect(try world.charges() == 1)
    let latest = try #require(try world.latest())
    #expect(try world.journal.history(of: latest).last?.note == "answer lost, found out")
  }

  /// A missing payment proves nothing.
  @Test(arguments: ["close-before", "reset-before", "gateway-error", "error"])
  func `stays unknown where the question finds nothing`(_ name: String) throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      try world.engine(fault: "part2:" + name).pay(world.order())
    }
    #expect(fault?.exitStatus == 9)
    #expect(try world.latest()?.phase == .sent)
    #expect(try world.charges() == 0)
  }

  @Test(arguments: late)
  func `is unknown once part 2 was sent, and the same command comes to one charge`(
    _ name: String
  ) throws {
    let world = try World()
    let fault = #expect(throws: Fault.self) {
      try world.engine(fault: "part2:" + name, credentials: false).pay(world.order())
    }
    #expect(fault?.exitStatus == 9)
    #expect(fault?.effect == .unknown)
    #expect(try world.latest()?.state.status == .unknown)
    #expect(try world.latest()?.attempt?.preparation != nil)
    // Without credentials there is no look-up, so it stays 9.
    let still = #expect(throws: Fault.self) {
      try world.engine(credentials: false).pay(world.order(), newAttempt: true)
    }
    #expect(still?.exitStatus == 9)
    let again = try world.engine().pay(world.order())
    #expect(again.status == .succeeded)
    #expect(again.attemptNumber == 1)
    #expect(again.result.text("type") == "PT_COMPLETE")
    #expect(try world.charges() == 1)
    #expect(try world.latest()?.attempt?.preparation == nil)
    let happened =
      name.hasSuffix("after") || name.hasPrefix("other")
      || ["silence-after", "garbage", "wrong-key"].contains(name)
    #expect(again.replayed == happened)
  }

  @Test(arguments: late)
  func `keeps what is held when a confirm has no effect, and confirms once`(_ name: String) throws {
    let world = try World()
    let held = try world.engine().pay(world.order(confirmation: true))
    #expect(held.status == .requiresConfirmation)
    #expect(try world.charges() == 0)
    // Before part 2 is sent, nothing has happened.
    _ = try? world.engine(fault: "host-token:" + (name == "wrong-key" ? "silence-after" : name))
      .confirm(world.latest(), handle: "A", amount: nil)
    #expect(try world.latest()?.state.status == .requiresConfirmation)
    #expect(try world.latest()?.attempt?.preparation != nil)
    let lost = #expect(throws: Fault.self) {
      try world.engine(fault: "part2:" + name, credentials: false)
        .confirm(world.latest(), handle: "A", amount: nil)
    }
    #expect(lost?.exitStatus == 9)
    let done = try world.engine().confirm(world.latest(), handle: "A", amount: nil)
    #expect(done.status == .succeeded)
    #expect(try world.engine().confirm(world.latest(), handle: "A", amount: nil).replayed == true)
    #expect(try world.charges() == 1)
  }

  @Test func `does not send again on live before a minute is over`() throws {
    let world = try World()
    let live = try world.engine(env: .live)
    _ = try? world.engine(fault: "part2:close-before", env: .live).pay(world.order())
    let lost = try #require(try world.latest(env: .live))
    #expect(lost.state.isUnknown)
    let early = #expect(throws: Fault.self) {
      try live.resume(lost, finish: true, resend: false)
    }
    #expect(early?.exitStatus == 9)
    #expect(try world.charges() == 0)
    world.clock.advance(61_000)
    #expect(try live.resume(lost, finish: true, resend: false).status == .succeeded)
    #expect(try world.charges() == 1)
  }

  @Test(arguments: ["close-after", "silence-after", "garbage", "http-500"])
  func `finds a lost reversal out by the original`(_ name: String) throws {
    let world = try World()
    _ = try world.engine().pay(world.order())
    let fault = (name == "http-500" ? "graphql:" : "reversal:") + name
    // Status 500 means that nothing was done. After the others, the payment is looked up at once.
    let first = try? world.engine(fault: fault).cancel(world.latest(), handle: "A")
    #expect(first?.status == (name == "http-500" ? nil : .refunded))
    let done = try world.engine().cancel(world.latest(), handle: "A")
    #expect(done.status == .refunded)
    #expect(done.replayed == (name != "http-500"))
    #expect(done.result["reversal"]?["is_void"]?.truth == false)
    #expect(try world.books().refunded == 1050)
    #expect(try world.engine().lookUp("A", known: world.latest()).status == .refunded)
  }
}
