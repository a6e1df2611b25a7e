private import CLibraries
private import Platform
package import TenderModel

/// The only place that reads variables and files.
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
        if unsafe isWanted(String(decoding: name, as: UTF8.self)) {
          found.append(unsafe String(cString: equals + 1))
        }
      }
      unsafe next += 1
    }
    return found.filter { !$0.isEmpty }
  }

  /// Whether another server plays a provider: some `TENDER_…_URL` is set.
  package var isRedirected: Bool {
    !named { name in
      name.hasPrefix("TENDER_") && name.hasSuffix("_URL") && hidden.map(name.hasPrefix) != true
    }.isEmpty
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

  /// Makes a folder that only its owner may enter, and its missing parents.
  package static func makeFolder(_ path: String) throws(Fault) {
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      made += "/"
      made.append(contentsOf: part)
      if unsafe mkdir(made, 0o700) != 0, errno != EEXIST, errno != EISDIR, errno != EROFS {
        throw .state(
          "state_unusable",
          "cannot make \(made): \(unsafe String(cString: strerror(errno)))",
          "nothing was sent; choose another --state-dir"
        )
      }
    }
  }

  /// Returns the bytes of a file.
  ///
  /// Throws `usage` with the option or variable that named it.
  package static func read(
    _ path: String,
    named option: String,
    rule: FileGuard.Rule = .any,
    limit: Int = 1 << 20
  ) throws(Fault) -> [UInt8] {
    let descriptor = try openForReading(path, named: option)
    defer { close(descriptor) }
    try FileGuard.check(descriptor, path, named: option, rule)
    return try readAll(descriptor, path, named: option, limit: limit)
  }

  /// Returns the bytes of an open file. If `shouldStop` returns true, the wait for them ends.
  package static func readAll(
    _ descriptor: Int32,
    _ path: String,
    named option: String,
    limit: Int = 1 << 20,
    shouldStop: (() -> Bool)? = nil
  ) throws(Fault) -> [UInt8] {
    guard let bytes = Console.readAll(descriptor, limit: limit, shouldStop: shouldStop) else {
      throw .unreadable(path, option)
    }
    return bytes
  }

  /// Returns the bytes of a file in memory for secrets. Only its owner may have access to it.
  ///
  /// Throws `usage` with the option that named it.
  package static func readSecret(
    _ path: String,
    named option: String,
    limit: Int
  ) throws(Fault) -> Secret {
    let descriptor = try openForReading(path, named: option)
    defer { close(descriptor) }
    try FileGuard.check(descriptor, path, named: option, .ownersAlone)
    guard let secret = Console.readSecret(descriptor, limit: limit) else {
      throw .unreadable(path, option)
    }
    return secret
  }

  package static func close(_ descriptor: Int32) {
    _ = Platform.close(descriptor)
  }

  /// Whether a path exists.
  package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Whether a path is a folder.
  package static func isFolder(_ path: String) -> Bool {
    FileGuard.status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
  }

  /// Whether a folder has certificates under the hash of their names, as `openssl rehash` makes them: eight
  /// hexadecimal digits and `.0`.
  package static func holdsHashes(_ folder: String) -> Bool {
    guard let handle = unsafe opendir(folder) else { return false }
    defer { unsafe closedir(handle) }
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe String(cString: $0) }
      }
      let parts = name.split(separator: ".")
      if parts.count == 2, parts[1] == "0", parts[0].utf8.count == 8,
        parts[0].allSatisfy(\.isHexDigit)
      {
        return true
      }
    }
    return false
  }

  /// Opens a file to append to. Only its owner may read a new one.
  package static func openForAppending(_ path: String, named option: String) throws(Fault) -> Int32
  {
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe open(path, flags, 0o600)
    guard descriptor >= 0 else { throw .unwritable(path, option) }
    return descriptor
  }

  /// Opens a file to read. With `waits`, opening a pipe waits for its writer.
  package static func openForReading(
    _ path: String,
    named option: String,
    waits: Bool = true
  ) throws(Fault) -> Int32 {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw .unreadable(path, option) }
    return descriptor
  }

  /// The size of a regular file in bytes; nil for anything else.
  package static func size(of descriptor: Int32) -> Int? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    return Int(status.st_size)
  }

  /// Creates a new file beside another, under an unpredictable name. Only its owner may read it.
  ///
  /// Throws `usage` if it cannot.
  package static func temporary(
    beside path: String,
    named option: String
  ) throws(Fault) -> (path: String, descriptor: Int32) {
    let name = path + "." + Hex.encode(SystemRandomness().bytes(8)).lowercased() + ".tmp"
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe open(name, flags, 0o600)
    guard descriptor >= 0 else { throw .unwritable(path, option) }
    return (name, descriptor)
  }

  /// Whether a path is in a folder, with links resolved.
  package static func isInside(_ path: String, _ folder: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let place = parts.joined(separator: "/")
    return isSameFile(place.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : place, folder)
  }

  /// Whether a file of a name is in the folder of a path.
  package static func isBeside(_ path: String, _ name: String) -> Bool {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
    return FileGuard.status(folder + name) != nil
  }

  /// Whether a path is free, or a regular file. A link may belong to the system, such as `/dev/stdout`.
  package static func isReplaceable(_ path: String) -> Bool {
    FileGuard.status(path, followsLink: false).map { $0.st_mode & S_IFMT == S_IFREG } ?? true
  }

  /// Whether two paths are the same file.
  package static func isSameFile(_ one: String, _ other: String) -> Bool {
    guard let first = FileGuard.status(one), let second = FileGuard.status(other) else {
      return false
    }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Writes a file of a head, the contents of another file, and a tail. It is written whole or not at all.
  /// The other file is closed and removed.
  package static func compose(
    _ path: String,
    head: String,
    from part: String,
    tail: String,
    closing descriptor: Int32
  ) -> Bool {
    defer {
      close(descriptor)
      _ = unsafe unlink(part)
    }
    guard let target = try? temporary(beside: path, named: "") else { return false }
    defer { close(target.descriptor) }
    guard Console.write(head, to: target.descriptor), lseek(descriptor, 0, SEEK_SET) == 0,
      Console.copy(from: descriptor, to: target.descriptor),
      Console.write(tail, to: target.descriptor), unsafe rename(target.path, path) == 0
    else {
      _ = unsafe unlink(target.path)
      return false
    }
    return true
  }

  /// Writes a file that only its owner may read, whole or not at all. It replaces an existing file.
  ///
  /// Throws `usage` with the option that named it.
  package static func write(
    _ text: String,
    to path: String,
    named option: String
  ) throws(Fault) {
    try write(to: path, named: option) { write throws(Fault) in _ = write(text) }
  }

  /// The same with a text in pieces: `body` is given a function that writes one, and says no where it cannot.
  package static func write(
    to path: String,
    named option: String,
    _ body: ((String) -> Bool) throws(Fault) -> Void
  ) throws(Fault) {
    guard isReplaceable(path) else {
      throw .badFile(
        "\(option): \(path.quotedForMessage) is no regular file",
        hint: "choose another file: a link, a folder, a pipe or a device is not replaced"
      )
    }
    let made = try temporary(beside: path, named: option)
    defer { close(made.descriptor) }
    var (isWritten, pending) = (true, "")
    func flush() -> Bool {
      isWritten = isWritten && Console.write(pending, to: made.descriptor)
      pending = ""
      return isWritten
    }
    do throws(Fault) {
      try body { text in
        pending += text
        return pending.utf8.count < 65_536 || flush()
      }
    } catch {
      _ = unsafe unlink(made.path)
      throw error
    }
    guard flush(), unsafe rename(made.path, path) == 0 else {
      _ = unsafe unlink(made.path)
      throw .unwritable(path, option)
    }
  }

  /// The free bytes on a path's file system for other users than root; nil if unknown.
  package static func freeBytes(at path: String) -> Int? {
    var facts = statvfs()
    guard unsafe statvfs(path, &facts) == 0 else { return nil }
    return Int(facts.f_bavail).multipliedReportingOverflow(by: Int(facts.f_frsize)).partialValue
  }

  /// The name of the user that runs this program, asked once; nil without a name.
  package static let user: String? = {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 4096)
    let status = unsafe getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found)
    return unsafe status == 0 && found != nil ? unsafe String(cString: entry.pw_name) : nil
  }()

  /// Sets a variable for libraries, unless it is set.
  ///
  /// Call it before any thread starts.
  package static func setDefault(_ name: String, _ value: String) {
    _ = unsafe setenv(name, value, 0)
  }

  /// Creates a file that only its owner may read, unless the path exists.
  package static func make(_ path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

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
    let parts = target.split(separator: "/", omittingEmptySubsequences: false)
    guard let mark = parts.firstIndex(of: "zoneinfo") else { return "UTC" }
    return mark + 1 < parts.count ? String(target[parts[mark + 1].startIndex...]) : ""
  }

  /// The country of the user's locale (`LC_ALL`, `LC_MESSAGES`, `LANG`), such as `GB` of `en_GB.UTF-8`.
  package var localeCountry: String? {
    let name = self["LC_ALL"] ?? self["LC_MESSAGES"] ?? self["LANG"] ?? ""
    let parts = name.prefix(before: ".").prefix(before: "@").split(separator: "_")
    guard parts.count == 2, parts[1].count == 2 else { return nil }
    return parts[1].uppercased()
  }

  /// Returns the day of a time in the local zone, such as `2026-11-20`.
  package static func localDay(_ milliseconds: Int) -> String {
    String((localText(milliseconds) ?? Timestamp.text(milliseconds)).prefix(10))
  }

  /// A time in the local zone, `2026-11-20 18:19:00 CET`; nil if the zone is UTC.
  package static func localText(_ milliseconds: Int) -> String? {
    var seconds = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return nil }
    guard unsafe parts.tm_gmtoff != 0 else { return nil }
    var buffer = [CChar](repeating: 0, count: 64)
    _ = unsafe strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S %Z", &parts)
    return buffer.text
  }
}

