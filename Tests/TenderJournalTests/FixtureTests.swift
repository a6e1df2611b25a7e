import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Journals that the programs of old versions wrote (`Fixtures/README.md`).
@Suite final class FixtureTests: JournalFolder {
  /// The present state of each payment: its operations, its status, and its preparation (`s` a secret, `p` a
  /// plain one, `-` none).
  private static let expected: [String: (operations: [String], status: String, kept: String)] = [
    "PAID": (["charge succeeded"], "succeeded", "-"),
    "RETRIED": (["charge declined", "charge succeeded"], "succeeded", "--"),
    "DECLINED": (["charge declined"], "declined", "-"),
    "FREED": (["charge failed"], "failed", "-"),
    "HELD": (["authorize waiting"], "requires_confirmation", "s"),
    "HELDFEE": (["authorize waiting"], "requires_confirmation", "s"),
    "CAPTURED": (["authorize succeeded", "capture succeeded"], "succeeded", "--"),
    "RELEASED": (["authorize succeeded", "void succeeded"], "cancelled", "--"),
    "VOIDED": (["charge succeeded", "refund succeeded"], "refunded", "--"),
    "ACCOUNT": (["charge processing"], "pending", "-"),
    "LOST": (["charge sent"], "unknown", "s"),
    "LOSTCONFIRM": (["authorize waiting", "capture sent"], "unknown", "s-"),
    "PARTS": (
      ["charge succeeded", "refund succeeded", "refund succeeded", "refund sent"],
      "partially_refunded", "---p"
    ),
    "PARTVOID": (["charge succeeded", "void succeeded"], "partially_refunded", "--"),
    "LOSTREFUND": (["charge succeeded", "refund sent"], "succeeded", "--"),
    "TOKEN": (["store succeeded"], "succeeded", "-"),
    "STORED": (["charge succeeded"], "succeeded", "-"),
    "BARCODE": (["charge waiting"], "requires_action", "-"),
    "BANK": (["charge succeeded"], "succeeded", "-"),
    "BANKPARTS": (["charge succeeded", "refund processing", "refund sent"], "succeeded", "--s"),
    "BANKFAILED": (["charge succeeded", "refund processing"], "succeeded", "--"),
    "BANKLOST": (["charge sent"], "unknown", "s"),
    "BANKWAITS": (["charge waiting"], "requires_action", "-"),
    "BANKGONE": (["charge cancelled", "void succeeded"], "cancelled", "--"),
    "MANDATE": (["create_mandate succeeded"], "authorized", "-"),
    "REVOKED": (["create_mandate succeeded", "revoke succeeded"], "revoked", "--"),
    "SALE": (["charge succeeded"], "succeeded", "-"),
    "SALEPART": (["charge succeeded"], "succeeded", "-"),
    "SALEPARTS": (["charge succeeded", "refund succeeded"], "partially_refunded", "--"),
    "BACK": (["refund succeeded"], "succeeded", "-"),
    "SALEHELD": (["authorize waiting"], "requires_confirmation", "p"),
    "SALELOST": (["charge sent"], "unknown", "p"),
    "SALELOSTCONFIRM": (["authorize waiting", "capture sent"], "unknown", "-p"),
    "SALEUNDONE": (["charge succeeded", "void succeeded"], "cancelled", "--"),
    "SALELOSTCANCEL": (["charge succeeded", "void sent"], "succeeded", "-p"),
  ]

  /// The old program named these by their last refund. They are now named by the state of the payment.
  private static let renamed = [
    "PARTS": "unknown", "LOSTREFUND": "unknown", "BANKPARTS": "unknown", "BANKFAILED": "pending",
    "SALELOSTCANCEL": "unknown",
  ]

