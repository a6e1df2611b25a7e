package import TenderModel
package import TenderSystem

/// The columns of a table or of a select list, by name.
package struct Columns: Sendable {
  /// The type of a column.
  package enum Kind: Sendable { case text, number, json }

  package let names: [String]
  /// The columns that were added later. Existing tables may lack them, and older rows have null.
  let added: [String]
  let kinds: [Kind]

  package init(_ columns: [(name: String, kind: Kind)], added: [String] = []) {
    names = columns.map { $0.name }
    kinds = columns.map { $0.kind }
    self.added = added
  }

  /// Returns the index of a column; nil if it is unknown.
  ///
  /// There are few columns, so a dictionary would cost more to create.
  fileprivate func place(of name: String) -> Int? {
    let length = name.utf8.count
    return names.firstIndex { $0.utf8.count == length && $0 == name }
  }

  /// Returns these columns between others, for a select list.
  package func with(first: [(String, Kind)] = [], last: [(String, Kind)] = []) -> Columns {
    Columns(first + names.indices.map { (names[$0], kinds[$0]) } + last, added: added)
  }

  /// Returns the type of a column; text if the column is unknown.
  package func kind(_ name: String) -> Kind { place(of: name).map { kinds[$0] } ?? .text }
}

/// A type that a column can hold.
protocol Storable: Sendable {
  static var columnKind: Columns.Kind { get }
  /// Reads a column's value; nil if it has another type.
  static func read(_ value: Database.Value) -> Self?
  var value: Database.Value { get }
}

extension Int: Storable {
  static var columnKind: Columns.Kind { .number }
  static func read(_ value: Database.Value) -> Int? { value.integer }
  var value: Database.Value { .integer(self) }
}

extension Bool: Storable {
  static var columnKind: Columns.Kind { .number }
  static func read(_ value: Database.Value) -> Bool? { value.integer == 1 }
  var value: Database.Value { .init(self) }
}

extension String: Storable {
  static var columnKind: Columns.Kind { .text }
  static func read(_ value: Database.Value) -> String? { value.text }
  var value: Database.Value { .text(self) }
}

extension JSONObject: Storable {
  static var columnKind: Columns.Kind { .json }
  static func read(_ value: Database.Value) -> JSONObject? { value.object }
  /// An object without members is stored as null.
  var value: Database.Value { members.isEmpty ? .null : .text(JSONWriter.text(.object(self))) }
}

extension Optional: Storable where Wrapped: Storable {
  static var columnKind: Columns.Kind { Wrapped.columnKind }
  static func read(_ value: Database.Value) -> Wrapped?? { .some(Wrapped.read(value)) }
  var value: Database.Value { map(\.value) ?? .null }
}

/// A column of a table, with the functions that read and write its value.
struct Field<Source>: Sendable {
  let name: String
  let kind: Columns.Kind
  private(set) var isAdded = false
  let get: @Sendable (Source) -> Database.Value
  /// Sets a member of the source from the column's value.
  private(set) var set: @Sendable (inout Source, Database.Value) -> Void = { _, _ in }

  /// Creates a column that is computed, or read together with others.
  init<Value: Storable>(_ name: String, from get: @escaping @Sendable (Source) -> Value) {
    (self.name, kind, self.get) = (name, Value.columnKind, { get($0).value })
  }

  /// Closures are used, because creating a key path takes thousands of instructions in each run.
  init<Value: Storable>(
    _ name: String,
    _ get: @escaping @Sendable (Source) -> Value,
    _ put: @escaping @Sendable (inout Source, Value) -> Void
  ) {
    self.init(name, from: get)
    set = { source, value in
      if let value = Value.read(value) { put(&source, value) }
    }
  }

  /// Creates a column that was added later. It raises the version of both journals, and is null in older
  /// rows.
  init<Value: Storable>(
    added name: String,
    _ get: @escaping @Sendable (Source) -> Value?,
    _ put: @escaping @Sendable (inout Source, Value?) -> Void
  ) {
    self.init(name, get, put)
    isAdded = true
  }

  /// Creates a column with a time in milliseconds since 1970.
  init(
    _ name: String,
    time get: @escaping @Sendable (Source) -> Int,
    _ put: @escaping @Sendable (inout Source, Int) -> Void
  ) {
    self.init(name, from: get)
    set = { put(&$0, $1.time) }
  }
}

/// The columns of a table. This is the only list of their names.
struct Table<Source>: Sendable {
  private let fields: [Field<Source>]
  let columns: Columns

  init(_ fields: [Field<Source>]) {
    self.fields = fields
    columns = Columns(
      fields.map { ($0.name, $0.kind) },
      added: fields.filter(\.isAdded).map(\.name)
    )
  }

