import TenderModel

extension JSON? {
  /// The value, or an empty text where it is absent or null.
  var orEmpty: JSON {
    guard let self, self != .null else { return "" }
    return self
  }

  /// The value where it has the documented shape, or an empty text.
  func `as`(_ shape: Shape) -> JSON { flatMap(shape.filtered) ?? "" }

  /// The value, or an empty object where it is absent or null; some services send it as JSON text.
  var orEmptyObject: JSON {
    switch self {
    case .object: self ?? [:]
    case .string(let text): JSONReader.read(text).flatMap { $0.object.map(JSON.object) } ?? [:]
    default: [:]
    }
  }

  /// The value as the documented text, where a service sends a number.
  var asText: JSON {
    switch self {
    case .integer(let number): .string(String(number))
    case .number(let text): .string(text)
    default: self.as(.word)
    }
  }
}

extension JSONObject {
  /// The brand under either of its names.
  var brand: JSON {
    let given = self["brand"].flatMap { $0 == .null ? nil : $0 } ?? self["card_brand"]
    return given.as(.word)
  }
}
