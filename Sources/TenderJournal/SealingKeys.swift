private import CLibraries
import TenderModel
import TenderSystem

/// Keys that seal preparations in the journal, one for each, in a file beside it.
///
/// SQLite's log has old bytes until it is emptied, which takes four syncs. Overwriting a preparation's key
/// destroys it at once. Keys are created many at a time, and are on the disk before they are used. So no
/// payment waits for a sync. Texts are sealed with libsodium's `crypto_secretbox`.
final class SealingKeys: @unchecked Sendable {
  // Unchecked: one thread uses a journal and its keys.

  /// A key's name (16 bytes), the key (32), and padding, within one sector of any disk.
  private static let size = 64
  private static let nameSize = 16
  private static let keySize = 32
  private static let mark = "sealed:"
  /// The byte that is locked while keys are created or destroyed. It belongs to no key.
  private static let making = 1 << 40

  let path: String
  private let folder: String
  private var descriptor: Int32?

  init(folder: String) {
    self.folder = folder
    path = folder + "/journal.seals"
  }

  deinit { if let descriptor { Environment.close(descriptor) } }

  private func opened() throws(Fault) -> Int32? {
    if let descriptor { return descriptor }
    guard Environment.exists(path) else { return nil }
    descriptor = try PlainFile.open(path)
    return descriptor
  }

  /// Returns the number of places for keys in the file.
  func count() throws(Fault) -> Int {
    try opened().map { PlainFile.size(of: $0) / Self.size } ?? 0
  }

  /// Returns the number of the key that sealed a text; nil if it is not sealed.
  static func slot(of text: String) -> Int? { parts(text)?.slot }

  private static func parts(_ text: String) -> (slot: Int, name: [UInt8], box: [UInt8])? {
    guard text.hasPrefix(mark) else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, let slot = Int(parts[1]), (0..<1 << 32).contains(slot),
      let name = Hex.decode(parts[2]), name.count == nameSize,
      let box = Base64.decode(String(parts[3])), box.count >= SecretBox.least
    else { return nil }
    return (slot, name, box)
  }

  /// Returns whether a text is sealed, readable or not.
  static func isSealed(_ text: String) -> Bool { text.hasPrefix(mark) }

  /// Returns a key and its name; nil if its place is empty.
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

  /// Seals a text with a key; nil if the key's place is empty.
  func seal(_ text: String, _ slot: Int) throws(Fault) -> String? {
    guard let (name, key) = try key(slot), let box = SecretBox.seal(text, under: key) else {
      return nil
    }
    return "\(Self.mark)\(slot):\(Hex.encode(name)):\(Base64.encode(box))"
  }

  /// Unseals a text; nil if its key is gone.
  ///
  /// Throws `state` if the keys cannot be read.
  func open(_ text: String) throws(Fault) -> String? {
    guard let (slot, name, sealed) = Self.parts(text), let found = try key(slot), found.name == name
    else { return nil }
    return SecretBox.open(sealed, under: found.key)
  }

  /// Creates keys in empty places. They are on the disk when it returns. Returns the places that have one
  /// now.
  ///
  /// Throws `state` if they cannot be written.
  func make(_ slots: some Sequence<Int>) throws(Fault) -> [Int] {
    let isNew = !Environment.exists(path)
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
      // A key in this place was used and is not destroyed yet.
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

  /// Overwrites the key that sealed a text, unless its place has another key now.
  func destroy(of text: String) {
    guard let (slot, name, _) = Self.parts(text) else { return }
    destroy(slot, named: name)
  }

  /// Overwrites a key. Returns false if there was none.
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

  func has(_ slot: Int) -> Bool {
    guard let file = try? opened() else { return false }
    let there = PlainFile.read(file, Self.nameSize, at: slot * Self.size) ?? []
    return there.contains { $0 != 0 }
  }
}

/// A text sealed with a 32-byte key: libsodium's `crypto_secretbox` after its nonce.
enum SecretBox {
  private static let nonceSize = 24
  private static let tagSize = 16

  /// The minimum size of a box, in bytes.
  static let least = nonceSize + tagSize

  /// Seals a text. The same text gives a different box each time.
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

  /// Opens a box; nil if it was sealed with another key.
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
