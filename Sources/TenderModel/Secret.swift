private import CSodium
private import Synchronization

#if canImport(Darwin)
private import Darwin
#else
private import Glibc
#endif

/// Bytes that cannot be printed or copied, in memory apart: between guard pages, locked so that they are
/// never swapped, left out of core dumps where the system can, and wiped when they are let go.
///
/// Short ones share a block of such memory, since a block of its own for each costs more than a card's
/// whole encryption. What it cannot reach: the environment, and any `String` that the bytes passed through before.
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
    let block = unsafe GuardedMemory.take(capacity)
    let room = unsafe UnsafeMutableRawBufferPointer(start: block, count: capacity)
    guard let count = unsafe fill(room), (0...capacity).contains(count) else {
      unsafe GuardedMemory.giveBack(room)
      return nil
    }
    unsafe storage = room
    length = Atomic(count)
  }

  /// Takes over the bytes and wipes the array they came in.
  package init(consuming bytes: inout [UInt8]) {
    let block = unsafe GuardedMemory.take(bytes.count)
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

  deinit { unsafe GuardedMemory.giveBack(storage) }

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

/// Memory between guard pages, locked and left out of core dumps (libsodium's `sodium_malloc`).
///
/// Two blocks of it hold the short secrets and the messages of the whole process: a process has one address
/// space, the number of locked pages is small, and a block of its own takes nine system calls.
private enum GuardedMemory {
  /// Slots of one size in a block that is shared, and a bit for each in use; there from the first secret on.
  @safe
  private struct Block: @unchecked Sendable {
    // Unchecked: the pointer is handed out and taken back under the lock alone.
    let slot: Int
    let slots: Int
    var start: UnsafeMutableRawPointer?
    var used: UInt16 = 0

    init(slot: Int, slots: Int) {
      self.slot = slot
      self.slots = slots
    }

    /// A slot's address; nil where all are in use.
    mutating func take() -> UInt? {
      let free = (~used).trailingZeroBitCount
      guard free < slots else { return nil }
      let start = unsafe start ?? allocate(slot * slots)
      unsafe self.start = start
      used |= 1 << UInt16(free)
      return unsafe UInt(bitPattern: start + free * slot)
    }

    /// Wipes a slot and takes it back; false where it is none of this block.
    mutating func takeBack(_ base: UnsafeMutableRawPointer) -> Bool {
      guard let start = unsafe start, case let offset = unsafe base - start,
        (0..<(slot * slots)).contains(offset)
      else { return false }
      unsafe sodium_memzero(base, slot)
      used &= ~(1 << UInt16(offset / slot))
      return true
    }
  }

  private static let short = Mutex(Block(slot: 256, slots: 16))
  private static let long = Mutex(Block(slot: 4096, slots: 4))
  /// The library marks its blocks with a value that it chooses when it begins.
  private static let isReady = sodium_init() >= 0

  /// Room for some bytes; a process that has no memory left ends.
  static func take(_ capacity: Int) -> UnsafeMutableRawPointer {
    let place: UInt? =
      switch capacity {
      case ...256: short.withLock { $0.take() }
      case ...4096: long.withLock { $0.take() }
      default: nil
      }
    guard let place, let room = unsafe UnsafeMutableRawPointer(bitPattern: place) else {
      return unsafe allocate(capacity)
    }
    return unsafe room
  }

  /// Wipes the bytes and lets their room go.
  static func giveBack(_ room: UnsafeMutableRawBufferPointer) {
    guard let base = room.baseAddress else { return }
    let isShared =
      short.withLock { unsafe $0.takeBack(base) }
      || long.withLock { unsafe $0.takeBack(base) }
    // Freeing wipes.
    if !isShared { unsafe sodium_free(base) }
  }

  private static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
    // 1 at least: the library gives no block of none.
    guard isReady, let block = unsafe sodium_malloc(max(1, size)) else {
      fatalError("no memory for a secret")
    }
    return unsafe block
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
