internal import TenderEngine
internal import TenderModel
internal import TenderModule

/// Options as a payment or a stored payment method.
struct OrderBuilder {
  let invocation: Invocation
  let read: OptionReader

  init(_ invocation: Invocation) {
    self.invocation = invocation
    read = OptionReader(invocation, currency: "USD")
  }

  func payment(
    _ reference: Reference,
    instrument: Instrument?
  ) throws(Fault) -> PaymentOrder {
    var options: JSONObject = [:]
    for name in [
      "account-code", "payment-parameters", "invoice-id", "recurring-id", "receipt-description",
    ] {
      options[name.replacing("-", with: "_")] = invocation[name].map(JSON.string)
    }
    if invocation.has("send-receipt") { options["send_receipt"] = true }
    return PaymentOrder(
      reference: reference,
      amount: try read.amount(),
      fee: try read.money("fee"),
      feeMode: invocation["fee-mode"] ?? "merchant_fee",
      instrument: instrument,
      storedMethod: invocation["token"],
      stopsAtConfirmation: invocation.has("confirmation"),
      payor: try payor(),
      payorID: invocation["payor-id"],
      metadata: try read.metadata(),
      options: options
    )
  }

  func token(_ reference: Reference, instrument: Instrument) throws(Fault) -> TokenOrder {
    let payor = try payor()
    if !payor.members.isEmpty, invocation.has("payor-id") {
      throw Fault(
        .usage,
        code: "bad_options",
        "--payor and --payor-id exclude each other",
        hint: "give one of them"
      )
    }
    return TokenOrder(
      reference: reference,
      instrument: instrument,
      payor: payor,
      payorID: invocation["payor-id"],
      metadata: try read.metadata()
    )
  }

  private static let payorFields = [
    "first_name", "last_name", "email", "phone", "line1", "line2", "city", "region",
    "postal_code", "country",
  ]

  private func payor() throws(Fault) -> JSONObject {
    let payor = try read.fields("payor", among: Self.payorFields)
    do throws(Fault) {
      _ = try Address(
        postalCode: payor.text("postal_code"),
        country: payor.text("country")
      ).checked()
    } catch {
      throw Fault(
        .usage,
        code: "bad_value",
        error.message.replacing("the instrument's ", with: "--payor "),
        hint: "such as --payor country=US --payor postal_code=45202"
      )
    }
    return payor
  }
}
