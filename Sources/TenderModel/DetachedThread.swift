private import Platform

/// A thread that ends by itself. Nothing joins it, and it blocks all signals.
package enum DetachedThread {
  /// Runs `body` on a new thread. Returns false if no thread could be started; `body` did not run then.
  @discardableResult
  package static func begin(_ body: @escaping @Sendable () -> Void) -> Bool {
    let context = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    // A new thread inherits the signal mask of the thread that starts it.
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let status = unsafe pthread_create(
      &thread,
      nil,
      { context in
        #if canImport(Darwin)
        unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
        #else
        if let context = unsafe context {
          unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
        }
        #endif
        return nil
      },
      context
    )
    guard status == 0 else {
      unsafe Unmanaged<ThreadBody>.fromOpaque(context).release()
      return false
    }
    #if canImport(Darwin)
    if let thread = unsafe thread { unsafe pthread_detach(thread) }
    #else
    pthread_detach(thread)
    #endif
    return true
  }
}

private final class ThreadBody {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func run() { body() }
}
