package import TenderEngine

/// The settings of every connection.
package struct TransportSettings: Sendable {
  /// The only accepted root certificates.
  package enum Roots: Sendable, Hashable {
    /// Those that libcurl was built with.
    case builtIn
    /// All certificates of a file, read before the first connection.
    case file(String)
    /// Those of a folder, by the hash of their names (`openssl rehash`). Only the needed one is read.
    case folder(String)
  }

  package var roots = Roots.builtIn
  package var clock: any Clock
  package var randomness: any Randomness
  package var interruption: any Interruption
  package var userAgent: String
  /// Header fields of every request and every upgrade.
  package var extraFields: [HTTPRequest.Field] = []
  /// The number of times that `Retry-After` may delay a request.
  package var returns = 5
  /// The largest accepted answer, in bytes.
  package var answerLimit = 4 << 20

  package init(
    clock: any Clock,
    randomness: any Randomness,
    interruption: any Interruption,
    userAgent: String
  ) {
    self.clock = clock
    self.randomness = randomness
    self.interruption = interruption
    self.userAgent = userAgent
  }
}
