package import TenderEngine
package import TenderModel

/// What the adapter works with: all of it passed in.
package struct PayTheoryContext: Sendable {
  let configuration: PayTheoryConfiguration
  let http: any HTTPExchange
  let sockets: any SocketExchange
  let clock: any Clock
  let randomness: any Randomness
  let redactor: Redactor

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
}