  func row(_ source: Source) -> Row { Row(columns, fields.map { $0.get(source) }) }

  func read(_ row: Row, into source: inout Source) {
    // In a select list, the columns of the table are together and in order.
    let start = fields.first.flatMap { row.columns.place(of: $0.name) } ?? 0
    for (index, field) in fields.enumerated() {
      field.set(&source, row.value(of: field.name, at: start + index))
    }
  }
}

/// A row: values by the names of their columns.
package struct Row: Sendable {
  package let columns: Columns
  /// The values in the order of the columns.
  package let values: [Database.Value]

  /// Creates a row from the values of a select list; nil if their number differs.
  package init?(_ columns: Columns, read values: [Database.Value]) {
    guard values.count == columns.names.count else { return nil }
    self.init(columns, values)
  }

  init(_ columns: Columns, _ values: [Database.Value]) {
    self.columns = columns
    self.values = values
  }

  /// Reads a row from JSON by the names of the columns. Other members are ignored.
  package init(_ columns: Columns, json: JSONObject) {
    self.columns = columns
    values = columns.names.map { name in
      guard let value = json[name] else { return .null }
      if columns.kind(name) == .json, value.object != nil { return .text(JSONWriter.text(value)) }
      return Database.Value(json: value)
    }
  }

  /// The value of a column; null if the row lacks the column.
  package subscript(_ name: String) -> Database.Value {
    columns.place(of: name).map { values[$0] } ?? .null
  }

  /// Returns the value of a column that is probably at a place.
  fileprivate func value(of name: String, at place: Int) -> Database.Value {
    place < values.count && columns.names[place] == name ? values[place] : self[name]
  }

  func text(_ name: String) -> String? { self[name].text }

  func number(_ name: String) -> Int? { self[name].integer }

  /// Returns the time in a column, in milliseconds since 1970; 0 if there is none.
  func time(_ name: String) -> Int { self[name].time }

  func object(_ name: String) -> JSONObject? { self[name].object }

  /// The row as JSON by the names of its columns, without null values.
  package var json: JSONObject { json(Array(values.indices)) }

  /// Returns the same for some columns, with known objects in place of those columns. An empty one is left out.
  func json(_ places: [Int], known: KeyValuePairs<String, JSONObject> = [:]) -> JSONObject {
    JSONObject(
      places.compactMap { place in
        let name = columns.names[place]
        if columns.kinds[place] == .json, let object = known.first(where: { $0.key == name })?.value
        {
          return object.members.isEmpty ? nil : .init(key: name, value: .object(object))
        }
        if values[place] == .null { return nil }
        let value = columns.kinds[place] == .json ? values[place].object?.json : values[place].json
        return value.map { .init(key: name, value: $0) }
      }
    )
  }

  /// Returns the columns whose values differ from those of an earlier row.
  package func changes(from before: Row) -> [(column: String, value: Database.Value)] {
    let start = columns.names.first.flatMap(before.columns.place) ?? 0
    return values.indices.compactMap { index in
      let name = columns.names[index]
      let value = values[index]
      return before.value(of: name, at: start + index) == value ? nil : (name, value)
    }
  }
}

extension [String] {
  /// Returns the names of columns as a list, each with the alias of its table if there is one.
  func list(_ alias: String? = nil) -> String {
    map { name in alias.map { "\($0)." + name } ?? name }.joined(separator: ", ")
  }
}

extension Database.Value {
  /// The value as a time in milliseconds since 1970; 0 if there is none.
  var time: Int { Timestamp.clamped(integer ?? 0) }

  var object: JSONObject? { text.flatMap { JSONReader.read($0)?.object } }

  package var json: JSON {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let text): .string(text)
    }
  }

  /// Reads a value from JSON. Text stays text, even if it has only digits.
  package init(json: JSON) {
    switch json {
    case .string(let text): self = .text(text)
    case .integer, .number: self = Database.Value(json.wholeNumber)
    case .null, .bool, .array, .object: self = .null
    }
  }
}

extension Fault {
  /// A version before the first release wrote the journal.
  ///
  /// Its payments are not read, so a reference may be in it. The hint must not lead to a new journal before its
  /// payments are finished.
  static func older(_ place: String, version: Int) -> Fault {
    .state(
      "journal_older",
      "the journal in \(place) has version \(version), from before the first release; nothing was sent",
      "finish its payments with the program that wrote it. Another journal does not know them: there, "
        + "their references would be charged again"
    )
  }

  /// A newer version or another program wrote the row.
  static let unreadableRow = Fault.state(
    "state_unusable",
    "the journal holds a row that this version cannot read",
    "use the version that wrote it"
  )
}
