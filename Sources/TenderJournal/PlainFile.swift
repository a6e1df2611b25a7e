private import CLibraries
private import Platform
import TenderModel
import TenderSystem

/// Small files beside the journal. Only their owner can read them, and links are not followed.
enum PlainFile {
  /// A file's identity on its disk. A path may lead to another file later.
  struct Identity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    fileprivate init(_ status: stat) {
      (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// The identity as text. It has no meaning on another machine.
    var text: String { "\(device)/\(number)" }
  }

  static func identity(at path: String) -> Identity? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? Identity(status) : nil
  }

  /// Returns when a file was created, in nanoseconds since 1970; nil if the file system does not store it.
  ///
  /// A copy of the file has another time.
  static func birth(at path: String) -> Int? {
    let time = unsafe tender_system_birth(path)
    return time < 0 ? nil : Int(time)
  }

  static func identity(of descriptor: Int32) -> Identity? {
    status(of: descriptor).map(Identity.init)
  }

  private static func status(of descriptor: Int32) -> stat? {
    var status = stat()
    return unsafe fstat(descriptor, &status) == 0 ? status : nil
  }

  /// Opens a file to read and write, and creates it if it is missing.
  static func open(_ path: String, exclusively: Bool = false) throws(Fault) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (exclusively ? O_EXCL : 0)
    let descriptor = unsafe Platform.open(path, flags, 0o600)
    guard descriptor >= 0 else { throw .unusable(path, problem) }
    guard isRegular(descriptor) else {
      Environment.close(descriptor)
      throw .unusable(path, "it is no regular file")
    }
    return descriptor
  }

  private static func isRegular(_ descriptor: Int32) -> Bool {
    status(of: descriptor).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
  }

  /// Returns a file's first bytes; nil if it cannot be read.
  static func read(_ path: String, limit: Int) -> [UInt8]? {
    let descriptor = unsafe Platform.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { Environment.close(descriptor) }
    guard isRegular(descriptor) else { return nil }
    return read(descriptor, limit, at: 0)
  }

  static func read(_ descriptor: Int32, _ count: Int, at position: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe pread(descriptor, buffer.baseAddress, count, off_t(position))
    }
    guard got >= 0 else { return nil }
    return Array(bytes.prefix(got))
  }

  static func write(_ bytes: [UInt8], to descriptor: Int32, at position: Int) -> Bool {
    var done = 0
    while done < bytes.count {
      let written = unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(
          descriptor,
          buffer.baseAddress?.advanced(by: done),
          bytes.count - done,
          off_t(position + done)
        )
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return false }
      done += written
    }
    return true
  }

  /// Syncs a file. Returns whether it is on the disk.
  static func sync(_ descriptor: Int32) -> Bool { fsync(descriptor) == 0 }

  /// Writes a new file durably, unless another process made it. It is written completely and then linked to
  /// its name, so that two processes get one.
  static func make(_ path: String, _ bytes: [UInt8]) throws(Fault) {
    let draft = path + "-" + Hex.encode(SystemRandomness().bytes(16))
    defer { remove(draft) }
    let descriptor = try open(draft, exclusively: true)
    defer { Environment.close(descriptor) }
    guard write(bytes, to: descriptor, at: 0), sync(descriptor) else {
      throw .unusable(draft, problem)
    }
    _ = unsafe link(draft, path)
  }

  /// Creates an empty file, unless it exists.
  static func touch(_ path: String) throws(Fault) { Environment.close(try open(path)) }

  static func remove(_ path: String) { _ = unsafe unlink(path) }

  /// Returns the reason why a file cannot be written or created; nil if it can.
  static func problem(writing path: String) -> String? {
    let folder = path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    return unsafe access(Environment.exists(path) ? path : folder + "/", W_OK) == 0 ? nil : problem
  }

  /// Locks one byte of an open file for this descriptor. Returns false if another holds it after `patience`
  /// milliseconds.
  ///
  /// Without a limit the kernel would wait for ever for a stopped process.
  static func lock(_ descriptor: Int32, at position: Int, upTo patience: Int = 0) -> Bool {
    for turn in 0...patience {
      if turn > 0 { _ = poll(nil, 0, 1) }
      if setLock(descriptor, F_WRLCK, at: position) { return true }
      guard [EAGAIN, EACCES, EINTR].contains(errno) else { return false }
    }
    return false
  }

  static func unlock(_ descriptor: Int32, at position: Int) {
    _ = setLock(descriptor, F_UNLCK, at: position)
  }

  private static func setLock(_ descriptor: Int32, _ kind: Int32, at position: Int) -> Bool {
    var region = flock()
    region.l_type = Int16(kind)
    region.l_whence = Int16(SEEK_SET)
    region.l_start = off_t(position)
    region.l_len = 1
    // F_OFD_SETLK: the lock belongs to this descriptor, so it also excludes other threads.
    #if canImport(Darwin)
    let command: Int32 = 90
    #else
    let command: Int32 = 37
    #endif
    return unsafe fcntl(descriptor, command, &region) == 0
  }

  /// Returns the path with links and dots resolved; the path itself if it does not exist.
  static func resolved(_ path: String) -> String { FileGuard.real(path) ?? path }

  /// The system's message for the last failure.
  static var problem: String { unsafe String(cString: strerror(errno)) }
}

extension Fault {
  /// A file of the state folder cannot be used.
  static func unusable(_ path: String, _ why: String) -> Fault {
    .state(
      "state_unusable",
      "cannot use \(path): \(why)",
      "make room or access"
    )
  }
}
