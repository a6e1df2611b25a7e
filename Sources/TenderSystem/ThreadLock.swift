private import Platform

/// A lock among threads that is taken and given back in separate calls, and that a condition can wait with.
/// `Mutex` does neither.
@safe
package final class ThreadLock: @unchecked Sendable {
  // Unchecked: any thread may use a mutex of the system.
  fileprivate let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// Creates a lock. A thread may take a recursive one several times.
  package init(isRecursive: Bool = false) {
    unsafe mutex = .allocate(capacity: 1)
    var kind = pthread_mutexattr_t()
    unsafe pthread_mutexattr_init(&kind)
    if isRecursive { unsafe pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_RECURSIVE)) }
    unsafe pthread_mutex_init(mutex, &kind)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Waits until no other thread has the lock, and takes it.
  package func take() { unsafe pthread_mutex_lock(mutex) }

  /// Gives the lock to the next thread.
  package func end() { unsafe pthread_mutex_unlock(mutex) }

  /// Runs `body` with the lock.
  func locked<Result>(_ body: () -> Result) -> Result {
    take()
    defer { end() }
    return body()
  }
}

/// A change that threads wait for. They have its lock, except while they wait.
@safe
final class ThreadCondition: @unchecked Sendable {
  // Unchecked: any thread may use a condition of the system.
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private let lock: ThreadLock

  init(of lock: ThreadLock) {
    self.lock = lock
    unsafe condition = .allocate(capacity: 1)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
  }

  func wait() { unsafe pthread_cond_wait(condition, lock.mutex) }

  func wakeOne() { unsafe pthread_cond_signal(condition) }

  func wakeAll() { unsafe pthread_cond_broadcast(condition) }
}
