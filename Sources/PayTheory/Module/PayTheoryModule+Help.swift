package import TenderCommandLine

extension PayTheoryModule {
  package var help: ModuleHelp {
    var help = ModuleHelp()
    help.quote = "the receipt number (id) and the time"
    help.topics = [Self.instruments, Self.about]
    help.addresses = [
      "TENDER_PAYTHEORY_TOKEN_URL", "TENDER_PAYTHEORY_SOCKET_URL", "TENDER_PAYTHEORY_GRAPHQL_URL",
    ]
    help.profiles = [
      #"    "dev":{"provider":"paytheory"}"#,
      """
          "shop":{"provider":"paytheory", "env":"sandbox",
                  "paytheory":{"api_key":"…", "merchant_uid":"…",
                               "secret_key_file":"…", "two_step":true}}
      """,
    ]
    help.assumptions =
      "Pay Theory takes a transfer with the same receipt number once, and shows a payment by its "
      + "reference within 15 minutes after the host token."
    help.simulation = [
      "Pay Theory's error texts and fees (2.9 % + 30 cents for cards, 1 % + 25 for ACH) are the "
        + "simulator's own. These amounts in cents decide a card payment where the merchant pays the "
        + "fee; ACH payments stay PENDING for 5 seconds, and --test-account failure fails.",
      """
        102      GENERIC_DECLINE            889986  ADDRESS_VERIFICATION_FAILED…
        193      INSUFFICIENT_FUNDS         889987  CVV_FAILED_RISK_RULES
        194      INVALID_ACCOUNT_NUMBER     888888  succeeds and is disputed
      """,
    ]
    return help
  }

  private static let instruments = Topic(
    name: "instruments",
    summary: "how to pass cards, bank accounts and cash payers",
    body: [
      "An instrument is a JSON object. It comes by --instrument-stdin, by --instrument-file from a "
        + "file, by --instrument-fd from an open descriptor, or by a prompt "
        + "with echo off where there is a terminal. No option takes a number.",
      """
        {"type":"card", "number":"…", "security_code":"…", "expiration":"MM/YY",
         "name":"…", "address":{"line1":"…", "line2":"…", "city":"…", "region":"…",
                               "postal_code":"…", "country":"US"}}
        {"type":"ach", "name":"…", "account_number":"…",
         "account_type":"CHECKING", "routing_number":"…"}
        {"type":"cash", "name":"…", "contact":"e-mail or phone"}
      """,
      "A card's name and address are optional. The number has 13 to 19 digits and a Luhn check "
        + "digit, the security code 3 digits (American Express 4), the expiration is not past. "
        + "account_type is CHECKING or SAVINGS; the routing number has an ABA check digit.",
      "Off live, --test-card visa|mastercard|amex|discover and --test-account success|failure "
        + "stand for the provider's documented test data.",
    ]
  )
}
