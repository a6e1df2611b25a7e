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
package final class WriterTurn: @unchecked Sendable {
  // Unchecked: the lock is what is shared.
  private static let all = Mutex<[String: WriterTurn]>([:])

  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let sync: UnsafeMutablePointer<pthread_mutex_t>
  private let synced: UnsafeMutablePointer<pthread_cond_t>
  /// Guarded by `sync`.
  private var group = Group()

  /// Commits by their number, and how far they are on the disk.
  private struct Group {
    var written = 0
    var synced = 0
    var isSyncing = false
    /// Those whose sync failed: whether they are on the disk nobody knows.
    var failed: [ClosedRange<Int>] = []
  }

  /// A turn of nobody's file; those of files come from `of`.
  package init() {
    unsafe lock = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    unsafe sync = .allocate(capacity: 1)
    unsafe pthread_mutex_init(sync, nil)
    unsafe synced = .allocate(capacity: 1)
    unsafe pthread_cond_init(synced, nil)
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

  /// Waits for the turn.
  package func take() { unsafe pthread_mutex_lock(lock) }

  /// Gives the turn to the next.
  package func end() { unsafe pthread_mutex_unlock(lock) }

  /// The number of a commit that was just made, by who has the turn.
  package func committed() -> Int {
    unsafe pthread_mutex_lock(sync)
    defer { unsafe pthread_mutex_unlock(sync) }
    group.written += 1
    return group.written
  }

  /// Waits until a commit is on the disk; false where its sync failed.
  ///
  /// One sync serves all who wait when it begins. `body` syncs, and says whether it could.
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
