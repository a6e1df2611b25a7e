internal import TenderEngine
internal import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Questions on the terminal itself, whatever the standard streams are.
final class Terminal {
  private let descriptor: Int32
  private var pending: [UInt8] = []

  /// Opens the controlling terminal; nil where there is none.
  init?() {
    let opened = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
    guard opened >= 0 else { return nil }
    descriptor = opened
  }

  deinit {
    pending.wipe()
    close(descriptor)
  }

  /// Shows a line, with nothing in it that steers the terminal.
  func say(_ text: String) { Console.write(Printable.text(text) + "\n", to: descriptor) }

  /// Asks and reads a line; `hidden` turns the echo off meanwhile.
  ///
  /// Throws `interrupted` where a signal ends it, `refused` at the end of the input.
  func ask(_ question: String, hidden: Bool, interruption: Signals) throws(Fault) -> String {
    let wasHeld = interruption.hold()
    // Stopped and taken up again, a shell would have turned the echo back on.
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
    // Put back before anything else happens, a signal included.
    defer {
      if canHide {
        unsafe tcsetattr(descriptor, TCSAFLUSH, &saved)
        Console.write("\n", to: descriptor)
      }
    }
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: pending[..<end], as: UTF8.self)
        pending.removeFirst(end + 1)
        return line.hasSuffix("\r") ? String(line.dropLast()) : line
      }
      var polled = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: interruption.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&polled, 2, -1)
      try interruption.check()
      var buffer = [UInt8](repeating: 0, count: 1024)
      let count = unsafe read(descriptor, &buffer, buffer.count)
      defer { buffer.wipe() }
      guard count > 0, pending.count < 65_536 else {
        throw Fault(.refused, code: "not_asked", "the question was not answered")
      }
      pending += buffer.prefix(count)
    }
  }
}
