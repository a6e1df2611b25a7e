import TenderEngine
import TenderModel

/// The paths of the API (README, 1.4).
enum Paths {
  static func collection(_ kind: Payment.Kind) -> String { "/v3/\(kind.noun)s" }

  /// Returns the path of a resource. `id` must have been checked: see `ResourceID`.
  static func resource(_ kind: Payment.Kind, _ id: String) -> String {
    collection(kind) + "/" + id
  }
}

/// Checks of ids before they are put into a path.
enum ResourceID {
  /// Returns whether a text is a UUID, as every published id is (RFC 9562, section 4).
  static func isUUID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.unicodeScalars.enumerated().allSatisfy { place, scalar in
        let isBetween = place == 8 || place == 13 || place == 18 || place == 23
        return switch scalar {
        case "0"..."9", "a"..."f", "A"..."F": !isBetween
        default: isBetween && scalar == "-"
        }
      }
  }

  /// Returns whether a text has 1 to 64 letters, digits, dashes, underscores or asterisks.
  ///
  /// Published samples have asterisks. None of these characters has a meaning in a path.
  static func isSafe(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { scalar in
        switch scalar {
        case "0"..."9", "a"..."z", "A"..."Z", "-", "_", "*": true
        default: false
        }
      }
  }
}
