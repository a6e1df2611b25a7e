#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// A thread that nobody waits for: it ends by itself.
enum DetachedThread {
  /// Runs `body` on a thread of its own; false where none could be made, and `body` was not run.
  @discardableResult
  static func begin(_ body: @escaping @Sendable () -> Void) -> Bool {
    let context = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let status = unsafe pthread_create(
      &thread,
      &attributes,
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
    unsafe pthread_attr_destroy(&attributes)
    if status != 0 { unsafe Unmanaged<ThreadBody>.fromOpaque(context).release() }
    return status == 0
  }
}

/// What a thread runs.
private final class ThreadBody {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func run() { body() }
}
