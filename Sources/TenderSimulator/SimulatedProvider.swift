package import TenderEngine
package import TenderModel

/// What the simulated side does with an HTTP request.
package struct HTTPReaction {
  /// How an answer ends.
  package enum End: Sendable, Hashable {
    case whole
    /// The connection closes after so many bytes of the body.
    case cut(Int)
    /// The connection closes without an answer.
    case close
    /// The connection is reset without an answer.
    case reset
    /// No answer comes.
    case silence
    /// There is no connection.
    case unreachable
  }

  /// The answer; nil where none comes.
  package var response: HTTPResponse?
  package var end = End.whole
  /// How late the answer is, in milliseconds.
  package var delay = 0
  /// Bytes of the body a second; nil for all at once.
  package var rate: Int?

  /// An answer without any fault.
  package static func answer(_ response: HTTPResponse) -> HTTPReaction {
    HTTPReaction(response: response)
  }
}

/// What the simulated side does on a socket.
package enum SocketReaction: Equatable {
  case send(String)
  /// A message that is cut after so many bytes, and the end of the connection.
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

/// What an upgrade request comes to.
package enum UpgradeReaction {
  case accept(any SocketSession)
  case refuse(status: Int)
  /// There is no connection.
  case unreachable
}

/// What the simulated providers work with.
package struct SimulatorWorld: Sendable {
  /// Where the ledger is; each connection opens its own.
  package var ledgerPath: String
  package var clock: any Clock
  package var randomness: any Randomness
  package var options: SimulatorOptions
  /// Those that are played.
  package var providers: [any SimulatedProvider]
  /// Public keys of clients' own by their ids, as PEM text: their signatures are taken.
  package var trustedKeys: [String: String] = [:]
  /// Whether nobody else can play the payer: a bank's page cannot be opened in process.
  package var playsPayer = false
  /// Whether clients come over the network: then no other credentials are taken than they were given.
  ///
  /// In this process credentials go nowhere, and a profile that has real ones can be tried.
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
    self.options = options
  }

  /// The time of the simulated world, in milliseconds since 1970.
  package var now: Int { clock.now }
}

/// A request as a simulated service sees it; field names in lower case.
package struct SimulatedRequest {
  package var method: String
  package var path: String
  package var query: String
  package var fields: [String: String]
  package var body: [UInt8]
}

/// What one client of a simulated device hears and says: a card reader, for one.
package protocol DeviceSession: AnyObject {
  /// What it says when somebody connects.
  func greet() -> [DeviceReaction]
  /// What it does with some bytes.
  func receive(_ bytes: [UInt8]) -> [DeviceReaction]
}

/// What a simulated device does.
package enum DeviceReaction: Equatable {
  case send([UInt8])
  /// The link breaks.
  case drop
}

/// One provider's simulated side: what it is given, what can be asked of it, and its services.
///
/// The host gives it requests, sockets and device links, a ledger, faults, a seed and a clock.
package protocol SimulatedProvider: Sendable {
  var name: ProviderName { get }
  /// What a client is given, under the keys of the provider's section: with it everything works without
  /// an account.
  var section: JSONObject { get }
  var scenarios: [SimulatorWord] { get }
  var faults: FaultTable { get }
  /// The variables that point `tender` at a served simulator, by what they take.
  var variables: [(name: String, address: ServedAddress)] { get }
  /// What the clients of a served simulator are given, under the same keys as `section`. Throws `state` or
  /// `internal`.
  func served(_ world: SimulatorWorld) throws(Fault) -> JSONObject
  /// Variables of the provider's own programs, each with the key of what it takes, where they are public.
  var ownVariables: [(name: String, key: String)] { get }
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

  package func served(_ world: SimulatorWorld) throws(Fault) -> JSONObject { section }

  package var ownVariables: [(name: String, key: String)] { [] }
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
