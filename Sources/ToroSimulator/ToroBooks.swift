import TenderEngine
package import TenderModel
import TenderSimulator
import TenderWire

/// What the simulated acquirer knows of sales, and what it makes of the next message.
struct ToroBooks {
  let world: SimulatorWorld
  let ledger: Ledger

  /// A sale as the acquirer has it.
  private func find(_ reference: String) throws(Fault) -> JSONObject? {
    try ledger.find("toro-sale", reference)
  }

  private func put(_ reference: String, _ sale: JSONObject) throws(Fault) {
    try ledger.put("toro-sale", reference, sale, reference: sale.text("sale"))
  }

  /// The answer's parts of a sale, for one that is answered again as well.
  func authorise(_ body: XMLElement) throws(Fault) -> JSONObject {
    let reference = body.text("Tx/TxId/TxRef") ?? ""
    if var known = try find(reference) {
      if known.text("state") == "gone" {
        known["rspn"] = "DECL"
        known["rsn"] = "58"
        known["inf"] = "01:CANCELLED BEFORE"
      }
      return known
    }
    let currency = Currency(code: body.text("Tx/TxDtls/Ccy") ?? "")
    let amount = currency.flatMap { Self.minor(body.text("Tx/TxDtls/TtlAmt") ?? "", $0) }
    var sale: JSONObject = [
      "sale": .string(body.text("Tx/SaleRefId") ?? ""), "ref": .string(reference),
      "amount": .integer(amount ?? 0), "currency": .string(currency?.code ?? ""),
      "type": .string(body.text("Tx/TxTp") ?? "CRDP"),
      "terminal": .string(body.text("Envt/POI/Id/Id") ?? ""),
      "rcpt": .string("R" + world.randomness.text(11, from: "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ")),
    ]
    let captures = ["true", "1"].contains(body.text("Tx/TxCaptr") ?? "")
    var (response, reason, words) = try decide(body, amount, currency)
    if response == "PART" {
      sale["authorised"] = .integer(((amount ?? 0) + 1) / 2)
    } else if response == "APPR" {
      sale["authorised"] = .integer(amount ?? 0)
    }
    if response == "APPR" || response == "PART" {
      sale["code"] = .string(world.randomness.text(6, from: "0123456789"))
      if body.text("Tx/TxTp") == "RFND" {
        sale["original"] = body.text("Tx/OrgnlTx/TxId/TxRef").map(JSON.string)
        try refund(sale.text("original"), amount ?? 0)
      }
    }
    let needsCompletion = world.options.scenario == "gateway:completion_required"
    sale["completion"] = .bool(needsCompletion)
    sale["captured"] = .bool(captures && !needsCompletion && ["APPR", "PART"].contains(response))
    if words.isEmpty { words = "01:SIM" + response }
    sale["state"] = .string(["APPR", "PART"].contains(response) ? "live" : "none")
    sale["rspn"] = .string(response)
    sale["rsn"] = .string(reason)
    sale["inf"] = .string(words)
    try put(reference, sale)
    return sale
  }

  private func decide(
    _ body: XMLElement,
    _ amount: Int?,
    _ currency: Currency?
  ) throws(Fault) -> (response: String, reason: String, words: String) {
    guard let amount, amount > 0, currency != nil else {
      return ("DECL", "13", "01:INVALID AMOUNT")
    }
    guard body["Envt"]?["Card"] != nil else { return ("DECL", "14", "01:NO CARD") }
    if body.text("Tx/TxTp") == "RFND", let problem = try refundProblem(body, amount) {
      return ("DECL", "12", "01:" + problem)
    }
    // Whoever would not enter a PIN is not who the card belongs to.
    if body.text("Envt/Crdhldr/Authntcn/AuthntcnMtd") == "BYPS" {
      return ("DECL", "70", "01:PIN REQUIRED")
    }
    let named = ToroCatalog.outcomes.first { $0.scenario == world.options.scenario }
    let chosen = named ?? ToroCatalog.outcomes.first { $0.amount == amount }
    switch chosen?.scenario {
    case "gateway:partial":
      // Who does not take a part gets nothing.
      let takesPart = body["Cntxt"]?["PmtCntxt"]?.children
        .contains { $0.name == "SpprtdOptn" && $0.text == "PART" }
      return takesPart == true ? ("PART", "10", "") : ("DECL", "51", "")
    case "gateway:suspended": return ("SUSP", "68", "")
    case "gateway:technical": return ("TECH", "91", "")
    case nil: return ("APPR", "00", "01:SIMAPPROVED")
    default: return ("DECL", String(chosen?.amount ?? 5).suffix(2).description, "")
    }
  }

