private import Synchronization
package import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Threads that do the same with many things at once; the answers come in the order of the jobs, or
/// as they are there.
///
/// What each thread needs is made on that thread, so that nothing but jobs and answers is shared.
@safe
package final class Workers<Job: Sendable, Answer: Sendable>: @unchecked Sendable {
  // Unchecked: everything below is touched with the lock held.
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  /// Woken one by one, so that many that have nothing to do stay asleep.
  private let submission: UnsafeMutablePointer<pthread_cond_t>
  private let completion: UnsafeMutablePointer<pthread_cond_t>
  private var jobs: [(number: Int, job: Job)?] = []
  /// How many of the jobs were taken from the list already.
  private var begun = 0
  private var answers: [Int: Answer] = [:]
  private var submitted = 0
  /// How many answers were taken, and which is next in order.
  private var taken = 0
  private var next = 0
  private var isClosed = false
  /// How many threads have not ended.
  private var running = 0
  private let makeWork: @Sendable () -> Work

  /// What a thread does with a job, and what when it has none for the moment, or no more.
  package struct Work {
    package var perform: (Job) -> Answer
    package var rest: () -> Void

    /// What is done with each job, and what when there is none.
    package init(perform: @escaping (Job) -> Answer, rest: @escaping () -> Void = {}) {
      self.perform = perform
      self.rest = rest
    }
  }

  /// Starts that many threads; `makeWork` is called once on each of them.
  ///
  /// Nil where the system has not one left.
  package init?(count: Int, makeWork: @escaping @Sendable () -> Work) {
    self.makeWork = makeWork
    unsafe lock = .allocate(capacity: 1)
    unsafe submission = .allocate(capacity: 1)
    unsafe completion = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    unsafe pthread_cond_init(submission, nil)
    unsafe pthread_cond_init(completion, nil)
    let started = (0..<count).count { _ in DetachedThread.begin { [self] in work() } }
    guard started > 0 else { return nil }
    locked { running += started }
  }

  deinit {
    unsafe pthread_cond_destroy(submission)
    unsafe pthread_cond_destroy(completion)
    unsafe pthread_mutex_destroy(lock)
    unsafe submission.deallocate()
    unsafe completion.deallocate()
    unsafe lock.deallocate()
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body()
  }

  /// Waits for an answer, or for the end of a thread.
  private func wait() { unsafe pthread_cond_wait(completion, lock) }

  private func announce() { unsafe pthread_cond_signal(completion) }

  /// The next job; nil where none comes any more.
  private func nextJob() -> (number: Int, job: Job)? {
    while begun == jobs.count, !isClosed { unsafe pthread_cond_wait(submission, lock) }
    guard begun < jobs.count else { return nil }
    defer {
      // A job may hold a card: it goes with whoever took it.
      jobs[begun] = nil
      begun += 1
      // What was taken is let go in large pieces: moving the rest up each time costs as much as it is long.
      if begun == jobs.count || begun >= 1024 {
        jobs.removeFirst(begun)
        begun = 0
      }
    }
    return jobs[begun]
  }

  private func work() {
    let work = makeWork()
    defer {
      locked {
        running -= 1
        announce()
      }
    }
    while true {
      if locked({ begun == jobs.count }) { work.rest() }
      guard let next = locked(nextJob) else { return }
      let answer = work.perform(next.job)
      locked {
        answers[next.number] = answer
        announce()
      }
    }
  }

  /// How many jobs have no answer that was taken yet.
  package var open: Int { locked { submitted - taken } }

  /// Hands a job over.
  package func submit(_ job: Job) {
    locked {
      jobs.append((submitted, job))
      submitted += 1
      unsafe pthread_cond_signal(submission)
    }
  }

  /// The answer to the oldest open job, once it is there.
  package func take() -> Answer {
    defer { locked { next += 1 } }
    return answer { next }
  }

  /// The next answer that is there, whichever job it is of; one pool is asked so or in order, not
  /// both.
  package func takeAny() -> Answer { answer { answers.keys.min() } }

  private func answer(to number: () -> Int?) -> Answer {
    locked {
      while true {
        if let number = number(), let answer = answers.removeValue(forKey: number) {
          taken += 1
          return answer
        }
        wait()
      }
    }
  }

  /// Whether an answer is there; `inOrder` asks for the oldest open job's.
  package func isReady(inOrder: Bool) -> Bool {
    locked { inOrder ? answers[next] != nil : !answers.isEmpty }
  }

  /// Lets the threads end when there is nothing left to do.
  package func close() {
    locked {
      isClosed = true
      unsafe pthread_cond_broadcast(submission)
    }
  }

  /// Waits until all of them have.
  package func finish() {
    close()
    locked { while running > 0 { wait() } }
  }
}

/// Things that one thread uses at a time, by name: a card reader, a port that is listened at.
@safe
package final class Turns: Sendable {
  private final class Turn: Sendable { let lock = Mutex(()) }

  private let turns = Mutex<[String: Turn]>([:])

  package init() {}

  /// Waits until no other thread uses a thing, and runs `body` with it.
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
