import TenderModel

/// The shape of a request's body, by TrueLayer's OpenAPI (Payments API v3, 2026-08): required members,
/// enumerations, patterns, lengths, and several shapes chosen by a member's value.
///
/// The published text itself has these departures. PLN and NOK are currencies of its SDKs, but not of its
/// enumeration. The shapes of payouts and sweeping are those of [JAVA] and [PHP]. A payment on a mandate
/// needs no user, a commercial mandate no use case, and forms may have no types of input.
indirect enum BankSchema: Sendable {
  /// A text of a type of `TextType`.
  case text(String)
  /// One of these values.
  case word([String])
  case integer(ClosedRange<Int>)
  case number(atLeast: Int)
  case truth
  /// Different elements, with a least number.
  case list(of: BankSchema, atLeast: Int)
  case object(required: [String], members: [String: BankSchema])
  /// The shape by the value of the member `type`.
  case choice([String: BankSchema])
  /// The caller's names and texts, with their largest number and lengths.
  case pairs(count: Int, name: Int, value: Int)

  /// The shapes without members that are no texts.
  private static let known: [String: BankSchema] = [
    "object": .object(required: [], members: [:]), "truth": .truth,
    "positive": .integer(1...Int.max), "positiveNumber": .number(atLeast: 1),
    "limitedAmount": .integer(1...100_000_000), "seconds": .integer(0...60),
    "metadata": .pairs(count: 10, name: 40, value: 500),
    "pairs": .pairs(count: Int.max, name: Int.max, value: Int.max),
  ]

  /// The shapes by name, each with its members.
  ///
  /// `!` marks a required member. Its shape comes after a colon; without one it is any text. A shape is the
  /// name of another shape or of `known`, `[…]` for a list, or a type of `TextType`. `one of` begins an
  /// enumeration; `by type` begins the shapes that the member `type` selects.
  private static let texts = EmbeddedText.rows("TenderSimulator/TrueLayer/Requests.txt")

  static func check(_ body: JSONObject, _ shape: String) throws(BankProblem) {
    try BankSchema(texts[shape] ?? "", among: texts).check(.object(body))
  }

  /// Reads a shape in the notation of `texts`.
  init(_ text: String, among texts: [String: String]) {
    let words = text.unicodeScalars.split { $0 == " " || $0 == "\n" }.map { String($0) }
    switch words.prefix(2) {
    case ["one", "of"]: self = .word(Array(words.dropFirst(2)))
    case ["any", "of"]: self = .list(of: BankSchema(named: words[2], texts), atLeast: 0)
    case ["by", "type"]: self = .choice(Self.members(words.dropFirst(2), texts))
    default:
      let required = words.filter { $0.contains("!") }.map { String($0.prefix(before: "!")) }
      self = .object(required: required, members: Self.members(words[...], texts))
    }
  }

  private static func members(
    _ words: ArraySlice<String>,
    _ texts: [String: String]
  ) -> [String: BankSchema] {
    var members: [String: BankSchema] = [:]
    for word in words {
      let parts = word.split(separator: ":").map(String.init)
      let name = parts[0].prefix(before: "!")
      members[String(name)] = BankSchema(named: parts.count > 1 ? parts[1] : "text", texts)
    }
    return members
  }

  private init(named name: String, _ texts: [String: String]) {
    if name.hasPrefix("[") {
      self = .list(of: BankSchema(named: String(name.dropFirst().dropLast()), texts), atLeast: 1)
    } else if let text = texts[name] {
      self = BankSchema(text, among: texts)
    } else {
      self = Self.known[name] ?? .text(name)
    }
  }

  /// Checks a value.
  ///
  /// Throws `invalid-parameters` for the first error, with its place such as `payment_method.type`. Unknown
  /// members are accepted, as in the real API.
  func check(_ value: JSON, at place: String = "") throws(BankProblem) {
    func refuse(_ reason: String, _ name: String? = nil) -> BankProblem {
      let place = name.map { Self.place($0, in: place) } ?? place
      return .invalid(place.isEmpty ? "$" : place, reason)
    }
    switch (self, value) {
    case (.text(let type), .string(let text)):
      guard TextType.fits(text, type) else { throw refuse("The format is invalid.") }
    case (.word(let words), .string(let text)) where words.contains(text): break
    case (.word(let words), _): throw refuse("Must be one of \(words.joined(separator: ", ")).")
    case (.integer(let range), .integer(let number)):
      guard range.contains(number) else {
        throw refuse("Must be from \(range.lowerBound) to \(range.upperBound).")
      }
    case (.number(let least), .integer(let number)) where number >= least: break
    case (.number, .number), (.truth, .bool): break
    case (.list(let schema, let least), .array(let elements)):
      guard elements.count >= least, Set(elements).count == elements.count else {
        throw refuse("Must have different elements, and \(least) at least.")
      }
      for (index, element) in elements.enumerated() {
        try schema.check(element, at: "\(place)[\(index)]")
      }
    case (.object(let required, let members), .object(let object)):
      if let missing = required.first(where: { object[$0] == nil }) {
        throw refuse("Value is required.", missing)
      }
      for member in object.members {
        try members[member.key]?.check(member.value, at: Self.place(member.key, in: place))
      }
    case (.choice(let shapes), .object(let object)):
      guard let shape = object.text("type").flatMap({ shapes[$0] }) else {
        throw refuse(object["type"] == nil ? "Value is required." : "Unknown value.", "type")
      }
      try shape.check(value, at: place)
    case (.pairs(let count, let name, let length), .object(let object)):
      let fits = object.members.allSatisfy { member in
        member.key.unicodeScalars.count <= name
          && member.value.text.map { $0.unicodeScalars.count <= length } ?? false
      }
      guard fits, object.members.count <= count else {
        throw refuse("At most \(count) pairs of text.")
      }
    default: throw refuse("The type is invalid.")
    }
  }

  private static func place(_ name: String, in place: String) -> String {
    place.isEmpty ? name : place + "." + name
  }
}
