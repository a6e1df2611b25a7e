import TenderModel
import TenderWire

/// What the journal keeps of a sale for a later process: who it is, and the advice that is under way.
struct SalePreparation {
  var sale: SaleIdentity
  var advice: Messages.Advice?
  /// Whether the advice undoes the sale: another captures it.
  var cancels = false

  init(_ sale: SaleIdentity, advice: Messages.Advice? = nil, cancels: Bool = false) {
    self.sale = sale
    self.advice = advice
    self.cancels = cancels
  }

  /// The text for the journal: no card data, no secrets.
  var text: String {
    var object: JSONObject = ["sale": .string(sale.stored)]
    if let advice {
      object["advice"] = .string(advice.reference)
      object["advice_at"] = .string(advice.time)
      object["reason"] = advice.reason.map(JSON.string)
      if cancels { object["cancels"] = true }
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
