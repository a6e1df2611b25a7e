private import Synchronization
package import TenderEngine
package import TenderModel

/// A signal that arrives at one moment of a run. A moment is a question for a signal, or a pause, which the
/// signal ends.
package final class Struck: Clock, Interruption {
  private let inner: ManualClock
  private let signal: Fault.Kind
  private let state: Mutex<(left: Int, isHandled: Bool)>

  /// Creates a signal that arrives after that many moments.
  package init(_ inner: ManualClock, by signal: Fault.Kind, after moments: Int) {
    self.inner = inner
    self.signal = signal
    state = Mutex((moments, false))
  }

  /// Whether the signal came.
  package var hasCome: Bool { state.withLock { $0.left < 0 } }

  package var kind: Fault.Kind? {
    state.withLock { state in
      state.left -= 1
      return state.left < 0 && !state.isHandled ? signal : nil
    }
  }

  package var descriptor: Int32? { nil }

  package func acknowledge() {
    state.withLock { if $0.left < 0 { $0.isHandled = true } }
  }

  package var now: Int { inner.now }
  package var uptime: Int { inner.uptime }
  package var moment: Moment { inner.moment }

  package func pause(milliseconds: Int) throws(Fault) {
    try check()
    try inner.pause(milliseconds: milliseconds)
  }
}
