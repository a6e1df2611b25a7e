internal import CLibraries
package import TenderModel

/// The address of a shared journal, in libpq's form (its manual, "Connection URIs").
package struct PostgresAddress: Sendable, Hashable {
  /// The text as given, which may contain a password.
  private let text: String

  package init?(_ text: String) {
    guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else { return nil }
    self.text = text
  }

  /// The passwords in it, as written and as decoded. One with a slash ends the address for libpq, which repeats the
  /// part before it.
  package var passwords: [String] {
    let sign = text.lastIndex(of: "@") ?? text.startIndex
    let start = text[..<sign].firstRange(of: "://").map(\.upperBound) ?? sign
    let user = text[start..<sign].split(separator: ":", maxSplits: 1)
    var found =
      user.count > 1 ? [String(user[1])] + user[1].split(separator: "/").map(String.init) : []
    for pair in parameters where ["password", "sslpassword"].contains(pair.name) {
      found.append(pair.value)
    }
    // For libpq, a plus sign is no space.
    let decoded = found.map { QueryText.decode($0.replacing("+", with: "%2B")) }
    return found + decoded.filter { !found.contains($0) }
  }

  /// The address without its passwords, for output.
  package var masked: String { Redactor().redact(address: text) }

  private var parameters: [(name: String, value: String)] {
    guard let mark = text.firstIndex(of: "?") else { return [] }
    return text[text.index(after: mark)...].split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
  }

  /// The options that are used here, with the variables that give them.
  private static let variables = [
    "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "service": "PGSERVICE",
    "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT",
    "target_session_attrs": "PGTARGETSESSIONATTRS", "connect_timeout": "PGCONNECT_TIMEOUT",
  ]

  /// Returns the options of the environment, of a service and of the address. The later ones count.
  ///
  /// Throws `usage` for an address that libpq cannot read.
  private func said(_ variable: (String) -> String?) throws(Fault) -> [String: String] {
    let given = try parsed()
    let environment = Self.variables.compactMapValues(variable)
    let service = (given["service"] ?? environment["service"]).map { Self.service($0, variable) }
    return environment.merging(service ?? [:]) { $1 }.merging(given) { $1 }
  }

  /// The files named by the address and by its service.
  package func files(_ variable: (String) -> String?) -> [String] {
    let said = (try? said(variable)) ?? [:]
    return ["sslrootcert", "sslcert", "sslkey", "sslcrl", "sslcrldir", "passfile"]
      .compactMap { said[$0] }
  }

  /// The ways to reach its servers.
  package struct Ways {
    /// The TCP ports; empty if there are only Unix sockets.
    package let ports: [UInt16]
    /// Whether there is a Unix socket, and whether one has a name outside of the file system.
    package let isLocal: Bool
    package let isAbstract: Bool
  }

  /// Returns the ways to reach its servers, from the address, a service file and the variables.
  package func ways(_ variable: (String) -> String?) -> Ways {
    let said = (try? said(variable)) ?? [:]
    var hosts = ["host", "hostaddr"].compactMap { said[$0] }
      .flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    // An undefined service may be defined in another file, and lead anywhere.
    if let name = said["service"], Self.service(name, variable).isEmpty {
      hosts += ["", "service"]
    }
    if hosts.isEmpty { hosts = [""] }
    func isPath(_ host: Substring) -> Bool { host.hasPrefix("/") || host.hasPrefix("@") }
    let ports = (said["port"] ?? "").split(separator: ",").compactMap { UInt16($0) }
    return Ways(
      ports: hosts.contains { !$0.isEmpty && !isPath($0) } ? ports + [5432] : [],
      isLocal: hosts.contains { $0.isEmpty || isPath($0) },
      isAbstract: hosts.contains { $0.hasPrefix("@") }
    )
  }

  /// Returns the options for libpq: the address, and defaults for options that neither it nor the environment
  /// sets.
  ///
  /// A server on another machine is verified, unless the address, `PGSSLMODE` or the service file turns that
  /// off. `roots` is the file of root certificates. `writes` asks for a server that accepts writes if several
  /// are named. Throws `usage` for an address that libpq cannot read.
  func options(
    roots: String?,
    writes: Bool,
    seconds: Int,
    _ variable: (String) -> String?
  ) throws(Fault) -> [(keyword: String, value: String)] {
    let said = try said(variable)
    let hosts = (said["hostaddr"] ?? said["host"] ?? "").split(separator: ",")
    let isHere = hosts.allSatisfy { host in
      host.hasPrefix("/") || host.hasPrefix("@") || Self.isLoopback(host)
    }
    let defaults = [
      ("sslmode", isHere ? nil : "verify-full"), ("sslrootcert", roots),
      ("target_session_attrs", writes && hosts.count > 1 ? "read-write" : nil),
      ("connect_timeout", String(max(2, seconds))),
    ]
    var options = [
      ("dbname", text), ("fallback_application_name", "tender"), ("client_encoding", "UTF8"),
    ]
    for case (let name, let value?) in defaults where said[name] == nil {
      options.append((name, value))
    }
    return options
  }

  static func isLoopback(_ host: some StringProtocol) -> Bool {
    ["localhost", "::1"].contains { host == $0 || host.hasPrefix($0 + ":") }
      || host.hasPrefix("127.")
  }

  private func parsed() throws(Fault) -> [String: String] {
    var missing: UnsafePointer<CChar>?
    guard let pq = unsafe tender_pq_open(&missing) else {
      throw Fault(
        .internal,
        code: "library_missing",
        unsafe missing.map { unsafe String(cString: $0) } ?? "",
        hint: "install it: see the README, Requirements"
      )
    }
    var why: UnsafeMutablePointer<CChar>?
    guard let options = unsafe pq.pointee.parse(text, &why) else {
      defer { unsafe pq.pointee.free_text(why) }
      let words = unsafe why.map { unsafe String(cString: $0) } ?? ""
      throw .badAddress(text, words.split(separator: "\n").joined(separator: "; "))
    }
    defer { unsafe pq.pointee.free_options(options) }
    return unsafe Self.values(options)
  }

  /// Returns the options that have a value.
  static func values(_ options: UnsafeMutablePointer<tender_pq_option>) -> [String: String] {
    var values: [String: String] = [:]
    var next = unsafe options
    while let keyword = unsafe next.pointee.keyword {
      if let value = unsafe next.pointee.value {
        unsafe values[String(cString: keyword)] = unsafe String(cString: value)
      }
      unsafe next += 1
    }
    return values
  }

  /// Returns the members of a service in libpq's file (its manual, "The Connection Service File").
  private static func service(
    _ name: String,
    _ variable: (String) -> String?
  ) -> [String: String] {
    let files = [
      variable("PGSERVICEFILE") ?? variable("HOME").map { $0 + "/.pg_service.conf" },
      // The path of Debian's libpq.
      (variable("PGSYSCONFDIR") ?? "/etc/postgresql-common") + "/pg_service.conf",
    ]
    for case let file? in files {
      guard let bytes = PlainFile.read(PlainFile.resolved(file), limit: 1 << 20) else { continue }
      var isInside = false
      var members: [String: String] = [:]
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        let line = line.filter { $0 != "\r" && $0 != " " }
        if line.hasPrefix("[") { isInside = line == "[\(name)]" }
        let pair = line.split(separator: "=", maxSplits: 1)
        if isInside, pair.count == 2 { members[String(pair[0])] = String(pair[1]) }
      }
      if !members.isEmpty { return members }
    }
    return [:]
  }
}

extension Fault {
  /// The address of a journal is invalid. Its passwords are not shown.
  package static func badAddress(_ text: String, _ why: String) -> Fault {
    let shown = Redactor().redact(address: text)
    return .usage(
      "bad_journal",
      "the journal's address \(shown.quotedForMessage) cannot be used"
        + (why.isEmpty ? "" : ": \(why)"),
      "such as: TENDER_JOURNAL=postgres://tender@db1,db2/payments"
    )
  }
}
