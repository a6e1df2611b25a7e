private import CLibraries
private import Platform
internal import TenderCommandLine
internal import TenderJournal
internal import TenderModel
internal import TenderSystem

/// The restrictions of this process to the resources of its command. An attacker in the process reaches no
/// more (Landlock and seccomp, on Linux).
struct Containment {
  /// The restrictions that the kernel accepted.
  let files: Bool
  let ports: Bool
  let calls: Bool
  /// The system's reasons for refusing Landlock or seccomp.
  var refusals: [String] = []
  /// Whether the environment names a container, whose rules can refuse both.
  var isInContainer = false

  static let none = Containment(files: false, ports: false, calls: false)

  /// Whether all restrictions are in force.
  var isWhole: Bool { files && ports && calls }

  /// A description of the restrictions.
  var text: String {
    let all = [
      (files, "files"), (ports, "TCP ports"), (calls, "programs, sockets and other processes"),
    ]
    let bounds = all.filter(\.0).map(\.1)
    let bounded =
      bounds.isEmpty
      ? "nothing of this process is bounded" : "bounded: " + bounds.joined(separator: ", ")
    let place = isInContainer ? ["in a container"] : []
    return ([bounded] + refusals + place).joined(separator: "; ")
  }

  /// Advice for missing restrictions; nil if all are in force.
  var advice: String? {
    guard !isWhole else { return nil }
    let container =
      isInContainer && !refusals.isEmpty
      ? "let the seccomp profile of the container allow Landlock and seccomp; " : ""
    return container
      + "use Linux 6.7 or later with Landlock and seccomp, without TENDER_CONTAINMENT=off; "
      + #""containment":"required" in a profile refuses to pay without it"#
  }

  /// Throws `state` if a profile requires restrictions that this process does not have.
  func check(_ settings: Settings) throws(Fault) {
    guard settings.profile.text("containment") == "required", !isWhole else { return }
    throw .state(
      "containment_missing",
      "the profile \((settings.profileName ?? "").quotedForMessage) requires containment; \(text)",
      "nothing was sent; see: tender help containment"
    )
  }

  /// Restricts this process to one command. Call it before any thread starts that reads data of others.
  ///
  /// `TENDER_CONTAINMENT=off` leaves the process unrestricted.
  static func begin(_ settings: Settings) -> Containment {
    let command = settings.invocation.command
    guard command.work != .local(.nothing), settings.environment["TENDER_CONTAINMENT"] != "off"
    else { return .none }
    // The system may ask another process for the user's name. That process cannot be reached afterwards.
    let user = Environment.user
    if settings.journal() != nil, let user { Environment.setDefault("PGUSER", user) }
    let result = Int(Bounds(settings).apply())
    return Containment(
      files: result & TENDER_BOUND_FILES != 0,
      ports: result & TENDER_BOUND_PORTS != 0,
      calls: result & TENDER_BOUND_CALLS != 0,
      refusals: [("Landlock", result >> 8 & 0xff), ("seccomp", result >> 16)]
        .filter { $0.1 != 0 }
        .map { name, problem in
          "\(name) refused: \(unsafe String(cString: strerror(Int32(problem))))"
        },
      isInContainer: settings.environment["container"] != nil
    )
  }
}

/// Files, devices, ports and sockets of one command.
private struct Bounds {
  /// Folders of libraries, certificates and time zones, and files that the C library reads.
  ///
  /// A link counts as its target: `/lib` is below `/usr` on most systems.
  private static let system = [
    "/usr", "/lib", "/lib64", "/etc", "/opt", "/nix/store", "/proc/self", "/proc/sys",
    "/sys/devices/system/cpu",
  ]
  /// Targets of links in `/etc`, for name look-ups and certificates.
  private static let network = [
    "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/etc/resolv.conf",
    "/var/lib/ca-certificates",
  ]
  private static let nodes = ["/dev/null", "/dev/tty", "/dev/urandom"]
  /// Ports that are allowed besides the providers': HTTPS, HTTP, and name look-ups over TCP.
  private static let names: UInt16 = 53
  private static let web: [UInt16] = [443, 80]

  /// The extent of a command's resources.
  private enum Extent { case machine, journal, providers }

  private var readable = Bounds.system
  private var writable: [String] = []
  private var devices = Bounds.nodes
  private var connects: [UInt16] = []
  private var listens: [UInt16] = []
  private var sockets = 0

