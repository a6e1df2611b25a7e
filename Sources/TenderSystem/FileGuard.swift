package import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Checks the owner and the access rights of a file, by the open file (`fstat`).
package enum FileGuard {
  /// The condition that a file must meet.
  package enum Rule {
    case any
    /// The file decides about money, so only its owner may write it.
    case ownersToWrite
    /// The file contains a secret, so only its owner may read or write it.
    case ownersAlone
  }

  /// The broken rule and its repair; nil if the file may be used, or the system has no facts about it.
  ///
  /// Pipes and devices pass. Files of root pass too, because containers mount secrets as root. If root runs
  /// the program, they do not pass, since root can repair them.
  private static func problem(_ descriptor: Int32, _ rule: Rule) -> (why: String, mending: String)?
  {
    var status = stat()
    guard rule != .any, unsafe fstat(descriptor, &status) == 0 else { return nil }
    // In a container, a secret can be on a read-only file system.
    var system = statvfs()
    let isReadOnly = unsafe fstatvfs(descriptor, &system) == 0 && system.f_flag & 1 != 0
    return problem(status, isReadOnly: isReadOnly, rule)
  }

  private static func problem(
    _ status: stat,
    isReadOnly: Bool,
    _ rule: Rule
  ) -> (why: String, mending: String)? {
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    let (owner, mode) = (status.st_uid, status.st_mode)
    let user = geteuid()
    if owner == 0, user != 0 || isReadOnly {
      return mode & 0o002 == 0 ? nil : ("anybody can write", "chmod o-w")
    }
    if owner != user {
      return ("another user owns", "copy it to a file of your own:")
    }
    if mode & 0o022 != 0 {
      return ("others can write", rule == .ownersAlone ? "chmod 600" : "chmod go-w")
    }
    guard rule == .ownersAlone, owner == user, mode & 0o077 != 0 else { return nil }
    return ("others can read", "chmod 600")
  }

  /// Checks an open file.
  ///
  /// Throws `usage` (`file_too_open`) with the option or variable that named it.
  package static func check(
    _ descriptor: Int32,
    _ path: String,
    named option: String,
    _ rule: Rule
  ) throws(Fault) {
    guard let problem = problem(descriptor, rule) else { return }
    throw .fileTooOpen(option, path, problem)
  }

  /// Checks a program and its folders. A program may be executable without being readable.
  ///
  /// Throws `usage` (`file_too_open`) if another user can change or replace it.
  package static func checkProgram(_ path: String, named option: String) throws(Fault) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return }
    if let problem = problem(status, isReadOnly: false, .ownersToWrite) {
      throw .fileTooOpen(option, path, problem)
    }
    try checkFolders(of: path, named: option, home: nil)
  }

  /// Checks the folders of a file, up to the home or the root.
  ///
  /// Throws `usage` (`file_too_open`) if another user can replace the file.
  package static func checkFolders(
    of path: String,
    named option: String,
    home: String?
  ) throws(Fault) {
    guard let (folder, why, mending) = problemAbove(path, home: home) else { return }
    throw .usage(
      "file_too_open",
      "\(option): \(folder) \(why): others could replace \(path.quotedForMessage)",
      mending ?? "use a file in another folder"
    )
  }

  /// The files of a state folder that only its owner may read.
  private static let stateFiles = [
    "journal.db", "journal.db-wal", "journal.db-shm", "journal.lock", "journal.aside",
    "journal.key", "journal.seals", "simulator.db", "simulator.db-wal", "simulator.db-shm",
  ]

  /// The first folder on the way up to the home or the root from which another user could move the path away.
  ///
  /// Any user with the right to write a folder can do that. A sticky folder of root, such as `/tmp`, is an
  /// exception.
  private static func problemAbove(
    _ path: String,
    home: String?
  ) -> (folder: String, why: String, mending: String?)? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    var path = unsafe String(cString: real)
    let home =
      home.flatMap { home in
        guard let real = unsafe realpath(home, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
      } ?? "/"
    while path != "/", let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      path = slash == path.startIndex ? "/" : String(path[..<slash])
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      let isSticky = status.st_mode & 0o1000 != 0 && status.st_uid == 0
      let writers: mode_t = isOwnGroup(status.st_gid) ? 0o002 : 0o022
      if status.st_mode & writers != 0, !isSticky, !isReadOnly(path) {
        return (path, "can be written by others", "chmod go-w \(path)")
      }
      // The system decides about the home's owner.
      if path == home { return nil }
      if status.st_uid != 0, status.st_uid != geteuid() {
        return (path, "belongs to another user", nil)
      }
    }
    return nil
  }

  /// Whether a group is this user's own: it has his number and no other member. A volume in a pod has such a
  /// group (`fsGroup`). Debian's sshd takes it too.
  private static func isOwnGroup(_ number: gid_t) -> Bool {
    guard number != 0, number == geteuid(), number == getegid() else { return false }
    var entry = unsafe group()
    var found: UnsafeMutablePointer<group>?
    var names = [CChar](repeating: 0, count: 4096)
    guard unsafe getgrgid_r(number, &entry, &names, names.count, &found) == 0,
      let members = unsafe found?.pointee.gr_mem
    else { return false }
    return unsafe members.pointee == nil
  }

  /// Whether a path is on a read-only file system, as the files that a container mounts are.
  private static func isReadOnly(_ path: String) -> Bool {
    var system = statvfs()
    return unsafe statvfs(path, &system) == 0 && system.f_flag & 1 != 0
  }

  /// Checks a state folder, its parents and its files. The user must own them, and no other user may write
  /// them.
  ///
  /// Throws `state` with the repair.
  package static func checkState(_ folder: String, home: String?) throws(Fault) {
    let user = geteuid()
    var status = stat()
    guard unsafe stat(folder, &status) == 0 else { return }
    if status.st_uid != user {
      throw .stateTooOpen(folder, "belongs to another user", "choose another --state-dir")
    }
    if status.st_mode & 0o022 != 0 {
      throw .stateTooOpen(folder, "can be written by others", "chmod 700 \(folder)")
    }
    if let (parent, why, mending) = problemAbove(folder, home: home) {
      throw .stateTooOpen(
        parent,
        "\(why): others could move the state folder away",
        mending ?? "choose another --state-dir"
      )
    }
    for name in stateFiles {
      let path = folder + "/" + name
      guard unsafe lstat(path, &status) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw .stateTooOpen(path, "is no regular file", "choose another --state-dir")
      }
      if status.st_uid != user {
        throw .stateTooOpen(path, "belongs to another user", "choose another --state-dir")
      }
      if status.st_mode & 0o077 != 0 {
        throw .stateTooOpen(path, "can be read or written by others", "chmod 600 \(path)")
      }
    }
  }
}

extension Fault {
  fileprivate static func fileTooOpen(
    _ option: String,
    _ path: String,
    _ problem: (why: String, mending: String)
  ) -> Fault {
    .usage(
      "file_too_open",
      "\(option): \(problem.why) \(path.quotedForMessage)",
      "\(problem.mending) \(path)"
    )
  }

  fileprivate static func stateTooOpen(_ path: String, _ why: String, _ mending: String) -> Fault {
    .state("state_unusable", "\(path) \(why)", "nothing was sent; \(mending)")
  }
}
