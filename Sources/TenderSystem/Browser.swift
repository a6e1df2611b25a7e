private import CLibraries
private import Platform

/// Opens addresses for the user, without a shell. A helper does it, which starts before this process
/// restricts itself.
package final class Browser {
  private let helper: Int32

  /// Starts the helper, without this program's secrets; nil if it cannot start.
  ///
  /// It starts `$BROWSER`, else the system's opener, and no other program. Call it before any thread starts.
  package init?(_ environment: Environment) {
    #if canImport(Darwin)
    let opener = environment["BROWSER"] ?? "open"
    #else
    let opener = environment["BROWSER"] ?? "xdg-open"
    #endif
    helper = unsafe tender_system_browser("TENDER_", opener)
    guard helper >= 0 else { return nil }
  }

  deinit { close(helper) }

  /// Opens a web address; false if it is not one, or the program did not start.
  package func open(_ address: String) -> Bool { unsafe tender_system_open(helper, address) == 0 }
}
