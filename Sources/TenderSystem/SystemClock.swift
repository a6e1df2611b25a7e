private import Synchronization
package import TenderEngine
package import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The machine's clock.
package struct SystemClock: Clock {
  package let interruption: any Interruption

  /// The machine's clock; a signal ends its pauses.
  package init(interruption: any Interruption) { self.interruption = interruption }

  package var now: Int { Self.read(CLOCK_REALTIME) }

  package var uptime: Int { Self.read(CLOCK_MONOTONIC) }

  package var moment: Moment { Moment(boot: Self.boot, milliseconds: Self.read(Self.sinceBoot)) }

  #if canImport(Darwin)
  private static let sinceBoot = CLOCK_MONOTONIC_RAW
  /// The kernel's name for this boot.
  private static let boot: String = {
    var name = [CChar](repeating: 0, count: 64)
    var size = name.count
    guard unsafe sysctlbyname("kern.bootsessionuuid", &name, &size, nil, 0) == 0 else { return "-" }
    return name.text
  }()
  #else
  private static let sinceBoot = CLOCK_BOOTTIME
  /// The kernel's name for this boot.
  private static let boot: String = {
    let path = "/proc/sys/kernel/random/boot_id"
    let bytes = (try? Environment.read(path, named: path)) ?? []
    let text = String(decoding: bytes, as: UTF8.self).filter { $0.isHexDigit || $0 == "-" }
    return text.isEmpty ? "-" : text
  }()
  #endif

  private static func read(_ clock: clockid_t) -> Int {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }

  package func pause(milliseconds: Int) throws(Fault) {
    let end = uptime + milliseconds
    while uptime < end {
      try interruption.check()
      _ = interruption.wait(for: -1, POLLIN, milliseconds: min(end - uptime, 60_000))
    }
    try interruption.check()
  }
}

/// The simulator's clock under `--sim-clock`, also in a request's header: it stands still, and a pause moves it
/// at once.
package final class StandingClock: Clock {
  private let time: Mutex<Int>
  private let start: Int
  private let machine: any Clock

  package init(at milliseconds: Int, beside machine: any Clock) {
    start = milliseconds
    self.machine = machine
    time = Mutex(milliseconds)
  }

  package var now: Int { time.withLock { $0 } }

  /// Real time goes on, so that deadlines on a network end; pauses come on top.
  package var uptime: Int { machine.uptime + now - start }

  package var moment: Moment {
    let real = machine.moment
    return Moment(boot: real.boot, milliseconds: real.milliseconds + now - start)
  }

  package func pause(milliseconds: Int) throws(Fault) { time.withLock { $0 += milliseconds } }
}
