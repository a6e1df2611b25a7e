package import TenderModel

/// Time as an argument: the real clock, or a simulated one that moves only in `pause`.
package protocol Clock: Sendable {
  /// Milliseconds since 1970, UTC.
  var now: Int { get }
  /// Milliseconds on a monotonic clock. Only differences between two values mean anything.
  var uptime: Int { get }
  /// The current moment of the machine's monotonic clock, which all its processes share.
  var moment: Moment { get }
  /// Waits. Throws if a signal ends the wait.
  func pause(milliseconds: Int) throws(Fault)
}

/// A moment on the machine's monotonic clock. The clock runs while the machine sleeps, cannot be set, and
/// starts again with each boot.
package struct Moment: Sendable, Hashable {
  package let boot: String
  /// Milliseconds since that boot.
  package let milliseconds: Int

  package init(boot: String, milliseconds: Int) {
    self.boot = boot
    self.milliseconds = milliseconds
  }

  /// Reads a moment from the form of `text`.
  package init?(_ text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let milliseconds = Int(parts[1]),
      (0...1_000_000_000_000_000).contains(milliseconds)
    else { return nil }
    self.init(boot: String(parts[0]), milliseconds: milliseconds)
  }

  package var text: String { "\(boot) \(milliseconds)" }

  /// The least number of milliseconds since an earlier moment. After another boot, it is the time since that
  /// boot.
  package func elapsed(since earlier: Moment) -> Int {
    boot == earlier.boot ? max(0, milliseconds - earlier.milliseconds) : milliseconds
  }
}

/// The time by which an answer must arrive, on a clock's `uptime`.
package struct Deadline: Sendable {
  package let uptime: Int
  private let clock: any Clock

  /// Creates a deadline some milliseconds from now.
  package init(in milliseconds: Int, on clock: any Clock) {
    uptime = clock.uptime + milliseconds
    self.clock = clock
  }

  /// The number of milliseconds left; 0 after the deadline.
  package var remaining: Int { max(0, uptime - clock.uptime) }
}

/// Randomness as an argument: the system's, or a seeded source for repeatable output.
package protocol Randomness: Sendable {
  func bytes(_ count: Int) -> [UInt8]
}

extension Randomness {
  /// A version 4 UUID in upper case (RFC 9562, section 5.4).
  package func uuid() -> String {
    UUIDText.format(bytes(16), version: 4)
  }

  /// Returns that many characters of `alphabet`, which is ASCII, each equally likely.
  package func text(_ count: Int, from alphabet: String) -> String {
    let letters = Array(alphabet.utf8)
    let limit = 256 / letters.count * letters.count
    var text: [UInt8] = []
    while text.count < count {
      for byte in bytes(count) where Int(byte) < limit && text.count < count {
        text.append(letters[Int(byte) % letters.count])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The text form of a UUID.
enum UUIDText {
  /// Returns sixteen bytes with a version in upper-case hexadecimal, in groups of 8, 4, 4, 4 and 12.
  static func format(_ bytes: [UInt8], version: UInt8) -> String {
    var bytes = bytes
    bytes[6] = bytes[6] & 0x0f | version << 4
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    for (index, byte) in bytes.prefix(16).enumerated() {
      if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// A request from outside (a signal) to stop.
package protocol Interruption: Sendable {
  /// The reason to stop: `interrupted`, `terminated` or `hungUp`; nil without one.
  var kind: Fault.Kind? { get }
  /// A descriptor that becomes readable when a stop is requested, to be polled beside others.
  var descriptor: Int32? { get }
  /// Whether the time limit of the command asked for it, and no signal.
  var hasExpired: Bool { get }
  /// Marks the request as handled, so that the cleanup after it can run.
  func acknowledge()
}

extension Interruption {
  package var hasExpired: Bool { false }

  package func acknowledge() {}

  package func check() throws(Fault) {
    guard let kind else { return }
    throw .stopped(by: kind, underWay: "nothing was under way")
  }
}

/// An interruption that never happens, for work that no signal stops, such as reading the time for a record.
package struct NeverInterrupted: Interruption {
  package init() {}

  package var kind: Fault.Kind? { nil }

  package var descriptor: Int32? { nil }
}

extension Fault {
  /// A run that a signal ended. `underWay` is the end of the message, about a request that was under way.
  package static func stopped(
    by kind: Fault.Kind,
    effect: Effect = .none,
    underWay: String
  ) -> Fault {
    Fault(
      kind,
      effect: effect,
      code: kind == .pending ? "deadline_passed" : kind.rawValue,
      kind == .pending
        ? "the time of --deadline is over; \(underWay)" : "stopped by a signal; \(underWay)",
      hint: effect == .unknown
        ? "do not make another payment: the same command finds out the result and finishes this one"
        : "the journal is consistent: run the same command again"
    ).with { $0.again = .sameCommand }
  }
}
