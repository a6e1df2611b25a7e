private import Platform
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// The lines of a batch, from a file or standard input, one by one.
final class BatchSource {
  private var reader: LineReader
  private let shouldStop: () -> Bool
  private let descriptor: Int32
  /// The size in bytes; nil if unknown.
  private let size: Int?
  /// The header of a CSV file; nil if each line is JSON.
  private(set) var table: BatchTable?
  /// The number of the last row read. The header is row 1.
  private(set) var row = 0
  /// Whether the rest of a table cannot be read, because the end of a row is unknown.
  private(set) var isCut = false
  private let path: String
  /// Whether the last row was not UTF-8. Its cells were repaired, and must not be used.
  private var isGarbled = false

  /// The longest line, in bytes. For a batch, it is far more than an instrument and metadata need.
  private let limit: Int
  /// Whether no line with text was read yet.
  private var isFirst = true
  /// What one line has, such as `command`.
  private let unit: String

  /// Opens a file, or uses standard input for `-`. The other arguments are those of a batch.
  ///
  /// If `shouldStop` returns true, no further line is awaited.
  init(
    _ path: String,
    named name: String = "batch",
    of unit: String = "command",
    limit: Int = 262_144,
    shouldStop: @escaping () -> Bool
  ) throws(Fault) {
    (self.unit, self.limit, self.path) = (unit, limit, path)
    self.shouldStop = shouldStop
    if path == "-" {
      descriptor = 0
      // Standard input can be a file, read from its beginning.
      size = lseek(0, 0, SEEK_CUR) == 0 ? Environment.size(of: 0) : nil
    } else {
      descriptor = try Environment.openForReading(path, named: name)
      size = Environment.size(of: descriptor)
    }
    reader = LineReader(
      descriptor: descriptor,
      limit: limit,
      skipsLongLines: true,
      shouldStop: shouldStop
    )
  }

  /// Whether it is a file, and not a pipe.
  var isFile: Bool { size != nil }

  deinit { if descriptor > 0 { close(descriptor) } }

  /// Reads the header of a CSV file. From then on, each row is a line.
  ///
  /// Throws `usage` without a header, or for a column that is not an option.
  func readHeader(_ pairs: [String], _ vocabulary: BatchVocabulary) throws(Fault) {
    try checkTable()
    var cells = try record()?.get() ?? []
    // Excel writes such a line before the header.
    if let first = cells.first, first.lowercased().hasPrefix("sep="), cells.count < 3 {
      guard first.lowercased() == "sep=", cells.count == 2, cells[1].isEmpty else {
        throw .badFile(
          "--csv: the file begins with \(first.quotedForMessage)",
          hint: "separate cells by commas"
        )
      }
      cells = try record()?.get() ?? []
    }
    guard cells.contains(where: { !$0.isBlank }) else {
      throw .badFile("--csv: there is no header", hint: "the first row names the columns")
    }
    table = try BatchTable(header: cells, pairs: pairs, vocabulary)
  }

  /// Checks the whole table, so that one without an end of a row runs nothing. A pipe is read only once.
  ///
  /// Throws `usage` for a row whose end is unknown.
  private func checkTable() throws(Fault) {
    guard isFile else { return }
    while !shouldStop(), let row = try record() { _ = try row.get() }
    guard lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw .badFile("--csv: cannot read \(path.quotedForMessage) twice")
    }
    row = 0
    reader = LineReader(
      descriptor: descriptor,
      limit: limit,
      skipsLongLines: true,
      shouldStop: shouldStop
    )
  }

  /// Returns the cells of the next record; nil at the end.
  ///
  /// It is a fault if the end of the record is unknown. A row that began in the middle of a cell must never run.
  private func record(
    idle: () throws(Fault) -> Void = { () throws(Fault) in }
  ) throws(Fault) -> Result<[String], Fault>? {
    var record = CSVRecord()
    row += 1
    isGarbled = false
    while let text = try reader.next(idle: idle) {
      guard !reader.isTooLong, record.size + text.utf8.count <= limit else {
        return .failure(
          .badLine(row: row, " is longer than \(limit) bytes", hint: "check its quotes")
        )
      }
      isGarbled = isGarbled || reader.isGarbled
      do throws(Fault) {
        if try record.take(text, row: row) { return .success(record.cells) }
      } catch {
        return .failure(error)
      }
    }
    guard record.size > 0 else { return nil }
    return .failure(.badLine(row: row, " ends within a quoted cell", hint: "close its quote"))
  }

  /// Returns the next line, or the fault of an invalid one; nil at the end.
  ///
  /// `idle` is called before a wait for more lines. Throws `usage` if nothing can be read.
  func next(idle: () throws(Fault) -> Void) throws(Fault) -> Result<String, Fault>? {
    if let table {
      guard !isCut else { return nil }
      guard let read = try record(idle: idle) else { return nil }
      guard case .success(let cells) = read else {
        isCut = true
        return read.map { _ in "" }
      }
      if isGarbled {
        return .failure(.badLine(row: row, " is not UTF-8", hint: "write the file as UTF-8"))
      }
      if cells.allSatisfy(\.isBlank) { return .success("") }
      do throws(Fault) {
        return .success(try table.line(cells, row: row))
      } catch {
        return .failure(error)
      }
    }
    guard let text = try reader.next(idle: idle) else { return nil }
    if isFirst, !text.isBlank {
      isFirst = false
      if text.drop(while: \.isWhitespace).first == "[" {
        let file = path == "-" ? "" : " " + path.shellQuoted
        throw .badFile(
          "\(path.quotedForMessage) is one JSON list, not \(unit)s line by line; nothing was run",
          hint: "turn each element into a line: jq -c '.[]'\(file)"
        )
      }
    }
    if reader.isTooLong {
      let hint = "one \(unit) a line"
      return .failure(.badLine("is longer than \(limit) bytes", hint: hint))
    }
    // A repaired text could be another reference, which another payment may have.
    if reader.isGarbled { return .failure(.badLine("is no UTF-8", hint: "write it as UTF-8")) }
    return .success(text)
  }

  /// The part of a file that was read, from 0 to 1; nil if unknown.
  var fraction: Double? {
    size.map { $0 == 0 ? 1 : min(1, Double(reader.consumed) / Double($0)) }
  }
}
