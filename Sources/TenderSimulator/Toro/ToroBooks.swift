import TenderEngine
import TenderModel

/// The simulated acquirer's sales, and its decision about the next message.
struct ToroBooks {
  let world: SimulatorWorld
  let ledger: Ledger

  /// The answer to an advice: `Response9Code`, and the acquirer's name for the sale.
  struct Advised {
    var response: String
    var recipient: String?
  }

  private func find(_ reference: String) throws(Fault) -> BookedSale? {
    try ledger.find(BookedSale.self, reference)
  }

  // MARK: Authorizations

  /// Decides about a sale or refund. A repeated one gets the same answer; another one under its reference is
  /// declined.
  func authorise(_ body: XMLElement) throws(Fault) -> BookedSale {
    let reference = body.text("Tx/TxId/TxRef") ?? ""
    let known = try find(reference)
    if var known, known.isCancelled {
      (known.response, known.reason, known.words) = ("DECL", "58", "01:CANCELLED BEFORE")
      return known
    }
    var sale = BookedSale(sale: body.text("Tx/SaleRefId") ?? "", reference: reference)
    sale.time = body.text("Tx/TxId/TxDtTm") ?? ""
    sale.terminal = body.text("Envt/POI/Id/Id") ?? ""
    sale.type = body.text("Tx/TxTp") ?? "CRDP"
    sale.currency = Currency(code: body.text("Tx/TxDtls/Ccy") ?? "")
    sale.amount = Self.amount(body, sale.currency) ?? 0
    if let known {
      guard [known.sale, known.type] == [sale.sale, sale.type], known.amount == sale.amount,
        known.currency == sale.currency
      else {
        (sale.response, sale.reason, sale.words) = ("DECL", "94", "01:DUPLICATE")
        return sale
      }
      return known
    }
    sale.recipient = "R" + world.randomness.text(11, from: "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ")
    (sale.response, sale.reason, sale.words) = try decide(body, sale)
    if sale.words.isEmpty { sale.words = "01:SIM" + sale.response }
    sale.needsCompletion = world.options.scenario == "gateway:completion_required"
    if ["APPR", "PART"].contains(sale.response) {
      sale.authorised = sale.response == "PART" ? (sale.amount + 1) / 2 : sale.amount
      sale.code = world.randomness.text(6, from: "0123456789")
      sale.capturesAtOnce =
        ["true", "1"].contains(body.text("Tx/TxCaptr") ?? "") && !sale.needsCompletion
      if sale.type == "RFND", var original = try original(body) {
        sale.original = original.reference
        original.entries.append(
          .init(kind: .refund, reference: reference, amount: sale.amount, response: "APPR")
        )
        try ledger.put(original)
      }
    }
    try ledger.put(sale)
    return sale
  }

  private func decide(
    _ body: XMLElement,
    _ sale: BookedSale
  ) throws(Fault) -> (response: String, reason: String, words: String) {
    guard sale.amount > 0, sale.currency != nil else { return ("DECL", "13", "01:INVALID AMOUNT") }
    guard body["Envt"]?["Card"] != nil else { return ("DECL", "14", "01:NO CARD") }
    if sale.type == "RFND", let problem = try refundProblem(body, sale) {
      return ("DECL", "12", "01:" + problem)
    }
    // A customer without a PIN may not be the cardholder.
    if body.text("Envt/Crdhldr/Authntcn/AuthntcnMtd") == "BYPS" {
      return ("DECL", "70", "01:PIN REQUIRED")
    }
    let named = ToroCatalog.outcomes.first { $0.scenario == world.options.scenario }
    let chosen = named ?? ToroCatalog.outcomes.first { $0.amount == sale.amount }
    switch chosen?.scenario {
    case "gateway:partial":
      // If the terminal does not support partial approval, the sale is declined.
      let takesPart = body["Cntxt"]?["PmtCntxt"]?.children
        .contains { $0.name == "SpprtdOptn" && $0.text == "PART" }
      return takesPart == true ? ("PART", "10", "") : ("DECL", "51", "")
    case "gateway:suspended": return ("SUSP", "68", "")
    case "gateway:technical": return ("TECH", "91", "")
    case nil: return ("APPR", "00", "01:SIMAPPROVED")
    default: return ("DECL", String(chosen?.amount ?? 5).suffix(2).description, "")
    }
  }

  private func refundProblem(_ body: XMLElement, _ refund: BookedSale) throws(Fault) -> String? {
    guard let original = try original(body), original.type != "RFND" else { return "NO ORIGINAL" }
    guard original.captured > 0 else { return "NOT CAPTURED" }
    guard original.currency == refund.currency else { return "OTHER CURRENCY" }
    return refund.amount <= original.left ? nil : "ABOVE ORIGINAL"
  }

