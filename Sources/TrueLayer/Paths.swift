import TenderEngine
import TenderModel

extension Payment.Kind {
  /// What addresses, parameters and the names of errors call it.
  var noun: String { self == .mandate ? "mandate" : "payment" }
}

/// Where things are (README, 1.4).
enum Paths {
  static func collection(_ kind: Payment.Kind) -> String { "/v3/\(kind.noun)s" }

  /// `id` has been checked: see `ResourceID`.
  static func resource(_ kind: Payment.Kind, _ id: String) -> String {
    collection(kind) + "/" + id
  }
}

/// Ids before they enter a path.
enum ResourceID {
  /// Five groups of hexadecimal digits, as every published id is (RFC 9562, section 4).
  static func isUUID(_ text: String) -> Bool {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12]
      && text.allSatisfy { $0 == "-" || $0.isASCII && $0.isHexDigit }
  }

  /// Letters, digits, dashes, underscores and the asterisks of published samples, 1 to 64 of them:
  /// nothing that means anything in a path.
  static func isSafe(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_*".contains($0)) }
  }
}
