private import CLibraries
package import TenderModel

/// The system libraries that are opened on first use.
package enum Libraries {
  /// Opens all of them, and returns their names.
  ///
  /// Throws `library_missing` with the missing one.
  package static func open() throws(Fault) -> String {
    let problems = unsafe [tender_curl_open(), tender_crypto_open(), tender_httpd_open()]
    if let problem = unsafe problems.compactMap(\.self).first {
      throw Fault(
        .internal,
        code: "library_missing",
        unsafe String(cString: problem),
        hint: "install it: see the README, Requirements"
      )
    }
    return "libcurl, libcrypto and libmicrohttpd can be opened"
  }
}
