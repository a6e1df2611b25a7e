internal import TenderModel
internal import TenderSystem

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
  ///
  /// `shouldStop` says that nobody waits for further lines.
  init(_ path: String, shouldStop: @escaping () -> Bool) throws(Fault) {
    if path == "-" {
      descriptor = 0
      size = nil
    } else {
      descriptor = try Environment.openForReading(path, named: "batch")
      size = Environment.size(of: descriptor)
    }
    reader = LineReader(
      descriptor: descriptor,
      limit: Self.limit,
      skipsLongLines: true,
      shouldStop: shouldStop
    )
  }

  /// Whether all of it is there already.
  var isFile: Bool { size != nil }

  deinit { if descriptor > 0 { close(descriptor) } }

  /// The next line, or why it cannot be one; nil at the end.
  ///
  /// `idle` is called before whoever writes the lines has to be waited for. Throws `usage` where
  /// nothing can be read.
  func next(idle: () throws(Fault) -> Void) throws(Fault) -> Result<String, Fault>? {
    guard let text = try reader.next(idle: idle) else { return nil }
    if reader.isTooLong {
      let hint = "one command a line"
      return .failure(.badLine("is longer than \(Self.limit) bytes", hint: hint))
    }
    // What it stands for would be another reference, and perhaps somebody else's.
    if reader.isGarbled { return .failure(.badLine("is no UTF-8", hint: "write it as UTF-8")) }
    return .success(text)
  }

  /// How much of a file has been read, from 0 to 1; nil where nobody knows.
  var fraction: Double? {
    size.map { $0 == 0 ? 1 : min(1, Double(reader.consumed) / Double($0)) }
  }
}
