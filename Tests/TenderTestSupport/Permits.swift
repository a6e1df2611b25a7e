import Synchronization
package import TenderEngine
package import TenderModel

extension SendPermit {
  /// Returns a permit of the engine, for an operation that a journal in memory has as sent.
  package static func test() throws(Fault) -> SendPermit {
    let clock = ManualClock()
    let provider = PermitProvider()
    let engine = Engine(
      env: .simulator,
      provider: provider,
      journal: MemoryJournal(),
      clock: clock,
      interruption: NeverInterrupted(),
      patience: 0,
      digest: { _ in [UInt8](repeating: 7, count: 32) },
      announce: { _ in }
    )
    _ = try? engine.execute(.placed(TestOrder(reference: try Reference("A"))))
    guard let permit = provider.given.withLock({ $0 }) else {
      throw Fault(.internal, code: "internal", "the engine gave no permit")
    }
    return permit
  }
}

/// A provider that stores the permit for its first request, and sends nothing.
private final class PermitProvider: Provider {
  let given = Mutex<SendPermit?>(nil)

  var name: ProviderName { ProviderName("permits") }
  var merchant: String { "m" }
  static var nothingHeld: JSONObject { [:] }
  static let traits = Traits(kinds: [.charge]) { $0.canLookUp = false }

  func isID(_ handle: String) -> Bool { false }

  func check(_ order: TestOrder) throws(Fault) {}

  func preview(_ order: TestOrder) throws(Fault) -> JSONObject { [:] }

  func perform(_ order: OrderOf<TestOrder>?, _ progress: Progress) throws(Fault) -> Outcome {
    try progress.willSend()
    let permit = try progress.permit()
    given.withLock { $0 = permit }
    return Outcome(status: .succeeded, result: [:])
  }

  func lookUp(_ query: LookUp) throws(Fault) -> Outcome? { nil }

  func look(_ progress: Progress) throws(Fault) -> Finding { .cannotLook }
}
