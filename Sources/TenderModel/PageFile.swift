/// A file of texts for people: topics of help, and explanations.
///
/// A section begins with `# TITLE`. Lines `field: value` may follow; after an empty line comes the body. The
/// `Pages.txt` of a room is embedded at build, and read when help or an explanation is asked for.
package struct PageFile: Sendable {
  /// An error in a file, with its line.
  package struct Flaw: Error, Hashable, CustomStringConvertible {
    package let line: Int
    package let text: String

    package var description: String { "line \(line): \(text)" }

    init(_ line: Int, _ text: String) {
      self.line = line
      self.text = text
    }
  }

  package let sections: [Section]

  package init(_ text: String) throws(Flaw) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let heads = lines.indices.filter { lines[$0].utf8.starts(with: "# ".utf8) }
    if let line = lines[..<(heads.first ?? lines.endIndex)].firstIndex(where: { !$0.isEmpty }) {
      throw Flaw(line + 1, "it is before the first section")
    }
    var sections: [Section] = []
    for (number, head) in heads.enumerated() {
      let end = number + 1 < heads.count ? heads[number + 1] : lines.endIndex
      sections.append(try Section(lines[head..<end]))
    }
    self.sections = sections
  }

  /// The file of a room, which was embedded at build.
  package static func embedded(_ room: String) -> PageFile {
    certain { () throws(Flaw) in try PageFile(EmbeddedText.named(room + "/Pages.txt")) }
  }

  /// Reads an embedded file. It has no flaw, since a test has read all of it.
  package static func certain<Found>(_ read: () throws(Flaw) -> Found) -> Found {
    do throws(Flaw) { return try read() } catch { preconditionFailure("Pages.txt, \(error)") }
  }

  /// A part of a file with a title.
  package struct Section: Sendable {
    package let title: String
    private let fields: [(name: String, value: String)]
    private let body: [Substring]
    /// The number of the title's line.
    package let line: Int

    fileprivate init(_ lines: ArraySlice<Substring>) throws(Flaw) {
      line = lines.startIndex + 1
      title = String(lines[lines.startIndex].dropFirst(2))
      let head = lines.dropFirst().prefix { !$0.isEmpty }
      var fields: [(String, String)] = []
      for place in head.indices {
        let (name, value) = try Self.halves(head[place], place + 1)
        guard !fields.contains(where: { $0.0 == name }) else {
          throw Flaw(place + 1, "\(name) is there twice")
        }
        fields.append((name, value))
      }
      self.fields = fields
      body = Array(lines[head.endIndex...])
      guard body.contains(where: { !$0.isEmpty }) else { throw Flaw(line, "\(title) has no body") }
    }

    /// Throws if it has fields besides these.
    package func checkFields(_ names: [String]) throws(Flaw) {
      guard let other = fields.first(where: { !names.contains($0.name) }) else { return }
      throw Flaw(line, "\(title) has no field \(other.name)")
    }

    /// The value of a field; nil if it has none.
    package func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The value of a required field. Throws if it is missing.
    package func required(_ name: String) throws(Flaw) -> String {
      guard let value = field(name) else { throw Flaw(line, "\(title) lacks \(name)") }
      return value
    }

    /// The paragraphs, each on one line. If all lines of a paragraph begin with a space, they stay separate.
    ///
    /// A paragraph `{name}` is replaced by the lines of `part` for that name.
    package func paragraphs(
      _ part: (String) -> [String]? = { _ in nil }
    ) throws(Flaw) -> [String] {
      var paragraphs: [String] = []
      for lines in body.split(whereSeparator: \.isEmpty) {
        let isKept = lines.allSatisfy { $0.hasPrefix(" ") }
        guard isKept || lines.allSatisfy({ !$0.hasPrefix(" ") }) else {
          throw Flaw(line + 1 + fields.count + lines.startIndex, "some lines begin with a space")
        }
        let text = lines.joined(separator: isKept ? "\n" : " ")
        guard text.hasPrefix("{"), text.hasSuffix("}") else {
          paragraphs.append(text)
          continue
        }
        guard let filled = part(String(text.dropFirst().dropLast())) else {
          throw Flaw(line + 1 + fields.count + lines.startIndex, "\(text) is not known")
        }
        paragraphs += filled
      }
      return paragraphs
    }

    /// The rows of a table: a key, a colon and a text. An indented line continues the row above.
    package func rows() throws(Flaw) -> [Row] {
      var rows: [(line: Int, text: String)] = []
      for (place, text) in body.enumerated() where !text.isEmpty {
        let number = line + 1 + fields.count + place
        if text.hasPrefix("  ") {
          guard !rows.isEmpty else { throw Flaw(number, "no row goes on here") }
          rows[rows.count - 1].text += text.dropFirst()
        } else {
          rows.append((number, String(text)))
        }
      }
      var found: [Row] = []
      for (number, text) in rows {
        let (head, meaning) = try Self.halves(Substring(text), number)
        let words = head.split(separator: " ").map(String.init)
        found.append(Row(line: number, words: words, text: meaning))
      }
      return found
    }

    private static func halves(
      _ text: Substring,
      _ line: Int
    ) throws(Flaw) -> (String, String) {
      let bytes = text.utf8
      guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex,
        bytes[bytes.index(after: colon)...].first == UInt8(ascii: " "),
        bytes.last != UInt8(ascii: " ")
      else { throw Flaw(line, "no colon and text: \(text)") }
      return (String(text[..<colon]), String(text[colon...].dropFirst(2)))
    }
  }

  /// A row of a table.
  package struct Row: Sendable {
    package let line: Int
    package let words: [String]
    package let text: String
  }
}
