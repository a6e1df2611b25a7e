package import TenderEngine
package import TenderModel

/// Counts down how often a fault strikes.
package final class FaultPlan {
  private let name: String?
  private var left: Int

  package init(_ options: SimulatorOptions) {
    name = options.fault
    left = options.faultCount ?? Int.max
  }

  /// What happens at a step this time; nil for nothing.
  package func strike(_ step: String) -> String? {
    guard let name, left > 0, name.hasPrefix(step + ":") else { return nil }
    left -= 1
    return String(name.dropFirst(step.count + 1))
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
