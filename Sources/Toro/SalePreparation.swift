import TenderEngine
import TenderModel

/// What the journal keeps of a sale for a later process: its identity, and the advice that is under way.
struct SalePreparation {
  var sale: SaleIdentity
  var advice: Messages.Advice?
  /// Whether the advice of a capture that an earlier version recorded cancels the sale instead.
  private(set) var cancels = false

  init(_ sale: SaleIdentity, advice: Messages.Advice? = nil) {
    self.sale = sale
    self.advice = advice
  }

  /// The text for the journal: no card data, no secrets.
  var text: String {
    var object: JSONObject = ["sale": .string(sale.stored)]
    if let advice {
      object["advice"] = .string(advice.reference)
      object["advice_at"] = .string(advice.time)
      object["reason"] = advice.reason.map(JSON.string)
    }
    return JSONWriter.text(.object(object))
  }

  /// Reads what `text` gave; nil for anything else.
  init?(_ text: String?) {
    guard let object = text.flatMap({ JSONReader.read($0)?.object }),
      let sale = object.text("sale").flatMap(SaleIdentity.init(stored:))
    else { return nil }
    self.sale = sale
    if let reference = object.text("advice"), let time = object.text("advice_at") {
      advice = Messages.Advice(
        reference: reference,
        time: time,
        reason: object.text("reason")
      )
      cancels = object["cancels"] == true
    }
  }
}

extension Payment {
  /// The newest receipt of the current attempt: a capture or a void has one of its own.
  var receipt: JSONObject? {
    ([attempt].compactMap(\.self) + followers).filter { $0.isAttempt || $0.link == nil }
      .compactMap { $0.result["receipt"]?.object }.last
  }

  /// The identity of the sale of the current attempt, by its receipt or by what was kept before it was sent.
  var sale: SaleIdentity? {
    guard let attempt else { return nil }
    return attempt.result["receipt"]?.object.flatMap(SaleIdentity.init(receipt:))
      ?? SalePreparation(attempt.preparation?.plain)?.sale
  }
}
