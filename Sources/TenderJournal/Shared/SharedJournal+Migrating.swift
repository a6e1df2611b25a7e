import TenderEngine
package import TenderModel
import TenderSystem

/// Creates the tables, or upgrades those of older versions.
extension SharedJournal {
  /// Creates the tables, or upgrades them to this version. Returns a description of the changes.
  ///
  /// After an interruption, running it again continues. Throws `state` (`journal_newer`) for a newer version.
  package func migrate() throws(Fault) -> String {
    let version = try run(["SELECT version FROM tender.journal"], orMissing: true).first?.first?[0]
    guard let found = version?.integer else {
      // If two processes migrate at once, the second finds the tables and changes nothing.
      try run(
        ["CREATE SCHEMA IF NOT EXISTS tender"] + SharedSchema.tables + [
          """
          INSERT INTO tender.journal (one, version, name)
          VALUES (1, \(SharedSchema.version), \(Checksum.random())) ON CONFLICT DO NOTHING
          """
        ]
      )
      return "the tables were made, version \(SharedSchema.version)"
    }
    guard found <= SharedSchema.version else {
      throw fault(PostgresConnection.Failure(code: Self.newer, text: "version \(found)"))
    }
    guard found < SharedSchema.version else {
      return "the tables are of version \(found), which is this one's: nothing to do"
    }
    guard found >= SharedSchema.firstVersion else {
      throw fault(PostgresConnection.Failure(code: Self.ancient, text: "\(found)"))
    }
    let raise: Statement = "UPDATE tender.journal SET version = \(sql: SharedSchema.version)"
    try run(SharedSchema.tables + SharedSchema.additions + [raise])
    return "the tables were brought from version \(found) to \(SharedSchema.version)"
  }

  /// Runs statements on tables of any version. Returns nothing if tables are missing and that is allowed.
  @discardableResult
  private func run(
    _ statements: [Statement],
    orMissing: Bool = false
  ) throws(Fault) -> [Rows] {
    let deadline = deadline()
    do throws(PostgresConnection.Failure) {
      return try connected(by: deadline).run(statements, by: deadline)
    } catch {
      guard orMissing, error.isMissing else { throw fault(error) }
      return []
    }
  }
}
