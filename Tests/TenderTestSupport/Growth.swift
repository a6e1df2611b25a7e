package import Testing

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Tests that work is linear in its input.
package enum Growth {
  /// Expects that work on four times the input takes less than eight times as long. Linear work takes four
  /// times as long, quadratic work sixteen.
  ///
  /// `base` is the smallest input. It compares the processor's time of this thread in the best of some
  /// rounds. So a busy machine does not fail it.
  package static func expectLinear(
    base: Int,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: (Int) throws -> Void
  ) rethrows {
    var best = Double.infinity
    for _ in 0..<8 {
      let small = try nanoseconds { try work(base) }
      let large = try nanoseconds { try work(base * 4) }
      best = min(best, Double(large) / Double(max(small, 20_000)))
      if best < 6 { return }
    }
    #expect(
      best < 8,
      "four times the input took \(best) times as long",
      sourceLocation: sourceLocation
    )
  }

  /// The processor's time of work on this thread.
  private static func nanoseconds(_ work: () throws -> Void) rethrows -> Int {
    let start = now()
    try work()
    return now() - start
  }

  private static func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
  }
}
