private import CSodium
internal import TenderEngine

/// The system's randomness, by libsodium.
package struct SystemRandomness: Randomness {
  /// Needs `prepare` before the first use.
  package init() {}

  /// Prepares libsodium; false where it cannot find any randomness.
  package static func prepare() -> Bool { sodium_init() >= 0 }

  /// SHA-256 or better of some bytes, for keys that repeat: BLAKE2b with 32 bytes.
  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_generichash(&digest, 32, bytes, UInt64(bytes.count), nil, 0)
    return digest
  }

  package func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe randombytes_buf(&bytes, count)
    return bytes
  }
}
