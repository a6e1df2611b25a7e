package import TenderModel

/// How the simulator is asked to behave: a scenario, a fault, a seed, a clock that stands still.
package struct SimulatorOptions: Sendable, Hashable {
  package var scenario: String?
  package var fault: String?
  /// How often the fault strikes; nil for every time.
  package var faultCount: Int?
  package var seed: Int?
  /// Milliseconds since 1970 at which the simulated clock stands.
  package var clock: Int?

  package init() {}

  /// The header in which the options travel to `simulator serve`.
  package static let headerName = "X-Tender-Simulator"

  /// Whether nothing is asked for.
  package var isEmpty: Bool { self == SimulatorOptions() }

  /// Takes a scenario by name.
  ///
  /// Throws a `usage` fault that suggests the nearest one.
  package mutating func set(scenario name: String) throws(Fault) {
    guard Scenario.all.contains(where: { $0.name == name }) else {
      throw .unknownName("--sim-scenario", name, among: Scenario.all.map(\.name))
    }
    scenario = name
  }

  /// Takes a fault as `NAME` or `NAME*N`.
  ///
  /// Throws a `usage` fault that suggests the nearest one.
  package mutating func set(fault text: String) throws(Fault) {
    let parts = text.split(separator: "*", omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard SimulatedFault.all.contains(where: { $0.name == name }) else {
      throw .unknownName("--sim-fault", name, among: SimulatedFault.all.map(\.name))
    }
    if parts.count > 1 {
      guard parts.count == 2, let count = Int(parts[1]), (1...1_000_000).contains(count) else {
        throw Fault(
          .usage,
          code: "bad_value",
          "--sim-fault \(text.quotedForMessage) has no count behind the *",
          hint: "such as \(name)*2"
        )
      }
      faultCount = count
    }
    fault = name
  }

  /// The options as one header value.
  package var headerValue: String {
    var parts: [String] = []
    if let scenario { parts.append("scenario=\(scenario)") }
    if let fault { parts.append("fault=\(fault)" + (faultCount.map { "*\($0)" } ?? "")) }
    if let seed { parts.append("seed=\(seed)") }
    if let clock { parts.append("clock=\(clock)") }
    return parts.joined(separator: ";")
  }

  /// Reads a header value; what it does not know is left out.
  package init(headerValue: String) {
    for part in headerValue.split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2 else { continue }
      switch pair[0] {
      case "scenario": try? set(scenario: pair[1])
      case "fault": try? set(fault: pair[1])
      case "seed": seed = Int(pair[1])
      case "clock": clock = Int(pair[1])
      default: break
      }
    }
  }
}

/// A way the simulated world can be.
package struct Scenario: Sendable, Hashable {
  package let name: String
  package let meaning: String

  package static let all: [Scenario] =
    [
      Scenario(name: "approve", meaning: "every payment succeeds, whatever its amount"),
      Scenario(
        name: "pending",
        meaning: "payments stay PENDING for 5 s of the clock, then succeed"
      ),
      Scenario(name: "returned", meaning: "ACH payments are RETURNED after 5 s of the clock"),
      Scenario(name: "dispute", meaning: "payments succeed and are disputed"),
    ]
    + PayTheoryCatalog.declineCodes.map { code in
      Scenario(name: "decline:\(code.lowercased())", meaning: "payments fail with \(code)")
    }
}

/// Something that goes wrong on the way.
package struct SimulatedFault: Sendable, Hashable {
  package let name: String
  package let meaning: String

  /// `STEP:FAULT` for every step of the protocol and everything that can happen to it.
  package static let all: [SimulatedFault] = {
    var faults = [
      SimulatedFault(name: "token:refused", meaning: "the token service answers 404"),
      SimulatedFault(
        name: "attestation:refused",
        meaning: "the host token is refused, naming attestation"
      ),
      SimulatedFault(name: "socket:refused", meaning: "the upgrade to WebSocket is answered 403"),
      SimulatedFault(name: "graphql:refused", meaning: "GraphQL answers 401"),
    ]
    for step in ["token", "graphql"] {
      faults += [
        SimulatedFault(name: "\(step):http-429", meaning: "answers 429"),
        SimulatedFault(name: "\(step):http-500", meaning: "answers 500"),
        SimulatedFault(name: "\(step):http-503", meaning: "answers 503"),
        SimulatedFault(name: "\(step):garbage", meaning: "answers what is not JSON"),
        SimulatedFault(name: "\(step):silence", meaning: "never answers"),
        SimulatedFault(name: "\(step):close-before", meaning: "closes before it reads the request"),
        SimulatedFault(name: "\(step):close-after", meaning: "does it, then closes without answer"),
        SimulatedFault(name: "\(step):slow", meaning: "answers after 2 s"),
      ]
    }
    for step in ["host-token", "part1", "part2", "cancel", "tokenize", "barcode"] {
      faults += [
        SimulatedFault(name: "\(step):close-before", meaning: "closes before it reads the message"),
        SimulatedFault(name: "\(step):close-after", meaning: "does it, then closes without answer"),
        SimulatedFault(
          name: "\(step):drop-before",
          meaning: "the connection breaks before it reads"
        ),
        SimulatedFault(name: "\(step):drop-after", meaning: "does it, then the connection breaks"),
        SimulatedFault(name: "\(step):silence", meaning: "does it, never answers"),
        SimulatedFault(name: "\(step):garbage", meaning: "does it, answers what is not JSON"),
        SimulatedFault(name: "\(step):wrong-key", meaning: "does it, answers under another key"),
        SimulatedFault(
          name: "\(step):gateway-error",
          meaning: "does it not, answers as the gateway does"
        ),
        SimulatedFault(name: "\(step):error", meaning: "does it not, answers with an error text"),
        SimulatedFault(
          name: "\(step):error-array",
          meaning: "does it not, answers with a list of errors"
        ),
        SimulatedFault(name: "\(step):slow", meaning: "answers after 2 s"),
        SimulatedFault(
          name: "\(step):echo",
          meaning: "does it not, repeats what it was sent in its error text"
        ),
      ]
    }
    faults.append(
      SimulatedFault(name: "graphql:echo", meaning: "repeats the credentials in its error text")
    )
    return faults
  }()
}

/// Counts down how often a fault strikes.
final class FaultPlan {
  private let name: String?
  private var left: Int

  init(_ options: SimulatorOptions) {
    name = options.fault
    left = options.faultCount ?? Int.max
  }

  /// What happens at a step this time; nil for nothing.
  func strike(_ step: String) -> String? {
    guard let name, left > 0, name.hasPrefix(step + ":") else { return nil }
    left -= 1
    return String(name.dropFirst(step.count + 1))
  }
}

extension Fault {
  fileprivate static func unknownName(_ option: String, _ name: String, among: [String]) -> Fault {
    let nearest = Suggestion.nearest(to: name, among: among)
    return Fault(
      .usage,
      code: "bad_value",
      "\(option) has no \(name.quotedForMessage)",
      hint: (nearest.map { "did you mean \($0)? " } ?? "") + "see: tender simulator scenarios"
    )
  }
}
