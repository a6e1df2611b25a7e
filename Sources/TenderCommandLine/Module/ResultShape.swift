package import TenderModel

/// A shape that a provider's `result` can have, for the JSON Schema of records.
///
/// It is written as a line: the member that identifies the shape, the place of the members, and the members.
/// An example is `type=PT_TOKENIZE body: payment_method_id last_four? amount#`. A shape is identified by the
/// presence of a member, or by its value. A member is text. After its name, `#` makes it a whole number, `!`
/// a Boolean, `{}` an object, `[]` a list. A final `?` makes it optional. The place of members at the top is
/// `.`.
package struct ResultShape: Sendable {
  /// The member that identifies the shape, and its value if that matters.
  package let name: String
  package let value: String?
  private let place: String
  private let members: [Member]

  private struct Member: Sendable {
    let name: String
    let type: String
    let isOptional: Bool

    init(_ text: Substring) {
      var name = text
      isOptional = name.hasSuffix("?")
      if isOptional { name = name.dropLast() }
      let marks = [("#", "integer"), ("!", "boolean"), ("{}", "object"), ("[]", "array")]
      let mark = marks.first { name.hasSuffix($0.0) }
      type = mark?.1 ?? "string"
      self.name = String(name.dropLast(mark?.0.count ?? 0))
    }
  }

  /// Returns the shapes of a table with one on each line.
  package static func table(_ text: String) -> [ResultShape] {
    text.split(separator: "\n").compactMap { ResultShape($0) }
  }

  /// Returns the names of the members of the shape that `told` identifies, in order; nil if the table has
  /// none.
  ///
  /// Only its line is read, because each payment needs this.
  package static func names(_ told: String, in table: String) -> [String]? {
    let head = told + " "
    let start =
      table.hasPrefix(head) ? head.endIndex : table.firstRange(of: "\n" + head)?.upperBound
    let line = start.map { table[$0...].prefix(before: "\n") }
    return line?.split(separator: " ").dropFirst().map { member in
      let end = member.utf8.firstIndex { "#!{[?".utf8.contains($0) }
      return String(member[..<(end ?? member.endIndex)])
    }
  }

  private init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count > 2, words[1].hasSuffix(":") else { return nil }
    let told = words[0].split(separator: "=", maxSplits: 1).map(String.init)
    name = told[0]
    value = told.count > 1 ? told[1] : nil
    place = String(words[1].dropLast())
    members = words.dropFirst(2).map(Member.init)
  }

  /// The JSON Schema of a result that has these shapes.
  package static func schema(_ shapes: [ResultShape]) -> JSON {
    let empty: JSON = ["maxProperties": 0]
    return [
      "type": "object", "anyOf": .array([empty] + shapes.map { .object($0.told) }),
      "allOf": .array(shapes.map { .object($0.rule) }),
    ]
  }

  /// The condition that identifies this shape.
  private var told: JSONObject {
    var told: JSONObject = ["required": [.string(name)]]
    if let value { told["properties"] = [name: ["const": .string(value)]] }
    return told
  }

  /// The schema of a result with this shape.
  private var rule: JSONObject {
    var inner: JSONObject = [
      "type": "object",
      "required": .array(members.filter { !$0.isOptional }.map { .string($0.name) }),
    ]
    inner["properties"] = .object(
      JSONObject(members.map { .init(key: $0.name, value: ["type": .string($0.type)]) })
    )
    let whole: JSONObject =
      place == "."
      ? inner : ["required": [.string(place)], "properties": [place: .object(inner)]]
    return ["if": .object(told), "then": .object(whole)]
  }
}
