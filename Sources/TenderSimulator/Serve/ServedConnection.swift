private import Platform

/// The bytes of one client, in both directions. The owner of the connection closes it.
struct ServedConnection {
  let descriptor: Int32

  /// Passes received bytes to `take` until it returns false.
  ///
  /// It also ends if the client is gone, is silent for too long (in milliseconds), or the server stops. At the
  /// stop, `alarm` has an end of file. Without it, `shouldStop` is asked ten times a second.
  /// Returns true if the client is gone, or `take` returned false.
  func read(
    idleLimit: Int = .max,
    alarm: Int32 = -1,
    _ shouldStop: () -> Bool,
    _ take: ([UInt8]) -> Bool
  ) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var idle = 0
    while !shouldStop(), idle < idleLimit {
      let turn = alarm < 0 ? 100 : 10_000
      guard wait(for: POLLIN, milliseconds: Int32(turn), alarm) else {
        idle += turn
        continue
      }
      idle = 0
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0, take(Array(buffer.prefix(count))) else { return true }
    }
    return false
  }

  /// Writes all bytes; false if the client is gone, or accepts nothing for 10 s.
  func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe transmit($0) }
      if count < 0 {
        guard errno == EAGAIN || errno == EINTR, wait(for: POLLOUT, milliseconds: 10_000) else {
          return false
        }
        continue
      }
      rest.removeFirst(count)
    }
    return true
  }

  private func wait(for events: Int32, milliseconds: Int32, _ alarm: Int32 = -1) -> Bool {
    var polled = [
      pollfd(fd: descriptor, events: Int16(events), revents: 0),
      pollfd(fd: alarm, events: Int16(POLLIN), revents: 0),
    ]
    return unsafe poll(&polled, 2, milliseconds) > 0 && polled[0].revents != 0
  }

  private func transmit(_ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
    unsafe send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
    unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
  }
}