  /// Files have these columns. Without `added`, another column makes them unreadable.
  @Test func `columns are only added, in a way that older journals get them`() {
    let advice =
      "take none out; one more is a line with `added` (Sources/README.md), and a line here"
    #expect(
      PaymentRow.columns.names == [
        "kind",
        "created",
        "updated",
        "version",
        "is_final",
        "is_unknown",
        "attempt",
        "amount",
        "requested",
        "asked",
        "authorized",
        "captured",
        "voided",
        "refunded",
        "refunding",
        "returned",
        "observed",
        "seen_refunded",
        "seen_elsewhere",
        "is_revoked",
        "env",
        "provider",
        "reference",
        "merchant",
        "currency",
        "last_four",
        "brand",
        "status",
        "id",
        "provider_status",
      ],
      "\(advice)"
    )
    #expect(
      OperationRow.columns.names == [
        "sequence",
        "number",
        "amount",
        "approved",
        "is_rest",
        "sent",
        "created",
        "updated",
        "kind",
        "name",
        "key",
        "id",
        "state",
        "moment",
        "link",
        "next_action",
        "content",
        "prints",
        "result",
        "fault",
      ],
      "\(advice)"
    )
  }

  private func all(_ journal: SQLiteJournal) throws -> [Payment] {
    var found: [Payment] = []
    try journal.each(PaymentFilter()) { payment in
      found.append(payment)
      return true
    }
    return found
  }

  /// A journal from before there were marks has no mark beside its folder.
  private func isWhole(_ journal: SQLiteJournal) throws -> Bool {
    try journal.verify().allSatisfy { $0.hasPrefix("there is no mark") }
  }

  @Test(arguments: OldJournal.all)
  func `takes over what an old version wrote`(_ old: OldJournal) throws {
    try old.put(into: state)
    let before = try counts("attempt", "history")
    let journal = try open()
    journal.reachesOutside()
    try journal.checkWhole()
    let found = try all(journal)
    let names = Set(try old.said().compactMap { $0.text("reference") })
    #expect(Set(found.map(\.reference.text)) == names && found.count == names.count)
    for payment in found {
      let name = payment.reference.text
      let expected = try #require(Self.expected[name], "\(name)")
      let operations = payment.operations.map { "\($0.kind.rawValue) \($0.state.name.rawValue)" }
      #expect(operations == expected.operations, "\(name)")
      #expect(payment.state.status.rawValue == expected.status, "\(name)")
      let kept = payment.operations.map {
        $0.preparation.map { $0.plain == nil ? "s" : "p" } ?? "-"
      }
      #expect(kept.joined() == expected.kept, "\(name)")
      #expect(payment.operations.first?.content.members.isEmpty == false, "\(name)")
      #expect(try journal.history(of: payment).first?.note == "opened", "\(name)")
    }
    #expect(found.reduce(0) { $0 + $1.attempts.count } == before[0])
    #expect(try counts("event")[0] == before[1])
    #expect(try isWhole(journal))
    // It is found as before, continues, and is complete afterwards.
    var held = try #require(try journal.payment("HELD"))
    #expect(held.charge.preparation?.secret?.contains("session") == true)
    var filter = PaymentFilter()
    let id: String = try #require(held.charge.id)
    filter.handle = id
    #expect(try journal.references(filter) == ["HELD"])
    var payer = PaymentFilter()
    payer.customer = "Ada@"
    #expect(try journal.references(payer) == ["PAID"])
    try journal.end(&held, note: "captured") { $0.preparation = nil }
    try pay("NEW", journal)
    let again = try open()
    try again.checkWhole()
    #expect(try again.verify() == [])
  }

  /// This program has the same data as the old program's output for each attempt.
  @Test(arguments: OldJournal.all)
  func `has what the old program said`(_ old: OldJournal) throws {
    try old.put(into: state)
    let journal = try open()
    var newest: Set<String> = []
    for said in try old.said() {
      let (name, provider) = (said.text("reference") ?? "", said.text("provider") ?? "")
      let payment = try #require(try journal.payment(name, of: provider), "\(name)")
      let number = said["attempt"]?.boundedNumber
      let attempt = try #require(payment.attempts.first { $0.number == number }, "\(name)")
      let followers = payment.operations.drop { $0.sequence <= attempt.sequence }
        .prefix { !$0.isAttempt }
      let both = [attempt] + followers
      #expect(attempt.id == said.text("id"), "\(name)")
      #expect(attempt.approved ?? attempt.amount == said["amount"]?.boundedNumber, "\(name)")
      #expect(said.text("provider") != "truelayer" || attempt.key == said.text("idempotency_key"))
      #expect(payment.currency?.code == said.text("currency"), "\(name)")
      #expect(payment.lastFour == said.text("last_four"), "\(name)")
      #expect(said.text("brand") == nil || payment.brand == said.text("brand"), "\(name)")
      // Version 1 wrote members in alphabetical order.
      let result = JSON.object(said["result"]?.object ?? [:]).canonicalText
      #expect(both.contains { JSON.object($0.result).canonicalText == result }, "\(name)")
      // A cancelled or revoked payment has no error.
      if let message = said["error"]?["message"]?.text,
        ["declined", "failed", "unknown"].contains(said.text("status"))
      {
        let errors = both.compactMap { $0.fault?.message }
        #expect(errors.contains(message), "\(name)")
      }
      try expectRefunds(said["reversal"]?["refunds"]?.array ?? [], payment)
      try expectHistory(said, of: payment, attempt, journal)
      // An earlier attempt is no longer the payment.
      guard newest.insert(name).inserted else { continue }
      let status = Self.renamed[name] ?? payment.state.status.rawValue
      #expect(said.text("status") == status, "\(name)")
      #expect(said["amount"]?.boundedNumber == payment.state.amount, "\(name)")
      #expect(said.text("updated_at") == Timestamp.text(payment.updatedAt), "\(name)")
    }
  }

  private func expectRefunds(_ said: [JSON], _ payment: Payment) throws {
    for (refund, shown) in zip(said, payment.reversals) {
      let name = payment.reference.text
      #expect(shown.amount == refund["amount"]?.boundedNumber, "\(name)")
      #expect(shown.isRest == (refund["rest"] == true), "\(name)")
      #expect(shown.key == refund["key"]?.text, "\(name)")
      #expect(shown.id == (refund["id"] ?? refund["transaction_id"])?.text, "\(name)")
      #expect(
        shown.name == (refund["refund_reference"] ?? shown.link.map { .string($0.text) })?.text
      )
      let isOver = refund["status"]?.text != "pending"
      #expect(shown.state == (isOver ? .succeeded : .processing), "\(name)")
    }
    #expect(payment.reversals.count >= said.count)
  }

  private func expectHistory(
    _ said: JSONObject,
    of payment: Payment,
    _ attempt: TenderEngine.Operation,
    _ journal: SQLiteJournal
  ) throws {
    let name = "\(attempt.kind.rawValue) \(attempt.number)"
    let lines = try journal.history(of: payment).filter { $0.operation == name }
    let old = said["history"]?.array ?? []
    #expect(lines.map(\.note) == old.map { $0["note"]?.text ?? "" }, "\(payment.reference.text)")
    #expect(lines.map { Timestamp.text($0.at) } == old.map { $0["at"]?.text ?? "" })
    #expect(lines.map(\.by) == old.map { $0["by"]?.text })
  }

  /// Version 7 has operations. The journal has the same payments as its export, and can continue.
  @Test func `reads what version 7 wrote`() throws {
    let old = OldJournal.withOperations
    try old.put(into: state)
    let journal = try open()
    journal.reachesOutside()
    try journal.checkWhole()
    #expect(try journal.verify() == [])
    let exported = try old.exported()
    #expect(exported.count == Self.expected.count)
    for record in exported {
      let payment = try #require(record["stored"]?.object.flatMap(PaymentRow.payment(of:)))
      let found = try #require(try journal.payment(payment.key))
      #expect(PaymentRow.isSame(found, payment), "\(payment.reference.text)")
      #expect(found.state.status.rawValue == record.text("status"))
      #expect(try journal.history(of: found).count == record["history"]?.array?.count)
    }
    var held = try #require(try journal.payment("HELD"))
    #expect(held.charge.preparation?.secret?.contains("session") == true)
    try journal.end(&held, note: "captured") { $0.preparation = nil }
    try pay("NEW", journal)
    #expect(try open().verify() == [])
  }

  private func counts(_ tables: String...) throws -> [Int] {
    let database = try Database(path: state.path + "/journal.db")
    return try tables.map { try database.first("SELECT count(*) FROM \($0)")?.first?.integer ?? 0 }
  }

  @Test func `a refund in parts goes on with its names, amounts and links`() throws {
    try OldJournal.all[5].put(into: state)
    let journal = try open()
    let parts = try #require(try journal.payment("PARTS"))
    #expect(parts.reversals.map(\.amount) == [300, 200, 100])
    #expect(parts.reversals.map(\.name) == [nil, "r2", "r3"])
    #expect(
      (parts.state.refunded, parts.state.refunding, parts.state.leftToRefund) == (500, 100, 450)
    )
    let bank = try #require(try journal.payment("BANKPARTS", of: "truelayer"))
    #expect(bank.reversals.map(\.amount) == [300, 200])
    #expect(bank.reversals.allSatisfy { $0.key != nil })
    #expect(bank.reversals[1].preparation?.secret?.contains("amount_in_minor") == true)
    let sale = try #require(try journal.payment("SALEPARTS", of: "toro"))
    #expect(sale.reversals.map(\.link?.text) == ["BACK"])
    #expect(try journal.payment("BACK", of: "toro")?.charge.link?.text == "SALEPARTS")
  }

  /// The outcome of LOST, which a version before 7 could not write, and set aside.
  @Test func `an outcome that was set aside before the upgrade is taken in`() throws {
    try OldJournal.all[5].put(into: state)
    do {
      let old = try Database(path: state.path + "/journal.db")
      let names = LegacyAttempt.columns.names
      let row = try old.first(
        "SELECT row, \(names.joined(separator: ", ")) FROM attempt WHERE reference = 'LOST'"
      )
      let values = try #require(row)
      var json = values.dropFirst().map(\.json)
      let place = { names.firstIndex(of: $0) ?? 0 }
      json[place("phase")] = "done"
      json[place("status")] = "succeeded"
      json[place("result")] = "{\"type\":\"PT_TRANSFER\"}"
      json[place("fault")] = .null
      let over = try #require(values[1 + place("version")].integer)
      json[place("version")] = .integer(over + 1)
      let aside = SetAside(path: state.path + "/journal.aside")
      let name = try old.first("SELECT name FROM journal")?.first?.text ?? ""
      try aside.take(for: 1)
      try aside.write(
        [
          "journal": .string(name), "row": values[0].json, "over": .integer(over),
          "note": "outcome", "preparation": false, "values": .array(json),
        ],
        for: 1
      )
    }
    let journal = try open()
    let found = try #require(try journal.payment("LOST"))
    #expect(found.state.status == .succeeded)
    #expect(found.charge.result == ["type": "PT_TRANSFER"])
    #expect(found.charge.preparation == nil)
    #expect(try journal.history(of: found).last?.note == "outcome")
    #expect(try journal.verify() == [])
  }

  /// An export of version 6 is imported line by line, newest first. The result equals its file.
  @Test func `takes over an export of version 6`() throws {
    let old = OldJournal.all[5]
    try old.put(into: state)
    let whole = try open()
    let taken = try open("other")
    for record in try old.exported() {
      let stored = try #require(record["stored"]?.object)
      let payment = try #require(PaymentRow.payment(of: stored))
      #expect(try taken.take(payment, []))
    }
    #expect(try old.exported().count == old.said().count)
    for payment in try all(whole) {
      let other = try #require(try taken.payment(payment.key))
      var shown = payment.operations
      for index in shown.indices where shown[index].preparation?.secret != nil {
        shown[index].preparation = nil
        guard shown[index].kind == .refund else { continue }
        // Its amount was sealed. The import takes all that was left.
        (shown[index].amount, shown[index].isRest) = (700, true)
        (shown[index].name, shown[index].key) = (nil, nil)
      }
      #expect(PaymentRow.isSame(payment.with(shown), other), "\(payment.reference.text)")
    }
    #expect(try taken.verify() == [])
  }
}

extension Journal {
  fileprivate func payment(_ reference: String, of provider: String) throws -> Payment? {
    try payment(.init(env: .simulator, provider: ProviderName(provider), reference: reference))
  }
}
