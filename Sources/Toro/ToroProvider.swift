package import TenderEngine
package import TenderModel

/// Toro: card-present sales on a Miura reader, through the Toro gateway over ISO 20022 messages.
package struct ToroProvider: Provider {
  /// The provider's name in options, records and journals.
  package static let name = ProviderName("toro")
  let context: ToroContext

  package init(_ context: ToroContext) { self.context = context }

  package var name: ProviderName { Self.name }

  package var merchant: String { context.configuration.merchantID }

  /// The abilities of every reader and gateway.
  package static let traits = Traits(
    kinds: [.authorize, .charge, .capture, .void, .refund]
  ) { traits in
    traits.holdOption = "--no-capture"
    traits.namesItsStates = true
    traits.refundsByVoid = true
    // The gateway has no message for it.
    traits.canLookUp = false
    traits.isAtReader = true
    // A completion advice names its own amount.
    traits.capturesPart = { _ in true }
    traits.recovery = { operation, _ in
      operation.isAttempt || operation.link != nil ? .undo : .sameKey()
    }
  }

  /// The documented answer to a capture where nothing is held.
  package static var nothingHeld: JSONObject { ["state": "ready"] }

  package func isID(_ handle: String) -> Bool { false }

  package func checkReady(for order: OrderOf<SaleOrder>?, of payment: Payment?) throws(Fault) {
    if order != nil { try checkCredentials() }
  }

  /// Throws `auth` if ids or the passphrase are missing.
  func checkCredentials() throws(Fault) { _ = try context.configuration.checked() }

  package func way(of order: Order, _ payment: Payment?) -> String? {
    if case .capture = order { nil } else { "cancellation advice" }
  }

  /// Without the card, only the whole sale can be undone. A part is refunded with the card.
  package func check(_ draft: Operation, of payment: Payment) throws(Fault) {
    let state = payment.state
    guard draft.isReversal, draft.link == nil, draft.parent == nil, state.isCaptured,
      let amount = draft.amount, amount < state.captured
    else { return }
    let left = payment.text(ofMinorUnits: state.leftToRefund)
    throw Fault(
      .unsupported,
      code: "method_unsupported",
      "\(left) of \(payment.reference.quotedForMessage) is left to refund, and Toro refunds a part only to "
        + "the card",
      next: payment.cardRefund(amount)
    )
  }

  package func preview(_ order: SaleOrder) throws(Fault) -> JSONObject {
    let gateway = context.configuration.gatewayURL
    return [
      "method": "POST", "url": (gateway + Messages.Kind.authorisation.path).json,
      "message": "caaa.001.001.12", "device": context.configuration.device.json,
      "type": order.isRefund ? "refund" : "purchase", "capture": order.captures.json,
      "amount": order.amount.minorUnits.json, "currency": order.amount.currency.code.json,
      "sale_reference": order.reference.text.json, "gratuity": order.gratuity?.json,
      "gratuity_menu": order.gratuityMenu.isEmpty ? nil : order.gratuityMenu.json,
      "original": order.original?["transactionReference"],
    ]
  }

  package func perform(_ order: OrderOf<SaleOrder>?, _ progress: Progress) throws(Fault) -> Outcome
  {
    let gateway = try Gateway(context)
    if case .placed(let order) = order {
      return try SaleRunner(context, gateway, order, progress).run()
    }
    let advices = Advices(context: context, gateway: gateway, progress: progress)
    switch progress.operation.kind {
    case .capture: return try advices.capture()
    case .void, .refund: return try advices.void()
    case .authorize, .charge, .store, .createMandate, .revoke, .payout:
      throw .unsupportedOperation(name, "payments without a card reader")
    }
  }

  /// Undoes a lost sale with a cancellation advice, which is repeated until it is answered (README, 8).
  package func undo(_ progress: Progress) throws(Fault) -> Outcome {
    let advices = Advices(context: context, gateway: try Gateway(context), progress: progress)
    guard let sale = progress.operation.sale else {
      throw .saleLost(progress.payment, effect: .unknown)
    }
    let lost =
      progress.operation.fault
      ?? .outcomeUnknown(
        "its process ended before an answer came",
        result: ToroError.transactionAborted.result("the process ended before an answer came")
      )
    try progress.willSend()
    return try advices.lost(sale, lost)
  }

  package func lookUp(_ query: LookUp) throws(Fault) -> Outcome? { nil }

  /// Toro has no look-up.
  package func look(_ progress: Progress) throws(Fault) -> Finding { .cannotLook }

  /// Every page of `tender explain`.
  package static let explanations = Explanation.embedded("Toro")

  /// Returns a result with its members in the documented order (README, 5.2).
  package static func inKeyOrder(_ result: JSONObject) -> JSONObject {
    guard result["receipt"] != nil || result["cancellationType"] != nil || result["reason"] != nil
    else { return result }
    var arranged = result.ordered(by: members)
    guard let receipt = result["receipt"]?.object else { return arranged }
    arranged["receipt"] = .object(receipt.ordered(by: fields))
    return arranged
  }

  /// The members of results, in the documented order.
  private static let members = Explanation.embedded("Toro", [.member]).map(\.code)
  private static let fields = members.filter { $0.hasPrefix("receipt.") }
    .map { String($0.dropFirst("receipt.".count)) }
}

