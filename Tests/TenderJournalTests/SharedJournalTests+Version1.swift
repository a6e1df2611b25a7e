import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// Tables of version 1, written by the program of that version, are upgraded.
extension SharedJournalTests {
  /// Puts the tables of version 1 in place.
  private func restore() throws {
    let path = Project.path("Tests/OldJournals/shared-1.sql")
    _ = try sql(String(contentsOfFile: path, encoding: .utf8))
  }

  private func unmigrated(_ machine: Int = 0) throws -> SharedJournal {
    try SharedWorld.journal(at: address, folders[machine].path, migrates: false)
  }

  /// A description of each payment: its status, then its operations.
  private func words(_ journal: SharedJournal) throws -> [String: String] {
    var words: [String: String] = [:]
    try journal.each(PaymentFilter()) { payment in
      let operations = payment.operations.map {
        "\($0.kind.rawValue) \($0.effectiveAmount) \($0.state.name.rawValue)"
      }
      words[payment.reference.text] =
        "\(payment.state.status.rawValue): " + operations.joined(separator: ", ")
      return true
    }
    return words
  }

  private static let expected = [
    "PAID": "succeeded: charge 1050 succeeded",
    "HELD": "requires_confirmation: authorize 500 waiting",
    "CAPTURED": "succeeded: authorize 700 succeeded, capture 700 succeeded",
    "RELEASED": "cancelled: authorize 900 succeeded, void 900 succeeded",
    "AGAIN": "succeeded: charge 800 declined, charge 800 succeeded",
    "CARD": "succeeded: store 0 succeeded",
    "BANK": "succeeded: charge 1000 succeeded, refund 300 processing, refund 200 processing",
    "LOST": "succeeded: charge 600 succeeded, refund 100 sent",
    "MANDATE": "authorized: create_mandate 0 succeeded",
    "SALE": "partially_refunded: charge 1250 succeeded, refund 500 succeeded",
    "BACK": "succeeded: refund 500 succeeded",
    "UNKNOWN": "succeeded: charge 400 succeeded",
    "GIVEN": "partially_refunded: charge 300 succeeded, refund 100 succeeded",
    "VOIDED": "refunded: charge 200 succeeded, refund 200 succeeded",
    "NOTFOUND": "unknown: charge 400 sent",
  ]

  @Test func `takes tables of version 1 over`() throws {
    try restore()
    let lines = try sql("SELECT count(*) FROM tender.history")
    let journal = try unmigrated()
    #expect(throws: Fault.self) { try journal.count() }
    #expect(try journal.migrate().contains("15 payments converted"))
    #expect(try words(journal) == Self.expected)
    let problems = try journal.verify()
    #expect(problems == [])
    #expect(try sql("SELECT count(*) FROM tender.event") == lines)
    #expect(try journal.migrate().contains("nothing to do"))
    let held = try #require(try journal.payment(key("HELD"))?.attempt)
    #expect(held.preparation?.secret != nil)
    let again = try #require(try journal.payment(key("AGAIN")))
    #expect(again.attempts.map(\.number) == [1, 2])
    let notes = try journal.history(of: again).map { "\($0.operation) \($0.note)" }
    #expect(notes.first == "charge 1 opened")
    #expect(notes.last == "charge 2 outcome")
    // A machine with another boot counts from the send, not from now.
    let lost = try #require(try journal.payment(key("NOTFOUND"))?.attempt)
    #expect(clock.elapsed(since: lost) > 60_000)
    var filter = PaymentFilter()
    filter.statuses = [.unknown]
    #expect(try journal.counted(filter, upTo: 9) == 2)
    #expect(try journal.count(filter, upTo: 9) == 2)
    #expect(try journal.payments(matching: "PAID", filter: PaymentFilter()).count == 1)
    // New payments get new rows.
    #expect(try opened(journal, "NEW").row > 22)
  }

  @Test func `goes on with a conversion that was interrupted`() throws {
    try restore()
    // A row that cannot be converted stops the conversion, after the tables were set aside.
    _ = try sql("UPDATE tender.attempt SET status = 'odd', sum = NULL WHERE reference = 'SALE'")
    let journal = try unmigrated()
    let fault = #expect(throws: Fault.self) { try journal.migrate() }
    #expect(fault?.code == "journal_damaged")
    // The tables are not in use in between, and old programs find none.
    let other = try unmigrated(1)
    #expect((#expect(throws: Fault.self) { try other.count() })?.code == "journal_unmigrated")
    #expect(try sql("SELECT to_regclass('tender.attempt') IS NULL") == "t\n")
    _ = try sql(
      "UPDATE tender.attempt_1 SET status = 'partially_refunded' WHERE reference = 'SALE'"
    )
    // A part was converted before.
    _ = try sql(
      "CREATE TABLE tender.later AS SELECT * FROM tender.attempt_1 WHERE reference > 'G'; "
        + "DELETE FROM tender.attempt_1 WHERE reference > 'G'; "
        + "CREATE FUNCTION tender.stop() RETURNS trigger LANGUAGE plpgsql AS "
        + "'BEGIN RAISE EXCEPTION ''power cut''; END'; "
        + "CREATE TRIGGER stop BEFORE UPDATE ON tender.journal EXECUTE FUNCTION tender.stop()"
    )
    #expect(throws: Fault.self) { try journal.migrate() }
    _ = try sql(
      "INSERT INTO tender.attempt_1 SELECT * FROM tender.later; DROP TABLE tender.later; "
        + "DROP TRIGGER stop ON tender.journal"
    )
    #expect(try journal.migrate().contains("10 payments converted"))
    #expect(try words(journal) == Self.expected)
    #expect(try journal.verify() == [])
  }

