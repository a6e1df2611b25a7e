internal import CLibraries

/// The text files beside the code, embedded at build (`CLibraries/Pages.c` lists them).
package enum EmbeddedText {
  /// Every file, by its path below `Sources`.
  package static var all: [(path: String, text: String)] {
    var place = 0
    var all: [(String, String)] = []
    while let file = unsafe tender_text_at(place) {
      all.append((unsafe String(cString: file.pointee.path), unsafe text(of: file)))
      place += 1
    }
    return all
  }

  /// Returns the text of a file, by its path below `Sources`.
  package static func named(_ path: String) -> String {
    guard let file = unsafe tender_text_named(path) else { preconditionFailure("no file \(path)") }
    return unsafe text(of: file)
  }

  /// Returns the rows of a file: a name, a colon and a text. An indented line continues the row above.
  package static func rows(_ path: String) -> [String: String] {
    var rows: [String: String] = [:]
    var name = ""
    for line in named(path).split(separator: "\n") {
      if line.hasPrefix("  ") {
        rows[name, default: ""] += line.dropFirst()
      } else {
        let parts = line.split(separator: ":", maxSplits: 1)
        name = String(parts[0])
        rows[name] = parts.count > 1 ? String(parts[1].dropFirst()) : ""
      }
    }
    return rows
  }

  private static func text(of file: UnsafePointer<tender_text>) -> String {
    unsafe String(
      decoding: UnsafeBufferPointer(start: file.pointee.bytes, count: file.pointee.count),
      as: UTF8.self
    )
  }
}
