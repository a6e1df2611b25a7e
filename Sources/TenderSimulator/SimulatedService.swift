package import TenderEngine
import TenderModel

/// What the simulated side does with an HTTP request.
enum HTTPReaction {
  case answer(HTTPResponse)
  /// After that many milliseconds.
  case slowly(Int, HTTPResponse)
  case silence
  /// The connection breaks without an answer.
  case drop
}

/// What the simulated side does on a socket.
enum SocketReaction: Equatable {
  case send(String)
  case pause(milliseconds: Int)
  case close(code: Int)
  /// The connection breaks without a word.
  case drop
  case silence
}

/// One connected client of a simulated socket.
protocol SocketSession: AnyObject {
  func receive(_ text: String) throws(Fault) -> [SocketReaction]
}

/// What an upgrade request comes to.
enum UpgradeReaction {
  case accept(any SocketSession)
  case refuse(status: Int)
}

/// A clock that a served request's header set; it stands still.
struct HeaderClock: Clock {
  let now: Int
  let machine: any Clock

  var uptime: Int { machine.uptime }

  var moment: Moment { machine.moment }

  func pause(milliseconds: Int) throws(Fault) { try machine.pause(milliseconds: milliseconds) }
}

/// What the simulated providers work with.
package struct SimulatorWorld: Sendable {
  /// Where the ledger is; each connection opens its own.
  package var ledgerPath: String
  package var clock: any Clock
  package var randomness: any Randomness
  package var options: SimulatorOptions
  /// Whether nobody else can play the payer: a bank's page cannot be opened in process.
  var playsPayer = false

  package init(
    ledgerPath: String,
    clock: any Clock,
    randomness: any Randomness,
    options: SimulatorOptions
  ) {
    self.ledgerPath = ledgerPath
    self.clock = clock
    self.randomness = randomness
    self.options = options
  }

  /// The time of the simulated world, in milliseconds since 1970.
  var now: Int { clock.now }
}
