internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// Builds a payment or a stored payment method from the typed options.
extension OptionReader {
  func payment(_ reference: Reference, _ amount: Money) throws(Fault) -> PaymentOrder {
    var order = PaymentOrder(reference: reference, amount: amount)
    order.fee = try money(Keys.fee)
    order.feeMode = try invocation.value(Keys.feeMode) ?? .merchant
    order.storedMethod = invocation[Keys.token]
    order.stopsAtConfirmation = invocation.has(Keys.hold) || invocation.has(Keys.confirmation)
    order.payor = try payor()
    order.payorID = invocation[Keys.payorID]
    order.metadata = try metadata()
    for key in Keys.stored {
      if let text = invocation[key] { order.stored[key.option.member] = .string(text) }
    }
    order.paymentParameters = invocation[Keys.paymentParameters]
    order.sendsReceipt = invocation.has(Keys.sendReceipt)
    order.receiptDescription = invocation[Keys.receiptDescription]
    return order
  }

  func token(_ reference: Reference, instrument: Instrument) throws(Fault) -> TokenOrder {
    let payor = try payor()
    if !payor.members.isEmpty, invocation.has(Keys.payorID) {
      throw .exclusive("--payor and --payor-id")
    }
    var order = TokenOrder(reference: reference, instrument: instrument)
    order.payor = payor
    order.payorID = invocation[Keys.payorID]
    order.metadata = try metadata()
    return order
  }

  private func payor() throws(Fault) -> JSONObject {
    let payor = try fields(Keys.payor, among: Keys.payorFields)
    do throws(Fault) {
      _ = try Address(
        postalCode: payor.text("postal_code"),
        country: payor.text("country")
      ).checked()
    } catch {
      throw .usage(
        "bad_value",
        error.message.replacing("the instrument's ", with: "--payor "),
        "such as --payor country=US --payor postal_code=45202"
      )
    }
    return payor
  }
}
