import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// After a send, effect none stands on proof alone, whatever a provider's part says.
@Suite struct EffectTests {
  /// A provider that sends, and then fails as it is told.
  struct Failing: Provider, PaymentFlow {
    var name: ProviderName { ProviderName("invented") }
    var merchant: String { "m" }
    var nothingHeld: JSONObject { [:] }
    let sends: Bool
    let fault: Fault

    func check(_ order: PaymentOrder) throws(Fault) {}

    func transact(_ order: PaymentOrder, _ progress: Progress) throws(Fault) -> Outcome {
      if sends { try progress.willSend() }
      throw fault
    }

    func confirm(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome { throw fault }

    func release(_ held: Attempt, _ progress: Progress) throws(Fault) -> Outcome { throw fault }

    func reverse(_ captured: Attempt, _ progress: Progress) throws(Fault) -> Outcome { throw fault }

    func lookUp(_ query: LookUp) throws(Fault) -> Outcome? { nil }

    func findOut(
      _ attempt: Attempt,
      _ progress: Progress,
      mayRepeat: Bool
    ) throws(Fault) -> Finding { throw fault }

    func checkReady(for need: Need) throws(Fault) {}

    func isID(_ handle: String) -> Bool { false }

    func preview(_ order: PaymentOrder) throws(Fault) -> JSONObject { [:] }
  }

  static let kinds = Fault.Kind.allCases.filter {
    ![.unknown, .interrupted, .terminated].contains($0)
  }

  private func run(
    _ fault: Fault,
    sends: Bool
  ) throws -> (exit: Int32?, attempt: Attempt?, heard: [String]) {
    let journal = MemoryJournal()
    var heard: [String] = []
    let engine = Engine(
      env: .simulator,
      provider: Failing(sends: sends, fault: fault),
      journal: journal,
      clock: ManualClock(),
      interruption: NeverInterrupted(),
      patience: 0,
      digest: { Array($0.suffix(16)) },
      announce: { heard.append($0) }
    )
    let order = PaymentOrder(
      reference: try Reference("A"),
      amount: Money(minorUnits: 100, currency: try #require(Currency(code: "USD"))),
      feeMode: .merchant
    )
    var exit: Int32?
    do throws(Fault) {
      let report = try engine.transact(order, newAttempt: false, idempotencyKey: nil)
      exit = report.fault?.exitStatus
    } catch {
      exit = error.exitStatus
    }
    let latest = try journal.latest(
      .init(env: .simulator, provider: ProviderName("invented"), reference: Reference(stored: "A"))
    )
    return (exit, latest, heard)
  }

  @Test(arguments: kinds)
  func `a plain failure after a send is unknown, a proven one is what it is`(
    _ kind: Fault.Kind
  ) throws {
    let fault = Fault(kind, code: "some_failure", "it failed", result: ["type": "NO"])
    let before = try run(fault, sends: false)
    #expect(before.exit == kind.exitStatus)
    #expect(before.attempt?.isFreed == true)
    let after = try run(fault, sends: true)
    // That it never left is the transport's own proof.
    let isProof = kind == .notSent
    #expect(after.exit == (isProof ? kind.exitStatus : 9))
    #expect(after.attempt?.phase == (isProof ? .done : .sent))
    if !isProof { #expect(after.heard.last == "unknown") }
    guard kind != .state else { return }
    let proven = try run(fault.proven, sends: true)
    #expect(proven.exit == kind.exitStatus)
    #expect(proven.attempt?.isFreed == true)
  }

  @Test(arguments: [Fault.Kind.interrupted, .terminated])
  func `a signal after a send says that a request was under way`(_ kind: Fault.Kind) throws {
    let fault = Fault.stopped(by: kind, underWay: "nothing was under way")
    let after = try run(fault, sends: true)
    #expect(after.exit == 9)
    #expect(after.attempt?.fault?.message.contains("an effecting request was under way") == true)
  }
}
