private import CSodium
import TenderModel

/// Keys under which preparations lie sealed in the journal, each for one of them, in a file beside it.
///
/// SQLite's log keeps what was written until it is emptied, which takes four syncs. A preparation is gone
/// for good with its key instead, which is overwritten in its place. Keys are made many at a time, and are on the
/// disk before one is used: none costs a payment a sync. What seals is libsodium's `crypto_secretbox`.
final class SealingKeys: @unchecked Sendable {
  // Unchecked: a journal is one thread's, and so are its keys.

  /// A key's own name (16 bytes), the key (32), and room: within one sector of any disk.
  private static let size = 64
  private static let nameSize = 16
  private static let keySize = 32
  private static let mark = "sealed:"
  /// The byte that is locked by who makes or destroys keys: none of a key.
  private static let making = 1 << 40

  let path: String
  private let folder: String
  private var descriptor: Int32?

  init(folder: String) {
    self.folder = folder
    path = folder + "/journal.seals"
  }

  deinit { if let descriptor { PlainFile.close(descriptor) } }

  /// The file; nil where there is none yet.
  private func opened() throws(Fault) -> Int32? {
    if let descriptor { return descriptor }
    guard PlainFile.exists(path) else { return nil }
    descriptor = try PlainFile.open(path)
    return descriptor
  }

  /// How many keys the file has room for.
  func count() throws(Fault) -> Int {
    try opened().map { PlainFile.size(of: $0) / Self.size } ?? 0
  }

  /// The number of the key under which a text is sealed; nil where it is not.
  static func slot(of text: String) -> Int? { parts(text)?.slot }

  private static func parts(_ text: String) -> (slot: Int, name: [UInt8], box: [UInt8])? {
    guard text.hasPrefix(mark) else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      .map(Substring.init)
    guard parts.count == 4, let slot = Int(parts[1]), (0..<1 << 32).contains(slot),
      let name = Hex.decode(parts[2]), name.count == nameSize,
      let box = Base64.decode(String(parts[3])), box.count >= SecretBox.least
    else { return nil }
    return (slot, name, box)
  }

  /// Whether a text is one that was sealed, readable or not.
  static func isSealed(_ text: String) -> Bool { text.hasPrefix(mark) }

  /// A key and its name; nil where there is none in its place.
  private func key(_ slot: Int) throws(Fault) -> (name: [UInt8], key: SharedSecret)? {
    guard let file = try opened() else { return nil }
    guard var bytes = PlainFile.read(file, Self.size, at: slot * Self.size) else {
      throw .unusable(path, PlainFile.problem)
    }
    defer { bytes.wipe() }
    guard bytes.count == Self.size, bytes.contains(where: { $0 != 0 }) else { return nil }
    var key = Array(bytes[Self.nameSize..<Self.nameSize + Self.keySize])
    return (Array(bytes.prefix(Self.nameSize)), SharedSecret(Secret(consuming: &key)))
  }

  /// Seals a text under a key; nil where there is none in its place.
  func seal(_ text: String, _ slot: Int) throws(Fault) -> String? {
    guard let (name, key) = try key(slot), let box = SecretBox.seal(text, under: key) else {
      return nil
    }
    return "\(Self.mark)\(slot):\(Hex.encode(name)):\(Base64.encode(box))"
  }

  /// The text that was sealed; nil where its key is gone.
  ///
  /// Throws `state` where the keys cannot be read.
  func open(_ text: String) throws(Fault) -> String? {
    guard let (slot, name, sealed) = Self.parts(text), let found = try key(slot), found.name == name
    else { return nil }
    return SecretBox.open(sealed, under: found.key)
  }

