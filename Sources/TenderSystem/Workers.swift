private import Synchronization
package import TenderModel

/// Threads that do the same work on many jobs at once. The answers come in the order of the jobs, or in the
/// order of their completion.
///
/// Each thread creates its tools itself, so that the threads share nothing but jobs and answers.
package final class Workers<Job: Sendable, Answer: Sendable>: @unchecked Sendable {
  // Unchecked: `lock` guards everything below.
  private let lock = ThreadLock()
  /// Wakes one thread for each job, so that idle threads stay asleep.
  private let submission: ThreadCondition
  /// Reports an answer, or the end of a thread.
  private let completion: ThreadCondition
  private var jobs: [(number: Int, job: Job)?] = []
  /// The number of jobs that threads have taken from the list.
  private var begun = 0
  private var answers: [Int: Answer] = [:]
  private var submitted = 0
  /// The number of answers that the caller took, and the next number in order.
  private var taken = 0
  private var next = 0
  private var isClosed = false
  /// The number of threads that have not ended.
  private var running = 0
  private let makeWork: @Sendable () -> (Job) -> Answer

  /// Starts that many threads, and calls `makeWork` once on each of them.
  ///
  /// Nil if the system has no thread left.
  package init?(count: Int, makeWork: @escaping @Sendable () -> (Job) -> Answer) {
    self.makeWork = makeWork
    (submission, completion) = (ThreadCondition(of: lock), ThreadCondition(of: lock))
    let started = (0..<count).count { _ in DetachedThread.begin { [self] in work() } }
    guard started > 0 else { return nil }
    lock.locked { running += started }
  }

  /// Returns the next job; nil after the last one.
  private func nextJob() -> (number: Int, job: Job)? {
    while begun == jobs.count, !isClosed { submission.wait() }
    guard begun < jobs.count else { return nil }
    defer {
      // A job may contain a card, so the list must not hold it any longer.
      jobs[begun] = nil
      begun += 1
      // Taken jobs are removed in large pieces, because each removal moves the rest of the list.
      if begun == jobs.count || begun >= 1024 {
        jobs.removeFirst(begun)
        begun = 0
      }
    }
    return jobs[begun]
  }

  private func work() {
    performAll()
    lock.locked {
      running -= 1
      completion.wakeOne()
    }
  }

  /// Performs jobs until there are no more. The resources of the work are released when this returns.
  private func performAll() {
    let perform = makeWork()
    while true {
      guard let next = lock.locked(nextJob) else { return }
      let answer = perform(next.job)
      lock.locked {
        answers[next.number] = answer
        completion.wakeOne()
      }
    }
  }

  /// The number of jobs whose answers the caller has not taken yet.
  package var open: Int { lock.locked { submitted - taken } }

  /// Adds a job.
  package func submit(_ job: Job) {
    lock.locked {
      jobs.append((submitted, job))
      submitted += 1
      submission.wakeOne()
    }
  }

  /// Waits for the answer to the oldest open job, and returns it.
  package func take() -> Answer {
    defer { lock.locked { next += 1 } }
    return answer { next }
  }

  /// Waits for the next finished answer, of any job. Use either this or `take` with one pool, not both.
  package func takeAny() -> Answer { answer { answers.keys.min() } }

  private func answer(to number: () -> Int?) -> Answer {
    lock.locked {
      while true {
        if let number = number(), let answer = answers.removeValue(forKey: number) {
          taken += 1
          return answer
        }
        completion.wait()
      }
    }
  }

  /// Whether an answer is ready. `inOrder` asks for that of the oldest open job.
  package func isReady(inOrder: Bool) -> Bool {
    lock.locked { inOrder ? answers[next] != nil : !answers.isEmpty }
  }

  /// Lets the threads end after the last job.
  package func close() {
    lock.locked {
      isClosed = true
      submission.wakeAll()
    }
  }

  /// Waits until all threads have ended.
  package func finish() {
    close()
    lock.locked { while running > 0 { completion.wait() } }
  }
}

/// Named resources that one thread uses at a time: a card reader, a port to listen at.
@safe
package final class Turns: Sendable {
  private final class Turn: Sendable { let lock = Mutex(()) }

  private let turns = Mutex<[String: Turn]>([:])

  package init() {}

  /// Waits until no other thread uses a resource, and runs `body` with it.
  package func perform<Result: Sendable>(
    with name: String,
    _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    let turn = turns.withLock { turns in
      let turn = turns[name] ?? Turn()
      turns[name] = turn
      return turn
    }
    return try turn.lock.withLock { _ throws(Fault) in try body() }
  }
}
