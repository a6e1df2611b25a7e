private import CLibraries

/// Keys of a reader, one for each transaction: triple-DES DUKPT (ANSI X9.24-1:2009, annex A). They are
/// checked against the values of the nexo security sample.
package enum CardKeys {
  /// The base key of the simulated readers: the public test value of that sample.
  static let base: [UInt8] = [
    0x37, 0x23, 0x3e, 0x89, 0x0b, 0x01, 0x04, 0xe9, 0xbc, 0x94, 0x3d, 0x0e, 0x45, 0xea, 0xe5, 0xa7,
  ]

  /// The uses of a key, each with a mask: for the PIN, for MACs and for data, in each direction.
  package enum Use: Sendable { case pin, requestMAC, responseMAC, data }

  /// The initial key of a reader by its serial number of ten bytes.
  package static func initial(_ base: [UInt8], serial: [UInt8]) -> [UInt8] {
    var head = Array(serial.prefix(8))
    head[7] &= 0xe0
    return tdes(base, head) + tdes(mixed(base), head)
  }

  /// The key of one transaction, before any use.
  package static func current(_ base: [UInt8], serial: [UInt8]) -> [UInt8] {
    var key = initial(base, serial: serial)
    var register = Array(serial.suffix(8))
    let counter = UInt32(serial[7] & 0x1f) << 16 | UInt32(serial[8]) << 8 | UInt32(serial[9])
    register[5] &= 0xe0
    register[6] = 0
    register[7] = 0
    for bit in (0..<21).reversed() where counter & 1 << UInt32(bit) != 0 {
      let mask = UInt32(1) << UInt32(bit)
      register[5] |= UInt8(mask >> 16 & 0x1f)
      register[6] |= UInt8(mask >> 8 & 0xff)
      register[7] |= UInt8(mask & 0xff)
      key = next(key, register)
    }
    return key
  }

  /// A key for one use.
  package static func key(_ current: [UInt8], for use: Use) -> [UInt8] {
    let place =
      switch use {
      case .pin: 7
      case .requestMAC: 6
      case .responseMAC: 4
      case .data: 5
      }
    var key = current
    key[place] ^= 0xff
    key[place + 8] ^= 0xff
    guard use == .data else { return key }
    // Data keys are encrypted under themselves, each half alone.
    return withOddParity(tdes(key, Array(key.prefix(8))) + tdes(key, Array(key.suffix(8))))
  }

  /// Encrypts by triple DES in CBC. The text is padded by a one bit and zeros (ISO/IEC 9797-1, method 2).
  package static func encrypt(_ text: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8] {
    var padded = text + [0x80]
    while padded.count % 8 != 0 { padded.append(0) }
    return tdes(key, padded, vector: vector)
  }

  /// Decrypts a text; nil without a valid padding.
  package static func decrypt(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
    guard !bytes.isEmpty, bytes.count % 8 == 0 else { return nil }
    var text = tdes(key, bytes, vector: vector, encrypting: false)
    while text.last == 0 { text.removeLast() }
    guard text.last == 0x80 else { return nil }
    text.removeLast()
    return text
  }

  /// The non-reversible key generation process (annex A.2): single DES on one half.
  private static func next(_ key: [UInt8], _ register: [UInt8]) -> [UInt8] {
    func half(_ key: [UInt8]) -> [UInt8] {
      let left = Array(key.prefix(8))
      let right = Array(key.suffix(8))
      // With both halves the same, triple DES equals single DES.
      return xor(tdes(left + left, xor(register, right)), right)
    }
    return half(mixed(key)) + half(key)
  }

  private static func mixed(_ key: [UInt8]) -> [UInt8] {
    xor(key, [0xc0, 0xc0, 0xc0, 0xc0, 0, 0, 0, 0, 0xc0, 0xc0, 0xc0, 0xc0, 0, 0, 0, 0])
  }

  private static func xor(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
    zip(one, other).map { $0 ^ $1 }
  }

  private static func withOddParity(_ key: [UInt8]) -> [UInt8] {
    key.map { ($0 & 0xfe).nonzeroBitCount % 2 == 0 ? $0 & 0xfe | 1 : $0 & 0xfe }
  }

  /// Two-key triple DES. It returns zeros without libcrypto, which fail every check.
  package static func tdes(
    _ key: [UInt8],
    _ bytes: [UInt8],
    vector: [UInt8]? = nil,
    encrypting: Bool = true
  ) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: bytes.count)
    guard unsafe tender_crypto_open() == nil else { return result }
    let mode: Int32 = encrypting ? 1 : 0
    _ = unsafe tender_crypto_tdes(key, vector, mode, bytes, bytes.count, &result)
    return result
  }
}
