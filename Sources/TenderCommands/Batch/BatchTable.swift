internal import TenderCommandLine
internal import TenderModel

/// The header of a CSV file with lines of a batch. It gives the option of each column.
struct BatchTable: Sendable {
  /// The word of `--map` for an ignored column.
  private static let ignored = "ignore"

  /// A column: its name, and the member of a line for its option; nil for an ignored column.
  private struct Column: Sendable {
    let name: String
    let member: String?
    var kind = BatchVocabulary.Member()
    /// Whether its values are ids that only look like card numbers, besides what they are.
    var isID = false
  }

  private static let id = Keys.id.option.name

  private let columns: [Column]
  /// Whether no column has the command. Then each row is a `transact`.
  private let pays: Bool

  /// Reads the header. `pairs` are the values of `--map`.
  ///
  /// Throws `usage` for a column that is not an option of a batch, and for a pair without its column.
  init(header: [String], pairs: [String], _ vocabulary: BatchVocabulary) throws(Fault) {
    for name in header {
      try CardNumberGuard.check(name, of: Keys.csv.option.name)
    }
    if header.count == 1, header[0].contains(";") || header[0].contains("\t") {
      throw .badHeader("has no comma", "separate cells by commas")
    }
    var meant: [String: String] = [:]
    var ids: Set<String> = []
    for (member, column) in try Self.split(pairs) {
      guard header.contains(column) else {
        throw .badOptions(
          "--map: there is no column \(column.quotedForMessage)",
          hint: Suggestion.hint(
            for: column,
            among: header,
            else: "columns: \(header.joined(separator: ", "))"
          )
        )
      }
      if member == Self.id, meant[column] != Self.ignored, ids.insert(column).inserted { continue }
      guard meant.updateValue(member, forKey: column) == nil else {
        throw .badOptions(
          "--map names the column \(column.quotedForMessage) twice",
          hint: "give it once"
        )
      }
    }
    let known = vocabulary.members
    var columns: [Column] = []
    var unknown: [String] = []
    for name in header {
      // A spreadsheet leaves an empty column behind the last one.
      guard !name.isBlank else {
        columns.append(Column(name: "", member: nil))
        continue
      }
      func member(_ said: String) -> String {
        let head = said.prefix(before: ".")
        return String(head).replacing("-", with: "_") + said.dropFirst(head.count)
      }
      let isID = ids.contains(name)
      let isKnown = meant[name] != nil || known[String(member(name).prefix(before: "."))] != nil
      let member = isID && !isKnown ? Self.id : member(meant[name] ?? name)
      if meant[name] == Self.ignored {
        columns.append(Column(name: name, member: nil))
        continue
      }
      let first = String(member.prefix(before: "."))
      guard let kind = known[first], first == member || kind.repeats else {
        unknown.append(name.quotedForMessage)
        continue
      }
      if member != Self.id, let other = columns.first(where: { $0.member == member }) {
        let what =
          other.name == name ? "twice" : "and \(other.name.quotedForMessage) for one option"
        throw .badHeader(
          "has the column \(name.quotedForMessage) \(what)",
          "leave one out: --map ignore=COLUMN"
        )
      }
      columns.append(Column(name: name, member: member, kind: kind, isID: isID))
    }
    guard unknown.isEmpty else {
      let are = unknown.count == 1 ? "which is no option" : "which are no options"
      throw .badHeader(
        "has the column\(unknown.count == 1 ? "" : "s") \(unknown.joined(separator: ", ")), \(are) of a batch",
        "name its option: --map OPTION=COLUMN, or leave it out: --map ignore=COLUMN"
      )
    }
    self.columns = columns
    pays = !columns.contains { $0.member == "command" }
  }

