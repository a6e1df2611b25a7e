import Platform
private import Synchronization
package import TenderModel

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
    if open(status, 0o022) != 0 {
      return ("others can write", rule == .ownersAlone ? "chmod 600" : "chmod go-w")
    }
    guard rule == .ownersAlone, owner == user, open(status, 0o077) != 0 else { return nil }
    return ("others can read", "chmod 600")
  }

  /// The system's facts about a path, or about the target of a link there; nil if it does not exist.
  static func status(_ path: String, followsLink: Bool = true) -> stat? {
    var status = stat()
    let result = unsafe followsLink ? stat(path, &status) : lstat(path, &status)
    return result == 0 ? status : nil
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
    guard let status = Self.status(path) else { return }
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
    guard let (folder, why, mending, _) = problemAbove(path, home: home) else { return }
    throw .usage(
      "file_too_open",
      "\(option): \(folder) \(why): others could replace \(path.quotedForMessage)",
      mending ?? "use a file in another folder"
    )
  }

  /// The files of a state folder that only its owner may read.
  private static let stateFiles = [
    "journal.db", "journal.db-wal", "journal.db-shm", "journal.lock", "journal.key",
    "simulator.db", "simulator.db-wal", "simulator.db-shm",
  ]

  /// A folder or link by which another user could put something else in a path's place, and whether only members of
  /// its group can.
  private typealias Problem = (folder: String, why: String, mending: String?, isOfGroup: Bool)

  /// The worst such place on the way up to the home or the root, and of each symbolic link on the way.
  ///
  /// Any user with the right to write a folder can replace what is in it. A sticky folder of root, such as
  /// `/tmp`, is an exception: a link in it must be the user's or root's.
  private static func problemAbove(
    _ path: String,
    home: String?
  ) -> Problem? {
    let home = home.flatMap(real) ?? "/"
    guard let whole = real(path) else { return nil }
    var parts = parts(of: path)
    if !path.hasPrefix("/") { parts = Self.parts(of: real(".") ?? "/") + parts }
    // The folder that was reached, without links; empty for the root.
    var (place, links) = ("", 0)
    var mild: Problem?
    while !parts.isEmpty {
      let part = parts.removeFirst()
      guard part != ".." else {
        place = folder(of: place)
        continue
      }
      let next = place + "/" + part
      guard let status = Self.status(next, followsLink: false) else { return nil }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        place = next
        continue
      }
      links += 1
      if status.st_uid != 0, status.st_uid != geteuid() {
        return (next, "is a link of another user", nil, false)
      }
      if let found = problem(from: place, home) {
        guard found.isOfGroup else { return found }
        mild = found
      }
      var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink(next, &bytes, bytes.count)
      guard links <= 40, count > 0 else { return nil }
      let target = bytes.text
      if target.hasPrefix("/") { place = "" }
      parts = Self.parts(of: target) + parts
    }
    return problem(from: folder(of: whole), home) ?? mild
  }

  /// The worst problem of a folder and of those above it. The path has no links.
  private static func problem(from folder: String, _ home: String) -> Problem? {
    var path = folder
    var mild: Problem?
    while true {
      guard let status = Self.status(path.isEmpty ? "/" : path) else { return mild }
      let isSticky = status.st_mode & 0o1000 != 0 && status.st_uid == 0
      let open = open(status, 0o022)
      if open != 0, !isSticky, !isReadOnly(path.isEmpty ? "/" : path) {
        let found = (path, "can be written by others", "chmod go-w \(path)", open == 0o020)
        guard found.3 else { return found }
        mild = mild ?? found
      }
      // The system decides about the home's owner.
      if path.isEmpty || path == home { return mild }
      if status.st_uid != 0, status.st_uid != geteuid() {
        return (path, "belongs to another user", nil, false)
      }
      path = Self.folder(of: path)
    }
  }

  /// Checks a folder of marks and its parents. With an older mark, a restored journal would not be noticed.
  ///
  /// Throws `state` with the repair.
  package static func checkMarks(_ folder: String, home: String?) throws(Fault) {
    guard let whole = real(folder) else { return }
    let found =
      problemAbove(folder, home: home)
      ?? problem(from: whole == "/" ? "" : whole, home.flatMap(real) ?? "/")
    guard let (place, why, mending, _) = found else { return }
    throw .stateTooOpen(
      place,
      "\(why): others could replace the journal's mark in it",
      mending ?? "choose another TENDER_MARK_DIR"
    )
  }

  /// A path with all links resolved; nil if it does not exist.
  package static func real(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  private static func parts(of path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  /// The folder that has a path without links; empty for the root.
  private static func folder(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
  }

  /// Returns the bits of `bits` that let other users in. Those of the user's private group do not.
  private static func open(_ status: stat, _ bits: mode_t) -> mode_t {
    let open = status.st_mode & bits
    return open & 0o070 != 0 && isPrivate(status.st_gid) ? open & 0o007 : open
  }

  /// The groups that were looked up. The system's list of accounts serves one thread at a time.
  private static let groups = Mutex<[gid_t: Bool]>([:])

  /// Whether a group has no member but this user, as the groups have that a system makes with each account.
  private static func isPrivate(_ number: gid_t) -> Bool {
    groups.withLock { known in
      let isPrivate = known[number] ?? readsPrivate(number)
      known[number] = isPrivate
      return isPrivate
    }
  }

  private static func readsPrivate(_ number: gid_t) -> Bool {
    let name = Environment.user
    // A container can give its process a number without an account, and the group of root or one of its own: that of
    // a pod's volume (`fsGroup`).
    var isOwn = name == nil && number == getegid()
    guard number != 0 || isOwn else { return false }
    var entry = unsafe group()
    var found: UnsafeMutablePointer<group>?
    var names = [CChar](repeating: 0, count: 65_536)
    guard unsafe getgrgid_r(number, &entry, &names, names.count, &found) == 0 else { return false }
    var members = unsafe found?.pointee.gr_mem
    while let list = unsafe members, let member = unsafe list.pointee {
      if unsafe String(cString: member) != name { return false }
      unsafe members = list + 1
    }
    guard number != 0 else { return true }
    setpwent()
    defer { endpwent() }
    while let account = unsafe getpwent() {
      guard unsafe account.pointee.pw_gid == number else { continue }
      if unsafe account.pointee.pw_uid != geteuid() { return false }
      isOwn = true
    }
    return isOwn
  }

  /// Whether a path is on a read-only file system, as the files that a container mounts are.
  private static func isReadOnly(_ path: String) -> Bool {
    var system = statvfs()
    return unsafe statvfs(path, &system) == 0 && system.f_flag & 1 != 0
  }

  /// Checks a state folder, its parents and its files. The user must own them, and no other user may write
  /// them.
  ///
  /// Returns the fault of a folder that only members of a group can write. Throws `state` with the repair for any
  /// other one.
  package static func checkState(_ folder: String, home: String?) throws(Fault) -> Fault? {
    let user = geteuid()
    guard let status = Self.status(folder) else { return nil }
    let isGuest = status.st_uid == 0 && Environment.user == nil
    if status.st_uid != user, !isGuest {
      throw .stateTooOpen(folder, "belongs to another user", "choose another --state-dir")
    }
    var mild: Fault?
    let open = open(status, 0o022)
    if open != 0 {
      let fault = Fault.stateTooOpen(folder, "can be written by others", "chmod 700 \(folder)")
      guard open == 0o020 else { throw fault }
      mild = fault
    }
    if let (parent, why, mending, isOfGroup) = problemAbove(folder, home: home) {
      let fault = Fault.stateTooOpen(
        parent,
        "\(why): others could move the state folder away",
        mending ?? "choose another --state-dir"
      )
      guard isOfGroup else { throw fault }
      mild = mild ?? fault
    }
    for name in stateFiles {
      let path = folder + "/" + name
      guard let status = Self.status(path, followsLink: false) else { continue }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw .stateTooOpen(path, "is no regular file", "choose another --state-dir")
      }
      if status.st_uid != user {
        throw .stateTooOpen(path, "belongs to another user", "choose another --state-dir")
      }
      if Self.open(status, 0o077) != 0 {
        throw .stateTooOpen(path, "can be read or written by others", "chmod 600 \(path)")
      }
    }
    return mild
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
