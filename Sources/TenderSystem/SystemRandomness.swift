private import CLibraries
internal import TenderEngine

/// The system's randomness, by libsodium.
package struct SystemRandomness: Randomness {
  package init() {}

  /// Returns a digest for derived keys, SHA-256 or better: BLAKE2b with 32 bytes.
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
