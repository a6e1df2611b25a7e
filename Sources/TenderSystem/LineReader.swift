private import Platform
package import TenderModel

/// Reads the lines of a descriptor one by one, with a limit on each.
package final class LineReader {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// The start of the next line.
  private var start = 0
  private var hasEnded = false
  private var form = InputText()
  private var isPassing = false
  private let limit: Int
  /// Whether a line above the limit is skipped. Then `isTooLong` is set.
  private let skipsLongLines: Bool
  package private(set) var isTooLong = false
  /// Whether the last line was no text, and was changed.
  package private(set) var isGarbled = false
  /// Whether the wait for lines must end.
  private let shouldStop: () -> Bool
  /// The number of bytes of all returned lines.
  package private(set) var consumed = 0

  /// Creates a reader. `limit` is the longest line, in bytes.
  package init(
    descriptor: Int32,
    limit: Int = 4096,
    skipsLongLines: Bool = false,
    shouldStop: @escaping () -> Bool = { false }
  ) {
    self.descriptor = descriptor
    self.limit = limit
    self.skipsLongLines = skipsLongLines
    self.shouldStop = shouldStop
  }

  /// Returns the next line without its end; nil at the end.
  ///
  /// `idle` is called before a wait for more bytes. Throws `usage` for a line that is too long.
  package func next(idle: () throws(Fault) -> Void = {}) throws(Fault) -> String? {
    while true {
      if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
        defer {
          consumed += end + 1 - start
          start = end + 1
        }
        return text(buffer[start..<end])
      }
      if hasEnded {
        defer {
          consumed += buffer.count - start
          buffer = []
          start = 0
        }
        return buffer.count == start && !isPassing ? nil : text(buffer[start...])
      }
      // Moved once for many lines, not for each.
      buffer.removeFirst(start)
      start = 0
      if skipsLongLines, buffer.count > limit {
        isPassing = true
        consumed += buffer.count
        buffer = []
      }
      // A line that is skipped must not delay the end.
      if isPassing, shouldStop() { return nil }
      guard buffer.count <= limit else {
        throw .badOperand(
          "a line is longer than \(limit) bytes",
          hint: "one a line"
        )
      }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if unsafe poll(&waiting, 1, 0) == 0 {
        try idle()
        while unsafe poll(&waiting, 1, 100) == 0 { if shouldStop() { return nil } }
      }
      var chunk = [UInt8](repeating: 0, count: 16_384)
      let count = unsafe read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw .badFile(
          "the lines cannot be read: \(unsafe String(cString: strerror(errno)))",
          hint: "check what is to be read"
        )
      }
      hasEnded = count == 0
      buffer += hasEnded ? form.end() : form.take(Array(chunk.prefix(count)))
    }
  }

  private func text(_ bytes: ArraySlice<UInt8>) -> String {
    let line = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
    isTooLong = isPassing || skipsLongLines && line.count > limit
    isPassing = false
    let text = String(validating: line, as: UTF8.self)
    isGarbled = text == nil || line.contains(0)
    return text ?? String(decoding: line, as: UTF8.self)
  }
}
