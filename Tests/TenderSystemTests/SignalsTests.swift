import TenderEngine
import TenderModel
import TenderSystem
import Testing

@Suite struct SignalsTests {
  /// A signal that the work of one thread has handled still stops the work of another.
  @Test func `stop the work of each thread`() {
    let signals = Signals { _ in }
    signals.hold()
    let other = signals.forOtherThread()
    signals.expire(after: 0)
    let end = ContinuousClock.now + .seconds(20)
    while signals.kind == nil, ContinuousClock.now < end {}
    other.acknowledge()
    #expect(other.kind == nil && signals.kind == .interrupted)
    signals.acknowledge()
    #expect(signals.kind == nil && signals.wish == .interrupted && signals.hasExpired)
  }
}
