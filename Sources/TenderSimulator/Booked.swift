package import TenderModel

/// A value in the ledger, where it is JSON.
protocol BookedValue: JSONConvertible {
  static func read(booked: JSON) -> Self?
}

/// A value with members in the ledger. Each member is named once.
protocol BookedPart: BookedValue {
  init()
  /// Reads the members, or writes them.
  mutating func exchange(_ book: inout BookedMembers)
}

/// An entry of the ledger with a kind and an id.
protocol Booked: BookedPart {
  static var kind: String { get }
  var key: String { get }
  /// The text by which it is listed.
  var listing: String? { get }
  var parent: String? { get }
}

/// The members of an entry while they are read or written.
struct BookedMembers {
  private(set) var json: JSONObject = [:]
  private(set) var isReading = false
  fileprivate private(set) var lacksSomething = false

  init() {}

  fileprivate init(reading json: JSONObject) {
    self.json = json
    isReading = true
  }

  /// Reads or writes a member. If the ledger has none, its value stays.
  mutating func member<Value: BookedValue>(_ name: String, _ value: inout Value) {
    if !isReading {
      json[name] = value.json
    } else if let found = json[name].flatMap(Value.read(booked:)) {
      value = found
    }
  }

  mutating func member<Value: BookedValue>(_ name: String, _ value: inout Value?) {
    if isReading {
      value = json[name].flatMap(Value.read(booked:))
    } else {
      json[name] = value?.json
    }
  }

  /// Reads or writes a member that every entry of this kind must have.
  mutating func needed<Value: BookedValue>(_ name: String, _ value: inout Value) {
    if isReading, json[name].flatMap(Value.read(booked:)) == nil { lacksSomething = true }
    member(name, &value)
  }
}

extension BookedPart {
  static func read(booked: JSON) -> Self? { booked.object.flatMap(read(_:)) }

  static func read(_ object: JSONObject) -> Self? {
    var book = BookedMembers(reading: object)
    var part = Self()
    part.exchange(&book)
    return book.lacksSomething ? nil : part
  }

  package var json: JSON {
    var copy = self
    var book = BookedMembers()
    copy.exchange(&book)
    return .object(book.json)
  }
}

extension Booked {
  var listing: String? { nil }
  var parent: String? { nil }
}

extension Ledger {
  func find<Thing: Booked>(_ type: Thing.Type, _ id: String) throws(Fault) -> Thing? {
    try find(Thing.kind, id).flatMap(Thing.read(_:))
  }

  /// Returns the entries of a kind, or those of a reference or a parent, oldest first.
  func list<Thing: Booked>(
    _ type: Thing.Type,
    reference: String? = nil,
    parent: String? = nil
  ) throws(Fault) -> [Thing] {
    let column = reference != nil ? "reference" : parent != nil ? "parent" : nil
    return try list(Thing.kind, column: column, value: reference ?? parent ?? "")
      .compactMap(Thing.read(_:))
  }

  /// Returns the latest things of a kind, or those with an id or a reference, oldest first.
  func latest<Thing: Booked>(_ type: Thing.Type, about name: String? = nil) throws(Fault) -> [Thing]
  {
    try latest(Thing.kind, about: name).compactMap(Thing.read(_:))
  }

  func put<Thing: Booked>(_ thing: Thing) throws(Fault) {
    let body = thing.json.object ?? [:]
    try put(Thing.kind, thing.key, body, reference: thing.listing, parent: thing.parent)
  }
}

extension String: BookedValue {
  static func read(booked: JSON) -> String? { booked.text }
}

extension Int: BookedValue {
  static func read(booked: JSON) -> Int? { booked.boundedNumber }
}

extension Bool: BookedValue {
  static func read(booked: JSON) -> Bool? { booked.truth }
}

extension JSONObject: BookedValue {
  static func read(booked: JSON) -> JSONObject? { booked.object }
}

extension Array: BookedValue where Element: BookedValue {
  static func read(booked: JSON) -> [Element]? { booked.array?.compactMap(Element.read(booked:)) }
}

extension BookedValue where Self: RawRepresentable, RawValue == String {
  static func read(booked: JSON) -> Self? { Self(rawValue: booked.text ?? "") }

  var json: JSON { .string(rawValue) }
}
