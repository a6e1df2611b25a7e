private import CLibraries

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Opens addresses for the user, without a shell in between, by a helper that was started before this
/// process bounded itself.
package final class Browser {
  private let helper: Int32

  /// Starts the helper, with none of this program's secrets; nil where it cannot be.
  ///
  /// It starts `$BROWSER`, else the system's opener, and no other program.
  /// Call it before any thread begins.
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

  /// Opens a web address; false where it is none, or the program was not started.
  package func open(_ address: String) -> Bool { unsafe tender_system_open(helper, address) == 0 }
}
