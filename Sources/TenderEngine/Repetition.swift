package import TenderModel

/// The end of one try of a request.
package enum Try<Answer> {
  case answer(Answer)
  /// It failed, and another try may succeed after a pause of at most `longest` milliseconds.
  case again(Fault, longest: Int = .max)
  /// It failed, and another try may succeed at once. That is allowed one time.
  case atOnce(Fault)
}

extension Clock {
  /// Sends a request until a try ends it, or until the next pause would last longer than the deadline.
  ///
  /// `progress` gives each try a permit; without it, the request cannot move money. The first pause lasts as
  /// long as the lower bound of `pauses`, and each further one twice as long as the one before, up to the
  /// upper bound. The tries are remembered: a proof about one try proves nothing about an earlier try that
  /// may have left. Throws the fault of the last try, or the signal that ended a pause.
  package func repeating<Answer>(
    _ progress: Progress?,
    within deadline: Deadline,
    every pauses: ClosedRange<Int>,
    _ body: (SendPermit?) throws(Fault) -> Try<Answer>
  ) throws(Fault) -> Answer {
    var pause = pauses.lowerBound
    var mayHurry = true
    while true {
      let permit = try progress?.permit()
      do throws(Fault) {
        switch try body(permit) {
        case .answer(let answer): return answer
        case .again(let failure, let longest):
          let fault = judged(failure, permit, progress)
          guard pause < deadline.remaining, pause <= longest else { throw fault }
          try self.pause(milliseconds: pause)
          pause = min(pause * 2, pauses.upperBound)
        case .atOnce(let failure):
          guard mayHurry else { throw failure }
          _ = judged(failure, permit, progress)
          mayHurry = false
        }
      } catch {
        throw judged(error, permit, progress)
      }
    }
  }

  /// Returns the fault of a try. It stays a proof only if no earlier try is open. The refusal of a request
  /// that cannot move money proves nothing.
  private func judged(_ fault: Fault, _ permit: SendPermit?, _ progress: Progress?) -> Fault {
    if fault.isProven { permit?.refuse() }
    var fault = fault
    if progress?.isUnderWay != false { fault.isProven = false }
    return fault
  }
}
