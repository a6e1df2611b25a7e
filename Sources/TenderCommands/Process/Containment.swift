private import CLibraries
internal import TenderCommandLine
internal import TenderJournal
internal import TenderModel
internal import TenderSystem

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// What this process may still reach once it knows what it is to do: whatever takes it over reaches no
/// more (Landlock and seccomp, on Linux).
struct Containment {
  /// What the kernel bounded.
  let files: Bool
  let ports: Bool
  let calls: Bool

  static let none = Containment(files: false, ports: false, calls: false)

  /// Where libraries, certificates, time zones and name resolution are.
  ///
  /// A link counts as what it points to: `/lib` is below `/usr` on most systems.
  private static let system = [
    "/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/run", "/opt", "/nix/store", "/var/lib",
    "/var/cache",
  ]
  /// What holds a port besides the providers' own: HTTPS, HTTP and names over TCP.
  private static let ports: [UInt16] = [443, 80, 53]

  /// What is bounded, in words.
  var text: String {
    let all = [(files, "files"), (ports, "TCP ports"), (calls, "programs and other processes")]
    let bounds = all.filter(\.0).map(\.1)
    guard !bounds.isEmpty else { return "this system bounds nothing of this process" }
    let missing =
      files && ports && calls ? "" : "; the rest this kernel cannot, or it was turned off"
    return "bounded: " + bounds.joined(separator: ", ") + missing
  }

  /// Bounds this process for one command; call it before any thread begins that reads what others
  /// wrote.
  ///
  /// `TENDER_CONTAINMENT=off` leaves it as it is.
  static func begin(_ settings: Settings) -> Containment {
    let command = settings.invocation.command
    guard command.work != .local(.nothing), settings.environment["TENDER_CONTAINMENT"] != "off"
    else { return .none }
    let result = Int(Bounds(settings).apply())
    return Containment(
      files: result & TENDER_BOUND_FILES != 0,
      ports: result & TENDER_BOUND_PORTS != 0,
      calls: result & TENDER_BOUND_CALLS != 0
    )
  }

  /// Paths and ports of one command.
  private struct Bounds {
    var readable = Containment.system
    var writable: [String] = ["/dev"]
    var ports: [UInt16]?

    init(_ settings: Settings) {
      let environment = settings.environment
      let invocation = settings.invocation
      var folders = ServedPorts(settings).folders
      if let state = try? settings.stateFolder().text { folders.append(state) }
      if let mark = settings.markFolder() { folders.append(mark) }
      // The journal's mark is beside its folder, or there; a folder that is not there yet is made.
      for folder in folders { writable += Self.place(folder) }
      readable.append(settings.config.path)
      readable += (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
      readable += environment.named(where: Self.namesFile)
      readable += Self.files(in: .object(settings.profile))
      for (name, values) in invocation.values where invocation.command.isFile(name) {
        readable += values
        // Its file is made.
        if ["trace", "junit", "env-file"].contains(name) { writable += values.flatMap(Self.place) }
      }
      readable += Self.filesOfJournal(settings)
      switch invocation.command.words[0] {
      // Each of its lines may name files, addresses and readers.
      case "batch": readable.append("/")
      case "journal": for path in invocation.operands { writable += Self.place(path) }
      case "simulator":
        readable += (invocation.values[Keys.trustKey.option.name] ?? []).compactMap { text in
          text.split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init)
        }
      default: ports = Self.portsOfJournal(settings).map { Self.ports(settings) + $0 }
      }
    }

    func apply() -> Int32 {
      let numbers = ports ?? []
      return unsafe Self.withPointers(readable) { readable in
        unsafe Self.withPointers(writable) { writable in
          unsafe numbers.withUnsafeBufferPointer { numbers in
            var bounds = unsafe tender_bounds(
              readable: readable.baseAddress,
              readable_count: readable.count,
              writable: writable.baseAddress,
              writable_count: writable.count,
              ports: numbers.baseAddress,
              port_count: numbers.count,
              limits_ports: ports == nil ? 0 : 1
            )
            return unsafe tender_system_contain(&bounds)
          }
        }
      }
    }

    private static func withPointers(
      _ texts: [String],
      _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> Int32
    ) -> Int32 {
      let copies = unsafe texts.map { unsafe strdup($0) }
      defer {
        for index in unsafe copies.indices { unsafe free(copies[index]) }
      }
      let pointers = unsafe copies.map { unsafe UnsafePointer($0) }
      return unsafe pointers.withUnsafeBufferPointer(body)
    }

    /// A path and the folder that it is in; where it is not there, the nearest folder that is.
    private static func place(_ path: String) -> [String] {
      var parts = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
      let root = path.hasPrefix("/") ? "/" : "./"
      func whole() -> String { root + parts.joined(separator: "/") }
      if Environment.exists(path) {
        parts = Array(parts.dropLast())
        return [path, whole()]
      }
      while !parts.isEmpty, !Environment.exists(whole()) { parts.removeLast() }
      return [whole()]
    }

    /// Whether a variable's value is a path to read.
    private static func namesFile(_ name: String) -> Bool {
      name.hasPrefix("TENDER_") && (name.hasSuffix("_FILE") || name == "TENDER_CONFIG")
        || ["SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "OPENSSL_MODULES", "TZDIR"].contains(
          name
        )
    }

    /// The files that a profile names.
    private static func files(in value: JSON) -> [String] {
      guard let object = value.object else { return [] }
      return object.members.flatMap { member in
        member.key.hasSuffix("_file") ? [member.value.text ?? ""] : files(in: member.value)
      }
    }

    /// What libpq reads of the user's own (its manual, "The Password File" and after it).
    private static func filesOfJournal(_ settings: Settings) -> [String] {
      guard settings.journal() != nil else { return [] }
      let environment = settings.environment
      let home = environment["HOME"].map { home in
        [".pgpass", ".pg_service.conf", ".postgresql"].map { home + "/" + $0 }
      }
      let named = [
        "PGPASSFILE", "PGSERVICEFILE", "PGSYSCONFDIR", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY",
        "PGSSLCRL", "PGSSLCRLDIR",
      ]
      let address = (settings.journal()?.text).flatMap(PostgresAddress.init)
      return (home ?? []) + named.compactMap { environment[$0] } + (address?.files ?? [])
    }

    /// The ports of the journal's servers; nil where a file says which.
    private static func portsOfJournal(_ settings: Settings) -> [UInt16]? {
      guard let address = (settings.journal()?.text).flatMap(PostgresAddress.init) else {
        return []
      }
      return address.ports { settings.environment[$0] }
    }

    /// The ports of whatever the command may talk to.
    private static func ports(_ settings: Settings) -> [UInt16] {
      let environment = settings.environment
      let addresses = environment.named { name in
        name.hasPrefix("TENDER_") && name.hasSuffix("_URL") || name.hasSuffix("_proxy")
          || name.hasSuffix("_PROXY")
      }
      var ports = Containment.ports
      for address in addresses {
        let full = address.contains("://") ? address : "http://" + address
        // A proxy's name and password come before its host.
        let rest = full.split(separator: "@").last.map(String.init) ?? full
        let host = rest.contains("://") ? rest : "http://" + rest
        let tail = host.firstRange(of: "://").map { host[$0.upperBound...] } ?? ""
        let port = WebAddress("http://" + tail)?.port
        ports += port.map { [UInt16($0)] } ?? [1080, 3128]
      }
      for module in settings.modules { ports += module.ports(settings) }
      return ports
    }
  }
}
