/// A JSON value with exact numbers, and with members in the order in which they were given.
package enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int)
  /// A number that is not a 64-bit integer, as its exact decimal text.
  case number(String)
  case string(String)
  case array([JSON])
  case object(JSONObject)
}

extension JSON {
  package var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The value as an integer, if it is one or is a string or number that spells one exactly.
  ///
  /// Some SDKs write amounts as strings, so both are accepted.
  package var wholeNumber: Int? {
    switch self {
    case .integer(let value): value
    case .string(let text), .number(let text): Int(text)
    default: nil
    }
  }

  /// The value as a whole number from 0 to 10^15; nil for any other.
  ///
  /// It is used for amounts in minor units and times in milliseconds. Sums of a few of them cannot overflow.
  package var boundedNumber: Int? {
    wholeNumber.flatMap { (0...1_000_000_000_000_000).contains($0) ? $0 : nil }
  }

  /// The truth value of a Boolean; nil for any other value.
  package var truth: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The members of an object; nil for any other value.
  package var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  /// The elements of an array; nil for any other value.
  package var array: [JSON]? {
    if case .array(let array) = self { array } else { nil }
  }

  /// The value without null members in any object.
  fileprivate var withoutNulls: JSON {
    switch self {
    case .object(let object): .object(object.withoutNulls)
    case .array(let elements): .array(elements.map(\.withoutNulls))
    default: self
    }
  }

  /// The value of an object's member; nil for any other value.
  package subscript(key: String) -> JSON? { object?[key] }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }

  package init(integerLiteral value: Int) { self = .integer(value) }

  package init(booleanLiteral value: Bool) { self = .bool(value) }

  package init(arrayLiteral elements: JSON...) { self = .array(elements) }

  package init(dictionaryLiteral elements: (String, JSON?)...) { self = .object(.init(elements)) }
}

/// The ordered members of a JSON object.
package struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One name and its value.
  package struct Member: Sendable, Hashable {
    package var key: String
    package var value: JSON

    package init(key: String, value: JSON) {
      self.key = key
      self.value = value
    }
  }

  package private(set) var members: [Member]

  package init(_ members: [Member] = []) { self.members = members }

  /// Creates an object without the members that are nil.
  package init(dictionaryLiteral elements: (String, JSON?)...) { self.init(elements) }

  fileprivate init(_ elements: [(String, JSON?)]) {
    members = []
    members.reserveCapacity(elements.count)
    for (key, value) in elements { add(key, value) }
  }

  /// The value under a name; setting nil removes it, setting a new name appends it.
  package subscript(key: String) -> JSON? {
    get { place(of: key).map { members[$0].value } }
    set {
      if let index = place(of: key) {
        if let newValue {
          members[index].value = newValue
        } else {
          members.remove(at: index)
        }
      } else if let newValue {
        members.append(Member(key: key, value: newValue))
      }
    }
  }

  /// Adds a member with a new name, unless its value is nil. It searches no earlier one.
  package mutating func add(_ name: String, _ value: JSON?) {
    if let value { members.append(Member(key: name, value: value)) }
  }

  /// Returns the index of a name. Comparing lengths first rules out nearly all others without a call.
  private func place(of key: String) -> Int? {
    let length = key.utf8.count
    return members.firstIndex { $0.key.utf8.count == length && $0.key == key }
  }

  /// Returns a member's text; nil if it is not a string.
  package func text(_ key: String) -> String? { self[key]?.text }

  /// Returns the value at a path such as `result.body.amount`; nil without one.
  package func value(at path: String) -> JSON? {
    path.split(separator: ".").reduce(JSON.object(self)) { $0?[String($1)] }
  }

  /// Returns the same members, with those in `names` first and in that order.
  package func ordered(by names: [String]) -> JSONObject {
    // Nearly all are in order.
    var inOrder = 0
    for name in names where inOrder < members.count && members[inOrder].key == name { inOrder += 1 }
    if inOrder == members.count { return self }
    var isTaken = members.map { _ in false }
    var ordered: [Member] = []
    for name in names {
      guard let place = place(of: name), !isTaken[place] else { continue }
      isTaken[place] = true
      ordered.append(members[place])
    }
    return JSONObject(ordered + members.indices.filter { !isTaken[$0] }.map { members[$0] })
  }

  /// The members sorted by name at every depth, for readers that do not preserve the order.
  package var sorted: JSONObject {
    JSONObject(
      members.sorted { $0.key < $1.key }.map { member in
        guard let inner = member.value.object else { return member }
        return Member(key: member.key, value: .object(inner.sorted))
      }
    )
  }

  /// The members without null values, at every depth.
  package var withoutNulls: JSONObject {
    JSONObject(
      members.filter { $0.value != .null }.map { member in
        Member(key: member.key, value: member.value.withoutNulls)
      }
    )
  }
}
