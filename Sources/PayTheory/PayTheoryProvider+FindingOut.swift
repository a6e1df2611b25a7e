package import TenderEngine
package import TenderModel
import TenderWire

/// What became of an effecting request whose answer was lost (contract: by receipt number, by
/// reference, or by the original of a reversal).
extension PayTheoryProvider {
  /// Finds out at the provider; throws with effect unknown where it cannot.
  package func findOut(
    _ attempt: Attempt,
    _ progress: Progress,
    mayRepeat: Bool
  ) throws(Fault) -> Finding {
    do throws(Fault) {
      return try finding(attempt, progress, mayRepeat)
    } catch {
      throw .stillUnknown(attempt, because: error)
    }
  }

  private func finding(
    _ attempt: Attempt,
    _ progress: Progress,
    _ mayRepeat: Bool
  ) throws(Fault) -> Finding {
    if attempt.operation == .cancel { return try reversalFinding(attempt) }
    let age = progress.sinceSent
    if let prepared = (attempt.preparation?.secret).flatMap(Preparation.init(stored:)) {
      if let found = try transaction(LookUp(id: prepared.receipt)) {
        return .happened(Transactions.payment(found))
      }
      // The receipt number is the transfer's own key: sent again it cannot charge twice. On live
      // a first one that is still on its way gets a minute.
      guard context.configuration.env != .live || age >= 60_000 else {
        throw .tooEarly(seconds: 60 - age / 1000)
      }
      return mayRepeat ? .doneNow(try confirm(attempt, progress)) : .didNotHappen
    }
    let others = try progress.receiptsOfOthers()
    let query = LookUp(reference: attempt.reference, others: others)
    let found = try transaction(query) { item throws(Fault) in try isThis(item, attempt) }
    if let found { return .happened(Transactions.payment(found)) }
    // A host token lives a quarter of an hour: until then the request may still arrive.
    guard age >= 15 * 60_000 else { throw .tooEarly(seconds: 15 * 60 - age / 1000) }
    return .didNotHappen
  }

  /// How far the clocks of both sides may be apart, in milliseconds.
  private static let skew = 60 * 60_000

  /// Whether a transaction of the same reference is what an attempt sent: its amount, currency,
  /// instrument and time.
  ///
  /// Throws where all fits but the time: it proves neither that this happened nor that it did not.
  private func isThis(_ item: JSONObject, _ attempt: Attempt) throws(Fault) -> Bool {
    if let amount = attempt.amount, let gross = item["gross_amount"]?.boundedNumber, gross != amount
    {
      // A service fee may be in it.
      guard gross - (item["fees"]?.boundedNumber ?? 0) == amount else { return false }
    }
    if let currency = attempt.currency?.code, let other = item.text("currency"), other != currency {
      return false
    }
    let method = item["payment_method"]
    if let lastFour = attempt.lastFour, let other = method?["last_four"]?.text, !other.isEmpty,
      other != lastFour
    {
      return false
    }
    if let token = attempt.content.text("token"), let other = method?["payment_method_id"]?.text,
      other != token
    {
      return false
    }
    guard let sent = attempt.sentAt, let date = item.text("transaction_date"),
      let made = Timestamp.read(date)
    else { return true }
    // A date alone is that day's first moment.
    let precision = date.utf8.count == 10 ? 24 * 60 * 60_000 : 0
    if made >= sent - Self.skew - precision { return true }
    throw Fault(
      .unknown,
      code: "outcome_unknown",
      "Pay Theory has an older payment like it, \(item.text("transaction_id") ?? ""): whether that is "
        + "this one cannot be told"
    )
  }
}

extension Fault {
  fileprivate static func tooEarly(seconds: Int) -> Fault {
    Fault(
      .unknown,
      code: "outcome_unknown",
      "Pay Theory does not know it yet, which proves nothing for another \(max(1, seconds)) s"
    )
  }

  fileprivate static func stillUnknown(_ attempt: Attempt, because fault: Fault) -> Fault {
    Fault(
      .unknown,
      effect: .unknown,
      code: "outcome_unknown",
      "the outcome of \(attempt.reference.quotedForMessage) is still not known: \(fault.message)",
      hint: fault.cause == .credentialsMissing
        ? fault.hint ?? "" : "do not pay again; run the same command again later",
      result: fault.result ?? attempt.fault?.result
    )
  }
}
