import TenderModel

/// The shape of a request's body, as TrueLayer's OpenAPI writes it: required members, enumerations,
/// patterns, lengths, and one of several shapes by a member's value.
indirect enum BankSchema: Sendable {
  case text(Text)
  /// One of these words.
  case word([String])
  case integer(ClosedRange<Int>)
  case number(atLeast: Int)
  case truth
  /// Different elements, at least one.
  case list(of: BankSchema)
  case object(required: [String], members: [String: BankSchema])
  /// By the word of a member.
  case choice(by: String, [String: BankSchema])
  /// Names and texts of the caller's own: how many at most, and how long.
  case pairs(count: Int, name: Int, value: Int)

  /// What a text may be.
  struct Text: Sendable {
    /// How many characters it may have.
    var length = 0...Int.max
    /// Which characters it may have; nil for all.
    var characters: (@Sendable (Unicode.Scalar) -> Bool)?
    /// What it must be as a whole; nil for anything.
    var form: (@Sendable (String) -> Bool)?
  }

  /// What is wrong with a value: a place such as `payment_method.type`, and why.
  struct Violation {
    var place: String
    var reason: String
  }

  static func shape(_ required: String..., members: [String: BankSchema]) -> BankSchema {
    .object(required: required, members: members)
  }

  static let anyText = BankSchema.text(Text())
  static let anyObject = BankSchema.object(required: [], members: [:])

  static func string(
    _ length: ClosedRange<Int> = 0...Int.max,
    _ characters: (@Sendable (Unicode.Scalar) -> Bool)? = nil
  ) -> BankSchema {
    .text(Text(length: length, characters: characters))
  }

  static func form(
    length: ClosedRange<Int> = 0...Int.max,
    _ form: @escaping @Sendable (String) -> Bool
  ) -> BankSchema {
    .text(Text(length: length, form: form))
  }

  /// The first thing that is wrong with a value; nil where nothing is.
  ///
  /// Members that the schema does not name are let through, as there.
  func violation(in value: JSON, at place: String = "") -> Violation? {
    switch (self, value) {
    case (.text(let wanted), .string(let text)):
      return wanted.fits(text) ? nil : Violation(place: place, reason: "The format is invalid.")
    case (.word(let words), .string(let text)) where words.contains(text): return nil
    case (.word(let words), _):
      let list = words.joined(separator: ", ")
      return Violation(place: place, reason: "Must be one of \(list).")
    case (.integer(let range), .integer(let number)):
      if range.contains(number) { return nil }
      return Violation(
        place: place,
        reason: "Must be from \(range.lowerBound) to \(range.upperBound)."
      )
    case (.number(let least), .integer(let number)) where number >= least: return nil
    case (.number, .number): return nil
    case (.truth, .bool): return nil
    case (.list(let schema), .array(let elements)):
      return Self.violation(in: elements, schema, at: place)
    case (.object(let required, let members), .object(let object)):
      return Self.violation(in: object, required, members, at: place)
    case (.choice(let name, let shapes), .object(let object)):
      guard let word = object.text(name), let shape = shapes[word] else {
        return Violation(
          place: Self.place(name, in: place),
          reason: object[name] == nil ? "Value is required." : "Unknown value."
        )
      }
      return shape.violation(in: value, at: place)
    case (.pairs(let count, let name, let length), .object(let object)):
      let fits = object.members.allSatisfy { member in
        member.key.unicodeScalars.count <= name
          && member.value.text.map { $0.unicodeScalars.count <= length } ?? false
      }
      if fits, object.members.count <= count { return nil }
      return Violation(place: place, reason: "At most \(count) pairs of text.")
    default: return Violation(place: place, reason: "The type is invalid.")
    }
  }

  private static func violation(
    in elements: [JSON],
    _ schema: BankSchema,
    at place: String
  ) -> Violation? {
    guard !elements.isEmpty, Set(elements).count == elements.count else {
      return Violation(place: place, reason: "Must have different elements, and one at least.")
    }
    for (index, element) in elements.enumerated() {
      if let found = schema.violation(in: element, at: "\(place)[\(index)]") { return found }
    }
    return nil
  }

  private static func violation(
    in object: JSONObject,
    _ required: [String],
    _ members: [String: BankSchema],
    at place: String
  ) -> Violation? {
    for name in required where object[name] == nil {
      return Violation(place: Self.place(name, in: place), reason: "Value is required.")
    }
    for member in object.members {
      let inner = Self.place(member.key, in: place)
      if let found = members[member.key]?.violation(in: member.value, at: inner) { return found }
    }
    return nil
  }

  private static func place(_ name: String, in place: String) -> String {
    place.isEmpty ? name : place + "." + name
  }
}

extension BankSchema.Text {
  func fits(_ text: String) -> Bool {
    guard length.contains(text.unicodeScalars.count) else { return false }
    if let characters, !text.unicodeScalars.allSatisfy(characters) { return false }
    return form?(text) ?? true
  }
}

/// The forms that texts of the schema have.
enum BankText {
  /// References: letters, digits, space and `-:().,'+?/`.
  static let reference: @Sendable (Unicode.Scalar) -> Bool = { scalar in
    letterOrDigit(scalar) || "-:().,'+ ?/".unicodeScalars.contains(scalar)
  }

  /// Everything but parentheses.
  static let name: @Sendable (Unicode.Scalar) -> Bool = { $0 != "(" && $0 != ")" }

  /// Everything but line ends.
  static let line: @Sendable (Unicode.Scalar) -> Bool = { $0 != "\n" }

  static let digit: @Sendable (Unicode.Scalar) -> Bool = { ("0"..."9").contains($0) }
  static let capital: @Sendable (Unicode.Scalar) -> Bool = { ("A"..."Z").contains($0) }
  static let small: @Sendable (Unicode.Scalar) -> Bool = { ("a"..."z").contains($0) }

  static func letterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    digit(scalar) || capital(scalar) || small(scalar)
  }

  /// Two capital letters, two digits, capital letters and digits.
  static func isIBAN(_ text: String) -> Bool {
    let scalars = Array(text.unicodeScalars)
    return (15...34).contains(scalars.count) && scalars.prefix(2).allSatisfy(capital)
      && scalars[2..<4].allSatisfy(digit)
      && scalars.dropFirst(4).allSatisfy { capital($0) || digit($0) }
  }

  /// Five groups of hexadecimal digits (RFC 9562, section 4).
  static func isUUID(_ text: String) -> Bool {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12]
      && groups.joined().unicodeScalars.allSatisfy { scalar in
        digit(scalar) || ("a"..."f").contains(scalar) || ("A"..."F").contains(scalar)
      }
  }

  /// Something, an at sign, and a host with a dot in it.
  static func isEmail(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return false }
    let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    return labels.count > 1 && labels.allSatisfy { !$0.isEmpty }
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f }
  }

  /// A day that there is.
  static func isDate(_ text: String) -> Bool {
    text.utf8.count == 10 && Timestamp.read(text) != nil
  }

  /// Two or three parts of base64url, parted by dots.
  static func isToken(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count >= 2 && !parts[0].isEmpty && !parts[1].isEmpty
      && text.unicodeScalars.allSatisfy {
        letterOrDigit($0) || "-_=.+/".unicodeScalars.contains($0)
      }
  }
}
