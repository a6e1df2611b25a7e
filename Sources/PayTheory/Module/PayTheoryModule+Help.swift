package import TenderCommandLine
package import TenderModel

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
    aliases: ["card", "cards", "ach", "cash"],
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

  /// Credentials, choices, and the settings that Pay Theory's public documents do not give.
  private static let about = Topic(
    name: "paytheory",
    summary: "Pay Theory: credentials, and what is not known of it",
    body: [
      """
      TENDER_PAYTHEORY_API_KEY (and for look-ups, reversals and --token also \
      TENDER_PAYTHEORY_MERCHANT_UID and TENDER_PAYTHEORY_SECRET_KEY), --provider paytheory \
      --env sandbox|live. Nothing here was run against Pay Theory's own servers. Stage \
      paytheory (production) takes cards, ACH and cash from attested mobile apps alone; there \
      only --token works.
      """,
      """
      The journal records a fingerprint of the API key with each payment. A new API key counts as \
      another merchant (tender help credentials).
      """,
      """
      GraphQL documents are those of the published schema of 2026; the simulator refuses what \
      that schema refuses. A look-up is asked again without a field that an older server does \
      not know; a write never is.
      """,
      """
      Not public, and therefore the simulator's own choice: the texts of the socket's errors, the \
      answer to a cancel, close codes, the rounding of fees, how long a hold lives, and whether a \
      live account accepts part 2 of a transfer on a new connection. On the simulator a hold lives \
      24 hours of its clock, a hold by --token and a cash barcode 7 days. A plain payment runs in two \
      steps, so that its receipt number is in the journal before money moves; "two_step": false in \
      the profile's paytheory section sends one.
      """,
      """
      A hold whose session is over ends as expired (13); --new-attempt authorizes again. A hold by \
      --token is an authorization: certain processors alone have them. confirm --amount captures a \
      part of it.
      """,
      """
      A lost answer to a cash barcode has effect none: the next run makes another barcode. \
      payment-status says whether a barcode was paid or has expired. A lost answer to tokenize is \
      unknown (9): Pay Theory cannot be asked about it.
      """,
      """
      Pay Theory takes no idempotency keys. With merchant credentials a lost answer is asked about \
      once before it is 9. A transfer over the socket can be finished under its receipt number. A \
      reversal, a charge or hold by --token, and a transfer in one step cannot: they stay 9 until a \
      look-up shows them, or until journal resume --finish sends the same request again.
      """,
      """
      A void of a part puts another transaction in the place of the first. Look-ups and find show \
      both as one payment, with what was refunded of it.
      """,
      """
      An answer to part 2 with another receipt number, amount, currency or reference is no answer \
      (9); nor is one without a receipt number, an amount or a known state. A GraphQL refusal of a \
      request that can move money has effect none only if it is one of the document itself (parsing, \
      validation); any other is 9, also 401, 403 and 429: the question before it was answered.
      """,
    ]
  )

  package var results: [ResultShape] { ResultShape.table(Self.shapes) }

  private static let shapes = """
    type=PT_CONFIRMATION body: receipt_number amount# service_fee# brand first_six last_four
    type=PT_COMPLETE body: receipt_number last_four created_at amount# service_fee# state metadata{} \
    payor_id payment_method_id brand
    type=PT_BARCODE body: BarcodeUid Merchant barcode barcodeFee barcodeUrl mapUrl
    type=PT_TOKENIZE body: payment_method_id payor_id last_four brand metadata{} expiration \
    payment_type
    type .: type
    receipt_number .: type receipt_number last_four brand state
    transaction transaction: status transaction_id? gross_amount#? net_amount#? fees#? \
    refunded_amount#? failure_reasons[]? is_settled!?
    reversal reversal: is_void! transaction_id?
    """

  /// Returns a result with its members in the documented order (README, 4.6 to 4.11 and 8.1).
  package func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard let type = result.text("type") else { return result }
    if let names = ResultShape.names("type=\(type)", in: Self.shapes),
      let body = result["body"]?.object
    {
      return ["type": .string(type), "body": .object(body.ordered(by: names))]
    }
    return result.ordered(by: ResultShape.names("receipt_number", in: Self.shapes) ?? [])
  }
}
