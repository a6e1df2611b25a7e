import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderSystem
import TenderTestSupport
import Testing

/// A journal file that another person may have changed.
@Suite final class HostileFileTests: JournalFolder {
  private var path: String { state.appending(path: "journal.db").path }

  /// Erased data must not survive in a trigger, even if the file is already open.
  @Test func `runs no trigger`() throws {
    let journal = try open()
    var written = try journal.hold(payment(), "sealed-preparation")
    let other = try Database(path: path)
    try other.execute("CREATE TABLE kept (text TEXT)")
    try other.execute(
      "CREATE TRIGGER keep BEFORE DELETE ON preparation BEGIN INSERT INTO kept VALUES (old.text); END"
    )
    try journal.end(&written) { $0.preparation = nil }
    #expect(try other.first("SELECT count(*) FROM kept") == [.integer(0)])
    #expect(try other.first("SELECT count(*) FROM preparation") == [.integer(0)])
  }

  @Test func `follows no link in its place`() throws {
    try pay("A", open())
    let aim = root.appending(path: "elsewhere.db")
    try FileManager.default.moveItem(atPath: path, toPath: aim.path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: aim.path)
    let fault = #expect(throws: Fault.self) { _ = try Database(path: path) }
    #expect(fault?.message == "cannot use \(path): it is a link")
    #expect(code { _ = try open() } == "state_unusable")
    // The path may be a folder.
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: aim.path, toPath: path)
    try FileManager.default.createSymbolicLink(
      at: root.appending(path: "link"),
      withDestinationURL: state
    )
    _ = try Database(path: root.appending(path: "link/journal.db").path)
  }

  /// Reading any number in a column may fail, but not crash.
  @Test func `survives any number in any column`() throws {
    do {
      let journal = try open()
      var written = try pay("A", journal)
      written.add(Observation(.lookup, at: 1, operation: 1, state: .succeeded))
      try journal.update(&written, note: "looked up")
    }
    try copy(Self.files, from: "state", to: "good")
    let tables = ["payment", "operation", "observation", "event", "journal"]
    var columns: [(table: String, name: String)] = []
    for table in tables {
      try Database(path: path).query("SELECT name FROM pragma_table_info('\(table)')") { row in
        columns.append((table, row[0].text ?? ""))
        return true
      }
    }
    #expect(columns.count > 80)
    for column in columns {
      for value in ["-9223372036854775808", "9223372036854775807", "'0 9223372036854775807'"] {
        try copy(Self.files, from: "good", to: "state")
        // Some are refused by the table itself.
        try? Database(path: path).execute("UPDATE \(column.table) SET \(column.name) = \(value)")
        guard let journal = try? open() else { continue }
        try? journal.checkWhole()
        _ = try? journal.verify()
        try? journal.each(PaymentFilter()) { payment in
          _ = try? journal.history(of: payment)
          return true
        }
      }
    }
  }
}
