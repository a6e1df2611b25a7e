private import CLibraries
private import Platform
private import Synchronization

/// Bytes that cannot be printed or copied. They are in locked memory between guard pages, and never swapped.
/// Core dumps leave them out if the system can, and they are erased when released.
///
/// Short secrets share a block of such memory, because a block for each would cost more time than encrypting
/// a card. Not covered are the environment, and any `String` that held the bytes before.
@safe
package struct Secret: ~Copyable, @unchecked Sendable {
  // Unchecked: after `init` it is only ever overwritten with zeros.
  private let storage: UnsafeMutableRawBufferPointer
  /// The number of bytes; 0 after they are erased.
  private let length: Atomic<Int>

  /// Allocates `capacity` bytes. `fill` writes them and returns how many it wrote; nil if it returns nil.
  ///
  /// If memory runs out, the process ends.
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

  /// Copies the bytes and wipes the array.
  package init(consuming bytes: inout [UInt8]) {
    let block = unsafe GuardedMemory.take(bytes.count)
    unsafe storage = UnsafeMutableRawBufferPointer(start: block, count: bytes.count)
    unsafe storage.copyBytes(from: bytes)
    length = Atomic(bytes.count)
    bytes.wipe()
  }

  /// Copies the bytes of a text, which is not wiped.
  package init(_ text: some StringProtocol) {
    var bytes = Array(text.utf8)
    self.init(consuming: &bytes)
  }

  deinit { unsafe GuardedMemory.giveBack(storage) }

  package var count: Int { length.load(ordering: .acquiring) }

  /// Overwrites the bytes now, for every owner.
  package func erase() {
    length.store(0, ordering: .releasing)
    unsafe sodium_memzero(storage.baseAddress, storage.count)
  }

  /// Appends the bytes to a buffer that the caller wipes.
  package func append(to buffer: inout [UInt8]) {
    unsafe withBytes { unsafe buffer.append(contentsOf: $0) }
  }

  /// Calls `body` with the bytes. They must not be used after it returns.
  package func withBytes<Result: ~Copyable>(
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    unsafe body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
  }
}

/// Memory between guard pages, locked and left out of core dumps (libsodium's `sodium_malloc`).
///
/// Two blocks hold all short secrets and messages of the process. Each separate block would need locked
/// pages, which are few, and nine system calls.
private enum GuardedMemory {
  /// A shared block of equal slots, with one bit for each slot in use. It is allocated for the first secret.
  @safe
  private struct Block: @unchecked Sendable {
    // Unchecked: slots are only taken and returned under the lock.
    let slot: Int
    let slots: Int
    var start: UnsafeMutableRawPointer?
    var used: UInt16 = 0

    init(slot: Int, slots: Int) {
      self.slot = slot
      self.slots = slots
    }

    /// Returns a free slot's address; nil if all are in use.
    mutating func take() -> UInt? {
      let free = (~used).trailingZeroBitCount
      guard free < slots else { return nil }
      let start = unsafe start ?? allocate(slot * slots)
      unsafe self.start = start
      used |= 1 << UInt16(free)
      return unsafe UInt(bitPattern: start + free * slot)
    }

    /// Wipes and frees a slot. Returns false if it is not in this block.
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
  /// Allocates memory. If it runs out, the process ends.
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

  /// Wipes and frees the memory.
  static func giveBack(_ room: UnsafeMutableRawBufferPointer) {
    guard let base = room.baseAddress else { return }
    let isShared =
      short.withLock { unsafe $0.takeBack(base) }
      || long.withLock { unsafe $0.takeBack(base) }
    // `sodium_free` wipes the memory.
    if !isShared { unsafe sodium_free(base) }
  }

  private static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
    // The library does not allocate a block of size 0.
    guard let block = unsafe sodium_malloc(max(1, size)) else {
      fatalError("no memory for a secret")
    }
    return unsafe block
  }
}

/// A secret with several owners. It is wiped with the last of them.
package final class SharedSecret: Sendable {
  package let secret: Secret

  package init(_ secret: consuming Secret) { self.secret = secret }

  package init(_ text: some StringProtocol) { secret = Secret(text) }

  package init(consuming bytes: inout [UInt8]) { secret = Secret(consuming: &bytes) }

  /// The secret as text, for an HTTP header or an encoder. Use it in one place only.
  package var revealed: String {
    var bytes: [UInt8] = []
    secret.append(to: &bytes)
    defer { bytes.wipe() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Overwrites every byte in a way that the compiler cannot remove.
  fileprivate func wipe() {
    guard let base = baseAddress, count > 0 else { return }
    unsafe sodium_memzero(base, count)
  }
}

extension [UInt8] {
  /// Returns whether the bytes are equal, in a time that does not depend on where they differ.
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
