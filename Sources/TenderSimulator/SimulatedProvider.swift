package import TenderModel

/// One provider's simulated side: what it is given, what can be asked of it, and its services.
///
/// The host gives it requests, sockets and device links, a ledger, faults, a seed and a clock.
package protocol SimulatedProvider: Sendable {
  var name: ProviderName { get }
  /// What a client is given, under the keys of the provider's section: with it everything works without
  /// an account.
  var section: JSONObject { get }
  var scenarios: [Scenario] { get }
  var faults: [SimulatedFault] { get }
  /// The variables that point `tender` at a served simulator, by what they take.
  var variables: [(name: String, address: ServedAddress)] { get }
  /// Answers a request; nil for a path that is not its own. Throws `state`.
  func handle(_ request: SimulatedRequest, _ parts: SimulatorParts) throws(Fault) -> HTTPReaction?
  /// Takes a socket; nil for one that is not meant for it.
  func open(path: String, query: String, _ parts: SimulatorParts) -> UpgradeReaction?
  /// A device of its own; nil where it has none. Throws `state`.
  func device(_ parts: SimulatorParts) throws(Fault) -> (any DeviceSession)?
}

extension SimulatedProvider {
  package func open(path: String, query: String, _ parts: SimulatorParts) -> UpgradeReaction? {
    nil
  }

  package func device(_ parts: SimulatorParts) throws(Fault) -> (any DeviceSession)? { nil }
}

/// What a variable of a served simulator takes.
package enum ServedAddress: Sendable {
  case http, socket, device

  /// The address of a server and its device on this machine.
  package func text(port: UInt16, devicePort: UInt16) -> String {
    switch self {
    case .http: "http://127.0.0.1:\(port)"
    case .socket: "ws://127.0.0.1:\(port)"
    case .device: "tcp://127.0.0.1:\(devicePort)"
    }
  }
}

/// What a simulated provider works with.
package struct SimulatorParts {
  package let world: SimulatorWorld
  package let ledger: Ledger
  package let faults: FaultPlan
}
