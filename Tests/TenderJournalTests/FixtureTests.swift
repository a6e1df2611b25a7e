import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Journals that the programs of old versions wrote (`Fixtures/README.md`).
@Suite final class FixtureTests: JournalFolder {
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
        "source",
        "parent",
      ],
      "\(advice)"
    )
  }

  /// The journal has the same payments as its export, and can continue.
  @Test func `reads what version 7 wrote`() throws {
    let old = OldJournal.withOperations
    try old.put(into: state)
    let journal = try open()
    journal.reachesOutside()
    try journal.checkWhole()
    #expect(try journal.verify() == [])
    let exported = try old.exported()
    #expect(exported.count == 35)
    for record in exported {
      let payment = try #require(record["stored"]?.object.flatMap(PaymentRow.payment(of:)))
      let found = try #require(try journal.payment(payment.key))
      #expect(PaymentRow.isSame(found, payment), "\(payment.reference.text)")
      #expect(found.state.status.rawValue == record.text("status"))
      #expect(try journal.history(of: found).count == record["history"]?.array?.count)
    }
    var held = try #require(try journal.payment("HELD"))
    #expect(held.charge.preparation?.secret?.contains("session") == true)
    let seals = state.appending(path: "journal.seals").path
    #expect(!FileManager.default.fileExists(atPath: seals))
    try journal.end(&held, note: "captured") { $0.preparation = nil }
    try pay("NEW", journal)
    #expect(try open().verify() == [])
  }

  /// A file from before there were operations. It must not look empty, and nothing is written.
  @Test(arguments: [1, 6])
  func `refuses a file from before the first release`(_ version: Int) throws {
    try OldJournal.withOperations.put(into: state)
    let path = state.path + "/journal.db"
    do {
      let old = try Database(path: path)
      try old.execute(
        """
        CREATE TABLE attempt (row INTEGER PRIMARY KEY, reference TEXT NOT NULL, status TEXT NOT NULL);
        INSERT INTO attempt (reference, status) SELECT reference, status FROM payment;
        DROP TABLE payment; DROP TABLE operation; DROP TABLE event;
        PRAGMA user_version = \(version)
        """
      )
      _ = try old.first("PRAGMA wal_checkpoint(TRUNCATE)")
    }
    let mark = state.deletingLastPathComponent().appending(path: ".state.tender-mark")
    let before = try [URL(filePath: path), mark].map { try Data(contentsOf: $0) }
    for _ in 0..<2 {
      let fault = #expect(throws: Fault.self) { _ = try open() }
      #expect((fault?.kind, fault?.code) == (.state, "journal_older"))
      #expect(fault?.message.contains("\(path) has version \(version)") == true)
      #expect(fault?.exitStatus == 16)
    }
    #expect(try [URL(filePath: path), mark].map { try Data(contentsOf: $0) } == before)
    // Without the file, the mark still says that payments were made.
    for name in Self.files { try? FileManager.default.removeItem(atPath: state.path + "/" + name) }
    let empty = try open()
    empty.reachesOutside()
    #expect(code { try empty.checkWhole() } == "journal_forgot")
  }
}
