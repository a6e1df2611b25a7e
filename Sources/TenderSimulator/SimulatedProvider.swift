package import TenderEngine
package import TenderModel

/// The reaction of the simulated server to an HTTP request.
package struct HTTPReaction {
  /// The end of an answer.
  package enum End: String, Sendable {
    case whole
    /// The connection closes after some bytes of the body.
    case cut
    /// The connection closes without an answer.
    case close
    /// The connection is reset without an answer.
    case reset
    case silence
    case unreachable
  }

  /// The answer; nil if none comes.
  package var response: HTTPResponse?
  package var end = End.whole
  /// The bytes of the body that come before the connection closes; nil for all.
  package var kept: Int?
  /// The delay of the answer, in milliseconds.
  package var delay = 0
  /// Bytes of the body a second; nil for all at once.
  package var rate: Int?

  /// An answer without any fault.
  package static func answer(_ response: HTTPResponse) -> HTTPReaction {
    HTTPReaction(response: response)
  }
}

/// The reaction of the simulated server on a socket.
package enum SocketReaction: Equatable {
  case send(String)
  /// A message that is cut after some bytes, and the end of the connection.
  case cut(String, bytes: Int)
  case pause(milliseconds: Int)
  case close(code: Int)
  /// The connection is reset.
  case drop
  case silence
}

/// One connected client of a simulated socket.
package protocol SocketSession: AnyObject {
  func receive(_ text: String) throws(Fault) -> [SocketReaction]
}

/// The reaction to an upgrade request.
package enum UpgradeReaction {
  case accept(any SocketSession)
  case refuse(status: Int)
  case unreachable
}

/// The common parts of all simulated providers.
package struct SimulatorWorld: Sendable {
  /// The path of the ledger. Each connection opens the ledger separately.
  package var ledgerPath: String
  package var clock: any Clock
  package var randomness: any Randomness
  /// The randomness of planned changes and of events. It is separate, so that ids in answers do not depend on them.
  package var queueRandomness: any Randomness
  package var options: SimulatorOptions
  package var providers: [any SimulatedProvider]
  /// Public keys of clients by their ids, as PEM text. Signatures by them are accepted.
  package var trustedKeys: [String: String] = [:]
  /// Whether the simulator acts as the payer, because the bank's page cannot be opened in process.
  package var playsPayer = false
  /// The milliseconds that the world was ahead before a clock was fixed. Only later advances move that clock.
  package var aheadBefore = 0
  /// Whether a request to a server came with a clock.
  package var hasOwnClock = false
  /// Whether the workers of a batch use it. They share a connection to the ledger.
  package var isOfBatch = false
  /// Whether clients come over the network. Then only the credentials that they were given are accepted.
  ///
  /// In this process, credentials go nowhere. So a profile with real ones can be tried.
  var isServed: Bool { !playsPayer }

  package init(
    ledgerPath: String,
    clock: any Clock,
    randomness: any Randomness,
    options: SimulatorOptions,
    providers: [any SimulatedProvider]
  ) {
    self.providers = providers
    self.ledgerPath = ledgerPath
    self.clock = clock
    self.randomness = randomness
    queueRandomness = randomness
    self.options = options
  }

  /// The time of the simulated world, in milliseconds since 1970.
  package var now: Int { clock.now }
}

/// A request to a simulated service, with field names in lower case.
package struct SimulatedRequest {
  package var method: String
  package var path: String
  package var query: String
  package var fields: [String: String]
  package var body: [UInt8]
}

/// The session of a simulated device with one client, for example of a card reader.
package protocol DeviceSession: AnyObject {
  func greet() -> [DeviceReaction]
  func receive(_ bytes: [UInt8]) -> [DeviceReaction]
}

/// A reaction of a simulated device.
package enum DeviceReaction: Equatable {
  case send([UInt8])
  case drop
}

/// The simulated counterpart of one provider: its credentials, its faults and scenarios, and its services.
///
/// The host gives it requests, sockets and device connections, a ledger, faults, a seed and a clock.
package protocol SimulatedProvider: Sendable {
  var name: ProviderName { get }
  /// The settings that a client gets, under the keys of the provider's section. With them, everything works
  /// without an account.
  var section: JSONObject { get }
  var scenarios: [SimulatorWord] { get }
  var faults: FaultTable { get }
  /// The variables that direct `tender` to a served simulator, with the kind of address.
  var variables: [(name: String, address: ServedAddress)] { get }
  /// The settings that clients of a served simulator get, under the same keys as `section`. Throws `state` or
  /// `internal`.
  func served(_ world: SimulatorWorld) throws(Fault) -> JSONObject
  /// Variables of other programs, each with the key of its value.
  var ownVariables: [(name: String, key: String)] { get }
  /// Returns the point of a request by its method and path; nil if the body decides, or for another provider.
  func point(_ method: String, _ path: String) -> String?
  /// Answers a request; nil for a path of another provider. Throws `state`.
  func handle(_ request: SimulatedRequest, _ parts: SimulatorParts) throws(Fault) -> HTTPReaction?
  /// Accepts a socket; nil for one of another provider.
  func open(path: String, query: String, _ parts: SimulatorParts) -> UpgradeReaction?
  /// Makes a change that it planned, at the time of that. Throws `state`.
  func make(_ change: DueChange, _ parts: SimulatorParts) throws(Fault)
  /// How it repeats the delivery of an event; nil if it publishes none.
  var retries: EventRetries? { get }
  /// Returns what signs its events for a server at an address; nil if they have no signature. Throws `internal`.
  func signer(at base: String, _ randomness: any Randomness) throws(Fault) -> (any EventSigner)?
  /// Returns its device; nil without one. Throws `state`.
  func device(_ parts: SimulatorParts) throws(Fault) -> (any DeviceSession)?
  /// What its books have now about an id or a reference; for nil, the latest of each kind. Throws `state`.
  func books(_ parts: SimulatorParts, about name: String?) throws(Fault) -> [JSONObject]
  /// The kind of its payments in the ledger, and the kinds that are forgotten with them.
  var passing: (payment: String, others: [String]) { get }
  /// A kind of which only things with a parent are forgotten with payments; nil for none.
  var owned: String? { get }
}

extension SimulatedProvider {
  package func point(_ method: String, _ path: String) -> String? { nil }

  package func open(path: String, query: String, _ parts: SimulatorParts) -> UpgradeReaction? {
    nil
  }

  package func make(_ change: DueChange, _ parts: SimulatorParts) throws(Fault) {}

  package var retries: EventRetries? { nil }

  package func signer(
    at base: String,
    _ randomness: any Randomness
  ) throws(Fault) -> (any EventSigner)? { nil }

  package func device(_ parts: SimulatorParts) throws(Fault) -> (any DeviceSession)? { nil }

  package func served(_ world: SimulatorWorld) throws(Fault) -> JSONObject { section }

  package var owned: String? { nil }

  package var ownVariables: [(name: String, key: String)] { [] }
}

/// The kind of address in a variable of a served simulator.
package enum ServedAddress: Sendable {
  case http, socket, device

  /// Returns the address of a server or its device on this machine.
  package func text(port: UInt16, devicePort: UInt16) -> String {
    switch self {
    case .http: "http://127.0.0.1:\(port)"
    case .socket: "ws://127.0.0.1:\(port)"
    case .device: "tcp://127.0.0.1:\(devicePort)"
    }
  }
}

/// The parts that a simulated provider uses for one request.
package struct SimulatorParts {
  package let world: SimulatorWorld
  package let ledger: Ledger
  package let faults: FaultPlan
}
