/// Turns the bytes of a text that a person or another program wrote into UTF-8 without a byte order mark.
///
/// Windows writes UTF-16 with a mark (PowerShell's `>`), and UTF-8 with one (Notepad, Excel).
package struct InputText {
  private enum Form { case utf8, utf16Little, utf16Big }

  private static let marks: [(mark: [UInt8], form: Form)] = [
    ([0xef, 0xbb, 0xbf], .utf8), ([0xff, 0xfe], .utf16Little), ([0xfe, 0xff], .utf16Big),
  ]

  /// Nil until the first bytes have shown it.
  private var form: Form?
  /// Bytes of a character or a mark that is not complete yet.
  private var rest: [UInt8] = []

  package init() {}

  /// Returns the whole text of a file.
  package static func decoded(_ bytes: [UInt8]) -> [UInt8] {
    // A text without a mark is not copied: its caller wipes it.
    guard marks.contains(where: { bytes.starts(with: $0.mark) }) else { return bytes }
    var text = InputText()
    return text.take(bytes) + text.end()
  }

  /// Returns the text of further bytes, as far as its characters are complete.
  package mutating func take(_ bytes: [UInt8]) -> [UInt8] {
    if form == .utf8 { return bytes }
    rest += bytes
    guard form == nil else { return takeUnits() }
    if let found = Self.marks.first(where: { rest.starts(with: $0.mark) }) {
      form = found.form
      rest.removeFirst(found.mark.count)
    } else {
      if Self.marks.contains(where: { $0.mark.starts(with: rest) }) { return [] }
      form = .utf8
    }
    return form == .utf8 ? end() : takeUnits()
  }

  /// Returns what is left at the end of the text. Half a character becomes a byte that is not UTF-8.
  package mutating func end() -> [UInt8] {
    defer { rest = [] }
    return form == .utf8 || form == nil ? rest : rest.isEmpty ? [] : [0xff]
  }

  private mutating func takeUnits() -> [UInt8] {
    var units = stride(from: 0, to: rest.count - 1, by: 2).map { place in
      let (one, other) = (UInt16(rest[place]), UInt16(rest[place + 1]))
      return form == .utf16Big ? one << 8 | other : other << 8 | one
    }
    // The second half of a pair may come with the next bytes.
    if let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
    rest.removeFirst(units.count * 2)
    return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
      ?? Array(String(decoding: units, as: UTF16.self).utf8) + [0xff]
  }
}
