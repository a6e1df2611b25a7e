private import Platform
package import TenderModel

/// The only place that touches descriptors 0, 1 and 2.
package struct Console {
  /// Whether a descriptor is a terminal.
  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The limits of a wait for a slow reader.
  package struct Patience {
    /// Whether the wait must end because of a stop.
    package let isOver: () -> Bool
    /// In milliseconds; nil for a wait that only `isOver` ends.
    package var limit: Int?

    /// Creates limits: until `isOver`, or for `limit` milliseconds.
    package init(limit: Int? = nil, isOver: @escaping () -> Bool) {
      self.isOver = isOver
      self.limit = limit
    }
  }

  /// Writes a whole text; false if the reader is gone or nothing can be written.
  @discardableResult
  package static func write(
    _ text: String,
    to descriptor: Int32,
    _ patience: Patience? = nil
  ) -> Bool {
    let bytes = Array(text.utf8)
    guard let patience else { return write(bytes, to: descriptor) }
    return write(bytes, to: descriptor, patience)
  }

  /// The number of bytes that a ready terminal or socket gets at once.
  private static let piece = 512

  /// Writes all bytes piece by piece, so that every wait can be ended.
  private static func write(
    _ bytes: [UInt8],
    to descriptor: Int32,
    _ patience: Patience
  ) -> Bool {
    var status = stat()
    if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      return write(bytes, to: descriptor)
    }
    // A ready pipe accepts `PIPE_BUF` bytes without waiting (POSIX).
    let piece = status.st_mode & S_IFMT == S_IFIFO ? Int(PIPE_BUF) : piece
    var waited = 0
    var place = 0
    while place < bytes.count {
      var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard unsafe poll(&polled, 1, 50) > 0 else {
        waited += 50
        if patience.isOver() || patience.limit.map({ waited >= $0 }) ?? false {
          errno = EAGAIN
          return false
        }
        continue
      }
      let end = min(place + piece, bytes.count)
      guard write(Array(bytes[place..<end]), to: descriptor) else { return false }
      place = end
    }
    return true
  }

  /// Writes all bytes; false if the reader is gone or nothing can be written.
  package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe Platform.write(descriptor, bytes.baseAddress, bytes.count)
      }
      if count < 0 {
        if errno == EINTR || errno == EAGAIN { continue }
        return false
      }
      rest.removeFirst(count)
    }
    return true
  }

  /// Copies all bytes of a descriptor to another; false if it cannot.
  package static func copy(from source: Int32, to target: Int32) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(source, &buffer, buffer.count)
      if count <= 0 { return count == 0 }
      guard write(Array(buffer.prefix(count)), to: target) else { return false }
    }
  }

  /// Reads a descriptor to its end, up to a limit in bytes. Nil if it cannot be read or is longer, or the
  /// wait must end.
  package static func readAll(
    _ descriptor: Int32,
    limit: Int,
    shouldStop: (() -> Bool)? = nil
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 8192)
    defer { buffer.wipe() }
    while true {
      if let shouldStop {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        repeat { if shouldStop() { return nil } } while unsafe poll(&waiting, 1, 50) == 0
      }
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count < 0 {
        if errno == EINTR || shouldStop != nil && errno == EAGAIN { continue }
        return nil
      }
      if count == 0 { return bytes }
      guard bytes.count + count <= limit else { return nil }
      bytes += buffer.prefix(count)
    }
  }

  /// Reads a descriptor to its end, up to a limit in bytes, into memory for secrets. Nil if it cannot be read
  /// or is longer.
  package static func readSecret(_ descriptor: Int32, limit: Int) -> Secret? {
    unsafe Secret(capacity: limit + 1) { room in
      var filled = 0
      while filled < room.count {
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...])
        let count = unsafe read(descriptor, rest.baseAddress, rest.count)
        if count < 0 {
          if errno == EINTR { continue }
          return nil
        }
        if count == 0 { return unsafe decode(room, filled) }
        filled += count
      }
      return nil
    }
  }

  /// Turns a text in a buffer into UTF-8. Returns its length; nil if it does not fit.
  private static func decode(_ room: UnsafeMutableRawBufferPointer, _ count: Int) -> Int? {
    var bytes = unsafe Array(room[..<count])
    var text = InputText.decoded(bytes)
    defer {
      bytes.wipe()
      text.wipe()
    }
    guard text.count <= room.count else { return nil }
    unsafe room.copyBytes(from: text)
    return text.count
  }

  /// The size of the terminal on standard output; nil if there is none.
  private static var terminal: winsize? {
    var size = winsize()
    return unsafe ioctl(1, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
  }

  /// The width of the terminal in columns; nil if unknown.
  package static var terminalWidth: Int? {
    terminal.flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil }
  }

  /// The number of lines of the terminal on standard output; nil if there is none.
  package static var terminalRows: Int? {
    terminal.flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil }
  }
}
