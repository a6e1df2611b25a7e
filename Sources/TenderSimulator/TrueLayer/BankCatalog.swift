import TenderModel

/// The constants of the simulated TrueLayer (TrueLayer/README, 10.3).
package enum BankCatalog {
  /// The simulated client.
  package static let clientID = "sandbox-tender-0000"
  /// A secret that is valid only in the simulator.
  package static let clientSecret = "bank-simulator-opens-nothing-else"
  /// The name of the key.
  package static let keyID = "5f5b2f0e-9f5c-4d6f-8a7d-3f2b1c0d9e8f"
  /// A token for every payment and mandate of the simulator. A real one is for one alone.
  package static let resourceToken = "simulator-resource-token"

  /// The signing key that `tender` uses on the simulator. It is public and protects nothing.
  package static let privateKey = """
    -----BEGIN EC PRIVATE KEY-----
    MIHcAgEBBEIBtfFcDzKbNpntvqYLcOKOc16x8DpvSVlrwsfFs25qNlal6tBHU19X
    0jmWCKmQzSiSDcAPpP8kgfMmZFTBRN5pSaygBwYFK4EEACOhgYkDgYYABAGdsgOt
    0K3iU3jMIcY+sQ5gPYGk7mJ4fYbcfgsL4efzSczYQ5lUbepkn40mWsfFog6vPkW3
    3ERnwKGnpx6mgJT7ogAMKw1h3rWq2lk+0M+iJRcc/Qztt0TqKzIbhkMu1KMxxWD+
    N8Bj3bVlurNIbNF0wjFB2TW39uoWgcodNNU00KO8SQ==
    -----END EC PRIVATE KEY-----
    """

  static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQBnbIDrdCt4lN4zCHGPrEOYD2BpO5i
    eH2G3H4LC+Hn80nM2EOZVG3qZJ+NJlrHxaIOrz5Ft9xEZ8Chp6cepoCU+6IADCsN
    Yd61qtpZPtDPoiUXHP0M7bdE6isyG4ZDLtSjMcVg/jfAY921ZbqzSGzRdMIxQdk1
    t/bqFoHKHTTVNNCjvEk=
    -----END PUBLIC KEY-----
    """

  struct Bank: Sendable {
    enum Way: Sendable { case redirect, decoupled, embedded }

    let id: String
    let name: String
    let country: String
    private let traits: [Substring]

    /// The way in which its payer authorizes.
    var way: Way {
      traits.contains("embedded")
        ? .embedded : traits.contains("decoupled") ? .decoupled : .redirect
    }

    /// The forms before the authorization, page by page: ids of `BankInput`.
    var forms: [[String]] {
      traits.filter { $0.hasPrefix("form ") }
        .map { $0.split(separator: " ").dropFirst().map(String.init) }
    }

    /// Whether a page belongs to another way to confirm than the chosen one. `chosen` is nil without a
    /// choice.
    func isOther(page: Int, than chosen: String?) -> Bool {
      switch (forms[page], chosen) {
      case (_, nil): false
      case (["embedded-auth-flow-sms-input"], let way): way != "Sms"
      case (["otp_authorization"], let way): way == "Sms"
      default: false
      }
    }

    var branches: [(id: String, name: String)] {
      traits.contains("branches")
        ? [("main-branch", "Main Branch"), ("north-branch", "North Branch")] : []
    }

    var isHealthy: Bool { !traits.contains("unhealthy") }
    var allowsMandates: Bool { traits.contains("mandates") }

    /// Whether it also requires account data.
    var wantsAccountData: Bool { traits.contains("account data") }

    var requiredScopes: [String] { wantsAccountData ? ["accounts"] : [] }

    var schemes: [String] { BankCatalog.schemes(BankCatalog.currency(of: self)) }

    fileprivate init(_ line: Substring) {
      let words = line.split(separator: "; ")
      id = String(words[0])
      name = String(words[1])
      country = String(words[2])
      traits = Array(words.dropFirst(3))
    }
  }

  /// The banks: id, name, country, and special features.
  static let banks = """
    mock-payments-gb-redirect; Mock UK Payments - Redirect Flow; GB; mandates
    mock-payments-gb-redirect-unhealthy; Mock UK Payments - Unhealthy; GB; unhealthy
    ob-natwest-vrp-sandbox; NatWest VRP Sandbox; GB; mandates
    mock-payments-de-redirect; Mock DE Payments - Redirect; DE
    mock-payments-de-redirect-additional-input-text; Mock DE Payments - Redirect, Additional Input; DE; \
    form psu-branch-code psu-account-number psu-sub-account
    mock-payments-de-embedded; Mock DE Payments - Embedded; DE; embedded; form psu-id psu-password; \
    form embedded-auth-flow-sca-select; form embedded-auth-flow-sms-input; form otp_authorization
    mock-payments-de-embedded-ais-pis; Mock DE Payments - Embedded, Account Data; DE; embedded; \
    form psu-id psu-password; account data
    mock-payments-de-decoupled; Mock DE Payments - Decoupled; DE; decoupled
    mock-payments-fr-redirect; Mock FR Payments - Redirect; FR; branches
    mock-payments-nl-redirect; Mock NL Payments - Redirect; NL; form remitter-iban
    mock-payments-pl-redirect; Mock PL Payments - Redirect; PL; form remitter-name remitter-nrb
    mock-payments-es-redirect; Mock ES Payments - Redirect; ES
    mock-payments-fi-redirect; Mock FI Payments - Redirect; FI
    mock-payments-ie-redirect; Mock IE Payments - Redirect; IE
    mock-payments-it-redirect; Mock IT Payments - Redirect; IT
    mock-payments-lt-redirect; Mock LT Payments - Redirect; LT
    mock-payments-pt-redirect; Mock PT Payments - Redirect; PT
    """.split(separator: "\n").map(Bank.init)

  /// The only saved account of any payer, and its bank.
  static let savedAccount = "25bf2298-0000-4000-8000-000000000001"
  static let savedBank = "mock-payments-gb-redirect"

  static func bank(_ id: String) -> Bank? { banks.first { $0.id == id } }

  static let accounts = [
    BankAccount(id: "acc00000-0000-4000-8000-000000000826", currency: "GBP"),
    BankAccount(id: "acc00000-0000-4000-8000-000000000978", currency: "EUR"),
    BankAccount(id: "acc00000-0000-4000-8000-000000000985", currency: "PLN"),
  ]

  /// The opening amount of each account, in minor units, and its time, in milliseconds since 1970:
  /// 2024-02-14.
  static let openingAmount = 1_000_000
  static let openingTime = 1_707_868_800_000

  static let businessAccount: JSON = ["type": "iban", "iban": "GB29NWBK60161331926819"]

  static func schemes(_ currency: String) -> [String] {
    switch currency {
    case "GBP": ["faster_payments_service"]
    case "PLN": ["polish_domestic_standard", "polish_domestic_express"]
    default: ["sepa_credit_transfer", "sepa_credit_transfer_instant"]
    }
  }

  static func currency(of bank: Bank) -> String {
    switch bank.country {
    case "GB": "GBP"
    case "PL": "PLN"
    default: "EUR"
    }
  }
}
