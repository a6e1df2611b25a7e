package import TenderEngine
package import TenderModel
package import TenderSystem

/// The options of the simulator: a scenario, faults, a seed, a clock.
package struct SimulatorOptions: Sendable, Hashable {
  package var scenario: String?
  package var faults: [PlannedFault] = []
  /// The reference or id of the command. Faults are counted for it.
  package var payment: String?
  package var seed: Int?
  /// The text that is mixed with the seed in this process; nil for a number from the ledger.
  package var seedLabel: String?
  /// The fixed time of the simulated clock, or the time that it is ahead.
  package var clock: SimulatedTime?

  package init() {}

  /// The header in which the options travel to `simulator serve`.
  package static let headerName = "X-Tender-Simulator"

  package var isEmpty: Bool { headerValue.isEmpty }

  /// A fault that only a simulator without a network can have; nil without one.
  package var unreachable: String? { faults.first { $0.what == "unreachable" }?.text }

  /// Sets a scenario by name.
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

  /// Adds a fault.
  ///
  /// Throws a `usage` fault with the problem.
  package mutating func set(
    fault text: String,
    among providers: [any SimulatedProvider]
  ) throws(Fault) {
    faults.append(try PlannedFault(text, among: providers))
  }

  package var headerValue: String {
    var parts = scenario.map { ["scenario=\($0)"] } ?? []
    parts += faults.map { "fault=\($0.headerText)" }
    if !faults.isEmpty, let payment { parts.append("payment=\(QueryText.encode(payment))") }
    if let seed { parts.append("seed=\(seed)") }
    if let clock { parts.append("clock=\(clock.text)") }
    return parts.joined(separator: ";")
  }

  /// Reads a header value: members with `;` between them. `for` is the text of all faults without one.
  ///
  /// Throws a `usage` fault for an unknown member or a wrong value.
  package init(headerValue: String, among providers: [any SimulatedProvider]) throws(Fault) {
    var about: String?
    for part in headerValue.split(separator: ";") {
      let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1).map(String.init)
      let value = pair.count == 2 ? pair[1] : ""
      switch pair[0] {
      case "scenario": try set(scenario: value, among: providers)
      case "fault":
        try set(fault: value, among: providers)
        if let unreachable { throw .onlyInProcess(unreachable) }
      case "for" where !value.isEmpty: about = value
      case "payment": payment = QueryText.decode(value)
      case "seed" where Int(value) != nil: seed = Int(value)
      case "clock" where SimulatedTime(value) != nil: clock = SimulatedTime(value)
      default:
        throw .usage(
          "bad_value",
          "\(Self.headerName): \(part.quotedForMessage) is not understood",
          "scenario=NAME;fault=FAULT;for=REF;seed=N;clock=TIME; see: tender help simulator"
        )
      }
    }
    guard let about else { return }
    for index in faults.indices where faults[index].about == nil {
      faults[index] = try PlannedFault(faults[index].text + ",for=" + about, among: providers)
    }
  }
}

extension SimulatedClock {
  /// Creates the clock of a simulated world, with a time from its options or without one.
  package convenience init(_ time: SimulatedTime?, beside machine: any Clock) {
    switch time {
    case .standing(let time): self.init(standingAt: time, beside: machine)
    case .ahead(let time): self.init(ahead: time, beside: machine)
    case nil: self.init(beside: machine)
    }
  }
}

extension Fault {
  /// A fault that only the simulator in this process can have.
  package static func onlyInProcess(_ fault: String) -> Fault {
    .usage(
      "bad_value",
      "--sim-fault \(fault.quotedForMessage) cannot be used with a served simulator",
      "stop the server to refuse connections, or use --env simulator without base addresses"
    )
  }
}