  /// Splits `OPTION=COLUMN` pairs at commas. A comma within a column's name stays.
  private static func split(_ pairs: [String]) throws(Fault) -> [(member: String, column: String)] {
    var found: [(member: String, column: String)] = []
    for pair in pairs {
      for part in pair.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
        if !part.contains("="), let last = found.popLast() {
          found.append((last.member, "\(last.column),\(part)"))
        } else {
          let (member, column) = try OptionReader.split(part, option: "--map")
          found.append((member, column))
        }
      }
    }
    return found
  }

  /// Returns a row as a line of a batch. An empty cell adds no option.
  ///
  /// Throws `usage` for a row whose number of cells differs from the header, and for an invalid flag.
  func line(_ cells: [String], row: Int) throws(Fault) -> String {
    guard cells.count == columns.count else {
      throw .badLine(
        row: row,
        " has \(cells.count) cell\(cells.count == 1 ? "" : "s"), and the header \(columns.count)",
        hint: "quote a cell that has a comma in it"
      )
    }
    var line: JSONObject = pays ? ["command": "transact"] : [:]
    var ids: [String] = []
    for (column, cell) in zip(columns, cells) {
      guard !column.name.isEmpty || cell.isBlank else {
        throw .badLine(
          row: row,
          " has \(cell.quotedForMessage) in a column without a name",
          hint: "name the column in the header, or empty the cell"
        )
      }
      guard let member = column.member else { continue }
      guard !cell.isEmpty else {
        // Without an amount, all that is left moves. Only a table without the column means that.
        if (BatchLine.amounts + ["rest"]).contains(member) { line[member] = .null }
        continue
      }
      if column.isID || member == Self.id { ids.append(cell) }
      if member == Self.id { continue }
      var value = JSON.string(cell)
      switch cell.lowercased() {
      case "true" where column.kind.isFlag: value = true
      case "false" where column.kind.isFlag: value = false
      case _ where column.kind.isFlag && !column.kind.takesValue:
        throw .badLine(
          row: row,
          ", column \(column.name.quotedForMessage), is neither true nor false",
          hint: "write true, false or nothing"
        )
      default: break
      }
      guard let dot = member.firstIndex(of: ".") else {
        line[member] = value
        continue
      }
      let name = String(member[..<dot])
      var inner = line[name]?.object ?? [:]
      inner[String(member[member.index(after: dot)...])] = value
      line[name] = .object(inner)
    }
    if !ids.isEmpty { line[Self.id] = ids.count == 1 ? ids[0].json : .array(ids.map(JSON.string)) }
    return JSONWriter.text(.object(line))
  }

  /// Returns the fault of a row, with its row and column.
  func place(_ fault: Fault, row: Int) -> Fault {
    guard fault.kind == .usage, !fault.message.contains("row \(row)") else { return fault }
    let text = fault.message
    let about = columns.filter { column in
      guard let member = column.member else { return false }
      let option = "--" + member.replacing("_", with: "-").replacing(".", with: " ")
      return text.contains(option) || text.contains("'\(member)'") || text.contains("\"\(member)\"")
        || text.contains("no \(member)")
    }
    .max { ($0.member ?? "").utf8.count < ($1.member ?? "").utf8.count }
    let column = about.map { ", column \($0.name.quotedForMessage)" } ?? ""
    var placed = fault
    placed.message = text.replacing("the line ", with: "the row ") + " (row \(row)\(column))"
    return placed
  }
}

/// One record of a CSV file, read line by line (RFC 4180). A quoted cell may have several lines.
struct CSVRecord {
  private enum State { case start, bare, quoted, closed }

  private(set) var cells: [String] = []
  private var cell: [UInt8] = []
  private var state = State.start
  /// The number of bytes so far.
  private(set) var size = 0

  /// Adds the next line. Returns whether the record is complete.
  ///
  /// Throws `usage` for a quote inside of an unquoted cell, and for text after a closing quote. Then the
  /// start of the next record is unknown.
  mutating func take(_ line: String, row: Int) throws(Fault) -> Bool {
    if state == .quoted { cell.append(UInt8(ascii: "\n")) }
    size += line.utf8.count + 1
    for byte in line.utf8 {
      switch (state, byte) {
      case (.quoted, UInt8(ascii: "\"")): state = .closed
      case (.quoted, _): cell.append(byte)
      case (.closed, UInt8(ascii: "\"")):
        cell.append(byte)
        state = .quoted
      case (_, UInt8(ascii: ",")): end()
      case (.start, UInt8(ascii: "\"")): state = .quoted
      case (.bare, UInt8(ascii: "\"")), (.closed, _):
        throw .badLine(
          row: row,
          ", cell \(cells.count + 1), has a quote in a wrong place",
          hint: "quote the whole cell, and write each quote in it twice"
        )
      case (.start, _), (.bare, _):
        cell.append(byte)
        state = .bare
      }
    }
    guard state != .quoted else { return false }
    end()
    return true
  }

  private mutating func end() {
    cells.append(String(decoding: cell, as: UTF8.self))
    cell = []
    state = .start
  }
}

extension Fault {
  fileprivate static func badHeader(_ problem: String, _ hint: String) -> Fault {
    .badFile("--csv: the header \(problem)", hint: hint)
  }

  static func badLine(row: Int, _ problem: String, hint: String) -> Fault {
    Fault(.usage, code: "bad_line", "row \(row)\(problem)", hint: hint)
  }
}
