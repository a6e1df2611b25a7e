/// The documented shape of a provider's value. Undocumented members and types are left out of output.
package indirect enum Shape: Sendable {
  /// A text of at most this many bytes.
  case text(Int)
  /// At most the last four digits of a card or account.
  case lastFour
  /// A whole number, or a text or number that spells one.
  case number
  case truth
  case list(Shape)
  case object([String: Shape])
  /// The merchant's own value, of any type.
  case own

  /// A text as long as an id, a name or a code can be.
  package static let word = Shape.text(512)

  /// Returns the parts of the value that fit the shape; nil if none do.
  package func filtered(_ value: JSON) -> JSON? {
    switch (self, value) {
    case (.own, _): return value
    case (.text(let most), .string(let text)): return text.utf8.count <= most ? value : nil
    case (.lastFour, .string(let text)):
      return text.utf8.count <= 4 && text.utf8.allSatisfy(DigitRuns.isDigit) ? value : nil
    case (.number, .integer): return value
    case (.number, .string), (.number, .number): return value.wholeNumber == nil ? nil : value
    case (.truth, .bool): return value
    case (.list(let shape), .array(let elements)):
      return .array(elements.compactMap(shape.filtered))
    case (.object(let members), .object(let object)):
      return .object(
        JSONObject(
          object.members.compactMap { member in
            guard let shown = members[member.key]?.filtered(member.value) else { return nil }
            return JSONObject.Member(key: member.key, value: shown)
          }
        )
      )
    default: return nil
    }
  }

  /// Returns the parts of the object that fit the shape.
  package func filtered(_ object: JSONObject) -> JSONObject {
    filtered(.object(object))?.object ?? [:]
  }
}
