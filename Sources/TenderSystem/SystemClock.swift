private import Platform
private import Synchronization
package import TenderEngine
package import TenderModel

/// The machine's clock.
package struct SystemClock: Clock {
  package let interruption: any Interruption

  /// Creates a clock. A signal ends its pauses.
  package init(interruption: any Interruption) { self.interruption = interruption }

  package var now: Int { Self.read(CLOCK_REALTIME) }

  package var uptime: Int { Self.read(CLOCK_MONOTONIC) }

  package var moment: Moment { Moment(boot: Self.boot, milliseconds: Self.read(Self.sinceBoot)) }

  #if canImport(Darwin)
  private static let sinceBoot = CLOCK_MONOTONIC_RAW
  /// The kernel's id of this boot.
  private static let boot: String = {
    var name = [CChar](repeating: 0, count: 64)
    var size = name.count
    guard unsafe sysctlbyname("kern.bootsessionuuid", &name, &size, nil, 0) == 0 else { return "-" }
    return name.text
  }()
  #else
  private static let sinceBoot = CLOCK_BOOTTIME
  /// The kernel's id of this boot.
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
      // A deadline that lets work finish wakes nobody: requests under way go on.
      _ = interruption.wait(for: -1, POLLIN, milliseconds: min(end - uptime, 500))
    }
    try interruption.check()
  }
}

/// The clock of a simulated world. It is ahead of the machine's clock, or fixed.
///
/// A pause takes no time, and moves the clock.
package final class SimulatedClock: Clock {
  private let machine: any Clock
  /// The fixed time, in milliseconds since 1970; nil if the clock runs.
  private let standing: Int?
  /// The time that it is ahead for this command alone.
  private let offset: Int
  private let state = Mutex(State())

  /// The time by which pauses have moved it, in milliseconds.
  private struct State {
    /// By earlier commands, and whether that is known.
    var before = 0
    var isKnown = false
    /// By the pauses of this command.
    var paused = 0
    /// The part of the sum that is stored.
    var written = 0
  }

  package init(standingAt standing: Int? = nil, ahead offset: Int = 0, beside machine: any Clock) {
    self.standing = standing
    self.offset = offset
    self.machine = machine
  }

  /// Moves the clock ahead by the pauses of earlier commands. Only the first call counts.
  package func startAhead(by milliseconds: Int) {
    guard standing == nil else { return }
    state.withLock { state in
      guard !state.isKnown else { return }
      (state.before, state.written, state.isKnown) = (milliseconds, milliseconds, true)
    }
  }

  /// Starts another command. Its deadlines do not include earlier pauses.
  package func begin() {
    state.withLock { state in (state.before, state.paused) = (state.before + state.paused, 0) }
  }

  /// The time that it is ahead for all commands, if pauses have moved it since the last call; else nil.
  package func newlyAhead() -> Int? {
    guard standing == nil else { return nil }
    return state.withLock { state in
      let sum = state.before + state.paused
      guard sum > state.written else { return nil }
      state.written = sum
      return sum
    }
  }

  package var now: Int { (standing ?? machine.now + offset) + moved }

  private var moved: Int { state.withLock { $0.before + $0.paused } }

  /// Real time counts too, so that deadlines on a network end. Pauses are added.
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
