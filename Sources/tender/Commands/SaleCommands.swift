internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem
internal import TenderWire
internal import Toro

/// `transact` where the card is present.
extension WriteCommands {
  func sell(_ place: inout Place, _ env: Env, _ wait: WaitOptions?) throws(Fault) -> Int32 {
    try invocation.checkOptions(for: ToroProvider.name.text)
    let reference = try reference(&place)
    let engine = try composition.engine(ToroProvider.name.text, env, needing: .sale)
    let order = try SaleOrderBuilder(composition: composition, env: env).order(reference)
    if invocation.has("dry-run") {
      return try preview(engine, place, reference.text) { () throws(Fault) in
        try engine.preview(order)
      }
    }
    let key = try idempotencyKey()
    let verb = order.isRefund ? "refund" : "charge"
    try approve(
      env,
      "\(verb) \(order.amount.decimalText) \(order.amount.currency.code) under reference "
        + reference.text
    )
    announce(reference)
    composition.signals.hold()
    var report = try composition.withReader { () throws(Fault) in
      try engine.transact(
        order,
        newAttempt: invocation.has("new-attempt"),
        idempotencyKey: key
      )
    }
    if let wait { report = try wait.apply(to: report, engine, composition) }
    return finish(report)
  }
}
