/// Decides the next step of a batch, from the running lines alone.
///
/// Lines about one reference run one after the other, in the order of the file.
struct BatchSchedule {
  let jobs: Int
  let stopsOnError: Bool
  private(set) var begun = 0
  private(set) var open = 0
  private(set) var hasFailed = false
  /// The number of running lines for a reference.
  private(set) var underWay: [String: Int] = [:]

  /// Whether no further line may start, for any reference.
  var isStopped: Bool { stopsOnError && hasFailed }

  /// Whether an answer must come before a line about these references may start.
  func mustWait(for keys: Set<String>) -> Bool {
    // With `stopsOnError`, no line waits for a thread, since an earlier one may fail. Else a few lines wait,
    // so that no thread is idle.
    open >= (stopsOnError ? jobs : jobs * 4) || keys.contains { underWay[$0] != nil }
  }

  mutating func begin(_ keys: Set<String>) {
    begun += 1
    open += 1
    for key in keys { underWay[key, default: 0] += 1 }
  }

  mutating func end(_ keys: Set<String>, failed: Bool) {
    open -= 1
    hasFailed = hasFailed || failed
    for key in keys { underWay[key] = underWay[key].flatMap { $0 > 1 ? $0 - 1 : nil } }
  }
}
