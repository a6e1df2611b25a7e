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

/// The clock of a simulated world: ahead of the machine's, or standing still.
///
/// A pause takes no time, and moves it.
package final class SimulatedClock: Clock {
  private let machine: any Clock
  /// The time at which it stands, in milliseconds since 1970; nil where it goes on.
  private let standing: Int?
  /// How far it is ahead for this command alone.
  private let offset: Int
  /// How far earlier commands and the pauses of this one have moved it, and what is written down of the latter.
  private let state = Mutex((ahead: 0, paused: 0, written: 0, isKnown: false))

  package init(standingAt standing: Int? = nil, ahead offset: Int = 0, beside machine: any Clock) {
    self.standing = standing
    self.offset = offset
    self.machine = machine
  }

  /// Puts it ahead by what earlier commands have moved it; once.
  package func startAhead(by milliseconds: Int) {
    guard standing == nil else { return }
    state.withLock { state in
      if !state.isKnown { (state.ahead, state.isKnown) = (milliseconds, true) }
    }
  }

  /// How far it is ahead for all commands, where pauses have moved it since the last time; else nil.
  package func newlyAhead() -> Int? {
    guard standing == nil else { return nil }
    return state.withLock { state in
      guard state.paused > state.written else { return nil }
      state.written = state.paused
      return state.ahead + state.paused
    }
  }

  package var now: Int { (standing ?? machine.now + offset) + moved }

  private var moved: Int { state.withLock { $0.ahead + $0.paused } }

  /// Real time goes on, so that deadlines on a network end; pauses come on top.
  package var uptime: Int { machine.uptime + state.withLock(\.paused) }

  package var moment: Moment {
    let real = machine.moment
    return Moment(boot: real.boot, milliseconds: real.milliseconds + moved)
  }

  package func pause(milliseconds: Int) throws(Fault) {
    try machine.pause(milliseconds: 0)
    state.withLock { $0.paused += milliseconds }
  }
}

/// A simulated world's clock as the program outside of it sees it: a pause takes its time.
package struct PausingClock: Clock {
  private let world: SimulatedClock
  private let machine: any Clock

  package init(_ world: SimulatedClock, pausingOn machine: any Clock) {
    (self.world, self.machine) = (world, machine)
  }

  package var now: Int { world.now }
  package var uptime: Int { world.uptime }
  package var moment: Moment { world.moment }

  package func pause(milliseconds: Int) throws(Fault) {
    try machine.pause(milliseconds: milliseconds)
  }
}
