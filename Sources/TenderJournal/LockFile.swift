import TenderEngine
import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// One byte of a file for each reference, locked by whoever works on it.
///
/// The kernel lets a dead process's lock go at once. Two references may share a byte; they then
/// wait for each other, and nothing worse.
struct LockFile {
  let path: String

  /// Takes the lock of a name, trying until the deadline; nil where another holds it.
  func take(
    _ name: String,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> HeldLock? {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .lockUnusable(path) }
    let held = HeldLock(descriptor: descriptor)
    while true {
      var region = flock()
      region.l_type = Int16(F_WRLCK)
      region.l_whence = Int16(SEEK_SET)
      region.l_start = off_t(Self.position(of: name))
      region.l_len = 1
      #if canImport(Darwin)
      let command: Int32 = 90
      #else
      let command: Int32 = 37
      #endif
      // F_OFD_SETLK: the lock belongs to this descriptor, so that threads exclude each other too.
      if unsafe fcntl(descriptor, command, &region) == 0 { return held }
      guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
        throw .lockUnusable(path)
      }
      guard deadline.remaining > 0 else { return nil }
      var polled = pollfd(fd: interruption.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&polled, 1, 20)
      try interruption.check()
    }
  }

  /// FNV-1a over the name, kept within positive file positions.
  static func position(of name: String) -> UInt64 {
    name.utf8.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    } >> 2
  }
}

/// A lock that ends when it is let go.
final class HeldLock: AttemptLock {
  private let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}

extension Fault {
  fileprivate static func lockUnusable(_ path: String) -> Fault {
    Fault(
      .state,
      code: "state_unusable",
      "cannot use \(path): \(unsafe String(cString: strerror(errno)))",
      hint: "nothing was sent; make room or access, or choose another --state-dir"
    )
  }
}
