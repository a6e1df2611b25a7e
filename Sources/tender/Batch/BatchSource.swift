internal import TenderModel

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// The lines of a batch, from a file or standard input, one by one.
final class BatchSource {
  private let reader: LineReader
  private let descriptor: Int32
  /// In bytes; nil where it is not known.
  private let size: Int?

  /// The longest line, in bytes: an instrument and metadata fit many times over.
  private static let limit = 262_144

  /// Opens a file, or takes standard input for `-`.
  init(_ path: String) throws(Fault) {
    if path == "-" {
      descriptor = 0
      size = nil
    } else {
      descriptor = try Environment.openForReading(path, named: "batch")
      size = Environment.size(of: descriptor)
    }
    reader = LineReader(descriptor: descriptor, limit: Self.limit)
  }

  deinit { if descriptor > 0 { close(descriptor) } }

  /// The next line; nil at the end.
  ///
  /// `idle` is called before whoever writes the lines has to be waited for. Throws `usage` for a line
  /// that is too long.
  func next(idle: () throws(Fault) -> Void) throws(Fault) -> String? {
    try reader.next(idle: idle)
  }

  /// How much of a file has been read, from 0 to 1; nil where nobody knows.
  var fraction: Double? {
    size.map { $0 == 0 ? 1 : min(1, Double(reader.consumed) / Double($0)) }
  }
}
