package import TenderModel

/// How the simulator is asked to behave: a scenario, a fault, a seed, a clock that stands still.
package struct SimulatorOptions: Sendable, Hashable {
  package var scenario: String?
  package var fault: String?
  /// How often the fault strikes; nil for every time.
  package var faultCount: Int?
  /// The reference or id that the fault is counted for; nil where a command has none.
  package var payment: String?
  package var seed: Int?
  /// What the seed is mixed with in this process; nil for how much the ledger holds.
  package var seedLabel: String?
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
  package mutating func set(
    scenario name: String,
    among providers: [any SimulatedProvider]
  ) throws(Fault) {
    let names = providers.flatMap(\.scenarios).map(\.name)
    guard names.contains(name) else { throw .unknownName("--sim-scenario", name, among: names) }
    scenario = name
  }

  /// Takes a fault as `NAME` or `NAME*N`.
  ///
  /// Throws a `usage` fault that suggests the nearest one.
  package mutating func set(
    fault text: String,
    among providers: [any SimulatedProvider]
  ) throws(Fault) {
    let parts = text.split(separator: "*", omittingEmptySubsequences: false)
    let name = String(parts[0])
    let names = providers.flatMap(\.faults).map(\.name)
    guard names.contains(name) else { throw .unknownName("--sim-fault", name, among: names) }
    if parts.count > 1 {
      guard parts.count == 2, let count = Int(parts[1]), (1...1_000_000).contains(count) else {
        throw .usage(
          "bad_value",
          "--sim-fault \(text.quotedForMessage) has no count behind the *",
          "such as \(name)*2"
        )
      }
      faultCount = count
    }
    fault = name
  }

  /// The times at which the simulated clock can stand: from 1970, and far enough from the end of year
  /// 9999 that every deadline can be written.
  private static let clocks = 0...253_370_764_800_000

  /// The options as one header value.
  package var headerValue: String {
    var parts: [String] = []
    if let scenario { parts.append("scenario=\(scenario)") }
    if let fault { parts.append("fault=\(fault)" + (faultCount.map { "*\($0)" } ?? "")) }
    if faultCount != nil, let payment { parts.append("for=\(QueryText.encode(payment))") }
    if let seed { parts.append("seed=\(seed)") }
    if let clock { parts.append("clock=\(clock)") }
    return parts.joined(separator: ";")
  }

  /// Reads a header value; what it does not know is left out.
  package init(headerValue: String, among providers: [any SimulatedProvider]) {
    for part in headerValue.split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2 else { continue }
      switch pair[0] {
      case "scenario": try? set(scenario: pair[1], among: providers)
      case "fault": try? set(fault: pair[1], among: providers)
      case "for": payment = QueryText.decode(pair[1])
      case "seed": seed = Int(pair[1])
      case "clock": clock = Int(pair[1]).flatMap { Self.clocks.contains($0) ? $0 : nil }
      default: break
      }
    }
  }
}

/// A word of `--sim-scenario`, a way the simulated world can be, or of `--sim-fault`, `STEP:FAULT`.
package struct SimulatorWord: Sendable, Hashable {
  package let name: String
  package let meaning: String

  /// A word, and what it does.
  package init(_ name: String, _ meaning: String) {
    self.name = name
    self.meaning = meaning
  }

  /// The words of a text, a line each: the name, a space, the meaning.
  package static func list(_ text: String) -> [SimulatorWord] {
    text.split(separator: "\n").map { line in
      let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
      return SimulatorWord(parts[0], parts[1])
    }
  }

  /// The words for troubles that can strike at each of some steps, with spaces between the steps.
  package static func faults(at steps: String, _ troubles: String) -> [SimulatorWord] {
    let troubles = list(troubles)
    return steps.split(separator: " ").flatMap { step in
      troubles.map { SimulatorWord("\(step):\($0.name)", $0.meaning) }
    }
  }

  /// What can happen to any request over HTTP.
  package static let exchange = """
    garbage does it, answers what is not JSON
    silence does it, never answers
    close-before closes before it reads the request
    close-after does it, then closes without answer
    slow answers after 2 s
    """
}

extension Fault {
  fileprivate static func unknownName(_ option: String, _ name: String, among: [String]) -> Fault {
    let nearest = Suggestion.nearest(to: name, among: among)
    return .usage(
      "bad_value",
      "\(option) has no \(name.quotedForMessage)",
      (nearest.map { "did you mean \($0)? " } ?? "") + "see: tender simulator scenarios"
    )
  }
}
