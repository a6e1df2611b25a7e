/// What a batch does next, decided from what is under way alone.
///
/// Lines about one reference run one after the other, in the order of the file.
struct BatchSchedule {
  /// How many lines run at once.
  let jobs: Int
  let stopsOnError: Bool
  /// How many lines have begun.
  private(set) var begun = 0
  private var open = 0
  private var hasFailed = false
  /// How many lines about a reference are under way.
  private var underWay: [String: Int] = [:]

  init(jobs: Int, stopsOnError: Bool) {
    self.jobs = jobs
    self.stopsOnError = stopsOnError
  }

  /// Whether no further line may begin, whatever it is about.
  var isStopped: Bool { stopsOnError && hasFailed }

  /// Whether an answer has to come before a line about these references may begin.
  func mustWait(for keys: Set<String>) -> Bool {
    // No line waits behind another that may fail; else a few wait, so that no thread does.
    open >= (stopsOnError ? jobs : jobs * 4) || keys.contains { underWay[$0] != nil }
  }

  /// A line has begun.
  mutating func begin(_ keys: Set<String>) {
    begun += 1
    open += 1
    for key in keys { underWay[key, default: 0] += 1 }
  }

  /// A line has ended.
  mutating func end(_ keys: Set<String>, failed: Bool) {
    open -= 1
    hasFailed = hasFailed || failed
    for key in keys { underWay[key] = underWay[key].flatMap { $0 > 1 ? $0 - 1 : nil } }
  }
}
