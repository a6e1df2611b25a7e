private import CLibraries
private import Synchronization
internal import TenderEngine

/// Randomness that a seed determines: ChaCha20 under a key made of the seed and a label.
package final class SeededRandomness: Randomness {
  private let seed: [UInt8]
  private let counter = Mutex(0)

  /// The same seed and label always give the same bytes.
  package init(seed: Int, label: String) {
    var key = [UInt8](repeating: 0, count: 32)
    let name = Array("\(seed)/\(label)".utf8)
    _ = unsafe crypto_generichash(&key, 32, name, UInt64(name.count), nil, 0)
    self.seed = key
  }

  package func bytes(_ count: Int) -> [UInt8] {
    let turn = counter.withLock { turn in
      turn += 1
      return turn
    }
    var key = [UInt8](repeating: 0, count: 32)
    let name = seed + Array(String(turn).utf8)
    _ = unsafe crypto_generichash(&key, 32, name, UInt64(name.count), nil, 0)
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe randombytes_buf_deterministic(&bytes, count, key)
    return bytes
  }
}
