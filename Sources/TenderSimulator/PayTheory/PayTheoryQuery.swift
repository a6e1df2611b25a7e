import TenderModel

/// Pay Theory's query language on the simulator's objects (PayTheory/README, 6.2).
enum PayTheoryQuery {
  /// Whether an object satisfies pairs joined by their conjunctions, from the first to the last.
  static func matches(_ object: JSONObject, _ pairs: [JSON]) -> Bool {
    var result = true
    var isOr = false
    for pair in pairs {
      let fits: Bool
      if let group = pair["query_group"]?.array, !group.isEmpty {
        fits = matches(object, group)
      } else {
        fits = matches(object[pair["key"]?.text ?? ""], pair)
      }
      result = isOr ? result || fits : result && fits
      isOr = pair["conjunctive_operator"]?.text == "OR_NEXT"
    }
    return result
  }

  /// The keys in pairs and their groups.
  static func keys(_ pairs: [JSON]) -> [String] {
    pairs.flatMap { pair in
      let group = pair["query_group"]?.array ?? []
      return group.isEmpty ? [pair["key"]?.text ?? ""] : keys(group)
    }
  }

  private static func matches(_ value: JSON?, _ pair: JSON) -> Bool {
    let text = text(value)
    let wanted = pair["value"]?.text ?? ""
    let list = pair["in_values"]?.array?.compactMap(\.text) ?? []
    return switch pair["operator"]?.text {
    case "NOT_EQUAL": text != wanted
    case "IN_LIST": list.contains(text)
    case "NOT_IN_LIST": !list.contains(text)
    case "LIKE": isLike(text, wanted)
    case "NOT_LIKE": !isLike(text, wanted)
    case "GREATER_THAN": order(text, wanted) > 0
    case "GREATER_EQUAL": order(text, wanted) >= 0
    case "LESS_THAN": order(text, wanted) < 0
    case "LESS_EQUAL": order(text, wanted) <= 0
    case "EQUAL_TRUE": text == "1"
    case "EQUAL_FALSE": text != "1"
    case "IS_NULL": value == nil || value == .null
    case "IS_NOT_NULL": value != nil && value != .null
    default: text == wanted
    }
  }

  /// Values are strings in queries, and booleans are `1` and `0`.
  private static func text(_ value: JSON?) -> String {
    switch value {
    case .string(let text), .number(let text): text
    case .integer(let number): String(number)
    case .bool(let truth): truth ? "1" : "0"
    default: ""
    }
  }

  /// Compares numbers by size, and other texts by their characters.
  private static func order(_ left: String, _ right: String) -> Int {
    if let left = Int(left), let right = Int(right) { return (left - right).signum() }
    return left == right ? 0 : left < right ? -1 : 1
  }

  /// Matches SQL's wildcards: `%` for any characters, `_` for one.
  ///
  /// It goes back only to the last `%`, so the time is at most the product of the lengths.
  private static func isLike(_ text: String, _ pattern: String) -> Bool {
    let text = Array(text)
    let pattern = Array(pattern)
    var at = 0
    var place = 0
    var star: (pattern: Int, text: Int)?
    while at < text.count {
      if place < pattern.count, pattern[place] == "%" {
        star = (place, at)
        place += 1
      } else if place < pattern.count, pattern[place] == "_" || pattern[place] == text[at] {
        at += 1
        place += 1
      } else if let last = star {
        star = (last.pattern, last.text + 1)
        at = last.text + 1
        place = last.pattern + 1
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == "%" }
  }
}
