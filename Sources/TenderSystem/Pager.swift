private import Platform

/// Shows a text that is longer than the terminal through the user's pager.
package enum Pager {
  /// Passes a text to `$PAGER`, else to `less`.
  ///
  /// Returns false if the text must be printed: without a terminal or a pager, if the text fits, or if
  /// `PAGER` is empty or `cat`.
  package static func show(_ text: String, _ environment: Environment) -> Bool {
    guard let rows = Console.terminalRows, environment["TERM"] != "dumb",
      text.utf8.count(where: { $0 == UInt8(ascii: "\n") }) >= rows
    else { return false }
    let isNamed = unsafe getenv("PAGER") != nil
    let pager = environment["PAGER"] ?? (isNamed ? "cat" : "less")
    guard pager != "cat", isNamed || Environment.exists("/usr/bin/less") else { return false }
    // The pager gets none of this program's credentials. It ends by itself if the text fits.
    var names: [String] = []
    _ = environment.named {
      names.append($0)
      return false
    }
    for name in names where name.hasPrefix("TENDER_") { unsafe unsetenv(name) }
    unsafe setenv("LESS", "FRX", 0)
    guard let pipe = unsafe popen(pager, "w") else { return false }
    // A user may leave the pager early.
    _ = signal(SIGPIPE, SIG_IGN)
    _ = unsafe fputs(text, pipe)
    // The shell returns 126 or 127 if the pager does not exist.
    let status = unsafe pclose(pipe) >> 8 & 0xff
    return status != 126 && status != 127
  }
}
