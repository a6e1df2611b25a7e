private import Synchronization

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Whose turn it is to write to a file, among the threads of this process.
///
/// SQLite lets who finds a file locked sleep, for longer each time: threads that wait for each other here wake
/// at once, and in turn.
@safe
final class WriterTurn: @unchecked Sendable {
  // Unchecked: the lock is what is shared.
  private static let all = Mutex<[String: WriterTurn]>([:])

  private let lock: UnsafeMutablePointer<pthread_mutex_t>

  private init() {
    unsafe lock = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
  }

  /// The turn of a file, the same for every connection of the process; it lasts as long as the process.
  static func of(_ path: String) -> WriterTurn {
    all.withLock { all in
      if let known = all[path] { return known }
      let made = WriterTurn()
      all[path] = made
      return made
    }
  }

  func take() { unsafe pthread_mutex_lock(lock) }

  func end() { unsafe pthread_mutex_unlock(lock) }
}
