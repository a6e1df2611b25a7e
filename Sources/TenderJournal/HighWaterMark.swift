import TenderEngine
import TenderModel
import TenderSystem

/// The position that a journal had reached, in a small file outside of its folder. A journal that is behind
/// it has lost something.
///
/// The file is beside the folder and has its name, so it moves with the files there. It has one line in one
/// disk sector, written in place after each durable commit.
package final class HighWaterMark {
  struct Position {
    /// The journal's name, created with it.
    var journal: String
    /// The number and the chained checksum of the newest line of its history.
    var line = 0
    var link = "-"
    /// Milliseconds since 1970.
    var time = 0
    /// Whether any payment was made that no simulator made. A folder without one may be removed.
    var isReal: Bool
  }

  private static let magic = "tender-mark-1"
  private static let size = 256

  let path: String
  /// The path to read while there is no file at `path`. The folder for marks may have been set later.
  private let earlierPath: String?
  private var descriptor: Int32?
  private var last: Position?

  /// Creates the mark of a folder, beside it or in a folder for marks. `isShared`: its journal is a database.
  package init(of folder: String, in place: String? = nil, isShared: Bool = false) {
    let whole = PlainFile.resolved(folder)
    let parts = whole.split(separator: "/")
    let name = String(parts.last ?? "")
    let kind = isShared ? "tender-shared-mark" : "tender-mark"
    let beside = "/" + parts.dropLast().map { $0 + "/" }.joined() + ".\(name).\(kind)"
    guard let place else {
      (path, earlierPath) = (beside, nil)
      return
    }
    earlierPath = beside
    // Several folders with one name may have their marks there.
    let digits = String(LockFile.position(of: whole), radix: 16)
    path = PlainFile.resolved(place) + "/.\(name)-\(digits).\(kind)"
  }

  /// The reason why it cannot be written; nil if it can.
  var problem: String? {
    PlainFile.problem(writing: path).map { "cannot write \(path): \($0)" }
  }

  deinit { if let descriptor { Environment.close(descriptor) } }

  /// Returns the position; nil if there is none for this folder.
  func read() -> Position? {
    // A file that was created only for this run is empty.
    if let position = PlainFile.read(path, limit: Self.size).flatMap(position) { return position }
    return earlierPath.flatMap { PlainFile.read($0, limit: Self.size) }.flatMap(position)
  }

  private func position(_ bytes: [UInt8]) -> Position? {
    let parts = bytes.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
      .map { Substring(decoding: $0, as: UTF8.self) }
    guard parts.count == 7, parts[0] == Self.magic, let line = Int(parts[2]),
      let time = Int(parts[4]), parts[6] == Self.sum(parts.dropLast())
    else { return nil }
    return Position(
      journal: String(parts[1]),
      line: line,
      link: String(parts[3]),
      time: time,
      isReal: parts[5] == "1"
    )
  }

  private static func sum(_ parts: some Collection<Substring>) -> String {
    Checksum.of(parts.map { .text(String($0)) })
  }

  /// Raises the mark. It is lowered only with `anew`, or if it is beyond `latest`, the newest possible line.
  ///
  /// A mark that cannot be written protects less but stops no command: the journal itself has the outcome.
  func raise(to position: Position, anew: Bool = false, latest: Int = .max) {
    func isBehind(_ known: Position) -> Bool {
      // Of two positions at one moment, the later one counts.
      let isSame = latest != .max && known.line == position.line && known.link != position.link
      return isSame || known.line < position.line || known.line > latest
        || known.journal != position.journal
    }
    guard anew || last.map(isBehind) ?? true,
      let file = descriptor ?? (try? PlainFile.open(path))
    else { return }
    descriptor = file
    guard PlainFile.lock(file, at: 0, upTo: 250) else { return }
    defer { PlainFile.unlock(file, at: 0) }
    var next = position
    if !anew, let there = PlainFile.read(file, Self.size, at: 0).flatMap(self.position),
      there.journal == position.journal
    {
      next.isReal = there.isReal || position.isReal
      guard isBehind(there) || there.isReal != next.isReal else { return }
      if !isBehind(there), there.line > next.line {
        next = there
        next.isReal = true
      }
    }
    var parts: [Substring] = [
      Self.magic[...], next.journal[...], "\(next.line)", next.link[...], "\(next.time)",
      next.isReal ? "1" : "0",
    ]
    parts.append(Self.sum(parts)[...])
    var line = Array(parts.map(String.init).joined(separator: " ").utf8)
    line += repeatElement(UInt8(ascii: " "), count: Self.size - 1 - line.count)
    line.append(UInt8(ascii: "\n"))
    if PlainFile.write(line, to: file, at: 0) { last = next }
    // Within one sector, a power cut leaves the old or the new line. An old line only protects less.
    if anew { _ = PlainFile.sync(file) }
  }

  /// The path of the file, and its path before a folder for marks was set.
  package var paths: [String] { [path] + [earlierPath].compactMap(\.self) }

  /// Creates the file if it is missing. An empty file has no effect.
  package func make() {
    guard !Environment.exists(path), let file = try? PlainFile.open(path) else { return }
    Environment.close(file)
  }
}
