package import TenderModel

/// Time as an argument: the real clock, or a simulated one that stands still until it is paused.
package protocol Clock: Sendable {
  /// Milliseconds since 1970, UTC.
  var now: Int { get }
  /// Milliseconds on a clock that nobody sets; only differences mean anything.
  var uptime: Int { get }
  /// Now, on the machine's own clock, as another process on it reads it.
  var moment: Moment { get }
  /// Waits. Throws where a signal ends the wait.
  func pause(milliseconds: Int) throws(Fault)
}

/// A moment on the machine's own clock: it goes on while the machine sleeps, nobody sets it, and it
/// begins anew with each boot.
package struct Moment: Sendable, Hashable {
  /// Which boot of the machine it is of.
  package let boot: String
  /// Milliseconds since that boot.
  package let milliseconds: Int

  package init(boot: String, milliseconds: Int) {
    self.boot = boot
    self.milliseconds = milliseconds
  }

  /// The moment that `text` writes.
  package init?(_ text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let milliseconds = Int(parts[1]),
      (0...1_000_000_000_000_000).contains(milliseconds)
    else { return nil }
    self.init(boot: String(parts[0]), milliseconds: milliseconds)
  }

  package var text: String { "\(boot) \(milliseconds)" }

  /// How many milliseconds have passed at least since an earlier moment: over a boot, those since it.
  package func elapsed(since earlier: Moment) -> Int {
    boot == earlier.boot ? max(0, milliseconds - earlier.milliseconds) : milliseconds
  }
}

/// The moment by which an answer must be there, on a clock's `uptime`.
package struct Deadline: Sendable {
  package let uptime: Int
  private let clock: any Clock

  /// `milliseconds` from now.
  package init(in milliseconds: Int, on clock: any Clock) {
    uptime = clock.uptime + milliseconds
    self.clock = clock
  }

  /// How many milliseconds are left; 0 where none are.
  package var remaining: Int { max(0, uptime - clock.uptime) }
}

/// Randomness as an argument: the system's, or a seeded one for output that repeats.
package protocol Randomness: Sendable {
  /// That many random bytes.
  func bytes(_ count: Int) -> [UInt8]
}

extension Randomness {
  /// A version 4 UUID in upper case (RFC 9562, section 5.4).
  package func uuid() -> String {
    var raw = bytes(16)
    raw[6] = raw[6] & 0x0f | 0x40
    raw[8] = raw[8] & 0x3f | 0x80
    return UUIDText.format(raw)
  }

  /// That many letters and digits, each of `alphabet` as likely as any other.
  package func text(_ count: Int, from alphabet: String) -> String {
    let letters = Array(alphabet)
    let limit = 256 / letters.count * letters.count
    var text = ""
    while text.count < count {
      for byte in bytes(count) where Int(byte) < limit && text.count < count {
        text.append(letters[Int(byte) % letters.count])
      }
    }
    return text
  }
}

/// How sixteen bytes are written as a UUID.
package enum UUIDText {
  /// Upper-case hexadecimal in groups of 8, 4, 4, 4 and 12.
  package static func format(_ bytes: [UInt8]) -> String {
    var text = ""
    for (index, byte) in bytes.prefix(16).enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += String(UInt16(byte) | 0x100, radix: 16, uppercase: true).dropFirst()
    }
    return text
  }
}

/// A wish to stop that came from outside (a signal).
package protocol Interruption: Sendable {
  /// What stops the run: `interrupted`, `terminated` or `hungUp`; nil while nothing does.
  var kind: Fault.Kind? { get }
  /// A descriptor that becomes readable at that moment, to be polled beside others.
  var descriptor: Int32? { get }
  /// Takes the wish as heard, so that what answers it is not stopped by it.
  func acknowledge()
}

extension Interruption {
  package func acknowledge() {}

  /// Throws where a stop was asked for.
  package func check() throws(Fault) {
    guard let kind else { return }
    throw .stopped(by: kind, underWay: "nothing was under way")
  }
}

/// For work that no signal stops, such as reading the time for a record.
package struct NeverInterrupted: Interruption {
  package init() {}

  package var kind: Fault.Kind? { nil }

  package var descriptor: Int32? { nil }
}

extension Fault {
  /// The end by a signal; says whether a request was under way.
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
        ? "do not pay again; the same command finds out what happened, and finishes it"
        : "the journal is consistent: run the same command again"
    )
  }
}
