package import TenderCommandLine

extension ToroModule {
  package var help: ModuleHelp {
    var help = ModuleHelp()
    help.quote =
      "receipt.initiatorTransactionId, receipt.recipientTransactionId, the terminal and the time"
    help.topics = [Self.readers, Self.about]
    help.variables = ["TENDER_TORO_DEVICE"]
    help.addresses = ["TENDER_TORO_GATEWAY_URL"]
    help.profiles = [
      """
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
                          "signature_mode":"app", "card_timeout":"60s"}}
      """
    ]
    help.assumptions =
      "Toro's gateway processes an advice once, and refuses an authorisation that arrives after its "
      + "own cancellation advice."
    help.simulation = [
      "These amounts in minor units decide a card-present sale with Toro: 9001 refer, 9005 "
        + "declined, 9010 approved by half, 9051 insufficient funds, 9054 expired card, 9055 wrong "
        + "PIN, 9068 not processed yet, 9091 issuer not reached. --sim-scenario card:tap and the "
        + "like play card and customer; under simulator serve the reader is a TCP port of its own."
    ]
    return help
  }

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
        + "answered. --hold authorises only; tender confirm REF captures, with --amount a part. "
        + "--type refund --original REF refunds to the card what the journal knows, --original-file "
        + "what a saved receipt says, never more than is left.",
      "An authorisation whose answer is lost is undone in the same run (12, the lost answer under "
        + "result.error) or, where the gateway stays silent, by the same command or tender journal "
        + "resume --finish later (9 until then). tender journal show REF --receipt prints both copies.",
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

  /// Credentials, choices, and the settings that Toro's public documents do not give.
  static let about = Topic(
    name: "toro",
    summary: "Toro: credentials, and what is not known of it",
    body: [
      """
      --provider toro --env sandbox|live needs a profile (tender help files): device, \
      acquirer_id, merchant_id, merchant_category_code, poi_id, key_id, key_version and kdf; \
      and TENDER_TORO_PASSPHRASE. Nothing here was run against Toro's own servers or a real \
      reader; Bluetooth was not run at all. Readers are spoken to in Miura's MPI as its SDKs \
      and public logs show it, the gateway in ISO 20022 messages (nexo acquirer protocol 12) \
      that fit their schemas. CARD STATUS has no answer, only its event, as captures of real \
      readers show it; one that some firmware sends is tolerated (--sim-fault \
      reader:acknowledges). One sale at a time: a reader that another process uses ends in 6, \
      transaction_already_started.
      """,
      """
      Not public, and therefore configuration, with the simulator's own values only there: \
      every id; how the message key is made of the passphrase (kdf); the HTTP header of the \
      API key (api_key_header, sent where TENDER_TORO_API_KEY is set); the addressee \
      (recipient_id); the id of the key that readers encrypt under (card_key_id, \
      card_key_version); how long a card is awaited (card_timeout).
      """,
      """
      Inferred, and the simulator's word for it: the path of the authorisation request \
      (authorisation_path sets another); that the MAC is over the body with its own tags; how \
      the reader's encrypted data (DFAE02, DFAE03) and PIN block are wrapped; refunds as RFND \
      with the original; which reader event is which state; the spellings partiallyApproved, \
      suspended and technicalError of responseCode; captured as "asked for, approved, and no \
      completion wanted". The amount with a gratuity is the sum, as the gratuity page says.
      """,
      """
      What this program decides itself: a signed answer is believed whatever \
      its HTTP status. Without one, 401, 403, 404, 405, 413, 415, 429, 431 and a rejection \
      (which carries no trailer) may come after the effect: the sale is undone by an advice, \
      and ends with the refusal once that is approved, else in 9. Every other status is a lost \
      answer. Of an advice APPR is a yes, DECL a no, and everything else not an answer yet: a \
      refused or rejected advice ends in 9, and the same command sends the same advice again; \
      a rejection because its exchange number was used before (DPMG) says that the network \
      brought it twice, and it is repeated; an approval of nothing is undone; a lost authorisation that the acquirer will not undo (DECL) stays \
      unknown, and is the acquirer's to clear up; a card that declines what the acquirer \
      approved ends in 3, a reader that is lost then in 12, both undone; a chip that fails \
      lets the stripe be read, and ends with its own error where none is; payment-status of a \
      sale whose process died before anything was sent says failed; a cancelled refund makes \
      its amount refundable again. What the reader offers to choose (applications) the \
      customer chooses there.
      """,
    ]
  )
}
