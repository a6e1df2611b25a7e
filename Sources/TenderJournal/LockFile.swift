private import Platform
import TenderEngine
import TenderModel
import TenderSystem

/// A file with one lockable byte for each reference.
///
/// The kernel releases the locks of a dead process at once. Two references may share a byte. Then one waits
/// for the other, with no other effect.
struct LockFile {
  /// The path of the file, which is created with the first lock.
  let path: String

  /// Takes the lock of a name, and retries until the deadline; nil if another process holds it.
  func take(
    _ name: String,
    by deadline: Deadline,
    interruption: any Interruption
  ) throws(Fault) -> HeldLock? {
    let position = Int(Self.position(of: name))
    var held = try open(at: position)
    while true {
      if PlainFile.lock(held.descriptor, at: position) {
        // If the file was removed meanwhile, the next process creates another one.
        if PlainFile.identity(at: path) == held.identity { return held }
        held = try open(at: position)
        continue
      }
      guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
        throw .unusable(path, PlainFile.problem)
      }
      guard deadline.remaining > 0 else { return nil }
      try SystemClock(interruption: interruption).pause(milliseconds: 20)
    }
  }

  private func open(at position: Int) throws(Fault) -> HeldLock {
    let descriptor = try PlainFile.open(path)
    let identity = PlainFile.identity(of: descriptor)
    return HeldLock(descriptor: descriptor, position: position, identity: identity)
  }

  /// The byte that is locked while the journal's files are created. It belongs to no name.
  static let opening = Int(UInt64.max >> 2) + 1

  /// Returns the FNV-1a hash of the name, as a positive file position.
  static func position(of name: String) -> UInt64 {
    name.utf8.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    } >> 2
  }
}

/// A lock that is released with its value.
final class HeldLock: ReferenceLock {
  let descriptor: Int32
  let position: Int
  let identity: PlainFile.Identity?

  init(descriptor: Int32, position: Int, identity: PlainFile.Identity?) {
    self.descriptor = descriptor
    self.position = position
    self.identity = identity
  }

  deinit {
    // A child process has the descriptor too until it executes another program.
    PlainFile.unlock(descriptor, at: position)
    Environment.close(descriptor)
  }
}
