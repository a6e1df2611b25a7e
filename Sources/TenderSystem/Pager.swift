#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Shows a text that is longer than the terminal through the user's pager.
package enum Pager {
  /// Hands a text to `$PAGER`, else to `less` where there is one; false where it has to be printed plainly:
  /// no terminal, room enough, `PAGER` empty or `cat`, or no pager.
  package static func show(_ text: String, _ environment: Environment) -> Bool {
    guard let rows = Console.terminalRows, environment["TERM"] != "dumb",
      text.utf8.count(where: { $0 == UInt8(ascii: "\n") }) >= rows
    else { return false }
    let isNamed = unsafe getenv("PAGER") != nil
    let pager = environment["PAGER"] ?? (isNamed ? "cat" : "less")
    guard pager != "cat", isNamed || Environment.exists("/usr/bin/less") else { return false }
    // It gets none of this program's credentials, and ends by itself where the text fits.
    var names: [String] = []
    _ = environment.named {
      names.append($0)
      return false
    }
    for name in names where name.hasPrefix("TENDER_") { unsafe unsetenv(name) }
    unsafe setenv("LESS", "FRX", 0)
    guard let pipe = unsafe popen(pager, "w") else { return false }
    // Whoever leaves the pager early has seen enough.
    _ = signal(SIGPIPE, SIG_IGN)
    _ = unsafe fputs(text, pipe)
    // 126 and 127 are the shell's: there is no such pager.
    let status = unsafe pclose(pipe) >> 8 & 0xff
    return status != 126 && status != 127
  }
}
