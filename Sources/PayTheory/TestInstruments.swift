package import TenderModel

/// Pay Theory's documented test data (README, 11); never for live.
package enum TestInstruments {
  /// The brands that have a test card.
  package enum Brand: String, Sendable, CaseIterable {
    case visa, mastercard, amex, discover

    fileprivate var number: String {
      switch self {
      case .visa: "4111111111111111"
      case .mastercard: "5454545454545454"
      case .amex: "343434343434343"
      case .discover: "6542154846623459"
      }
    }
  }

  /// What becomes of a payment from a test account.
  package enum Outcome: String, Sendable, CaseIterable { case success, failure }

  /// The test card of a brand, good until the end of the next decade: the same card for years.
  package static func card(_ brand: Brand, today: YearMonth) throws(Fault) -> Card {
    try Card(
      number: SharedSecret(brand.number),
      securityCode: SharedSecret(brand == .amex ? "1234" : "123"),
      expiration: Expiration("12/\((today.year / 10 + 1) * 10 + 9)"),
      name: "Test Payer",
      address: Address(postalCode: "45209", country: "US"),
      today: today
    )
  }

  /// The test account of an outcome.
  package static func account(_ outcome: Outcome) throws(Fault) -> BankAccount {
    try BankAccount(
      name: "Test Payer",
      number: SharedSecret(outcome == .success ? "0000000016" : "0000000005"),
      kind: "CHECKING",
      routing: "122105278"
    )
  }
}

extension PayTheoryProvider {
  /// The documented `NO_FIELDS` result, for an instrument that cannot be used.
  package static func noFields(tokenizing: Bool) -> JSONObject {
    Fault.noFields(tokenizing ? "tokenize" : "transact").result ?? [:]
  }
}
