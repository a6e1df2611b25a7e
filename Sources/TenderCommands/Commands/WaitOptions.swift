internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// `--wait` and `--interval`, in milliseconds.
struct WaitOptions {
  private let limit: Int
  private let interval: Int
  /// The start of the command, on the monotonic clock.
  private let start: Int

  /// Reads the options; nil without `--wait`.
  ///
  /// `start` is the start of the command, because a provider's waiting counts too. Throws `usage` for an
  /// invalid duration.
  init?(_ invocation: Invocation, from start: Int) throws(Fault) {
    self.start = start
    let interval = try invocation.value(Keys.interval)
    guard let limit = try invocation.value(Keys.wait) else { return nil }
    self.limit = limit
    self.interval = interval ?? 2000
  }

  /// Throws `usage` if `--interval` has no effect: without `--wait`, unless the command waits for a payer
  /// anyway.
  static func checkInterval(_ invocation: Invocation, awaitsPayer: Bool = false) throws(Fault) {
    guard invocation.has(Keys.interval), !invocation.has(Keys.wait), !awaitsPayer else { return }
    throw .badOptions(
      "--interval needs --wait",
      hint: "add --wait, or leave --interval out"
    )
  }

  /// Waits for the final state of a report's payment.
  func apply(
    to report: Report,
    _ engine: Engine,
    _ composition: Composition,
    inWordsOfAttempt: Bool = false
  ) throws(Fault) -> Report {
    guard report.fault == nil else { return report }
    return try engine.wait(
      for: report,
      upTo: max(0, limit - (composition.clock.uptime - start)),
      asked: limit,
      every: interval,
      inWordsOfAttempt: inWordsOfAttempt,
      waiting: { report, left in
        composition.waits(for: "the payment is \(report.status.rawValue)", left: left)
      },
      changed: { changed in
        composition.announce(engine.state(of: changed), changed.provider.text, changed.env)
      }
    )
  }
}