/// Checks an order before the reader is opened: message limits, gratuity, refunds, signature.
extension ToroProvider {
  package func check(_ order: SaleOrder) throws(Fault) {
    // `SaleRefId` is Max35Text, and `saleReferenceId` has the same limit.
    guard order.reference.text.count <= 35 else {
      throw .usage(
        "bad_reference",
        "reference \(order.reference.text.quotedForMessage) has more than 35 characters",
        "Toro's saleReferenceId takes 35 at most"
      )
    }
    guard order.amount.minorUnits > 0 else {
      throw .usage("bad_amount", "nothing to pay", "raise --amount")
    }
    // EMV's amount (9F02) has twelve digits.
    guard order.amount.minorUnits < 1_000_000_000_000 else {
      throw .usage("bad_amount", "the amount is more than a card reader takes", "12 digits at most")
    }
    try checkGratuity(order)
    if order.isRefund {
      try checkRefund(order)
    } else if order.original != nil {
      throw .usage("bad_options", "--original is for --type refund", "add --type refund")
    }
    for member in order.additional.members {
      let size = (member.value.text ?? JSONWriter.text(member.value)).utf8.count
      guard !member.key.isEmpty, member.key.count <= 1025, size <= 75_000 else {
        throw .usage(
          "bad_value",
          "--additional \(member.key.quotedForMessage) is too long",
          "names of 1,025 characters, values of 75,000 bytes"
        )
      }
    }
    try checkSignature(order)
  }

  private func checkGratuity(_ order: SaleOrder) throws(Fault) {
    guard order.gratuity == nil || order.gratuityMenu.isEmpty else {
      throw .usage(
        "bad_options",
        "--gratuity cannot be used with a gratuity menu on the reader",
        "leave one of them out (toro.gratuity_enabled in the profile counts as --gratuity-menu)"
      )
    }
    guard order.gratuityMenu.count <= 4,
      order.gratuityMenu.allSatisfy({ (0...100).contains($0) })
    else {
      throw .usage(
        "bad_value",
        "a gratuity menu of \(order.gratuityMenu.map(String.init).joined(separator: ","))",
        "one to four percentages from 0 to 100, such as 10,15,20"
      )
    }
  }

  private func checkRefund(_ order: SaleOrder) throws(Fault) {
    guard order.gratuity == nil, order.gratuityMenu.isEmpty else {
      throw .usage("bad_options", "a refund has no gratuity", "leave it out")
    }
    guard order.captures else {
      throw .usage("bad_options", "--no-capture cannot be used with --type refund", "leave it out")
    }
    guard let receipt = order.original else {
      // In the check of a batch, an earlier line makes the sale.
      guard order.originalReference == nil else { return }
      throw .usage(
        "missing_option",
        "--type refund needs --original or --original-file",
        "name the sale that is refunded"
      )
    }
    guard let original = SaleIdentity(receipt: receipt), !original.isRefund else {
      throw .usage(
        "bad_file",
        "the original is no receipt of a purchase",
        "it needs saleReferenceId, transactionReference, dateTime, amount and currency"
      )
    }
    guard original.currency == order.amount.currency else {
      throw .usage(
        "bad_currency",
        "the original is in \(original.currency.code)",
        "refund in the same currency"
      )
    }
    guard order.amount.minorUnits <= original.amount else {
      throw .usage(
        "bad_amount",
        "the original is of \(original.money.decimalText) \(original.currency.code), less than "
          + order.amount.decimalText,
        "refund at most that"
      )
    }
  }

