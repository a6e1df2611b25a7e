package import TenderEngine
package import TenderModel
package import TenderSystem

/// One run of a command, as a provider's module sees it: what was asked for, and the parts of the
/// program that it may use.
package protocol Session: AnyObject {
  var settings: Settings { get }
  var redactor: Redactor { get }
  var clock: any Clock { get }
  /// Signals, for everything that waits.
  var signals: Signals { get }
  /// An instrument that came with a line of a batch.
  var instrument: [UInt8]? { get }
  /// What the simulated side of a provider was given, under the keys of its section.
  func simulated(_ provider: ProviderName) -> JSONObject
  /// What this side draws, repeatable with `--sim-seed`. Throws `state`.
  func randomness() throws(Fault) -> any Randomness
  /// What carries requests: the simulator in this process, or the network; nothing in a dry run.
  ///
  /// Throws `usage` or `state`.
  func exchanges(
    inProcess: Bool
  ) throws(Fault) -> (http: any HTTPExchange, sockets: any SocketExchange)
  /// What carries requests that are made ahead of the lines that need them, by a thread of its own, and for how
  /// many lines at most; nil where every command makes its own when it needs them.
  func exchangesAhead() throws(Fault) -> (
    most: Int, make: @Sendable () -> (http: any HTTPExchange, sockets: any SocketExchange)
  )?
  /// What opens card readers: the simulated one, or real ones; nothing in a dry run.
  ///
  /// `base` is the address of a server that may play the reader, and is told beforehand what its next
  /// customer is like. Throws `state`.
  func devices(simulated: Bool, base: String?) throws(Fault) -> any DeviceExchange
  /// Where records of what is exchanged go; nil without `--trace`. Throws `usage`.
  func watch() throws(Fault) -> (@Sendable (JSONObject) -> Void)?
  /// Where payers come back to, for an address on this machine; nil for any other. Throws `usage`.
  func redirects(to address: String, simulated: Bool) -> (any RedirectListener)?
  /// Whether a running `simulator serve` holds a port of this machine.
  func isServed(port: UInt16) -> Bool
  /// The reference of what is made: the one that was typed, else `known`, else a new one.
  func reference(or known: String?) throws(Fault) -> Reference
  /// The journal; empty for what writes nothing where there is none. Throws `state`.
  func journal() throws(Fault) -> any Journal
  /// Something that all runs of this process share, made on first use.
  func shared<Part: AnyObject & Sendable>(_ make: () -> Part) -> Part
  /// The terminal to ask at, a state that was shown in place taken off it; nil where nobody may be asked.
  func terminal() -> Terminal?
  /// Shows a state to whoever watches.
  func announce(_ state: String, _ provider: String, _ env: Env, next: PayerAction?)
  /// Shows what is awaited, and for how many milliseconds more, where somebody watches.
  func waits(for what: String, left: Int)
  /// Says a sentence on standard error unless `--quiet` is given.
  func tell(_ text: String)
  /// Says a sentence on standard error where people read it.
  func note(_ text: String)
  /// Shows an address that the payer opens: text, a QR code where it fits, the browser where asked.
  func show(address: String)
}

extension Session {
  package var invocation: Invocation { settings.invocation }

  package var environment: Environment { settings.environment }

  /// Whether nothing may leave or be written.
  package var isDryRun: Bool { invocation.has(Keys.dryRun) }
}
