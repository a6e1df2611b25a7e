package import TenderEngine
package import TenderModel

/// What the simulated side does with an HTTP request.
package enum HTTPReaction {
  case answer(HTTPResponse)
  /// After that many milliseconds.
  case slowly(Int, HTTPResponse)
  case silence
  /// The connection breaks without an answer.
  case drop
}

/// What the simulated side does on a socket.
package enum SocketReaction: Equatable {
  case send(String)
  case pause(milliseconds: Int)
  case close(code: Int)
  /// The connection breaks without a word.
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
}

/// A clock that a served request's header set; it stands still.
package struct HeaderClock: Clock {
  package let now: Int
  package let machine: any Clock

  package var uptime: Int { machine.uptime }

  package var moment: Moment { machine.moment }

  package func pause(milliseconds: Int) throws(Fault) {
    try machine.pause(milliseconds: milliseconds)
  }
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
  /// Whether nobody else can play the payer: a bank's page cannot be opened in process.
  package var playsPayer = false

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
