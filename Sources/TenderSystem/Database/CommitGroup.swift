package import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A connection's lock, for threads that share it, and the transactions that they commit together.
///
/// While one thread commits and syncs, the others write into the next transaction. One of them then commits it
/// for all.
@safe
package final class CommitGroup: @unchecked Sendable {
  // Unchecked: `lock` guards the connection, and `state` the members below.
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let state: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  /// The number of the transaction that threads join now, and that of the last one whose commit ended.
  private var current = 1
  private var finished = 0
  private var isCommitting = false
  /// The number of threads that have written into the current transaction, and whether one needs the disk.
  private var members = 0
  private var needsDisk = false
  /// The reasons why transactions were lost, or may be.
  private var lost: [Int: Fault] = [:]

  package init() {
    unsafe (lock, state) = (.allocate(capacity: 1), .allocate(capacity: 1))
    var kind = pthread_mutexattr_t()
    unsafe pthread_mutexattr_init(&kind)
    // A body that is called with each row may ask for others.
    unsafe pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_RECURSIVE))
    unsafe pthread_mutex_init(lock, &kind)
    unsafe pthread_mutex_init(state, nil)
    unsafe changed = .allocate(capacity: 1)
    unsafe pthread_cond_init(changed, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(lock)
    unsafe pthread_mutex_destroy(state)
    unsafe pthread_cond_destroy(changed)
    unsafe lock.deallocate()
    unsafe state.deallocate()
    unsafe changed.deallocate()
  }

  /// Waits for the connection. A thread may take it several times.
  package func take() { unsafe pthread_mutex_lock(lock) }

  /// Gives the connection to the next thread.
  package func end() { unsafe pthread_mutex_unlock(lock) }

  private func guarded<Result>(_ body: () -> Result) -> Result {
    unsafe pthread_mutex_lock(state)
    defer { unsafe pthread_mutex_unlock(state) }
    return body()
  }

  /// Whether a transaction is open that other threads wait for. The caller has the connection.
  package var isOpen: Bool { guarded { members > 0 } }

  /// Counts what the holder of the connection wrote. Returns the number of its transaction.
  package func join(needsDisk: Bool) -> Int {
    guarded {
      members += 1
      self.needsDisk = self.needsDisk || needsDisk
      return current
    }
  }

  /// Records that the open transaction is lost, for all threads that wait for it.
  package func lose(_ fault: Fault) {
    guarded {
      lost[current] = fault
      begin()
      unsafe pthread_cond_broadcast(changed)
    }
  }

  private func begin() {
    current += 1
    members = 0
    needsDisk = false
  }

  /// Waits until a transaction is committed, and on the disk if one of its threads needs that. Returns the reason
  /// if it is lost, or may be.
  ///
  /// `commit` is called with the connection, `sync` without it.
  package func wait(
    for number: Int,
    commit: () throws(Fault) -> Void,
    sync: () throws(Fault) -> Void
  ) -> Fault? {
    unsafe pthread_mutex_lock(state)
    defer { unsafe pthread_mutex_unlock(state) }
    while finished < number, lost[number] == nil {
      guard !isCommitting else {
        unsafe pthread_cond_wait(changed, state)
        continue
      }
      isCommitting = true
      unsafe pthread_mutex_unlock(state)
      let problem = close(number, commit, sync)
      unsafe pthread_mutex_lock(state)
      isCommitting = false
      if let problem { lost[number] = problem }
      finished = number
      unsafe pthread_cond_broadcast(changed)
    }
    return lost[number]
  }

  private func close(
    _ number: Int,
    _ commit: () throws(Fault) -> Void,
    _ sync: () throws(Fault) -> Void
  ) -> Fault? {
    take()
    // Another thread's error may have ended the transaction meanwhile.
    let isWanted: Bool? = guarded {
      guard current == number else { return nil }
      defer { begin() }
      return needsDisk
    }
    guard let isWanted else {
      end()
      return guarded { lost[number] }
    }
    do throws(Fault) {
      do {
        defer { end() }
        try commit()
      }
      if isWanted { try sync() }
      return nil
    } catch {
      return error
    }
  }
}