  private func original(_ body: XMLElement) throws(Fault) -> JSONObject? {
    guard let named = body["Tx"]?["OrgnlTx"], let reference = named.text("TxId/TxRef"),
      let sale = try find(reference), sale.text("sale") == named.text("SaleRefId")
    else { return nil }
    return sale
  }

  private func refundProblem(_ body: XMLElement, _ amount: Int) throws(Fault) -> String? {
    guard let original = try original(body) else { return "NO ORIGINAL" }
    guard original.text("state") == "live", original["captured"] == true else {
      return "NOT CAPTURED"
    }
    let left =
      (original["authorised"]?.boundedNumber ?? 0) - (original["refunded"]?.boundedNumber ?? 0)
    return amount <= left ? nil : "ABOVE ORIGINAL"
  }

  /// Notes what was given back of an original; less than nothing where a refund is undone.
  private func refund(_ reference: String?, _ amount: Int) throws(Fault) {
    guard let reference, var original = try find(reference) else { return }
    let sum = (original["refunded"]?.boundedNumber ?? 0) + amount
    original["refunded"] = sum > 0 ? .integer(sum) : nil
    try put(reference, original)
  }

  /// What an advice comes to; the same advice is answered the same.
  private func advise(
    _ body: XMLElement,
    _ decide: () throws(Fault) -> (String, JSONObject?)
  ) throws(Fault) -> JSONObject {
    let reference = body.text("Tx/TxId/TxRef") ?? ""
    let sale = body.text("Tx/SaleRefId") ?? ""
    if let known = try ledger.find("toro-advice", "\(sale)/\(reference)") { return known }
    let (response, found) = try decide()
    var advice: JSONObject = ["rspn": .string(response), "sale": .string(sale)]
    advice["rcpt"] = found?["rcpt"]
    try ledger.put("toro-advice", "\(sale)/\(reference)", advice, reference: sale)
    return advice
  }

  func complete(_ body: XMLElement) throws(Fault) -> JSONObject {
    try advise(body) { () throws(Fault) in
      guard body["Tx"]?["OrgnlTx"] != nil, var sale = try original(body),
        let reference = sale.text("ref"), sale.text("sale") == body.text("Tx/SaleRefId"),
        sale.text("state") == "live"
      else { return ("DECL", nil) }
      sale["captured"] = true
      sale["captures"] = .integer((sale["captures"]?.boundedNumber ?? 0) + 1)
      try put(reference, sale)
      return ("APPR", sale)
    }
  }

  func cancel(_ body: XMLElement) throws(Fault) -> JSONObject {
    try advise(body) { () throws(Fault) in
      guard let named = body["Tx"]?["OrgnlTx"], let reference = named.text("TxId/TxRef"),
        named.text("SaleRefId") == body.text("Tx/SaleRefId"), named.text("POIId/Id") != nil
      else { return ("DECL", nil) }
      guard var sale = try find(reference) else {
        // It may still be on its way: it must not be let in afterwards.
        try put(
          reference,
          [
            "sale": .string(named.text("SaleRefId") ?? ""), "ref": .string(reference),
            "state": "gone",
          ]
        )
        return ("APPR", nil)
      }
      let currency = Currency(code: sale.text("currency") ?? "")
      let amount = currency.flatMap { Self.minor(body.text("Tx/TxDtls/TtlAmt") ?? "", $0) }
      // Whole, or not at all; and not what was given back in part.
      guard sale["refunded"] == nil,
        sale.text("state") != "live" || amount == sale["amount"]?.boundedNumber
          || amount == sale["authorised"]?.boundedNumber
      else { return ("DECL", sale) }
      if sale.text("state") == "live", let original = sale.text("original") {
        try refund(original, -(sale["authorised"]?.boundedNumber ?? 0))
      }
      sale["state"] = "gone"
      sale["captured"] = false
      try put(reference, sale)
      return ("APPR", sale)
    }
  }

  private static func minor(_ text: String, _ currency: Currency) -> Int? {
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

extension LedgerAudit {
  /// The sales under a reference as the acquirer has them: how many were authorised, how many of
  /// them still stand, how many of these are captured, and how often anything was captured by advice.
  package static func sales(
    path: String,
    reference: String
  ) throws(Fault) -> (authorised: Int, standing: Int, captured: Int) {
    let sales = try Ledger(path: path).list("toro-sale", column: "reference", value: reference)
    return (
      sales.count { $0["authorised"] != nil }, sales.count { $0.text("state") == "live" },
      sales.count { $0.text("state") == "live" && $0["captured"] == true }
    )
  }
}
