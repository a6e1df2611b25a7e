package import TenderEngine
package import TenderModel

/// What the adapter works with: all of it passed in.
package struct PayTheoryContext: Sendable {
  let configuration: PayTheoryConfiguration
  var http: any HTTPExchange
  var sockets: any SocketExchange
  let clock: any Clock
  let randomness: any Randomness
  var redactor: Redactor

  package init(
    configuration: PayTheoryConfiguration,
    http: any HTTPExchange,
    sockets: any SocketExchange,
    clock: any Clock,
    randomness: any Randomness,
    redactor: Redactor
  ) {
    self.configuration = configuration
    self.http = http
    self.sockets = sockets
    self.clock = clock
    self.randomness = randomness
    self.redactor = redactor
  }

  /// Who pays into which account, and where it is reached.
  var account: String {
    [configuration.tokenURL, configuration.socketURL, configuration.key.text].joined(
      separator: "\n"
    )
  }
}
