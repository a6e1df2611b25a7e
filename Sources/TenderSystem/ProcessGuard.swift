private import CLibraries
private import Platform

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

  /// Makes new files private to their owner. A crash leaves no core dump with card data, and a library no file with the
  /// keys of connections.
  package static func begin() {
    _ = tender_system_protect()
    _ = files(wanted: 8192)
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
