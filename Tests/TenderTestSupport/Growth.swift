package import Testing

/// Whether work grows with its input alone.
package enum Growth {
  /// Expects work on four times the input to take less than eight times the time: linear work takes four,
  /// quadratic work sixteen.
  ///
  /// `base` is the smallest input. The best of some rounds counts, so that a busy machine does not fail
  /// it.
  package static func expectLinear(
    base: Int,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ work: (Int) throws -> Void
  ) rethrows {
    let clock = ContinuousClock()
    var best = Double.infinity
    for _ in 0..<8 {
      let small = try clock.measure { try work(base) }
      let large = try clock.measure { try work(base * 4) }
      best = min(best, large / max(small, .microseconds(20)))
      if best < 6 { return }
    }
    #expect(
      best < 8,
      "four times the input took \(best) times as long",
      sourceLocation: sourceLocation
    )
  }
}