  init(_ settings: Settings) {
    let profiles = Self.profiles(of: settings)
    addState(settings, profiles)
    addFiles(settings)
    let resources = profiles.flatMap { profile in
      profile.modules.flatMap { $0.resources(profile) }
    }
    let extent = Self.extent(settings, resources)
    if extent == .providers { addProviders(settings, resources) }
    if extent != .machine { for profile in profiles { addJournal(profile) } }
    guard settings.invocation.command.bounds == .servedWorld else { return }
    let port = (try? settings.invocation.value(Keys.port)) ?? 0
    listens = [UInt16(port), port == 0 || port == .max ? 0 : UInt16(port) + 1]
    sockets = TENDER_SOCKETS_TCP
    for text in settings.invocation.all(Keys.webhook) {
      let start = text.firstRange(of: "http")?.lowerBound ?? text.startIndex
      guard let address = WebAddress(String(text[start...])) else { continue }
      let port = address.port ?? (address.isEncrypted ? 443 : 80)
      if address.isLoopback {
        connects.append(UInt16(port))
      } else {
        addNetwork([UInt16(port)] + Self.ports(settings.environment))
      }
    }
  }

  /// The settings of each profile that the command may use. A line of a batch may name another one.
  private static func profiles(of settings: Settings) -> [Settings] {
    guard settings.invocation.command.bounds == .anyProfile else { return [settings] }
    return [settings]
      + settings.config.profiles.keys.sorted().map { Settings(settings, profile: $0) }
  }

  private static func extent(_ settings: Settings, _ resources: [MachineResource]) -> Extent {
    let invocation = settings.invocation
    let command = invocation.command
    switch command.bounds {
    case .world, .servedWorld: return .machine
    case .journal where !invocation.has(Keys.online): return .journal
    case .anyProfile: return .providers
    case .journal, .providers, .chosenProviders: break
    }
    // The journal may have the payment's env, unless an option names it.
    let isFree = command.work.makes || command.bounds == .chosenProviders
    let env = isFree ? (try? settings.env())?.text ?? "simulator" : invocation.text(Keys.env)
    let isReader = resources.contains { resource in
      if case .listener = resource { false } else { true }
    }
    let isSimulated = env == "simulator" && !settings.environment.isRedirected && !isReader
    return isSimulated ? .journal : .providers
  }

  /// Adds the folders of journal and simulator. They are created now, since a missing one cannot be allowed
  /// later.
  private mutating func addState(_ settings: Settings, _ profiles: [Settings]) {
    guard let state = try? settings.stateFolder() else { return }
    let folder = state.text
    let command = settings.invocation.command
    // A command about existing payments makes no folder, unless a provider elsewhere may have the payment.
    let env = (try? settings.env())?.text ?? "simulator"
    // A shared journal stores which machine this is.
    let isShared = settings.journal() != nil
    let isOutside = env != "simulator" || settings.environment.isRedirected || isShared
    let isNeeded =
      switch command.work {
      case .makes, .local(.writes): true
      case .changes, .looksUp: isOutside
      case .local(.changes): isShared
      case .local:
        settings.invocation.has(Keys.follow)
          || settings.invocation.has(Keys.online) && (isOutside || state.origin == .default)
      }
    // A lost journal is reported as lost.
    let isExpected =
      command.work != .local(.reads)
      && SQLiteJournal.isExpected(in: folder, markFolder: settings.markFolder())
    let isMade =
      (isNeeded || isExpected)
      && ![Keys.dryRun, Keys.check].contains(where: settings.invocation.has)
    // If this fails, the command reports it when it needs the folder.
    if isMade, !Environment.exists(folder) { try? Environment.makeFolder(folder) }
    writable.append(folder)
    for profile in profiles {
      let mark = HighWaterMark(
        of: folder,
        in: profile.markFolder(),
        isShared: profile.journal() != nil
      )
      if isMade || Environment.exists(folder + "/journal.db") { mark.make() }
      writable += mark.paths
    }
  }

