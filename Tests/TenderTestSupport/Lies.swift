import TenderModel

/// Answers with one changed member.
///
/// The new value may have another type, or be negative, huge, empty, missing, repeated or another payment's.
/// It is never another of the provider's values for the same member, nor another id in a list. A well-formed
/// answer that names its operation is evidence, so such a lie would be believed. For the same reason a
/// `refunded_amount` stays as it is: any number there is one that the provider could mean.
package enum Lies {
  /// A JSON answer with one changed member. Anything else stays as it was.
  package static func json(_ body: [UInt8], _ random: inout Seeded) -> [UInt8] {
    guard let whole = JSONReader.read(body) else { return body }
    var left = random.below(max(1, count(whole)))
    return Array(JSONWriter.text(changed(whole, &left, &random) ?? .null).utf8)
  }

  /// An XML answer with the text of one element changed.
  package static func xml(_ body: [UInt8], _ random: inout Seeded) -> [UInt8] {
    let text = String(decoding: body, as: UTF8.self)
    // The texts are between tags: every second part that has no bracket.
    var parts = text.split(separator: "<", omittingEmptySubsequences: false).map(String.init)
    let filled = parts.indices.filter { parts[$0].split(separator: ">").count == 2 }
    guard let place = filled.isEmpty ? nil : filled[random.below(filled.count)] else { return body }
    let head = parts[place].prefix { $0 != ">" }
    let texts = ["", "-1", "0", "11.5", "999999999999", "x", "EUR", "QQ99"]
    parts[place] = head + ">" + texts[random.below(texts.count)]
    return Array(parts.joined(separator: "<").utf8)
  }

  /// The number of members, at any depth.
  private static func count(_ value: JSON) -> Int {
    switch value {
    case .object(let object): object.members.reduce(0) { $0 + 1 + count($1.value) }
    case .array(let elements): elements.reduce(0) { $0 + count($1) }
    default: 0
    }
  }

  private static func changed(
    _ value: JSON,
    isListed: Bool = false,
    _ left: inout Int,
    _ random: inout Seeded
  ) -> JSON? {
    switch value {
    case .object(let object):
      var next: JSONObject = [:]
      for member in object.members {
        left -= 1
        next[member.key] =
          left == -1
          ? isListed && member.key == "id" || member.key == "refunded_amount"
            ? member.value : another(member.value, member.key, &random)
          : changed(member.value, &left, &random)
      }
      return .object(next)
    case .array(let elements):
      return .array(elements.compactMap { changed($0, isListed: true, &left, &random) })
    default: return value
    }
  }

  /// The new value of a member; nil to remove it.
  private static func another(_ value: JSON, _ name: String, _ random: inout Seeded) -> JSON? {
    let ofAnyType: [JSON?] = [nil, .null, [], [:], "", "x", -1, .number("1e30"), .number("11.5")]
    let own: [JSON?] =
      switch value {
      case .integer(let number): [0, .integer(-number - 1), .integer(1_000_000_000_000), "1000"]
      case .string(let text):
        name == "currency"
          ? ["EUR", .string(text.lowercased())]
          : [.string(text + "x"), .string(String(repeating: text, count: 200)), 1]
      case .array(let elements): [.array(elements + elements), .array([.array(elements)])]
      case .object(let object): [.array([.object(object)]), "object"]
      default: ["true", 2]
      }
    let all = ofAnyType + own + own
    return all[random.below(all.count)]
  }
}
