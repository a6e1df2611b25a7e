/// What each provider can do, in this version.
struct Capabilities {
  let provider: String
  let name: String
  let isSupported: Bool
  let note: String

  static let all: [Capabilities] =
    [
      ("transact card", true, "in two steps, so that a killed payment can be found out"),
      ("transact ach", true, "checking and savings, ABA routing numbers"),
      ("transact cash", true, "a barcode that the payer takes to a shop"),
      ("transact --token", true, "a stored payment method; needs merchant credentials"),
      ("transact --confirmation", true, "held until confirm or cancel, from any process"),
      ("confirm", true, "exactly once; a repetition replays"),
      (
        "cancel", true,
        "voids what is held; afterwards a void or refund, said which, whole or a part"
      ),
      ("tokenize", true, "card or bank account"),
      ("payment-status", true, "by receipt number or reference; needs merchant credentials"),
      ("mandate-status", false, "Pay Theory has no mandates"),
      ("production cards", false, "stage paytheory takes cards from attested mobile apps alone"),
    ].map { name, isSupported, note in
      Capabilities(provider: "paytheory", name: name, isSupported: isSupported, note: note)
    } + bank + till

  private static let till: [Capabilities] = [
    ("transact", true, "chip, contactless and stripe on a Miura reader; purchase or refund"),
    ("transact --no-capture", true, "authorises; confirm captures by a completion advice"),
    ("transact --gratuity-menu", true, "the customer chooses on the reader"),
    ("transact --type refund", true, "of a sale in the journal, or by its saved receipt"),
    ("confirm", true, "captures what was authorised without capture"),
    ("cancel", true, "stops the reader; afterwards a cancellation advice, whole"),
    ("tokenize", false, "Toro stores no payment methods"),
    ("payment-status", true, "from the journal, with the state of a sale under way"),
    ("mandate-status", false, "Toro has no mandates"),
    ("doctor", true, "reader, gateway (diagnostic) and terminal manager (status report)"),
    ("journal show --receipt", true, "the merchant's and the customer's copy as text"),
  ].map { name, isSupported, note in
    Capabilities(provider: "toro", name: name, isSupported: isSupported, note: note)
  }

  private static let bank: [Capabilities] = [
    ("transact", true, "makes a bank payment and goes through its authorization"),
    ("transact --mandate", true, "a mandate for recurring payments, sweeping or commercial"),
    ("transact --payment-id", true, "goes on with what exists, by id and resource token"),
    ("transact --method card", false, "TrueLayer has bank payments alone"),
    ("confirm", true, "takes an authorization up where it stands; --return-url"),
    ("cancel", true, "a payment until it is authorized; revokes an authorized mandate"),
    ("cancel --refund", true, "a settled payment to a merchant account, whole or in part"),
    ("tokenize", false, "TrueLayer stores no payment methods"),
    ("payment-status", true, "by id, or by a reference that the journal knows"),
    ("mandate-status", true, "by id, or by a reference that the journal knows"),
    ("payments on a mandate", false, "not in this version; they can be looked up"),
  ].map { name, isSupported, note in
    Capabilities(provider: "truelayer", name: name, isSupported: isSupported, note: note)
  }
}
