import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// Tables of older versions: of version 2 they are used, of version 1 they are refused.
extension SharedJournalTests {
  private func unmigrated() throws -> SharedJournal {
    try SharedWorld.journal(at: address, folders[0].path, migrates: false)
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

  /// Tables of version 2 have operations; columns alone were added since.
  @Test func `reads tables of version 2`() throws {
    let path = Project.path("Tests/TenderJournalTests/Fixtures/v7/shared.sql")
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
  @Test func `rows from before are read with a column more`() throws {
    let journal = try journal(0)
    var paid = try opened(journal)
    _ = try sql("ALTER TABLE tender.payment ADD COLUMN later text")
    try paid.end(1, .succeeded, at: clock)
    try journal.update(&paid, 1, note: "outcome", .power)
    #expect(try journal.verify() == [])
  }

  /// Tables from before there were operations, and such tables during a conversion (version 0). They must
  /// not look empty, and nothing is written.
  @Test(arguments: [0, 1])
  func `refuses tables from before the first release`(_ version: Int) throws {
    _ = try sql(
      """
      CREATE SCHEMA tender;
      CREATE TABLE tender.journal (one bigint PRIMARY KEY, version bigint NOT NULL, name text NOT NULL);
      INSERT INTO tender.journal VALUES (1, \(version), 'old');
      CREATE TABLE tender.attempt (row bigint PRIMARY KEY, reference text, status text);
      INSERT INTO tender.attempt VALUES (1, 'A', 'succeeded');
      """
    )
    let journal = try unmigrated()
    let uses: [() throws -> Void] = [
      { _ = try journal.extent() }, { _ = try journal.payment(self.key()) },
      { _ = try self.lock(journal) }, { _ = try self.opened(journal) },
      { _ = try journal.verify() }, { _ = try journal.take(.test("A", at: 0), []) },
      { _ = try journal.migrate() },
    ]
    for (index, use) in uses.enumerated() {
      let fault = #expect(throws: Fault.self, "\(index)") { try use() }
      #expect((fault?.kind, fault?.code) == (.state, "journal_older"), "\(index)")
      #expect(fault?.message.contains("has version \(version)") == true, "\(index)")
    }
    let tables = """
      SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE schemaname = 'tender'
      """
    #expect(try sql(tables) == "attempt journal\n")
    #expect(try sql("SELECT version, name FROM tender.journal") == "\(version)|old\n")
  }
}
