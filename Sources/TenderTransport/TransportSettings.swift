package import TenderEngine

/// What every connection needs to know.
package struct TransportSettings: Sendable {
  /// The only root certificates to trust, instead of the system's; a path.
  package var certificates: String?
  package var clock: any Clock
  package var randomness: any Randomness
  package var interruption: any Interruption
  package var userAgent: String
  /// Fields that go with every request and every upgrade.
  package var extraFields: [HTTPRequest.Field]
  /// The largest answer to take, in bytes.
  package var answerLimit: Int

  package init(
    certificates: String? = nil,
    clock: any Clock,
    randomness: any Randomness,
    interruption: any Interruption,
    userAgent: String,
    extraFields: [HTTPRequest.Field] = [],
    answerLimit: Int = 4 << 20
  ) {
    self.certificates = certificates
    self.clock = clock
    self.randomness = randomness
    self.interruption = interruption
    self.userAgent = userAgent
    self.extraFields = extraFields
    self.answerLimit = answerLimit
  }
}
