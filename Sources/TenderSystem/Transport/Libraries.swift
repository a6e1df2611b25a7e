private import CLibraries
package import TenderModel

/// The system libraries that are opened on first use.
package enum Libraries {
  /// Opens those that every command needs, before the process is limited to its files.
  ///
  /// Throws `library_missing`.
  package static func begin() throws(Fault) {
    try unsafe check([tender_sodium_open(), tender_sqlite_open()])
  }

  /// Opens those for requests, and returns their names.
  ///
  /// Throws `library_missing` with the missing one.
  package static func open() throws(Fault) -> String {
    try unsafe check([tender_curl_open(), tender_crypto_open(), tender_httpd_open()])
    return "libcurl, libcrypto and libmicrohttpd can be opened"
  }

  private static func check(_ problems: [UnsafePointer<CChar>?]) throws(Fault) {
    let hint = "install it; see: tender help installation"
    try unsafe need(problems.compactMap(\.self).first, hint: hint)
  }

  /// Throws `library_missing` for the problem of a library that could not be opened.
  package static func need(
    _ problem: UnsafePointer<CChar>?,
    hint: String? = nil
  ) throws(Fault) {
    guard let problem = unsafe problem else { return }
    throw Fault(.internal, code: "library_missing", unsafe String(cString: problem), hint: hint)
  }

  /// Opens every library; gives the names and versions of those that this system has.
  package static func versions() -> JSONObject {
    var found: JSONObject = [:]
    var problem: UnsafePointer<CChar>?
    unsafe _ = tender_pq_open(&problem)
    // The one opened last comes first.
    unsafe _ = [
      tender_qr_open(), tender_httpd_open(), tender_xml_open(), tender_crypto_open(),
      tender_curl_open(), tender_sqlite_open(), tender_sodium_open(),
    ]
    var number = 0
    while let text = unsafe tender_library_opened(number) {
      let words = unsafe String(cString: text).split(separator: " ", maxSplits: 1)
      found[String(words[0])] = .string(String(words[1]))
      number += 1
    }
    return found
  }

  /// The commit and the compiler of this build; empty where they are not known.
  package static var build: (commit: String, compiler: String) {
    let lines = unsafe String(cString: tender_system_build())
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return (lines[0], lines[1])
  }
}
