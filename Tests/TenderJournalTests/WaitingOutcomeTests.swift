import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport
import Testing

/// Outcomes that version 0.2.0 left in a file because its database was locked (`Fixtures/0.2.0-aside`).
@Suite final class WaitingOutcomeTests: JournalFolder {
  private static let fixture = Project.path("Tests/TenderJournalTests/Fixtures/0.2.0-aside/")

  private func putJournal() throws {
    for name in ["journal.db", "journal.db-wal"] { try put(name, state.appending(path: name)) }
  }

  private func put(_ name: String, _ place: URL) throws {
    try FileManager.default.copyItem(at: URL(filePath: Self.fixture + name), to: place)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path)
  }

  /// The stored result, the history, and whether the file is gone.
  private func check(_ journal: any Journal, _ file: URL) throws {
    let found = try #require(try journal.payment("ORDER-7"))
    #expect(found.state.status == .succeeded)
    #expect(found.state.captured == 1050)
    #expect(found.charge.id == "pt-tender-paytheorylab-49ed727xjor2")
    #expect(found.charge.preparation == nil)
    #expect(found.providerStatus == "SUCCEEDED")
    let notes = try journal.history(of: found).map(\.note)
    #expect(notes.last == "outcome")
    #expect(notes.filter { $0 == "outcome" }.count == 1)
    #expect(try journal.verify() == [])
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `the first command after an upgrade takes them in, once`() throws {
    let file = state.appending(path: "journal.aside")
    try putJournal()
    try put("journal.aside", file)
    for _ in 0..<2 { try check(open(), file) }
    // A file that is found again, for example from a backup, changes nothing.
    try put("journal.aside", file)
    try check(open(), file)
  }

  @Test func `a file that is cut is removed, and the payment stays unknown`() throws {
    let file = state.appending(path: "journal.aside")
    try putJournal()
    try Data(contentsOf: URL(filePath: Self.fixture + "journal.aside")).prefix(500).write(to: file)
    #expect(try open().payment("ORDER-7")?.state.status == .unknown)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test(
    .enabled(if: PostgresCluster.isAvailable, Comment(rawValue: PostgresCluster.isMissing))
  )
  func `a machine's first command delivers them to a shared journal`() throws {
    try putJournal()
    let sent = try #require(try open().payment("ORDER-7"))
    let history = try open().history(of: sent)
    let address = try PostgresCluster.shared().database()
    let place = root.appending(path: "machine")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    #expect(try SharedWorld.journal(at: address, place.path).take(sent, history))
    try PostgresCluster.shared().sql(
      "UPDATE tender.journal SET name = 'e203c0d2af4cb3ac3c971bdaf76315d7'",
      in: String(address.split(separator: "/").last ?? "")
    )
    let file = place.appending(path: "journal.spool")
    for _ in 0..<2 {
      if !FileManager.default.fileExists(atPath: file.path) { try put("journal.aside", file) }
      let journal = try SharedWorld.journal(at: address, place.path)
      let lock = try journal.lock(
        .init(env: .simulator, provider: ProviderName("paytheory"), reference: "B"),
        by: Deadline(in: 0, on: clock),
        interruption: NeverInterrupted()
      )
      #expect(lock != nil)
      try check(journal, file)
    }
  }
}
