private import Platform
internal import TenderModel
internal import TenderSystem

/// The lines of a batch, from a file or standard input, one by one.
final class BatchSource {
  private let reader: LineReader
  private let descriptor: Int32
  /// The size in bytes; nil if unknown.
  private let size: Int?
  /// The header of a CSV file; nil if each line is JSON.
  private(set) var table: BatchTable?
  /// The number of the last row read. The header is row 1.
  private var row = 0

  /// The longest line, in bytes. For a batch, it is far more than an instrument and metadata need.
  private let limit: Int
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
    (self.unit, self.limit) = (unit, limit)
    if path == "-" {
      descriptor = 0
      size = nil
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
    var cells = try record(idle: { () throws(Fault) in }) ?? []
    if let first = cells.first, first.hasPrefix("\u{feff}") {
      cells[0] = String(first.unicodeScalars.dropFirst())
    }
    guard cells.contains(where: { !$0.isBlank }) else {
      throw .badFile("--csv: there is no header", hint: "the first row names the columns")
    }
    table = try BatchTable(header: cells, pairs: pairs, vocabulary)
  }

  /// Returns the cells of the next record; nil at the end.
  ///
  /// Throws `usage` if the end of the record is unknown. A row that began in the middle of a cell must never
  /// run.
  private func record(idle: () throws(Fault) -> Void) throws(Fault) -> [String]? {
    var record = CSVRecord()
    row += 1
    while let text = try reader.next(idle: idle) {
      guard !reader.isTooLong, record.size + text.utf8.count <= limit else {
        throw .badLine(row: row, " is longer than \(limit) bytes", hint: "check its quotes")
      }
      guard !reader.isGarbled else {
        throw .badLine(row: row, " is not UTF-8", hint: "write the file as UTF-8")
      }
      if try record.take(text, row: row) { return record.cells }
    }
    guard record.size == 0 else {
      throw .badLine(row: row, " ends within a quoted cell", hint: "close its quote")
    }
    return nil
  }

  /// Returns the next line, or the fault of an invalid one; nil at the end.
  ///
  /// `idle` is called before a wait for more lines. Throws `usage` if nothing can be read.
  func next(idle: () throws(Fault) -> Void) throws(Fault) -> Result<String, Fault>? {
    if let table {
      guard let cells = try record(idle: idle) else { return nil }
      if cells.count == 1, cells[0].isBlank { return .success("") }
      do throws(Fault) {
        return .success(try table.line(cells, row: row))
      } catch {
        return .failure(error)
      }
    }
    guard let text = try reader.next(idle: idle) else { return nil }
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