  /// Tables of version 2 have operations; columns alone were added since.
  @Test func `reads tables of version 2`() throws {
    let path = Project.path("Tests/OldJournals/shared-2.sql")
    _ = try sql(String(contentsOfFile: path, encoding: .utf8))
    let journal = try unmigrated()
    _ = try journal.migrate()
    let problems = try journal.verify()
    #expect(problems == [])
    // The same commands as those of the file of version 7.
    let said = try OldJournal.withOperations.said().map {
      "\($0.text("reference") ?? ""): \($0.text("status") ?? "")"
    }
    let found = try words(journal)
    #expect(
      found.map { "\($0): \($1.prefix { $0 != ":" })" }.sorted() == Set(said).sorted()
    )
    let held = try #require(try journal.payment(key("HELD"))?.attempt)
    #expect(held.preparation?.secret != nil)
    #expect(try opened(journal, "NEW").row == 36)
    #expect(try journal.verify() == [])
  }

  /// A process that was running when a column was added continues with rows without a value there.
  @Test func `rows from before match their checksums with a column more`() throws {
    let journal = try journal(0)
    var paid = try opened(journal)
    _ = try sql("ALTER TABLE tender.payment ADD COLUMN later text")
    try paid.end(1, .succeeded, at: clock)
    try journal.update(&paid, 1, note: "outcome", .power)
    #expect(try journal.verify() == [])
  }

  /// A damaged row stays damaged, and is reported.
  @Test func `keeps a damaged row damaged`() throws {
    try restore()
    _ = try sql("UPDATE tender.attempt SET amount = 1 WHERE reference = 'PAID'")
    let journal = try unmigrated()
    _ = try journal.migrate()
    #expect(throws: Fault.self) { try journal.payment(key("PAID")) }
    #expect(try journal.verify().count == 1)
    #expect(try journal.payment(key("GIVEN")) != nil)
  }

  /// The roles get their rights on the new tables, if they had some.
  @Test func `gives the roles their rights on the new tables`() throws {
    try restore()
    for role in ["tender_runner", "tender_support", "tender_auditor"] {
      _ = try sql(
        "DO $$ BEGIN CREATE ROLE \(role) NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; "
          + "GRANT SELECT ON tender.attempt TO \(role)"
      )
    }
    _ = try unmigrated().migrate()
    let rights = try sql(
      "SELECT has_any_column_privilege('tender_runner', 'tender.operation', 'UPDATE'), "
        + "has_table_privilege('tender_support', 'tender.payment', 'SELECT'), "
        + "has_table_privilege('tender_support', 'tender.preparation', 'SELECT')"
    )
    #expect(rights == "t|t|f\n")
  }

  /// An outcome that was waiting before the upgrade is delivered to the payment of its attempt.
  @Test func `delivers what version 1 left in the spool`() throws {
    try restore()
    let name = try sql("SELECT name FROM tender.journal").trimmingCharacters(in: .newlines)
    let columns = LegacyAttempt.columns.names
    let old = try sql(
      "SELECT json_build_array(\(columns.map { "a.\($0)" }.joined(separator: ", "))) "
        + "FROM tender.attempt a WHERE reference = 'NOTFOUND'"
    )
    var values = try #require(JSONReader.read(old)?.array)
    for (column, value) in [("phase", "done"), ("status", "succeeded"), ("id", "pt-9")] {
      values[try #require(columns.firstIndex(of: column))] = .string(value)
    }
    let spool = SetAside(path: folders[0].path + "/journal.spool")
    try spool.take(for: 22)
    try spool.write(
      [
        "journal": .string(name), "row": 22, "over": 3, "note": "outcome", "by": "anna@till-3",
        "isPrepared": false, "values": .array(values),
      ],
      for: 22
    )
    spool.leave(22)
    let journal = try unmigrated()
    _ = try journal.migrate()
    let found = try #require(try journal.payment(key("NOTFOUND")))
    #expect(found.state.status == .succeeded)
    #expect(found.attempt?.id == "pt-9")
    #expect(
      try sql("SELECT status FROM tender.payment WHERE reference = 'NOTFOUND'") == "succeeded\n"
    )
    #expect(try journal.history(of: found).last?.note == "outcome")
    #expect(try journal.verify() == [])
  }
}
