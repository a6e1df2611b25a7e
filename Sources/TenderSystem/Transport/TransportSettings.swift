package import TenderEngine

/// What every connection needs to know.
package struct TransportSettings: Sendable {
  /// Root certificates, and no others.
  package enum Roots: Sendable, Hashable {
    /// What libcurl was built with.
    case builtIn
    /// All of a file's, each of which is read before the first connection.
    case file(String)
    /// A folder's, by the hash of their names (`openssl rehash`): the one that is needed is read.
    case folder(String)
  }

  package var roots: Roots
  package var clock: any Clock
  package var randomness: any Randomness
  package var interruption: any Interruption
  package var userAgent: String
  /// Fields that go with every request and every upgrade.
  package var extraFields: [HTTPRequest.Field]
  /// The largest answer to take, in bytes.
  package var answerLimit: Int

  package init(
    roots: Roots = .builtIn,
    clock: any Clock,
    randomness: any Randomness,
    interruption: any Interruption,
    userAgent: String,
    extraFields: [HTTPRequest.Field] = [],
    answerLimit: Int = 4 << 20
  ) {
    self.roots = roots
    self.clock = clock
    self.randomness = randomness
    self.interruption = interruption
    self.userAgent = userAgent
    self.extraFields = extraFields
    self.answerLimit = answerLimit
  }
}
