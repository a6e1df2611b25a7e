internal import TenderCommandLine

extension ToroModule {
  /// Credentials, choices, and what no public document of Toro says.
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
