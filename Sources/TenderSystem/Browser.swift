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
  /// Call it before any thread begins.
  package init?() {
    helper = unsafe tender_system_browser("TENDER_")
    guard helper >= 0 else { return nil }
  }

  deinit { close(helper) }

  /// Starts `$BROWSER`, else the system's opener, on a web address; false where it cannot.
  package func open(_ address: String, _ environment: Environment) -> Bool {
    guard address.hasPrefix("https://") || address.hasPrefix("http://") else { return false }
    #if canImport(Darwin)
    let opener = environment["BROWSER"] ?? "open"
    #else
    let opener = environment["BROWSER"] ?? "xdg-open"
    #endif
    return unsafe tender_system_open(helper, opener, address) == 0
  }
}
