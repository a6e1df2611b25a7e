internal import PayTheory
internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// What a `cancel` gives back of a captured payment, where it is not simply all of it.
struct Part {
  /// In minor units; nil for all that is left.
  let amount: Int?
  /// The operator's own name for it.
  let name: String?

  /// Nil where the whole payment is meant.
  ///
  /// Throws `usage` for what the provider does not use: an amount that nobody looks at would give
  /// everything back.
  init?(_ invocation: Invocation, _ provider: String, _ attempt: Attempt?) throws(Fault) {
    let isPart = provider == PayTheoryProvider.name.text && invocation.command.name == "cancel"
    let parts = ["amount", "amount-minor", "currency", "refund-reference"]
    for option in (isPart ? [] : parts) + ["idempotency-key"] where invocation.has(option) {
      throw Fault(
        .usage,
        code: "bad_options",
        "tender \(invocation.command.name) does not take --\(option) with \(provider)"
          + (parts.contains(option) ? ": it undoes the whole payment" : ""),
        hint: "leave --\(option) out"
      )
    }
    guard isPart else { return nil }
    let currency = attempt?.currency ?? "USD"
    if let given = invocation["currency"], given.uppercased() != currency {
      throw Fault(
        .usage,
        code: "bad_currency",
        "the payment is in \(currency), not in \(given.quotedForMessage)",
        hint: "leave --currency out"
      )
    }
    let money = try OrderBuilder(invocation: invocation, currency: currency).money("amount")
    if let money, money.minorUnits == 0 {
      throw Fault(.usage, code: "bad_amount", "nothing to give back", hint: "raise --amount")
    }
    name = try invocation["refund-reference"].map { text throws(Fault) in
      try Reference(text).text
    }
    amount = money?.minorUnits
    let hadParts = attempt.map { !$0.refunds.isEmpty } ?? false
    guard amount != nil || name != nil || hadParts else {
      if invocation.has("currency") {
        throw Fault(
          .usage,
          code: "bad_options",
          "--currency goes with --amount",
          hint: "leave --currency out to undo the whole payment"
        )
      }
      return nil
    }
  }
}
