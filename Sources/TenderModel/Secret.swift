#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Bytes that cannot be printed or copied and are wiped when they are let go.
///
/// What it cannot reach: the environment, and any `String` that the bytes passed through before.
@safe
package struct Secret: ~Copyable, @unchecked Sendable {
  private let storage: UnsafeMutableRawBufferPointer

  /// Takes over the bytes and wipes the array they came in.
  package init(consuming bytes: inout [UInt8]) {
    unsafe storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    unsafe storage.copyBytes(from: bytes)
    bytes.wipe()
  }

  /// Takes the bytes of a text that already exists elsewhere.
  package init(_ text: some StringProtocol) {
    var bytes = Array(text.utf8)
    self.init(consuming: &bytes)
  }

  deinit {
    unsafe storage.wipe()
    unsafe storage.deallocate()
  }

  /// How many bytes there are.
  package var count: Int { unsafe storage.count }

  /// Appends the bytes to a buffer that the caller wipes.
  package func append(to buffer: inout [UInt8]) { unsafe buffer.append(contentsOf: storage) }
}

/// A secret that several owners may hold: the same bytes, still unprintable, wiped with the last.
package final class SharedSecret: Sendable {
  package let secret: Secret

  package init(_ text: some StringProtocol) { secret = Secret(text) }

  package init(consuming bytes: inout [UInt8]) { secret = Secret(consuming: &bytes) }

  /// The text, for the one place that must hand it on (an HTTP header, an encoder).
  package var revealed: String {
    var bytes: [UInt8] = []
    secret.append(to: &bytes)
    defer { bytes.wipe() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Overwrites every byte, in a way the compiler may not leave out.
  fileprivate func wipe() {
    guard let base = baseAddress, count > 0 else { return }
    #if canImport(Darwin)
    _ = unsafe memset_s(base, count, 0, count)
    #else
    unsafe explicit_bzero(base, count)
    #endif
  }
}

extension [UInt8] {
  /// Overwrites every byte and empties the array.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { unsafe $0.wipe() }
    removeAll(keepingCapacity: false)
  }
}
