private import Platform
package import TenderModel

/// Files and folders.
extension Environment {
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

  /// Returns the text of a file in UTF-8, or its bytes as they are.
  ///
  /// Throws `usage` with the option or variable that named it.
  package static func read(
    _ path: String,
    named option: String,
    rule: FileGuard.Rule = .any,
    limit: Int = 1 << 20,
    isText: Bool = true
  ) throws(Fault) -> [UInt8] {
    let descriptor = try openForReading(path, named: option)
    defer { close(descriptor) }
    try FileGuard.check(descriptor, path, named: option, rule)
    return try readAll(descriptor, path, named: option, limit: limit, isText: isText)
  }

  /// Returns the text of an open file in UTF-8, or its bytes as they are. If `shouldStop` returns true, the wait for
  /// them ends.
  package static func readAll(
    _ descriptor: Int32,
    _ path: String,
    named option: String,
    limit: Int = 1 << 20,
    isText: Bool = true,
    shouldStop: (() -> Bool)? = nil
  ) throws(Fault) -> [UInt8] {
    guard let bytes = Console.readAll(descriptor, limit: limit, shouldStop: shouldStop) else {
      throw .unreadable(path, option)
    }
    guard isText else { return bytes }
    let text = InputText.decoded(bytes)
    guard !text.contains(0) else {
      throw .badFile(
        "\(option): \(path.quotedForMessage) is no text, or UTF-16 without a byte order mark",
        hint: "write it as UTF-8"
      )
    }
    return text
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

  /// Creates a file that only its owner may read, unless the path exists.
  package static func make(_ path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
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
