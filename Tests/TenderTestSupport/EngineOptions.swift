package import TenderEngine
package import TenderModel

extension Engine.Options {
  /// Creates the arguments of a command, most of which a test leaves at their defaults.
  package init(
    newAttempt: Bool,
    idempotencyKey: String? = nil,
    looksFirst: Bool = false,
    despitePayments: Set<String> = [],
    maxAmounts: [Currency: Int] = [:]
  ) {
    self.init()
    self.newAttempt = newAttempt
    self.idempotencyKey = idempotencyKey
    self.looksFirst = looksFirst
    self.despitePayments = despitePayments
    self.maxAmounts = maxAmounts
  }
}
