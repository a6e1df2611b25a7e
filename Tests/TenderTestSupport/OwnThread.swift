import Foundation
package import Testing

/// Runs tests that mostly wait for other processes on separate threads. Tests that compute continue
/// meanwhile.
package struct OwnThread: SuiteTrait, TestTrait, TestScoping {
  package func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Threads()) { try await function() }
  }

  /// A thread for each piece of work.
  private final class Threads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let executor = unsafe asUnownedTaskExecutor()
      let thread = Thread { unsafe job.runSynchronously(on: executor) }
      thread.stackSize = 4 << 20
      thread.start()
    }
  }
}

extension Trait where Self == OwnThread {
  /// On a separate thread.
  package static var onOwnThread: OwnThread { OwnThread() }
}
