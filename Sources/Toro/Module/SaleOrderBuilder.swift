internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Builds the order for a sale or refund at a reader from the typed options.
struct SaleOrderBuilder {
  let session: any Session
  let env: Env

  private var invocation: Invocation { session.invocation }
  private var section: JSONObject { session.settings.profile["toro"]?.object ?? [:] }

  private var money: OptionReader {
    OptionReader(invocation, currency: section.text("currency") ?? "GBP")
  }

  func order(_ reference: Reference) throws(Fault) -> SaleOrder {
    let isRefund = try invocation.value(Keys.type) == .refund
    let amount = try money.amount()
    let gratuity = try money.money(Keys.gratuity)
    let original = try original()
    guard let total = Self.sum(amount, gratuity) else {
      throw .usage("bad_amount", "the sum is too large", "lower --gratuity")
    }
    var order = SaleOrder(reference: reference, amount: total)
    order.isRefund = isRefund
    order.gratuity = gratuity?.minorUnits
    order.acceptsPart = invocation.has(Keys.allowPartial)
    order.gratuityMenu = isRefund && !invocation.has(Keys.gratuityMenu) ? [] : try menu()
    order.captures = !invocation.has(Keys.noCapture) && !invocation.has(Keys.hold)
    order.original = original?.receipt
    order.originalReference = original?.reference
    order.additional = try money.pairs(Keys.additional, file: Keys.additionalFile)
    return order
  }

  private static func sum(_ amount: Money, _ gratuity: Money?) -> Money? {
    guard let gratuity else { return amount }
    let (sum, overflows) = amount.minorUnits.addingReportingOverflow(gratuity.minorUnits)
    return overflows ? nil : Money(minorUnits: sum, currency: amount.currency)
  }

  /// Returns the percentages of the gratuity menu: the typed ones, else the profile's if the menu is enabled.
  private func menu() throws(Fault) -> [Int] {
    if let typed = try invocation.value(Keys.gratuityMenu) { return typed }
    guard section["gratuity_enabled"]?.truth == true else { return [] }
    return section["gratuity_percentages"]?.array?.compactMap(\.wholeNumber) ?? [10, 15, 20]
  }

  /// Returns the sale to refund, by reference or from a file.
  private func original() throws(Fault) -> (receipt: JSONObject?, reference: Reference?)? {
    let reference = invocation[Keys.original]
    let path = invocation[Keys.originalFile]
    guard reference == nil || path == nil else {
      throw .exclusive("--original and --original-file")
    }
    if let reference {
      // The journal does not have its receipt yet.
      if session.isWrittenEarlier(reference) { return (nil, try Reference(reference)) }
      return try known(reference)
    }
    guard let path else { return nil }
    let bytes = try Environment.read(path, named: "--original-file", limit: 1 << 20)
    let object = JSONReader.read(bytes, duplicates: .refusedStrictly)?.object
    let receipt = object?["result"]?["receipt"]?.object ?? object?["receipt"]?.object ?? object
    guard let receipt, receipt.text("transactionReference") != nil else {
      throw .badFile(
        "--original-file \(path.quotedForMessage) is no receipt",
        hint: "a receipt as JSON, or the record of the sale"
      )
    }
    // If the journal has the sale, its refunds are counted there.
    let payment = try receipt.text("saleReferenceId").flatMap { name throws(Fault) in
      try payments(name).first { $0.state.id == receipt.text("transactionReference") }
    }
    return (receipt, payment?.reference)
  }

  private func payments(_ handle: String) throws(Fault) -> [Payment] {
    try session.journal().payments(
      matching: handle,
      filter: PaymentFilter(env: env, provider: ToroProvider.name)
    )
  }

  private func known(
    _ handle: String
  ) throws(Fault) -> (receipt: JSONObject?, reference: Reference?) {
    guard let payment = try payments(handle).first else { throw .unknownHandle(handle) }
    let state = payment.state
    let isPaid =
      state.isCaptured && state.status != .cancelled && payment.cardRefund(named: handle) == nil
    if isPaid, payment.receipt == nil { throw .saleLost(payment, effect: .none) }
    guard isPaid, let receipt = payment.receipt, receipt.text("type") == "purchase" else {
      throw .conflict(
        "not_refundable",
        "there is nothing to refund: \(payment.sentence)"
      ).then(payment.next(.show))
    }
    return (receipt, payment.reference)
  }
}