  /// Makes keys in places that have none, on the disk when it returns; gives the places that have one now.
  ///
  /// Throws `state` where they cannot be written.
  func make(_ slots: some Sequence<Int>) throws(Fault) -> [Int] {
    let isNew = !PlainFile.exists(path)
    let file: Int32
    if let known = try opened() { file = known } else { file = try PlainFile.open(path) }
    descriptor = file
    guard PlainFile.lock(file, at: Self.making, upTo: 5000) else {
      throw .unusable(path, PlainFile.problem)
    }
    defer { PlainFile.unlock(file, at: Self.making) }
    var made: [Int] = []
    for slot in slots {
      let there = PlainFile.read(file, Self.size, at: slot * Self.size) ?? [1]
      // Whoever used the one that is there has still to destroy it.
      guard there.allSatisfy({ $0 == 0 }) else { continue }
      var bytes = [UInt8](repeating: 0, count: Self.size)
      defer { bytes.wipe() }
      unsafe randombytes_buf(&bytes, Self.nameSize + Self.keySize)
      guard PlainFile.write(bytes, to: file, at: slot * Self.size) else {
        throw .unusable(path, PlainFile.problem)
      }
      made.append(slot)
    }
    guard PlainFile.sync(file), !isNew || PlainFile.syncFolder(folder) else {
      throw .unusable(path, PlainFile.problem)
    }
    return made
  }

  /// Overwrites the key under which a text was sealed, unless another is in its place by now.
  func destroy(of text: String) {
    guard let (slot, name, _) = Self.parts(text) else { return }
    destroy(slot, named: name)
  }

  /// Overwrites a key, whichever it is; false where there was none.
  @discardableResult
  func destroy(_ slot: Int, named name: [UInt8]? = nil) -> Bool {
    guard let file = try? opened(), PlainFile.lock(file, at: Self.making, upTo: 5000) else {
      return false
    }
    defer { PlainFile.unlock(file, at: Self.making) }
    let there = PlainFile.read(file, Self.nameSize, at: slot * Self.size) ?? []
    guard there.contains(where: { $0 != 0 }), name ?? there == there else { return false }
    let zeros = [UInt8](repeating: 0, count: Self.size)
    return PlainFile.write(zeros, to: file, at: slot * Self.size)
  }

  /// Whether a place has a key.
  func has(_ slot: Int) -> Bool {
    guard let file = try? opened() else { return false }
    let there = PlainFile.read(file, Self.nameSize, at: slot * Self.size) ?? []
    return there.contains { $0 != 0 }
  }
}

/// A text sealed under a key of 32 bytes: libsodium's `crypto_secretbox`, its nonce in front.
enum SecretBox {
  private static let nonceSize = 24
  private static let tagSize = 16

  /// Bytes that the shortest box has.
  static let least = nonceSize + tagSize

  /// Seals a text; the same text gives another box each time.
  static func seal(_ text: String, under key: SharedSecret) -> [UInt8]? {
    var nonce = [UInt8](repeating: 0, count: nonceSize)
    unsafe randombytes_buf(&nonce, nonce.count)
    var plain = Array(text.utf8)
    defer { plain.wipe() }
    var box = [UInt8](repeating: 0, count: plain.count + tagSize)
    let status = unsafe key.secret.withBytes { key -> Int32 in
      guard let key = unsafe key.bindMemory(to: UInt8.self).baseAddress else { return -1 }
      return unsafe crypto_secretbox_easy(&box, plain, UInt64(plain.count), nonce, key)
    }
    return status == 0 ? nonce + box : nil
  }

  /// The text of a box; nil where it was sealed under another key.
  static func open(_ bytes: [UInt8], under key: SharedSecret) -> String? {
    guard bytes.count >= least else { return nil }
    let nonce = Array(bytes.prefix(nonceSize))
    let box = Array(bytes.dropFirst(nonceSize))
    var plain = [UInt8](repeating: 0, count: box.count - tagSize)
    defer { plain.wipe() }
    let status = unsafe key.secret.withBytes { key -> Int32 in
      guard let key = unsafe key.bindMemory(to: UInt8.self).baseAddress else { return -1 }
      return unsafe crypto_secretbox_open_easy(&plain, box, UInt64(box.count), nonce, key)
    }
    return status == 0 ? String(decoding: plain, as: UTF8.self) : nil
  }
}
