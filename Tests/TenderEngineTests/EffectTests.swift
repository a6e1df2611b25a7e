import Synchronization
import TenderEngine
import TenderModel
import TenderTestSupport
import Testing

/// The permits of a run decide whether its request may have acted. No fault of an adapter does.
@Suite struct EffectTests {
  /// The end of one try of a request.
  enum End: String, CaseIterable, Sendable {
    /// Something failed before the transport got the request.
    case unused
    /// The transport used the permit, and no byte left.
    case givenBack
    case lost
    /// A documented refusal.
    case proof
    /// Another refusal.
    case refused
    case signal

    var fault: Fault {
      switch self {
      case .unused: Fault(.auth, code: "no_token", "no token")
      case .givenBack: Fault(.notSent, code: "unreachable", "no connection")
      case .lost: Fault(.providerError, code: "no_answer", "no answer")
      case .proof: Fault(.rejected, code: "refused", "refused").proven
      case .refused: Fault(.rejected, code: "refused", "refused")
      case .signal: .stopped(by: .terminated, underWay: "nothing was under way")
      }
    }

    /// Whether a request that ended so may have acted.
    var isOpen: Bool { [.lost, .refused, .signal].contains(self) }

    func act(_ permit: SendPermit?) throws(Fault) {
      if self != .unused { try permit?.use() }
      if self == .givenBack { permit?.giveBack() }
    }
  }

  private func run(
    _ body: @escaping @Sendable (Progress, ManualClock) throws(Fault) -> Outcome
  ) throws -> (words: String, attempt: Operation) {
    let clock = ManualClock()
    let till = Till(
      Scripted(.scripted, .custom { progress throws(Fault) in try body(progress, clock) })
    )
    let words = try till.transact()
    return (words, try #require(try till.payment()?.attempt))
  }

  @Test(arguments: End.allCases) func `one request`(_ end: End) throws {
    let (words, attempt) = try run { progress, _ throws(Fault) in
      try progress.willSend()
      try end.act(try progress.permit())
      throw end.fault
    }
    #expect(attempt.effect == (end.isOpen ? .unknown : .none))
    #expect(words.hasPrefix("9 ") == end.isOpen, "\(words)")
  }

  /// A lost first try makes a later failure to send, or a later refusal, no proof.
  @Test(arguments: End.allCases, End.allCases)
  func `a request that is repeated`(_ first: End, _ second: End) throws {
    let tries = Mutex(0)
    let (words, attempt) = try run { progress, clock throws(Fault) in
      try progress.willSend()
      return try clock.repeating(
        progress,
        within: Deadline(in: 700, on: clock),
        every: 500...5000
      ) { permit throws(Fault) in
        let end = tries.withLock { tries in
          tries += 1
          return tries == 1 ? first : second
        }
        try end.act(permit)
        return .again(end.fault)
      }
    }
    #expect(tries.withLock { $0 } == 2)
    #expect(attempt.effect == (first.isOpen || second.isOpen ? .unknown : .none))
    #expect(words.hasPrefix("9 ") == (first.isOpen || second.isOpen), "\(words)")
  }

  /// A signal ends the pause before the second try.
  @Test(arguments: End.allCases) func `a signal between two tries`(_ end: End) throws {
    let (_, attempt) = try run { progress, clock throws(Fault) in
      try progress.willSend()
      let struck = Struck(clock, by: .terminated, after: 0)
      return try struck.repeating(
        progress,
        within: Deadline(in: 5000, on: clock),
        every: 500...5000
      ) { permit throws(Fault) in
        try end.act(permit)
        return .again(end.fault)
      }
    }
    #expect(attempt.effect == (end.isOpen ? .unknown : .none))
  }

  /// The proof about another request, such as a look-up, says nothing about this one.
  @Test func `the refusal of a look-up is no proof`() throws {
    let (words, attempt) = try run { progress, clock throws(Fault) in
      try progress.willSend()
      try progress.permit().use()
      return try clock.repeating(nil, within: Deadline(in: 1, on: clock), every: 500...5000) {
        _ throws(Fault) in throw End.proof.fault
      }
    }
    #expect(words == "9 outcome_unknown")
    #expect(attempt.isUnknown)
  }

  /// The times are in tenths of a second. Pauses double up to a limit, `longest` ends them, and one try may follow at once.
  @Test func `tries follow each other at their times`() throws {
    func times(
      _ limit: Int,
      _ body: (Int) -> Try<Int>
    ) -> (times: [Int], end: Result<Int, Fault>) {
      let clock = ManualClock()
      let start = clock.uptime
      var times: [Int] = []
      do throws(Fault) {
        let answer = try clock.repeating(
          nil,
          within: Deadline(in: limit, on: clock),
          every: 500...2000
        ) { _ throws(Fault) in
          // Each reading of this clock moves it by a millisecond.
          times.append((clock.uptime - start) / 100)
          return body(times.count)
        }
        return (times, .success(answer))
      } catch {
        return (times, .failure(error))
      }
    }
    let fault = End.lost.fault
    #expect(times(8000) { _ in .again(fault) }.times == [0, 5, 15, 35, 55, 75])
    #expect(times(8000) { _ in .again(fault, longest: 1000) }.times == [0, 5, 15])
    #expect(times(8000) { _ in .atOnce(fault) }.times == [0, 0])
    let answered = times(8000) { $0 < 3 ? .again(fault) : .answer($0) }
    #expect(answered.times == [0, 5, 15])
    #expect(answered.end == .success(3))
  }
}