/// The settings of the process that come before anything else.
package enum ProcessGuard {
  /// The arguments, with the program's name first, and the number of the first one that is not UTF-8.
  ///
  /// Swift repairs such an argument, so that two different references would become the same. `CommandLine` is
  /// not used: it has no arguments if a preloaded library changed the environment. The command would then
  /// print help and exit with 0.
  package static var arguments: (texts: [String], garbled: Int?) {
    guard let given = unsafe tender_system_arguments() else {
      return (CommandLine.arguments, nil)
    }
    var texts: [String] = []
    var garbled: Int?
    while let text = unsafe given[texts.count] {
      if garbled == nil, unsafe String(validatingCString: text) == nil { garbled = texts.count }
      unsafe texts.append(String(cString: text))
    }
    return (texts, garbled)
  }

  /// Whether a descriptor is open.
  package static func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) != -1 }

  /// Makes new files private to their owner. A crash leaves no core dump with card data.
  package static func begin() {
    umask(0o077)
    _ = tender_system_hide_memory()
    _ = files(wanted: 8192)
    // With this variable, libraries would write the keys of each connection to a file.
    _ = unsafe unsetenv("SSLKEYLOGFILE")
    // The next file or pipe would get the number of a closed standard stream. Output to a closed stream is
    // lost, and the program reports that as a failed write.
    for descriptor: Int32 in 0...2 where !isOpen(descriptor) {
      _ = unsafe open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
    }
    // A write above a limit on file sizes is an ordinary error.
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Returns the limit of open files, after a request to raise it. A shell's usual limit allows only few
  /// threads.
  package static func files(wanted: Int) -> Int {
    var limit = rlimit()
    #if canImport(Darwin)
    let kind = RLIMIT_NOFILE
    #else
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    guard unsafe getrlimit(kind, &limit) == 0 else { return 256 }
    if limit.rlim_cur < rlim_t(wanted) {
      limit.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
      _ = unsafe setrlimit(kind, &limit)
      _ = unsafe getrlimit(kind, &limit)
    }
    return Int(clamping: limit.rlim_cur)
  }
}

extension [CChar] {
  /// The text in a buffer that C code wrote, up to the first zero byte.
  package var text: String {
    String(decoding: prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension Fault {
  /// A file that cannot be written, with the reason from `errno`.
  fileprivate static func unwritable(_ path: String, _ option: String) -> Fault {
    Fault.badFile(
      "\(option): cannot write \(path): \(unsafe String(cString: strerror(errno)))",
      hint: "choose another file"
    )
  }

  fileprivate static func unreadable(_ path: String, _ option: String) -> Fault {
    Fault.badFile(
      "\(option): cannot read \(path.quotedForMessage)",
      hint: "check the path and its permissions"
    )
  }
}
