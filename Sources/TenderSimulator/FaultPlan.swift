package import TenderEngine
package import TenderModel

/// Counts how often a fault strikes: for each payment in the ledger, so that the next command finds what
/// the one before has left, else in this process.
package final class FaultPlan {
  private let name: String?
  private let limit: Int?
  private let payment: String?
  private let ledger: Ledger
  private var struck = 0

  package init(_ options: SimulatorOptions, _ ledger: Ledger) {
    name = options.fault
    limit = options.faultCount
    payment = options.payment
    self.ledger = ledger
  }

  /// What happens at a step this time; nil for nothing.
  package func strike(_ step: String) -> String? {
    guard let name, isAbout(step), mayStrike(name) else { return nil }
    return String(name.dropFirst(step.count + 1))
  }

  /// Whether the fault that is asked for strikes at a step.
  package func isAbout(_ step: String) -> Bool { name?.hasPrefix(step + ":") ?? false }

  private func mayStrike(_ name: String) -> Bool {
    guard let limit else { return true }
    if let payment, let isLeft = try? ledger.count("fault", "\(name)|\(payment)", upTo: limit) {
      return isLeft
    }
    struck += 1
    return struck <= limit
  }

  /// What happens to a request at a step: something instead of it, or to its answer.
  ///
  /// `forced` makes the answer of a status; `own` the answers of faults that one service alone has.
  package func react(
    _ step: String,
    forced: (Int) -> HTTPResponse,
    own: (String) -> HTTPResponse? = { _ in nil },
    _ body: () throws(Fault) -> HTTPResponse
  ) throws(Fault) -> HTTPReaction {
    guard let fault = strike(step) else { return .answer(try body()) }
    if let answer = own(fault) { return .answer(answer) }
    if fault.hasPrefix("http-"), let status = Int(fault.dropFirst("http-".count)) {
      return .answer(forced(status))
    }
    if fault == "close-before" { return .drop }
    let answer = try body()
    return switch fault {
    case "garbage": .answer(HTTPResponse(status: 200, body: Array("<html>not JSON".utf8)))
    case "silence": .silence
    case "close-after": .drop
    case "slow": .slowly(2000, answer)
    default: .answer(answer)
    }
  }
}
