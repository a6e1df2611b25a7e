private import Platform
internal import TenderEngine
package import TenderModel

/// Asks questions on the terminal itself, independent of the standard streams.
package final class Terminal {
  private let descriptor: Int32
  /// The longest line that a terminal passes on, with room for its end.
  private static let longestLine = 4097

  /// Opens the controlling terminal; nil without one.
  package init?() {
    let opened = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    descriptor = opened
  }

  deinit { close(descriptor) }

  /// Shows a line without control characters.
  package func say(_ text: String) { Console.write(Printable.text(text) + "\n", to: descriptor) }

  /// Asks, and reads a line. `hidden` turns the echo off.
  ///
  /// Throws `interrupted` if a signal ends it, and `refused` at the end of the input.
  package func ask(_ question: String, hidden: Bool, interruption: Signals) throws(Fault) -> String
  {
    let line = try line(question, hidden: hidden, interruption)
    return unsafe line.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Asks, and reads a line without an echo.
  ///
  /// Throws like `ask`.
  package func askSecret(_ question: String, interruption: Signals) throws(Fault) -> Secret {
    try line(question, hidden: true, interruption)
  }

  private func line(
    _ question: String,
    hidden: Bool,
    _ interruption: Signals
  ) throws(Fault) -> Secret {
    let wasHeld = interruption.hold()
    // After a stop and a continue, a shell would have turned the echo on again.
    signal(SIGTSTP, SIG_IGN)
    defer {
      signal(SIGTSTP, SIG_DFL)
      if !wasHeld { interruption.letGo() }
    }
    var saved = termios()
    let canHide = unsafe hidden && tcgetattr(descriptor, &saved) == 0
    if canHide {
      var silent = saved
      silent.c_lflag &= ~tcflag_t(ECHO)
      unsafe tcsetattr(descriptor, TCSAFLUSH, &silent)
    }
    Console.write(Printable.text(question), to: descriptor)
    // The terminal is restored before anything else, a signal included.
    defer {
      if canHide {
        unsafe tcsetattr(descriptor, TCSAFLUSH, &saved)
        Console.write("\n", to: descriptor)
      }
    }
    var stopped: Fault?
    let line = unsafe Secret(capacity: Self.longestLine) { room in
      var filled = 0
      while filled < room.count {
        _ = interruption.wait(for: descriptor, POLLIN, milliseconds: -1)
        do throws(Fault) { try interruption.check() } catch {
          stopped = error
          return nil
        }
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...])
        // A terminal passes on one line at a time.
        let count = unsafe read(descriptor, rest.baseAddress, rest.count)
        guard count > 0 else { return nil }
        filled += count
        guard unsafe room[filled - 1] == UInt8(ascii: "\n") else { continue }
        filled -= 1
        return unsafe filled > 0 && room[filled - 1] == UInt8(ascii: "\r") ? filled - 1 : filled
      }
      return nil
    }
    guard let line else {
      throw stopped ?? Fault(.refused, code: "not_asked", "the question was not answered")
    }
    return line
  }
}
