import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// Journals in a PostgreSQL of the tests' own.
enum SharedWorld {
  static func journal(
    at address: String,
    _ folder: String,
    key: FleetKey? = FleetKey.ofTests,
    timeout: Int = 5000,
    migrates: Bool = true,
    clock: (any Clock)? = nil
  ) throws -> SharedJournal {
    let journal = try SharedJournal(
      SharedJournal.Settings(
        address: try #require(PostgresAddress(address)),
        folder: folder,
        key: key,
        timeout: timeout,
        by: "anna@till-3"
      ),
      redactor: Redactor(),
      clock: clock ?? SystemClock(interruption: NeverInterrupted())
    )
    if migrates { _ = try journal.migrate() }
    return journal
  }
}

extension FleetKey {
  static var ofTests: FleetKey? {
    var bytes = [UInt8](repeating: 7, count: 32)
    return FleetKey(consuming: &bytes)
  }
}
