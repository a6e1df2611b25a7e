import Foundation
import Synchronization
import TenderModel

/// The records that the program printed in tests, one of each form. `make test` holds them against the published
/// schemas.
enum PrintedRecords {
  private static let folder = ProcessInfo.processInfo.environment["TENDER_RECORDS"]
  private static let known = Mutex<Set<String>>([])
  /// A batch of many lines has few forms.
  private static let most = 500

  /// Adds the records in an output. It does nothing if no folder is named for them.
  static func add(_ output: String) {
    guard let folder else { return }
    let lines = output.split(separator: "\n").filter { $0.hasPrefix(#"{"schema":"#) }.prefix(most)
    let new = lines.filter { line in
      guard let record = JSONReader.read(String(line)) else { return false }
      let form = form(of: record)
      return known.withLock { $0.insert(form).inserted }
    }
    guard !new.isEmpty else { return }
    let path = "\(folder)/\(ProcessInfo.processInfo.processIdentifier).jsonl"
    let text = new.map { $0 + "\n" }.joined()
    known.withLock { _ in
      if !FileManager.default.fileExists(atPath: path) {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
      }
      let file = FileHandle(forWritingAtPath: path)
      _ = file?.seekToEndOfFile()
      file?.write(Data(text.utf8))
      try? file?.close()
    }
  }

  /// The types of all members, and the texts that a schema can enumerate.
  private static func form(of value: JSON, named name: String = "") -> String {
    switch value {
    case .object(let object):
      object.members.map { "\($0.key):\(form(of: $0.value, named: $0.key))" }.joined(separator: ",")
    case .array(let array): "[\(Set(array.map { form(of: $0) }).sorted().joined(separator: ";"))]"
    case .string(let text):
      ["record", "status", "effect", "class", "provider", "type", "state", "error"].contains(name)
        ? text : "text"
    case .integer: "number"
    case .number: "fraction"
    case .bool: "truth"
    case .null: "null"
    }
  }
}
