private import Platform
package import TenderModel

/// The variables of the process, its user and its machine. With `Files.swift`, the only place that reads variables
/// and files.
package struct Environment {
  /// The beginning of the names of variables that are treated as not set; nil for none.
  private let hidden: String?

  package init(hiding hidden: String? = nil) { self.hidden = hidden }

  /// A variable's value; nil where it is not set or empty.
  package subscript(name: String) -> String? {
    if let hidden, name.hasPrefix(hidden) { return nil }
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }

  /// The values of the variables with matching names.
  package func named(where isWanted: (String) -> Bool) -> [String] {
    var found: [String] = []
    var next = unsafe environ
    while let variable = unsafe next.pointee {
      if let equals = unsafe strchr(variable, 0x3d) {
        let name = unsafe UnsafeRawBufferPointer(start: variable, count: equals - variable)
        let text = unsafe String(decoding: name, as: UTF8.self)
        if isWanted(text), hidden.map(text.hasPrefix) != true {
          found.append(unsafe String(cString: equals + 1))
        }
      }
      unsafe next += 1
    }
    return found.filter { !$0.isEmpty }
  }

  /// Whether another server plays a provider: some `TENDER_…_URL` is set.
  package var isRedirected: Bool {
    !named { $0.hasPrefix("TENDER_") && $0.hasSuffix("_URL") }.isEmpty
  }

  /// Returns a folder from an XDG variable, which counts only if it is absolute. Else it is below home.
  package func folder(_ variable: String, below home: String) throws(Fault) -> String {
    if let path = self[variable], path.hasPrefix("/") { return path + "/tender" }
    guard let base = self["HOME"], base.hasPrefix("/") else {
      throw .usage(
        "no_home",
        "neither \(variable) nor HOME is set",
        "set one of them, or pass --state-dir and --config"
      )
    }
    return base + home + "/tender"
  }

  /// Sets a variable for libraries, unless it is set.
  ///
  /// Call it before any thread starts.
  package static func setDefault(_ name: String, _ value: String) {
    _ = unsafe setenv(name, value, 0)
  }

  /// The name of the user that runs this program, asked once; nil without a name.
  package static let user: String? = {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 4096)
    let status = unsafe getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found)
    return unsafe status == 0 && found != nil ? unsafe String(cString: entry.pw_name) : nil
  }()

  /// The user and the machine of this process: `USER@MACHINE`, with the user's number if there is no name.
  package static var userAndMachine: String {
    (user ?? "\(geteuid())") + "@" + machine
  }

  /// The name of this machine.
  package static var machine: String {
    var name = [CChar](repeating: 0, count: 256)
    _ = unsafe gethostname(&name, name.count - 1)
    return name.text
  }

  /// The IANA name of the local time zone: `TZ`, else the target of `/etc/localtime`, else UTC.
  package var timeZoneName: String {
    if let zone = self["TZ"] {
      let name = zone.hasPrefix(":") ? String(zone.dropFirst()) : zone
      return name.contains("/") && !name.hasPrefix("/") ? name : "UTC"
    }
    var buffer = [CChar](repeating: 0, count: 1024)
    let count = unsafe readlink("/etc/localtime", &buffer, buffer.count - 1)
    guard count > 0 else { return "UTC" }
    let target = buffer.text
    return target.firstRange(of: "/zoneinfo/").map { String(target[$0.upperBound...]) } ?? "UTC"
  }

  /// The country of the user's locale (`LC_ALL`, `LC_MESSAGES`, `LANG`), such as `GB` of `en_GB.UTF-8`.
  package var localeCountry: String? {
    let name = self["LC_ALL"] ?? self["LC_MESSAGES"] ?? self["LANG"] ?? ""
    let parts = name.prefix(before: ".").prefix(before: "@").split(separator: "_")
    guard parts.count == 2, parts[1].count == 2 else { return nil }
    return parts[1].uppercased()
  }
}

extension [CChar] {
  /// The text in a buffer that C code wrote, up to the first zero byte.
  package var text: String {
    String(decoding: prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
