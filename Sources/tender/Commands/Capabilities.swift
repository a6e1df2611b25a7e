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
      ("cancel", true, "voids what is held; afterwards a void or refund, said which"),
      ("tokenize", true, "card or bank account"),
      ("payment-status", true, "by receipt number or reference; needs merchant credentials"),
      ("mandate-status", false, "Pay Theory has no mandates"),
      ("production cards", false, "stage paytheory takes cards from attested mobile apps alone"),
    ].map { name, isSupported, note in
      Capabilities(provider: "paytheory", name: name, isSupported: isSupported, note: note)
    } + [
      Capabilities(provider: "toro", name: "all", isSupported: false, note: "not in this version"),
      Capabilities(
        provider: "truelayer",
        name: "all",
        isSupported: false,
        note: "not in this version"
      ),
    ]
}
