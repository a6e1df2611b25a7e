import TenderModel

/// What the simulated TrueLayer knows from the start (TrueLayer/README, 10.3).
package enum BankCatalog {
  /// The simulated client.
  package static let clientID = "sandbox-tender-0000"
  /// Opens nothing but the simulator.
  package static let clientSecret = "bank-simulator-opens-nothing-else"
  /// The name of the key.
  package static let keyID = "5f5b2f0e-9f5c-4d6f-8a7d-3f2b1c0d9e8f"
  /// A token for every payment and mandate of the simulator; a real one is for one alone.
  package static let resourceToken = "simulator-resource-token"

  /// The signing key that `tender` uses on the simulator; it is public and guards nothing.
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

  /// A bank of the simulated world.
  struct Bank: Sendable {
    let id: String
    let name: String
    let country: String
    var schemes: [String]
    /// How its payer authorizes.
    var way = Way.redirect
    /// The forms that come before, page by page: ids of `inputs`.
    var forms: [[String]] = []
    var isHealthy = true
    var branches: [(id: String, name: String)] = []
    var allowsMandates = false
    /// Whether it reads account data beside a payment.
    var wantsAccountData = false

    /// The scopes of account data that it wants.
    var requiredScopes: [String] { wantsAccountData ? ["accounts"] : [] }

    enum Way: Sendable { case redirect, decoupled, embedded }
  }

  private static let sepa = ["sepa_credit_transfer", "sepa_credit_transfer_instant"]

  static let banks: [Bank] =
    [
      Bank(
        id: "mock-payments-gb-redirect",
        name: "Mock UK Payments - Redirect Flow",
        country: "GB",
        schemes: ["faster_payments_service"],
        allowsMandates: true
      ),
      Bank(
        id: "mock-payments-gb-redirect-unhealthy",
        name: "Mock UK Payments - Unhealthy",
        country: "GB",
        schemes: ["faster_payments_service"],
        isHealthy: false
      ),
      Bank(
        id: "ob-natwest-vrp-sandbox",
        name: "NatWest VRP Sandbox",
        country: "GB",
        schemes: ["faster_payments_service"],
        allowsMandates: true
      ),
      Bank(
        id: "mock-payments-de-redirect",
        name: "Mock DE Payments - Redirect",
        country: "DE",
        schemes: sepa
      ),
      Bank(
        id: "mock-payments-de-redirect-additional-input-text",
        name: "Mock DE Payments - Redirect, Additional Input",
        country: "DE",
        schemes: sepa,
        forms: [["psu-branch-code", "psu-account-number", "psu-sub-account"]]
      ),
      Bank(
        id: "mock-payments-de-embedded",
        name: "Mock DE Payments - Embedded",
        country: "DE",
        schemes: sepa,
        way: .embedded,
        forms: [
          ["psu-id", "psu-password"], ["embedded-auth-flow-sca-select"], ["otp_authorization"],
        ]
      ),
      Bank(
        id: "mock-payments-de-embedded-ais-pis",
        name: "Mock DE Payments - Embedded, Account Data",
        country: "DE",
        schemes: sepa,
        way: .embedded,
        forms: [["psu-id", "psu-password"]],
        wantsAccountData: true
      ),
      Bank(
        id: "mock-payments-de-decoupled",
        name: "Mock DE Payments - Decoupled",
        country: "DE",
        schemes: sepa,
        way: .decoupled
      ),
      Bank(
        id: "mock-payments-fr-redirect",
        name: "Mock FR Payments - Redirect",
        country: "FR",
        schemes: sepa,
        branches: [("main-branch", "Main Branch"), ("north-branch", "North Branch")]
      ),
      Bank(
        id: "mock-payments-nl-redirect",
        name: "Mock NL Payments - Redirect",
        country: "NL",
        schemes: sepa,
        forms: [["remitter-iban"]]
      ),
      Bank(
        id: "mock-payments-pl-redirect",
        name: "Mock PL Payments - Redirect",
        country: "PL",
        schemes: ["polish_domestic_standard", "polish_domestic_express"],
        forms: [["remitter-name", "remitter-nrb"]]
      ),
    ]
    + ["ES", "FI", "IE", "IT", "LT", "PT"].map { country in
      Bank(
        id: "mock-payments-\(country.lowercased())-redirect",
        name: "Mock \(country) Payments - Redirect",
        country: country,
        schemes: sepa
      )
    }

  /// The one account that is saved of any payer, and its bank.
  static let savedAccount = "25bf2298-0000-4000-8000-000000000001"
  static let savedBank = "mock-payments-gb-redirect"

  static func bank(_ id: String) -> Bank? { banks.first { $0.id == id } }

  /// Which currency a bank's country pays in.
  static func currency(of bank: Bank) -> String {
    switch bank.country {
    case "GB": "GBP"
    case "PL": "PLN"
    default: "EUR"
    }
  }
}
