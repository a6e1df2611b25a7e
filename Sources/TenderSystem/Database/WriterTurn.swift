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
  // Unchecked: `lock` and `sync` guard all shared state.
  private static let all = Mutex<[String: WriterTurn]>([:])

  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let sync: UnsafeMutablePointer<pthread_mutex_t>
  private let synced: UnsafeMutablePointer<pthread_cond_t>
  /// Guarded by `sync`.
  private var group = Group()

  /// The number of open connections. Guarded by `sync`.
  private var connections = 0

  /// The numbers of commits, and how many of them are on the disk.
  private struct Group {
    var written = 0
    var synced = 0
    var isSyncing = false
    /// The commits with a failed sync. It is unknown whether they are on the disk.
    var failed: [ClosedRange<Int>] = []
  }

  /// Creates a turn that belongs to no file. `of` returns those of files.
  package init() {
    unsafe lock = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    unsafe sync = .allocate(capacity: 1)
    unsafe pthread_mutex_init(sync, nil)
    unsafe synced = .allocate(capacity: 1)
    unsafe pthread_cond_init(synced, nil)
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
    unsafe pthread_mutex_lock(sync)
    defer { unsafe pthread_mutex_unlock(sync) }
    connections += 1
  }

  /// Counts a connection that closes. Returns whether it is the last one of this process.
  func leave() -> Bool {
    unsafe pthread_mutex_lock(sync)
    defer { unsafe pthread_mutex_unlock(sync) }
    connections -= 1
    return connections == 0
  }

  /// Waits for the turn.
  package func take() { unsafe pthread_mutex_lock(lock) }

  /// Gives the turn to the next.
  package func end() { unsafe pthread_mutex_unlock(lock) }

  /// Returns the number of the commit that the holder of the turn has just made.
  package func committed() -> Int {
    unsafe pthread_mutex_lock(sync)
    defer { unsafe pthread_mutex_unlock(sync) }
    group.written += 1
    return group.written
  }

  /// Waits until a commit is on the disk; false if its sync failed.
  ///
  /// One sync serves all threads that wait when it begins. `body` syncs, and returns whether it could.
  package func waitForDisk(_ number: Int, _ body: () -> Bool) -> Bool {
    unsafe pthread_mutex_lock(sync)
    defer { unsafe pthread_mutex_unlock(sync) }
    while group.synced < number {
      guard !group.isSyncing else {
        unsafe pthread_cond_wait(synced, sync)
        continue
      }
      let range = (group.synced + 1)...group.written
      group.isSyncing = true
      unsafe pthread_mutex_unlock(sync)
      let isDone = body()
      unsafe pthread_mutex_lock(sync)
      group.isSyncing = false
      group.synced = range.upperBound
      if !isDone { group.failed.append(range) }
      unsafe pthread_cond_broadcast(synced)
    }
    return !group.failed.contains { $0.contains(number) }
  }
}