  /// If no person can compare the signature, the sale is refused before money moves.
  private func checkSignature(_ order: SaleOrder) throws(Fault) {
    guard !order.isRefund else { return }
    let options = context.options
    guard options.signatureMatches == nil, !context.attendant.canCompare else { return }
    // Without credentials, no sale would get as far as a signature.
    try checkCredentials()
    throw Fault(
      .refused,
      code: "signature_not_asked",
      "a signature may have to be compared, and there is no terminal to ask on",
      hint: "add --signature-matches yes or no"
    )
  }
}

/// Checks that move no money.
extension ToroProvider {
  /// Connects to the reader and returns its description.
  ///
  /// Throws the documented device errors.
  package func checkReader() throws(Fault) -> String {
    let link = try ReaderLink.open(context)
    defer { link.close() }
    let device = try ask(link, .reset).template.objects
    let serial = device[tag: 0x9f1e].map { String(decoding: $0.prefix(35), as: UTF8.self) }
    let status = try ask(link, .encryptionStatus).template.objects[tag: 0xdfae01]?.first ?? 0
    guard status & 0x06 == 0x06 else {
      throw .deviceError("the reader has no keys to encrypt card data and PINs with")
    }
    let battery = try? ask(link, .battery).template.objects[tag: 0xdfa20a]?.first
    return "reader \(serial ?? "without a serial number"), encrypts card data and PINs"
      + (battery.map { ", battery \($0) %" } ?? "")
  }

  private func ask(
    _ link: ReaderLink,
    _ command: ReaderCommand
  ) throws(Fault) -> ReaderMessage {
    try link.send(command)
    let deadline = Deadline(in: 5000, on: context.clock)
    while deadline.remaining > 0 {
      try context.interruption.check()
      guard case .answer(let asked, let message)? = try link.next(milliseconds: 200),
        asked == command
      else { continue }
      switch message.status {
      case 0x9000: return message
      case 0x9f22, 0x9f26: throw .busyReader
      default:
        let code = Hex.encode([UInt8(message.status >> 8), UInt8(message.status & 0xff)])
        throw .deviceError("the reader answered \(code) to \(command.name)")
      }
    }
    throw .deviceError("the reader does not answer")
  }

  private func ask(
    _ make: (Messages) -> (Messages.Header) throws(Fault) -> Messages.Message
  ) throws(Fault) -> XMLElement {
    let gateway = try Gateway(context)
    let message = try make(gateway.messages)(gateway.header())
    return try gateway.exchange(message, nil, by: context.deadline)
  }

  /// Tests the gateway and the credentials. Returns a description of its answer.
  package func checkGateway() throws(Fault) -> String {
    let body = try ask(Messages.diagnostic)
    let isThere =
      body.text("AcqrrAvlbl").map { ["true", "1"].contains($0) ? "" : " not" }
      .map { ", acquirer\($0) available" } ?? ""
    let maintenance =
      body["TMSTrggr"].map { ", maintenance wanted (\($0.text("TMSCtctLvl") ?? ""))" } ?? ""
    return "the gateway answered, its security trailer fits" + isThere + maintenance
  }

  /// Reports this terminal's state. Returns a description of the terminal manager's answer.
  package func checkTerminalManager() throws(Fault) -> String {
    let body = try ask(Messages.statusReport)
    let what = body.name == "MgmtPlan" ? "a management plan" : "a configuration"
    let version = body.text("DataSet/Id/Vrsn").map { ", version \($0)" } ?? ""
    return "the terminal manager sent \(what)\(version)"
  }
}
