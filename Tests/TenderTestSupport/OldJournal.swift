package import Foundation
package import TenderModel
import Testing

/// The files of an older program (`Tests/TenderJournalTests/Fixtures`).
package struct OldJournal: Sendable, CustomTestStringConvertible {
  /// The first version of the tables with operations. Since then, only columns were added.
  package static let withOperations = OldJournal(name: "v7")

  /// Every released version of the program.
  package static let released = ["0.2.0"].map(OldJournal.init(name:))

  private let name: String

  private init(name: String) { self.name = name }

  package var testDescription: String { name }

  private var folder: String { Project.path("Tests/TenderJournalTests/Fixtures/\(name)") }

  private func has(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + "/" + name)
  }

  /// Copies the files of its state folder, and its mark beside that folder.
  package func put(into state: URL) throws {
    for name in ["journal.db", "journal.db-wal", "journal.seals", "journal.key", "simulator.db"]
    where has(name) {
      let place = state.appending(path: name)
      try FileManager.default.copyItem(at: URL(filePath: folder + "/" + name), to: place)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path)
    }
    guard has("mark") else { return }
    let mark = ".\(state.lastPathComponent).tender-mark"
    try FileManager.default.copyItem(
      at: URL(filePath: folder + "/mark"),
      to: state.deletingLastPathComponent().appending(path: mark)
    )
  }

  /// The lines of the old program's export.
  package func exported() throws -> [JSONObject] { try lines("export.jsonl") }

  /// The output of the old program's `journal show` for each attempt, with the newest of a reference first.
  package func said() throws -> [JSONObject] { try lines("said.jsonl") }

  /// Ten seconds after that output.
  package func later() throws -> String {
    let times = try said().compactMap { $0.text("at") }
    guard let last = times.max(), let time = Timestamp.read(last) else { return "" }
    return Timestamp.text(time + 10_000)
  }

  private func lines(_ name: String) throws -> [JSONObject] {
    let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    return text.split(separator: "\n").compactMap { JSONReader.read(String($0))?.object }
  }
}
