internal import TenderModel

/// The addresses that a payer may be sent to.
enum Redirection {
  /// Encrypted, or on this machine; visible ASCII and no longer than browsers take.
  static func isUsable(_ address: String) -> Bool {
    let front = address.prefix { $0 != "#" }
    guard address.utf8.count <= 8192, address.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      let parts = WebAddress(String(front)), ["http", "https"].contains(parts.scheme)
    else { return false }
    return parts.isEncrypted || parts.isLoopback
  }
}
