package import TenderModel

/// Pay Theory's documented test data (protocol note, section 9); never for live.
package enum TestInstruments {
  private static let numbers = [
    "visa": "4111111111111111", "mastercard": "5454545454545454", "amex": "343434343434343",
    "discover": "6542154846623459",
  ]

  /// The test card of a brand, good for some years from now.
  package static func card(_ brand: String, today: YearMonth) throws(Fault) -> Card {
    try Card(
      number: SharedSecret(numbers[brand] ?? ""),
      securityCode: SharedSecret(brand == "amex" ? "1234" : "123"),
      expiration: Expiration("12/\(today.year + 3)"),
      name: "Test Payer",
      address: Address(postalCode: "45209", country: "US"),
      today: today
    )
  }

  /// The test account that succeeds or fails.
  package static func account(succeeds: Bool) throws(Fault) -> BankAccount {
    try BankAccount(
      name: "Test Payer",
      number: SharedSecret(succeeds ? "0000000016" : "0000000005"),
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
