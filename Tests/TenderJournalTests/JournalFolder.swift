import Foundation
import TenderEngine
import TenderJournal
import TenderModel
import TenderTestSupport

extension SQLiteJournal {
  /// Writes an attempt that is held with a secret.
  func hold(_ attempt: Attempt, _ secret: String) throws -> Attempt {
    var held = try insert(attempt, .process)
    held.preparation = .secret(secret)
    held.phase = .done
    held.status = .requiresConfirmation
    try update(&held, note: "held", .power)
    return held
  }
}

/// A state folder of its own, with the mark beside it, and what is done there.
class JournalFolder {
  let root: URL
  let clock = ManualClock()

  init() throws {
    root = FileManager.default.temporaryDirectory.appending(path: "whole-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: root.appending(path: "state"),
      withIntermediateDirectories: true
    )
  }

  deinit { try? FileManager.default.removeItem(at: root) }

  var state: URL { root.appending(path: "state") }

  /// `patience` is how long it waits for another writer, in milliseconds.
  func open(_ name: String = "state", patience: Int32? = nil) throws -> SQLiteJournal {
    let folder = root.appending(path: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try SQLiteJournal(
      folder: folder.path,
      redactor: Redactor(),
      isMarked: true,
      patience: patience
    )
  }

  func attempt(_ reference: String, number: Int = 1) -> Attempt {
    .payment(reference, number: number, at: clock.now)
  }

  /// Pays under a reference, as far as the journal is concerned.
  @discardableResult func pay(_ reference: String, _ journal: SQLiteJournal) throws -> Attempt {
    var written = try journal.insert(attempt(reference), .process)
    written.phase = .sent
    try journal.update(&written, note: "sent", .power)
    written.phase = .done
    written.status = .succeeded
    try journal.update(&written, note: "outcome", .power)
    return written
  }

  func references(_ journal: SQLiteJournal) throws -> [String] {
    var found: [String] = []
    try journal.each(AttemptFilter()) { attempt in
      found.append(attempt.reference.text)
      return true
    }
    return found.sorted()
  }

  func code(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? Fault)?.code
    }
  }

  func copy(_ names: [String], from one: String, to other: String) throws {
    let (from, to) = (root.appending(path: one), root.appending(path: other))
    try FileManager.default.createDirectory(at: to, withIntermediateDirectories: true)
    for name in names {
      try? FileManager.default.removeItem(at: to.appending(path: name))
      let source = from.appending(path: name)
      guard FileManager.default.fileExists(atPath: source.path) else { continue }
      try FileManager.default.copyItem(at: source, to: to.appending(path: name))
    }
  }

  static let files = ["journal.db", "journal.db-wal", "journal.db-shm"]
}
