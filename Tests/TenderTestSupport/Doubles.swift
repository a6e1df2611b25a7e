private import Synchronization
import TenderEngine
package import TenderModel

/// A clock that tests move.
package final class ManualClock: Clock {
  private let time: Mutex<Int>
  private let looks = Mutex(0)

  package init(at milliseconds: Int = 1_800_000_000_000) { time = Mutex(milliseconds) }

  package var now: Int { time.withLock { $0 } }

  /// A millisecond later at every look, so that whoever waits for a deadline comes to an end.
  package var uptime: Int {
    looks.withLock { looks in
      looks += 1
      return now + looks
    }
  }

  package func pause(milliseconds: Int) throws(Fault) { advance(milliseconds) }

  package func advance(_ milliseconds: Int) { time.withLock { $0 += milliseconds } }
}

/// Nobody interrupts.
package struct NeverInterrupted: Interruption {
  package init() {}

  package var kind: Fault.Kind? { nil }

  package var descriptor: Int32? { nil }
}

/// Bytes that count up: no two calls give the same.
package final class CountingRandomness: Randomness {
  private let next = Mutex(0)

  package init() {}

  package func bytes(_ count: Int) -> [UInt8] {
    next.withLock { next in
      (0..<count).map { _ in
        next += 1
        return UInt8(truncatingIfNeeded: next &* 167 &+ next >> 8)
      }
    }
  }
}

/// The project's folder, found from this file.
package enum Project {
  package static func path(_ relative: String, from file: String = #filePath) -> String {
    let parts = file.split(separator: "/").dropLast(3)
    return "/" + parts.joined(separator: "/") + "/" + relative
  }
}
