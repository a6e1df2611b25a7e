import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Journals in a PostgreSQL server of the tests.
enum SharedWorld {
  static func journal(
    at address: String,
    _ folder: String,
    key: JournalKey? = JournalKey.ofTests,
    timeout: Int = 5000,
    migrates: Bool = true,
    clock: (any Clock)? = nil
  ) throws -> SharedJournal {
    let place = try #require(PostgresAddress(address))
    var settings = SharedJournal.Settings(address: place, folder: folder, by: "anna@till-3")
    (settings.key, settings.timeout) = (key, timeout)
    let journal = try SharedJournal(
      settings,
      redactor: Redactor(),
      clock: clock ?? SystemClock(interruption: NeverInterrupted())
    )
    if migrates { _ = try journal.migrate() }
    return journal
  }
}

extension JournalKey {
  static var ofTests: JournalKey? {
    var bytes = [UInt8](repeating: 7, count: 32)
    return JournalKey(consuming: &bytes)
  }
}
