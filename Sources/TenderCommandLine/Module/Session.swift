package import TenderEngine
package import TenderModel
package import TenderSystem

/// The transport of requests, and of messages on sockets.
package typealias Exchanges = (http: any HTTPExchange, sockets: any SocketExchange)

/// The ways from one run to its provider, and the clock and randomness that go with them. The value is made before the
/// adapter, and an adapter has no others.
package struct Wires {
  /// Whether requests leave this process. Otherwise the simulator in it answers them, and a wait takes no time.
  package let isOutside: Bool
  package let exchanges: Exchanges
  package let clock: any Clock
  /// The randomness of this run, repeatable with `--sim-seed`.
  package let randomness: any Randomness
  package let signals: Signals
  package let redactor: Redactor
  /// Returns the transport to card readers: the simulated one, or real ones. `base` is the address of a server that
  /// may simulate the reader. It is told the next customer beforehand. Throws `state`.
  package let readers: (_ areSimulated: Bool, _ base: String?) throws(Fault) -> any DeviceExchange
  /// Returns the listener for payers at an address of this machine; nil for any other address.
  package let redirects: (_ address: String) -> (any RedirectListener)?

  /// Creates the ways. In a dry run no transport reaches anything.
  package init(
    isOutside: Bool,
    exchanges: Exchanges,
    clock: any Clock,
    randomness: any Randomness,
    signals: Signals,
    redactor: Redactor,
    readers: @escaping (Bool, String?) throws(Fault) -> any DeviceExchange,
    redirects: @escaping (String) -> (any RedirectListener)?
  ) {
    (self.isOutside, self.exchanges) = (isOutside, exchanges)
    (self.clock, self.randomness) = (clock, randomness)
    (self.signals, self.redactor) = (signals, redactor)
    (self.readers, self.redirects) = (readers, redirects)
  }
}

/// One run of a command for a provider's module: its invocation, and the parts of the program that the module
/// may use.
package protocol Session: AnyObject {
  var settings: Settings { get }
  var redactor: Redactor { get }
  /// The clock outside of the simulated world.
  var ownClock: any Clock { get }
  /// The signals that end a wait.
  var signals: Signals { get }
  /// The instrument of a batch's line.
  var instrument: [UInt8]? { get }
  /// Returns the settings of a simulated provider, under the keys of its section.
  func simulated(_ provider: ProviderName) -> JSONObject
  /// Returns the ways to a provider. Throws `usage` or `state`.
  func wires(outside: Bool) throws(Fault) -> Wires
  /// Returns the receiver of records of the exchange; nil without `--trace`. Throws `usage`.
  func watch() throws(Fault) -> (@Sendable (JSONObject) -> Void)?
  /// Whether a running `simulator serve` listens on a port of this machine.
  func isServed(port: UInt16) -> Bool
  /// Returns the journal. For a command that writes nothing, a missing journal is empty. Throws `state`.
  func journal() throws(Fault) -> any Journal
  /// Whether an earlier line of a checked batch makes or changes the payment of a reference. The journal does not
  /// show the state that the line will find.
  func isWrittenEarlier(_ reference: String) -> Bool
  /// Returns a part that all runs of this process share, made on first use.
  func shared<Part: AnyObject & Sendable>(_ make: () -> Part) -> Part
  /// Returns the terminal for questions, after removing a state line on it; nil if questions are not allowed.
  func terminal() -> Terminal?
  /// Shows a state to a watching user, once until another one comes. The states of a sale at a reader change on one
  /// line.
  func announce(
    _ state: String,
    _ provider: String,
    _ env: Env,
    next: PayerAction?,
    isAtTill: Bool
  )
  /// Shows to a watching user the event that the command waits for, and the remaining milliseconds.
  func waits(for what: @autoclosure () -> String, left: Int)
  /// Prints a sentence on standard error unless `--quiet` is given.
  func tell(_ text: String)
  /// Prints a sentence on standard error if people read it.
  func note(_ text: String)
  /// Shows an address for the payer: text, a QR code if it fits, and the browser if requested.
  func show(address: String)
}

extension Session {
  package var invocation: Invocation { settings.invocation }

  package var environment: Environment { settings.environment }

  /// Whether nothing may be sent or written.
  package var isDryRun: Bool { invocation.has(Keys.dryRun) }
}
