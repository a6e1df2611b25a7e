private import Synchronization

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A lock for writing to a file, among the threads of this process.
///
/// SQLite lets a thread that finds a file locked sleep, longer each time. Threads that wait here wake at
/// once, and in turn.
@safe
package final class WriterTurn: @unchecked Sendable {
  // Unchecked: `count` guards the shared state.
  private static let all = Mutex<[String: WriterTurn]>([:])

  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let count: UnsafeMutablePointer<pthread_mutex_t>
  /// The number of open connections. Guarded by `count`.
  private var connections = 0

  /// Creates a turn that belongs to no file. `of` returns those of files.
  package init() {
    unsafe (lock, count) = (.allocate(capacity: 1), .allocate(capacity: 1))
    unsafe pthread_mutex_init(lock, nil)
    unsafe pthread_mutex_init(count, nil)
  }

  /// The turn of a file, shared by all connections of the process. It lasts as long as the process.
  static func of(_ path: String) -> WriterTurn {
    all.withLock { all in
      if let known = all[path] { return known }
      let made = WriterTurn()
      all[path] = made
      return made
    }
  }

  /// Counts a connection that was opened.
  func join() {
    unsafe pthread_mutex_lock(count)
    defer { unsafe pthread_mutex_unlock(count) }
    connections += 1
  }

  /// Counts a connection that closes. Returns whether it is the last one of this process.
  func leave() -> Bool {
    unsafe pthread_mutex_lock(count)
    defer { unsafe pthread_mutex_unlock(count) }
    connections -= 1
    return connections == 0
  }

  /// Waits for the turn.
  package func take() { unsafe pthread_mutex_lock(lock) }

  /// Gives the turn to the next.
  package func end() { unsafe pthread_mutex_unlock(lock) }
}
