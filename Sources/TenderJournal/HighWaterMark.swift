import TenderEngine
import TenderModel

/// How far a journal had come, kept in a small file outside of its folder: a journal that is behind it
/// has forgotten something.
///
/// Its name is the folder's, beside which it lies: it moves along with what lies there. One line in one
/// disk sector, written in place after each commit that is on the disk.
final class HighWaterMark {
  /// What the mark says.
  struct Position {
    /// The journal's own name, made with it.
    var journal: String
    /// The number and the chained checksum of the newest line of its history.
    var line: Int
    var link: String
    /// Milliseconds since 1970.
    var time: Int
    /// Whether anything in it was sent to another side than the simulator of its own folder.
    var isOutside: Bool
  }

  private static let magic = "tender-mark-1"
  private static let size = 256

  let path: String
  /// Where it is read while there is none at `path`: the folder for marks may have been named later.
  fileprivate let earlierPath: String?
  private var descriptor: Int32?
  /// What was written last.
  private var last: Position?

  /// The mark of a folder, beside it or in a folder for marks; `isShared` where its journal is elsewhere.
  init(of folder: String, in place: String? = nil, isShared: Bool = false) {
    let whole = PlainFile.resolved(folder)
    let parts = whole.split(separator: "/")
    let name = String(parts.last ?? "")
    let kind = isShared ? "tender-shared-mark" : "tender-mark"
    var beside = "/"
    for part in parts.dropLast() {
      beside.append(contentsOf: part)
      beside += "/"
    }
    beside += ".\(name).\(kind)"
    guard let place else {
      (path, earlierPath) = (beside, nil)
      return
    }
    earlierPath = beside
    // Several folders of one name may have their marks there.
    let digits = String(LockFile.position(of: whole), radix: 16)
    path = PlainFile.resolved(place) + "/.\(name)-\(digits).\(kind)"
  }

  /// Why it cannot be written; nil where it can.
  var problem: String? {
    PlainFile.problem(writing: path).map { "cannot write \(path): \($0)" }
  }

  deinit { if let descriptor { PlainFile.close(descriptor) } }

  /// What it says; nil where there is none for this folder.
  func read() -> Position? {
    // One that was made for this run alone is empty.
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
      isOutside: parts[5] == "1"
    )
  }

  private static func sum(_ parts: some Collection<Substring>) -> String {
    var sum = Checksum()
    for part in parts { sum.add(String(part)) }
    return sum.text()
  }

  /// Raises it, never lowers it, unless `anew`, or where it is beyond the `latest` line that there can be.
  ///
  /// A mark that cannot be written protects less and stops nobody: what it is for is in the journal.
  func raise(to position: Position, anew: Bool = false, latest: Int = .max) {
    func isBehind(_ known: Position) -> Bool {
      // Of two of one moment the later one counts.
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
      next.isOutside = there.isOutside || position.isOutside
      guard isBehind(there) || there.isOutside != next.isOutside else { return }
      if !isBehind(there), there.line > next.line {
        next = there
        next.isOutside = true
      }
    }
    var parts: [Substring] = [
      Self.magic[...], next.journal[...], "\(next.line)", next.link[...], "\(next.time)",
      next.isOutside ? "1" : "0",
    ]
    parts.append(Self.sum(parts)[...])
    let text = parts.joined(separator: " ")
    let padding = String(repeating: " ", count: Self.size - 1 - text.utf8.count)
    if PlainFile.write(Array((text + padding + "\n").utf8), to: file, at: 0) { last = next }
    // In place and within one sector, it is old or new after a power cut; an old one is only weaker.
    if anew { _ = PlainFile.sync(file) }
  }
}

/// The file that holds the mark of a state folder, for what bounds a process to it.
package struct JournalMark {
  private let mark: HighWaterMark

  /// The mark of a folder, beside it or in a folder for marks; `isShared` where its journal is elsewhere.
  package init(of folder: String, in place: String?, isShared: Bool) {
    mark = HighWaterMark(of: folder, in: place, isShared: isShared)
  }

  /// Where it is, and where it was before a folder for marks was named.
  package var paths: [String] { [mark.path] + [mark.earlierPath].compactMap(\.self) }

  /// Makes the file, unless it is there; an empty one marks nothing.
  package func make() {
    guard !PlainFile.exists(mark.path), let file = try? PlainFile.open(mark.path) else { return }
    PlainFile.close(file)
  }
}
