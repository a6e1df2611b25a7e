internal import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Opens addresses for the user, without a shell in between.
enum Browser {
  /// Starts `$BROWSER`, else the system's opener, on a web address; false where it cannot.
  static func open(_ address: String, _ environment: Environment) -> Bool {
    guard address.hasPrefix("https://") || address.hasPrefix("http://") else { return false }
    #if canImport(Darwin)
    let opener = environment["BROWSER"] ?? "open"
    #else
    let opener = environment["BROWSER"] ?? "xdg-open"
    #endif
    // What the opener says belongs to nobody here: its descriptors lead nowhere.
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in 0...2 {
      let mode = descriptor == 0 ? O_RDONLY : O_WRONLY
      unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", mode, 0)
    }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup(opener), strdup(address), nil]
    defer { while let argument = unsafe arguments.popLast() { unsafe free(argument) } }
    var process = pid_t()
    return unsafe posix_spawnp(&process, opener, &actions, nil, &arguments, environ) == 0
  }
}