  /// Returns the original sale of a message. All its identifiers must match.
  private func original(_ body: XMLElement) throws(Fault) -> BookedSale? {
    guard let named = body["Tx"]?["OrgnlTx"], let reference = named.text("TxId/TxRef"),
      let sale = try find(reference), sale.sale == named.text("SaleRefId"),
      sale.type == named.text("TxTp"), sale.time.isEmpty || sale.time == named.text("TxId/TxDtTm")
    else { return nil }
    return sale
  }

  // MARK: Advices

  /// Captures the authorized amount or a part, once. The rest is released.
  func complete(_ body: XMLElement) throws(Fault) -> Advised {
    guard let sale = try original(body), sale.sale == body.text("Tx/SaleRefId") else {
      return Advised(response: "DECL")
    }
    return try advise(.completion, body, sale) { amount in
      sale.stands && sale.captured == 0 && sale.type != "RFND" && body.text("Tx/Rvsl") != "true"
        && body.text("Tx/TxSucss") == "true" && amount > 0 && amount <= sale.authorised ?? 0
    }
  }

  /// Cancels a whole sale, unless it was refunded in part.
  func cancel(_ body: XMLElement) throws(Fault) -> Advised {
    guard let named = body["Tx"]?["OrgnlTx"], let reference = named.text("TxId/TxRef"),
      let saleReference = named.text("SaleRefId"), saleReference == body.text("Tx/SaleRefId"),
      let terminal = named.text("POIId/Id")
    else { return Advised(response: "DECL") }
    guard let known = try find(reference) else {
      // The authorization may still be on its way. It must not succeed afterwards.
      var unknown = BookedSale(sale: saleReference, reference: reference)
      unknown.time = named.text("TxId/TxDtTm") ?? ""
      unknown.type = named.text("TxTp") ?? ""
      unknown.terminal = terminal
      return try advise(.cancellation, body, unknown) { _ in true }
    }
    guard try original(body) != nil, known.terminal == terminal else {
      return Advised(response: "DECL", recipient: known.recipient)
    }
    let answer = try advise(.cancellation, body, known) { amount in
      let wholes = [known.amount, known.authorised, known.captured]
      return known.refunded == 0 && (!known.stands || wholes.contains(amount))
    }
    if answer.response == "APPR", let reference = known.original, var original = try find(reference)
    {
      original.entries.removeAll { $0.kind == .refund && $0.reference == known.reference }
      try ledger.put(original)
    }
    return answer
  }

  /// Writes an advice about a sale into the books. A repeated advice gets the same answer.
  private func advise(
    _ kind: BookedSale.Entry.Kind,
    _ body: XMLElement,
    _ sale: BookedSale,
    isTaken: (Int) -> Bool
  ) throws(Fault) -> Advised {
    let reference = body.text("Tx/TxId/TxRef") ?? ""
    if let known = sale.entries.first(where: { $0.kind == kind && $0.reference == reference }) {
      return Advised(response: known.response, recipient: sale.recipient)
    }
    let currency = Currency(code: body.text("Tx/TxDtls/Ccy") ?? "")
    let amount = Self.amount(body, currency)
    let fits = amount != nil && (sale.currency == nil || sale.currency == currency)
    let response = fits && isTaken(amount ?? 0) ? "APPR" : "DECL"
    var booked = sale
    booked.entries.append(
      BookedSale.Entry(kind: kind, reference: reference, amount: amount ?? 0, response: response)
    )
    try ledger.put(booked)
    return Advised(response: response, recipient: sale.recipient)
  }

  /// Returns the total amount of a message in minor units; nil if it has more digits than the currency.
  private static func amount(_ body: XMLElement, _ currency: Currency?) -> Int? {
    guard let currency, let text = body.text("Tx/TxDtls/TtlAmt") else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard text.utf8.count <= 15, let whole = parts.first.flatMap({ Int($0) }), parts.count <= 2
    else { return nil }
    var fraction = parts.count == 2 ? String(parts[1]) : ""
    while fraction.count > currency.exponent, fraction.hasSuffix("0") { fraction.removeLast() }
    guard fraction.count <= currency.exponent else { return nil }
    while fraction.count < currency.exponent { fraction.append("0") }
    var scale = 1
    for _ in 0..<currency.exponent { scale *= 10 }
    return whole * scale + (Int(fraction) ?? 0)
  }
}