  /// Adds the files that variables, configuration, options and operands name.
  private mutating func addFiles(_ settings: Settings) {
    let environment = settings.environment
    let invocation = settings.invocation
    readable.append(settings.config.path)
    readable += (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
    readable += environment.named(where: Self.namesFile)
    readable += Self.files(in: .object(settings.profile))
    let command = invocation.command
    for option in command.options where option !== Keys.trace.option {
      add(option.completion, invocation.values[option.name] ?? [])
    }
    for operand in command.operands { add(operand.completion, invocation.operands) }
    // Trace records are appended to this file. Other new files are written beside their path, and then moved
    // there.
    for path in invocation.values[Keys.trace.option.name] ?? [] {
      Environment.make(path)
      writable.append(path)
    }
    for text in invocation.values[Keys.trustKey.option.name] ?? [] {
      readable += text.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
    }
    // Each of a batch's lines may name files.
    if command.bounds == .anyProfile { readable.append("/") }
  }

  private mutating func add(_ kind: Option.Completion, _ paths: [String]) {
    if kind == .files { readable += paths }
    if kind == .newFiles { writable += paths.map(Self.folder) }
  }

  /// The folder of a file, or of a file that will be created.
  private static func folder(of path: String) -> String {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    let folder = parts.joined(separator: "/")
    return folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder
  }

  /// Adds ports, and the files for looking up their hosts.
  private mutating func addNetwork(_ ports: [UInt16]) {
    sockets |= TENDER_SOCKETS_TCP | TENDER_SOCKETS_NAMES
    connects += ports + [Self.names]
    readable += Self.network
  }

  private mutating func addProviders(_ settings: Settings, _ resources: [MachineResource]) {
    addNetwork(Self.web + Self.ports(settings.environment))
    for resource in resources {
      switch resource {
      case .port(let port): connects.append(port)
      case .listener(let port):
        if settings.invocation.command.mayAwaitPayer { listens.append(port) }
      case .device(let path): devices.append(path)
      case .bluetooth: sockets |= TENDER_SOCKETS_BLUETOOTH
      }
    }
  }

  /// Adds the server of a shared journal, and the user's files that libpq reads. They are listed in its
  /// manual from "The Password File" on.
  private mutating func addJournal(_ settings: Settings) {
    guard let text = settings.journal()?.text, let address = PostgresAddress(text) else { return }
    let environment = settings.environment
    let named = [
      "PGPASSFILE", "PGSERVICEFILE", "PGSYSCONFDIR", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY",
      "PGSSLCRL", "PGSSLCRLDIR",
    ]
    if let home = environment["HOME"] {
      readable += [".pgpass", ".pg_service.conf", ".postgresql"].map { home + "/" + $0 }
    }
    readable += named.compactMap { environment[$0] } + address.files { environment[$0] }
    let ways = address.ways { environment[$0] }
    if !ways.ports.isEmpty { addNetwork(ways.ports) }
    if ways.isLocal { sockets |= TENDER_SOCKETS_LOCAL }
    if ways.isAbstract { sockets |= TENDER_SOCKETS_ABSTRACT }
  }

  func apply() -> Int32 {
    unsafe Self.withTexts(readable) { readable in
      unsafe Self.withTexts(writable) { writable in
        unsafe Self.withTexts(devices) { devices in
          unsafe connects.withUnsafeBufferPointer { connects in
            unsafe listens.withUnsafeBufferPointer { listens in
              var bounds = unsafe tender_bounds(
                readable: readable,
                writable: writable,
                devices: devices,
                connects: tender_ports(numbers: connects.baseAddress, count: connects.count),
                listens: tender_ports(numbers: listens.baseAddress, count: listens.count),
                sockets: Int32(sockets)
              )
              return unsafe tender_system_contain(&bounds)
            }
          }
        }
      }
    }
  }

  private static func withTexts(_ texts: [String], _ body: (tender_texts) -> Int32) -> Int32 {
    let copies = unsafe texts.map { unsafe strdup($0) }
    defer {
      for index in unsafe copies.indices { unsafe free(copies[index]) }
    }
    let pointers = unsafe copies.map { unsafe UnsafePointer($0) }
    return unsafe pointers.withUnsafeBufferPointer { pointers in
      unsafe body(tender_texts(texts: pointers.baseAddress, count: pointers.count))
    }
  }

  /// Whether a variable's value is a path to read.
  private static func namesFile(_ name: String) -> Bool {
    let others = ["SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF", "OPENSSL_MODULES", "TZDIR"]
    return name.hasPrefix("TENDER_") && (name.hasSuffix("_FILE") || name == "TENDER_CONFIG")
      || others.contains(name)
  }

  private static func files(in value: JSON) -> [String] {
    guard let object = value.object else { return [] }
    return object.members.flatMap { member in
      member.key.hasSuffix("_file") ? [member.value.text ?? ""] : files(in: member.value)
    }
  }

  /// The ports of addresses and proxies that variables name.
  private static func ports(_ environment: Environment) -> [UInt16] {
    let addresses = environment.named { name in
      name.hasPrefix("TENDER_") && name.hasSuffix("_URL") || name.hasSuffix("_proxy")
        || name.hasSuffix("_PROXY")
    }
    return addresses.flatMap { address -> [UInt16] in
      let full = address.contains("://") ? address : "http://" + address
      // A proxy's name and password come before its host.
      let rest = full.split(separator: "@").last.map(String.init) ?? full
      let host = rest.contains("://") ? rest : "http://" + rest
      let tail = host.firstRange(of: "://").map { host[$0.upperBound...] } ?? ""
      let port = WebAddress("http://" + tail)?.port
      return port.map { [UInt16($0)] } ?? [1080, 3128]
    }
  }
}

extension Command.Work {
  fileprivate var makes: Bool { if case .makes = self { true } else { false } }
}

extension Command {
  /// Whether a payer may come back from the bank to this command. A look-up, a search, a check, a cancellation
  /// and a refund need none.
  fileprivate var mayAwaitPayer: Bool {
    switch work {
    case .looksUp, .changes(.cancel), .changes(.refund): false
    case .makes, .changes(.confirm): true
    case .local: bounds != .journal && name != "doctor"
    }
  }
}
