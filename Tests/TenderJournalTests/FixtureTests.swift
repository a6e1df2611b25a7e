import Foundation
import TenderDatabase
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import TenderWire
import Testing

/// A journal that the program of version 6 wrote (`Fixtures/README.md`).
@Suite final class FixtureTests: JournalFolder {
  /// What each payment is now: its operations, its status, and where what finishes it lies (`s` a secret, `p` a
  /// plain preparation, `-` none).
  private static let expected: [String: (operations: [String], status: String, kept: String)] = [
    "PAID": (["charge succeeded"], "succeeded", "-"),
    "RETRIED": (["charge declined", "charge succeeded"], "succeeded", "--"),
    "DECLINED": (["charge declined"], "declined", "-"),
    "FREED": (["charge failed"], "failed", "-"),
    "HELD": (["authorize waiting"], "requires_confirmation", "s"),
    "CAPTURED": (["authorize succeeded", "capture succeeded"], "succeeded", "--"),
    "RELEASED": (["authorize succeeded", "void succeeded"], "cancelled", "--"),
    "VOIDED": (["charge succeeded", "refund succeeded"], "refunded", "--"),
    "LOST": (["charge sent"], "unknown", "s"),
    "LOSTCONFIRM": (["authorize waiting", "capture sent"], "unknown", "s-"),
    "PARTS": (
      ["charge succeeded", "refund succeeded", "refund succeeded", "refund sent"],
      "partially_refunded", "---p"
    ),
    "TOKEN": (["store succeeded"], "succeeded", "-"),
    "BANK": (["charge succeeded"], "succeeded", "-"),
    "BANKPARTS": (
      ["charge succeeded", "refund processing", "refund sent"], "succeeded", "--s"
    ),
    "BANKFAILED": (["charge succeeded", "refund processing"], "succeeded", "--"),
    "BANKLOST": (["charge sent"], "unknown", "s"),
    "BANKWAITS": (["charge waiting"], "requires_action", "-"),
    "BANKGONE": (["charge cancelled", "void succeeded"], "cancelled", "--"),
    "MANDATE": (["create_mandate succeeded"], "authorized", "-"),
    "REVOKED": (["create_mandate succeeded", "revoke succeeded"], "revoked", "--"),
    "SALE": (["charge succeeded"], "succeeded", "-"),
    "SALEPARTS": (["charge succeeded", "refund succeeded"], "partially_refunded", "--"),
    "BACK": (["refund succeeded"], "succeeded", "-"),
    "SALEHELD": (["authorize waiting"], "requires_confirmation", "p"),
    "SALELOST": (["charge sent"], "unknown", "p"),
    "SALELOSTCONFIRM": (["authorize waiting", "capture sent"], "unknown", "-p"),
    "SALEUNDONE": (["charge succeeded", "void succeeded"], "cancelled", "--"),
  ]

  private func put(_ version: Int) throws {
    let fixture = Project.path("Tests/TenderJournalTests/Fixtures/v\(version)")
    for name in try FileManager.default.contentsOfDirectory(atPath: fixture) {
      let place =
        name == "mark" ? root.appending(path: ".state.tender-mark") : state.appending(path: name)
      try FileManager.default.copyItem(at: URL(filePath: fixture + "/" + name), to: place)
    }
  }

  private func all(_ journal: SQLiteJournal) throws -> [Payment] {
    var found: [Payment] = []
    try journal.each(PaymentFilter()) { payment in
      found.append(payment)
      return true
    }
    return found
  }

  @Test func `takes over what that version wrote`() throws {
    try put(6)
    let before = try counts("attempt", "history")
    let journal = try open()
    journal.reachesOutside()
    try journal.checkWhole()
    let found = try all(journal)
    #expect(found.count == Self.expected.count)
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
    let problems = try journal.verify().filter { !$0.hasPrefix("there is no mark") }
    #expect(problems == [])
    // It is found as before, goes on, and is as whole afterwards.
    if var held = try journal.payment("HELD") {
      #expect(held.charge.preparation?.secret?.contains("session") == true)
      var filter = PaymentFilter()
      let id: String = try #require(held.charge.id)
      filter.handle = id
      #expect(try journal.references(filter) == ["HELD"])
      try journal.end(&held, note: "captured") { $0.preparation = nil }
    }
    try pay("NEW", journal)
    let again = try open()
    try again.checkWhole()
    #expect(try again.verify() == [])
  }

  private func counts(_ tables: String...) throws -> [Int] {
    let database = try Database(path: state.path + "/journal.db")
    return try tables.map { try database.first("SELECT count(*) FROM \($0)")?.first?.integer ?? 0 }
  }

  @Test func `a refund in parts goes on with its names, amounts and links`() throws {
    try put(6)
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

  /// The outcome of LOST, which a version before 7 could not write and set aside.
  @Test func `an outcome that was set aside before the upgrade is taken in`() throws {
    try put(6)
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

  /// What version 6 exported is taken over line by line, newest first, and is what its file is.
  @Test func `takes over an export of version 6`() throws {
    try put(6)
    let whole = try open()
    let taken = try open("other")
    let text = try String(contentsOf: state.appending(path: "export.jsonl"), encoding: .utf8)
    var attempts = 0
    for line in text.split(separator: "\n") {
      let record = try #require(JSONReader.read(String(line))?.object)
      let stored = try #require(record["stored"]?.object)
      let payment = try #require(PaymentRow.payment(of: stored))
      #expect(try taken.take(payment, []))
      attempts += 1
    }
    #expect(attempts == 28)
    for payment in try all(whole) {
      let other = try #require(try taken.payment(payment.key))
      var shown = payment.operations
      for index in shown.indices where shown[index].preparation?.secret != nil {
        shown[index].preparation = nil
        guard shown[index].kind == .refund else { continue }
        // How much it was lay sealed: all that was left is taken.
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
