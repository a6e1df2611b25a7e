import TenderModel

/// A page of help that belongs to no command.
package struct Topic: Sendable {
  package let name: String
  package let summary: String
  /// Paragraphs; those that begin with a space stand as they are.
  package let body: [String]

  /// The page, at most 80 columns wide.
  package var text: String {
    var lines = ["\(name): \(summary)"]
    for paragraph in body {
      lines.append("")
      if paragraph.hasPrefix(" ") {
        lines += paragraph.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      } else {
        lines += HelpText.wrapped(paragraph, indent: 0)
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Every topic, in the order in which help lists them.
  package static let all: [Topic] = [
    instruments, banks, readers, exitStatus, output, environment, files, promises, security,
    simulator,
  ]

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

  private static let banks = Topic(
    name: "banks",
    summary: "bank payments and mandates, from creation to refund",
    body: [
      "tender transact --provider truelayer makes a payment (or with --mandate a mandate), or takes "
        + "one that exists (--payment-id, --mandate-id), and goes through whatever its bank wants: "
        + "bank, branch, scheme, account, consent, forms, and the bank's own page.",
      "What options leave open is asked on a terminal. Where nobody can be asked the run ends in 8, "
        + "the record says in next_action what is wanted, and the same command with the answer goes "
        + "on where it stands. Consent is given with --consent (pis unless said) and said on "
        + "standard error. Passwords and one-time codes come by --form-file or prompt alone.",
      "The payer opens the address that is shown, also as a QR code on a terminal, or with --open in "
        + "the browser. By default tender listens at http://localhost:3000/callback, waits 15 "
        + "minutes at most, and ends when the payment is authorized, executed, settled or waits for "
        + "an app; --wait goes on to the end. Ctrl-C cancels the payment and ends in 12. With "
        + "another --redirect-url the run ends in state redirect; tender confirm REF takes it up "
        + "again, with --return-url where the bank's answer must be handed in.",
      "Making, revoking and refunding need client credentials and a P-521 key (PEM) whose id the "
        + "Console shows; everything else a resource token alone. No token is ever printed or kept.",
      "On the simulator every id 00000000-0000-4000-8000-… exists, its last twelve digits the amount "
        + "in minor units; simulator-resource-token is good for all of them. --sim-scenario "
        + "bank:reject_execution and the like play the payer; behind simulator serve a browser does.",
    ]
  )

  private static let readers = Topic(
    name: "readers",
    summary: "card-present sales with Toro and a Miura reader",
    body: [
      "tender transact --provider toro connects to the reader (--device), waits for chip, tap or "
        + "stripe, asks the acquirer, and prints the receipt under result.receipt. --events prints "
        + "each state: connectingToDevice, awaitingGratuity, awaitingCard, awaitingPinEntry, "
        + "awaitingApplicationSelection, authorising, awaitingSignature, completed, cancelled, "
        + "failed.",
      "A reader is tcp://HOST:PORT (6543 where left out), tty:/dev/ttyACM0 or, on Linux, "
        + "bluetooth:00:11:22:33:44:55/CHANNEL. Card data stays encrypted from the reader to the "
        + "acquirer.",
      "--gratuity is added to --amount; --gratuity-menu 10,15,20 lets the customer choose on the "
        + "reader. A sale that wants a signature takes it from --signature-file or a typed name, "
        + "and asks whether it matches (--signature-matches); no undoes the sale and ends in 12.",
      "Ctrl-C, or tender cancel REF in another shell, lets the reader go: 12. Afterwards tender "
        + "cancel REF undoes the sale, whole, by a cancellation advice that is repeated until it is "
        + "answered. --no-capture authorises only; tender confirm REF captures. --type refund "
        + "--original REF gives back what the journal knows, --original-file what a saved receipt "
        + "says, never more than is left.",
      "An authorisation whose answer is lost is undone in the same run (12, the lost answer under "
        + "result.error) or, where the gateway stays silent, by the same command or tender journal "
        + "resume later (9 until then). tender journal show REF --receipt prints both copies.",
      "Toro publishes neither ids nor keys: everything else than the simulator needs acquirer_id, "
        + "merchant_id, merchant_category_code, poi_id, key_id, key_version and kdf (prf, salt, "
        + "iterations, length) in the profile, and TENDER_TORO_PASSPHRASE; where Toro says so also "
        + "api_key_header with TENDER_TORO_API_KEY, recipient_id, card_key_id, card_key_version and "
        + "authorisation_path. "
        + "See tender help files.",
      "Inferred from what is public, and not confirmed by Toro: the path of the authorisation "
        + "request, that the MAC is over the body with its own tags, how the reader's encrypted card "
        + "data and PIN are wrapped, refunds as RFND with the original, and which of the reader's "
        + "events is which state. Nothing was run against Toro's servers or a real reader.",
    ]
  )

  private static let exitStatus = Topic(
    name: "exit-status",
    summary: "one exit status for each kind of failure",
    body: [
      (["   0  what was asked for was reached, or looked up"]
        + Fault.Kind.allCases.sorted { $0.exitStatus < $1.exitStatus }.map { kind in
          let number = String(kind.exitStatus)
          return String(repeating: " ", count: 4 - number.count) + number + "  " + kind.meaning
        } + [" 141  a look-up whose reader closed the pipe"]).joined(separator: "\n"),
      "Effect comes first: once a request that can move money was sent and nobody knows what it "
        + "did, the exit is 9, whatever the error is called. Then never pay again under another "
        + "reference: the same command finds out.",
    ]
  )

  private static let output = Topic(
    name: "output",
    summary: "tables and JSON lines",
    body: [
      "Standard output carries only what was asked for. On a terminal it is a table, elsewhere "
        + "one JSON object a line; --output and --json choose. Amounts are whole minor units, ids "
        + "are text, times RFC 3339 in UTC; what is absent is left out. Readers ignore keys that "
        + "they do not know.",
      "An outcome is a record on standard output, whatever it is; where the exit is not 0 it "
        + "carries an error. A fault prints nothing on standard output and one line of JSON on "
        + "standard error, or at most three plain lines where output is a table. With several ids "
        + "it stands in its place on standard output.",
      "--fields id,result.body.amount prints only these. --expect declined,succeeded makes the "
        + "exit 0 where the status is one of them and 18 where it is not. tender schema prints "
        + "the JSON Schema of every record.",
    ]
  )

  private static let environment = Topic(
    name: "environment",
    summary: "the variables that are read",
    body: [
      """
        TENDER_PROVIDER TENDER_PROFILE TENDER_ENV TENDER_OUTPUT TENDER_CONFIG
        TENDER_STATE_DIR TENDER_TIMEOUT TENDER_NO_INPUT TENDER_CA_FILE
        TENDER_PAYTHEORY_API_KEY TENDER_PAYTHEORY_MERCHANT_UID
        TENDER_PAYTHEORY_SECRET_KEY
        TENDER_TRUELAYER_CLIENT_ID TENDER_TRUELAYER_CLIENT_SECRET
        TENDER_TRUELAYER_KEY_ID TENDER_TRUELAYER_PRIVATE_KEY
        TENDER_TRUELAYER_RESOURCE_TOKEN
        TENDER_TORO_API_KEY TENDER_TORO_PASSPHRASE TENDER_TORO_DEVICE
      """,
      "Each credential also with _FILE behind its name, for a file that holds the value; both at "
        + "once is an error. TENDER_ENV is never enough for a live write.",
      """
        TENDER_PAYTHEORY_TOKEN_URL TENDER_PAYTHEORY_SOCKET_URL
        TENDER_PAYTHEORY_GRAPHQL_URL
        TENDER_TRUELAYER_API_URL TENDER_TRUELAYER_AUTH_URL
        TENDER_TORO_GATEWAY_URL
      """,
      "Base addresses replace the provider's scheme, host and port, for tests and proxies; not on "
        + "live. All that a command needs, or none. Plain http and ws go to loopback only.",
      "TENDER_CONTAINMENT=off, NO_COLOR, CLICOLOR_FORCE, TERM=dumb, COLUMNS, TZ, XDG_CONFIG_HOME, XDG_STATE_HOME, BROWSER, "
        + "the locale's country and the proxy variables are honoured. An option comes before the environment, that before the "
        + "profile, that before the default: see tender config show.",
    ]
  )

  private static let files = Topic(
    name: "files",
    summary: "configuration and state",
    body: [
      "$XDG_CONFIG_HOME/tender/config.json (~/.config) holds profiles. It is refused when it holds "
        + "a secret and others can read it; unknown keys are errors.",
      """
        {"schema":1, "default_profile":"dev", "profiles":{
          "dev":{"provider":"paytheory"},
          "shop":{"provider":"paytheory", "env":"sandbox",
                  "paytheory":{"api_key":"…", "merchant_uid":"…",
                               "secret_key_file":"…", "two_step":true}},
          "bank":{"provider":"truelayer", "env":"sandbox",
                  "truelayer":{"client_id":"…", "client_secret_file":"…",
                               "key_id":"…", "private_key_file":"…",
                               "redirect_url":"http://localhost:3000/callback"}},
          "till":{"provider":"toro", "env":"sandbox",
                  "toro":{"device":"tty:/dev/ttyACM0", "currency":"GBP",
                          "acquirer_id":"…", "merchant_id":"…",
                          "merchant_name":"…", "merchant_category_code":"5812",
                          "poi_id":"…", "recipient_id":"…",
                          "location":{"latitude":"51.5", "longitude":"-0.1"},
                          "api_key_header":"api-key", "passphrase_file":"…",
                          "key_id":"…", "key_version":"1",
                          "kdf":{"prf":"hmac-sha256", "salt":"…",
                                 "iterations":10000, "length":32},
                          "card_key_id":"…", "card_key_version":"…",
                          "gratuity_enabled":false,
                          "gratuity_percentages":[10,15,20],
                          "signature_mode":"app", "card_timeout":"60s"}},
          "support":{"provider":"truelayer", "env":"live", "mode":"read-only"}}}
      """,
      "$XDG_STATE_HOME/tender/ (~/.local/state) is yours alone: journal.db is the journal of every "
        + "attempt (with journal.db-wal, its log), journal.lock its locks, journal.aside room for "
        + "outcomes that the journal cannot take, journal.key the key of its fingerprints, "
        + "simulator.db the simulated world. --state-dir moves it. Beside the folder lies a mark, "
        + ".tender.tender-mark, that says how far the journal had come: with an older copy, or none, "
        + "every command that pays ends in 16 until tender journal settle --all --as restored.",
      "\"late_window\" in a profile (60s; 5s with --env simulator over a network) says for how long "
        + "after a request its effect may still appear at the provider.",
    ]
  )

  private static let promises = Topic(
    name: "promises",
    summary: "what is promised, and what that rests on",
    body: [
      "Once. In one journal, for one merchant, a reference is charged once, however often the "
        + "command is run, stopped, killed or cut off from power. A further charge needs "
        + "--new-attempt, which is refused while an earlier one succeeded, is pending, is held or is "
        + "unknown. A refund by the same --refund-reference is made once, and refunds are never more "
        + "than what is left.",
      "The outcome before the word. What an exit status, a record, an event or a reader's display "
        + "says is on the disk by then. What was announced is not undone by finding out.",
      "No exit but 9 where the money may have moved. After a request has left, another exit stands "
        + "on proof: an answer that names this payment, its amount and its currency, or a refusal "
        + "that cannot follow an execution. Where merchant credentials allow it, tender asks once "
        + "before it says 9. What a look-up does not show proves nothing within the late window.",
      "To whom it belongs. An attempt is replayed and found out with its own merchant's credentials "
        + "alone; with others it is 6.",
      "A journal that knows what it has forgotten. An old copy, a damaged file, a copy without its "
        + "log or a removed folder is noticed before anything is sent: 16. The mark for that lies "
        + "beside the state folder; where that place cannot be written, or is put back together with "
        + "the folder, nothing is noticed (tender journal verify says whether there is a mark). A "
        + "folder that was removed together with the simulated payments in it, and no others, is new.",
      "What it rests on. The disk keeps what it acknowledges as synced, and the file system has "
        + "working locks (no network share). The machine's clock since boot is not set. Pay Theory "
        + "takes a transfer with the same receipt number once, and shows a payment by its reference "
        + "within 15 minutes after the host token and a reversal within the late window. TrueLayer "
        + "keeps an idempotency key for 30 days. Toro's gateway processes an advice once, and "
        + "refuses an authorisation that arrives after its own cancellation advice.",
      "What is not promised. Two journals do not know of each other: a reference that is used on two "
        + "machines is charged on both. Nor does tender know of payments made elsewhere under the "
        + "same reference, save that Pay Theory is asked what is left before a part is given back. "
        + "A reference that was pruned is a new one. A cash barcode, a token and a payment that "
        + "nobody has authorized yet move no money, and may be made again after a failure. What was "
        + "settled by hand is what somebody said.",
      "How this is proven: man 7 tender-figures.",
    ]
  )

  private static let security = Topic(
    name: "security",
    summary: "what is kept secret, and how",
    body: [
      "No option takes a card number, a security code, an account number, a key or a token, and "
        + "an argument that looks like a card number stops the run without being echoed. An id "
        + "that only looks like one goes behind --id.",
      "Card and account numbers, security codes, keys and tokens are in no output, journal, trace "
        + "or error, whatever a provider sends back. A card is in locked memory of its own until it is "
        + "sealed, and wiped then; nobody but root can look into the process, and there are no core "
        + "dumps.",
      "Files with secrets (--instrument-file, --form-file, --resource-token-file, ..._FILE and a "
        + "configuration with secrets) are refused when they are yours and others can read them, "
        + "or when others can write them; the state folder when others can write it. Pipes, and "
        + "files of root that you cannot change, are taken.",
      "On Linux a command bounds itself before it reads what others wrote: to the files and TCP "
        + "ports that it needs, and to no other programs. tender doctor says what is bounded; "
        + "TENDER_CONTAINMENT=off turns it off.",
      "TLS is always verified; TENDER_CA_FILE names a private root. There is no telemetry and no "
        + "update check.",
      "A live write needs --env live on that very command line, and --yes or a typed yes. A "
        + "profile with \"mode\":\"read-only\" refuses every write.",
      "Who could do what, and the test that shows it: man 7 tender-security.",
    ]
  )

  private static let simulator = Topic(
    name: "simulator",
    summary: "the providers inside the binary",
    body: [
      "--env simulator, the default, answers in process: no network, no account. It keeps its "
        + "payments in simulator.db, encrypts as the real protocol does, and follows what the "
        + "provider documents; its error texts and its fees (2.9 % + 30 cents for cards, 1 % + 25 "
        + "for ACH) are its own.",
      """
        102      GENERIC_DECLINE            889986  ADDRESS_VERIFICATION_FAILED…
        193      INSUFFICIENT_FUNDS         889987  CVV_FAILED_RISK_RULES
        194      INVALID_ACCOUNT_NUMBER     888888  succeeds and is disputed
      """,
      "These amounts in cents decide a card payment where the merchant pays the fee. ACH payments "
        + "stay PENDING for 5 seconds; --test-account failure fails. --sim-scenario and "
        + "--sim-fault do the rest: see tender simulator scenarios.",
      "These amounts in minor units decide a card-present sale with Toro: 9001 refer, 9005 "
        + "declined, 9010 approved by half, 9051 insufficient funds, 9054 expired card, 9055 wrong "
        + "PIN, 9068 not processed yet, 9091 issuer not reached. --sim-scenario card:tap and the "
        + "like play card and customer; under simulator serve the reader is a TCP port of its own.",
      "--sim-seed and --sim-clock make output repeat byte for byte. With sandbox and live they "
        + "are errors; behind simulator serve they travel in a header.",
    ]
  )
}
