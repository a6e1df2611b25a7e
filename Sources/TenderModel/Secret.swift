private import CSodium
private import Synchronization

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Bytes that cannot be printed or copied, in memory of their own: between guard pages, locked so that
/// they are never swapped, left out of core dumps where the system can, and wiped when they are let go.
///
/// What it cannot reach: the environment, and any `String` that the bytes passed through before.
@safe
package struct Secret: ~Copyable, @unchecked Sendable {
  // Unchecked: nothing writes to it after `init` but zeros.
  private let storage: UnsafeMutableRawBufferPointer
  /// How many bytes there are: all of them, or none once they are erased.
  private let length: Atomic<Int>

  /// Room for `capacity` bytes, filled by `fill`, which gives how many it wrote; nil where it gives nil.
  ///
  /// A process that has no memory left ends.
  package init?(capacity: Int, filling fill: (UnsafeMutableRawBufferPointer) -> Int?) {
    let block = unsafe Self.room(capacity)
    let room = unsafe UnsafeMutableRawBufferPointer(start: block, count: capacity)
    guard let count = unsafe fill(room), (0...capacity).contains(count) else {
      unsafe sodium_free(block)
      return nil
    }
    unsafe storage = UnsafeMutableRawBufferPointer(start: block, count: count)
    length = Atomic(count)
  }

  /// The library marks its blocks with a value that it chooses when it begins.
  private static let isReady = sodium_init() >= 0

  private static func room(_ capacity: Int) -> UnsafeMutableRawPointer {
    // 1 at least: the library gives no block of none.
    guard isReady, let block = unsafe sodium_malloc(max(1, capacity)) else {
      fatalError("no memory for a secret")
    }
    return unsafe block
  }

  /// Takes over the bytes and wipes the array they came in.
  package init(consuming bytes: inout [UInt8]) {
    let block = unsafe Self.room(bytes.count)
    unsafe storage = UnsafeMutableRawBufferPointer(start: block, count: bytes.count)
    unsafe storage.copyBytes(from: bytes)
    length = Atomic(bytes.count)
    bytes.wipe()
  }

  /// Takes the bytes of a text that already exists elsewhere.
  package init(_ text: some StringProtocol) {
    var bytes = Array(text.utf8)
    self.init(consuming: &bytes)
  }

  // Freeing wipes.
  deinit { unsafe sodium_free(storage.baseAddress) }

  /// How many bytes there are.
  package var count: Int { length.load(ordering: .acquiring) }

  /// Overwrites the bytes now: whoever holds it finds nothing in it any more.
  package func erase() {
    length.store(0, ordering: .releasing)
    unsafe sodium_memzero(storage.baseAddress, storage.count)
  }

  /// Appends the bytes to a buffer that the caller wipes.
  package func append(to buffer: inout [UInt8]) {
    unsafe withBytes { unsafe buffer.append(contentsOf: $0) }
  }

  /// Shows the bytes where they are; `body` makes no copy of them that outlives it.
  package func withBytes<Result: ~Copyable>(
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    unsafe body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
  }
}

/// A secret that several owners may hold: the same bytes, still unprintable, wiped with the last.
package final class SharedSecret: Sendable {
  package let secret: Secret

  package init(_ secret: consuming Secret) { self.secret = secret }

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
    unsafe sodium_memzero(base, count)
  }
}

extension [UInt8] {
  /// Whether the bytes are the same, found out in a time that tells nothing of where they differ.
  package func isSame(inConstantTimeAs other: [UInt8]) -> Bool {
    guard count == other.count else { return false }
    return unsafe sodium_memcmp(self, other, count) == 0
  }

  /// Overwrites every byte and empties the array.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { unsafe $0.wipe() }
    removeAll(keepingCapacity: false)
  }
}
