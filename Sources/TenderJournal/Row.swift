package import TenderModel
package import TenderSystem

/// The columns of a table or of a select list, by name.
package struct Columns: Sendable {
  /// What a column holds.
  package enum Kind: Sendable { case text, number, json }

  package let names: [String]
  /// Those that tables in use may lack: they were added later, and null is what the rows from before have.
  let added: [String]
  fileprivate let kinds: [Kind]
  /// What a checksum takes, in the alphabetical order of the names.
  fileprivate let summed: [Summed]

  fileprivate struct Summed: Sendable {
    let place: Int
    let name: [UInt8]
  }

  package init(_ columns: [(name: String, kind: Kind)], added: [String] = []) {
    let names = columns.map { $0.name }
    let order = names.indices.sorted { names[$0] < names[$1] }
    self.init(columns, order.map { Summed(place: $0, name: Checksum.taken(names[$0])) }, added)
  }

  /// Columns of which a checksum takes some alone.
  private init(_ columns: [(name: String, kind: Kind)], _ summed: [Summed], _ added: [String]) {
    names = columns.map { $0.name }
    kinds = columns.map { $0.kind }
    (self.summed, self.added) = (summed, added)
  }

  /// The place of a column; nil where it is none of these.
  ///
  /// They are few: a table of them costs more to make.
  fileprivate func place(of name: String) -> Int? {
    let length = name.utf8.count
    return names.firstIndex { $0.utf8.count == length && $0 == name }
  }

  /// These columns between others, as a select list has them; a checksum takes these alone.
  package func with(first: [(String, Kind)] = [], last: [(String, Kind)] = []) -> Columns {
    Columns(
      first + names.indices.map { (names[$0], kinds[$0]) } + last,
      summed.map { Summed(place: $0.place + first.count, name: $0.name) },
      added
    )
  }

  /// What a column holds; text where it is none of these.
  package func kind(_ name: String) -> Kind { place(of: name).map { kinds[$0] } ?? .text }
}

/// What a column can hold of the program.
protocol Storable: Sendable {
  static var columnKind: Columns.Kind { get }
  /// Reads a column; nil where it holds none.
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
  /// An object without members is null.
  var value: Database.Value { members.isEmpty ? .null : .text(JSONWriter.text(.object(self))) }
}

extension Optional: Storable where Wrapped: Storable {
  static var columnKind: Columns.Kind { Wrapped.columnKind }
  static func read(_ value: Database.Value) -> Wrapped?? { .some(Wrapped.read(value)) }
  var value: Database.Value { map(\.value) ?? .null }
}

/// A column of a table, and how a value of the program has it.
struct Field<Source>: Sendable {
  let name: String
  let kind: Columns.Kind
  private(set) var isAdded = false
  let get: @Sendable (Source) -> Database.Value
  /// Takes a column's value in.
  private(set) var set: @Sendable (inout Source, Database.Value) -> Void = { _, _ in }

  /// A column that is computed, or read together with others.
  init<Value: Storable>(_ name: String, from get: @escaping @Sendable (Source) -> Value) {
    (self.name, kind, self.get) = (name, Value.columnKind, { get($0).value })
  }

  /// Functions, not a key path, which takes thousands of instructions to make in each run.
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

  /// A column that tables in use get: it raises the version of both journals, and is null in the rows from before.
  init<Value: Storable>(
    added name: String,
    _ get: @escaping @Sendable (Source) -> Value?,
    _ put: @escaping @Sendable (inout Source, Value?) -> Void
  ) {
    self.init(name, get, put)
    isAdded = true
  }

  /// A column of a time in milliseconds since 1970.
  init(
    _ name: String,
    time get: @escaping @Sendable (Source) -> Int,
    _ put: @escaping @Sendable (inout Source, Int) -> Void
  ) {
    self.init(name, from: get)
    set = { put(&$0, $1.time) }
  }
}

/// The columns of a table, each named once.
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

  /// The values of the columns.
  func row(_ source: Source) -> Row { Row(columns, fields.map { $0.get(source) }) }

  /// Takes in what a row has under the names of the columns.
  func read(_ row: Row, into source: inout Source) {
    for field in fields { field.set(&source, row[field.name]) }
  }
}

/// One row: values by the names of their columns.
package struct Row: Sendable {
  package let columns: Columns
  /// In the order of the columns.
  package let values: [Database.Value]

  /// A row that was read with these columns as its select list; nil where it has another number of them.
  package init?(_ columns: Columns, read values: [Database.Value]) {
    guard values.count == columns.names.count else { return nil }
    self.init(columns, values)
  }

  fileprivate init(_ columns: Columns, _ values: [Database.Value]) {
    self.columns = columns
    self.values = values
  }

  /// The row that JSON writes by the names of the columns; other members are left out.
  package init(_ columns: Columns, json: JSONObject) {
    self.columns = columns
    values = columns.names.map { name in
      guard let value = json[name] else { return .null }
      if columns.kind(name) == .json, value.object != nil { return .text(JSONWriter.text(value)) }
      return Database.Value(json: value)
    }
  }

  /// The value of a column; null for one that this row does not have.
  package subscript(_ name: String) -> Database.Value {
    columns.place(of: name).map { values[$0] } ?? .null
  }

  func text(_ name: String) -> String? { self[name].text }

  func number(_ name: String) -> Int? { self[name].integer }

  /// Whether a column holds 1.
  func flag(_ name: String) -> Bool { number(name) == 1 }

  /// The time in a column, in milliseconds since 1970; 0 where it has none.
  func time(_ name: String) -> Int { self[name].time }

  /// The object of a column: its members keep their order.
  func object(_ name: String) -> JSONObject? { self[name].object }

  /// The row as JSON by the names of its columns, without what is null.
  package var json: JSONObject { json(known: [:]) }

  /// The same, with objects that are known by the names of their columns: their texts are not read again.
  func json(known: KeyValuePairs<String, JSONObject>) -> JSONObject {
    JSONObject(
      values.indices.compactMap { place in
        if values[place] == .null { return nil }
        let value =
          columns.kinds[place] == .json
          ? (known.first { $0.key == columns.names[place] }?.value
            ?? values[place].object).map(JSON.object)
          : values[place].json
        return value.map { .init(key: columns.names[place], value: $0) }
      }
    )
  }

  /// Whether it has the checksum that it should have; one that was not read from a table has none.
  func isSummed(with parts: [String?]) -> Bool {
    columns.place(of: "sum") == nil || text("sum") == sum(parts)
  }

  /// These columns alone.
  package func only(_ columns: Columns) -> Row {
    Row(columns, columns.names.map { self[$0] })
  }

  /// The row with texts that PostgreSQL takes.
  var storable: Row { Row(columns, values.map { $0.text.map { .text($0.withoutNUL) } ?? $0 }) }

  /// The columns whose values differ from those of a row that was read.
  package func changes(from before: Row) -> [(column: String, value: Database.Value)] {
    zip(columns.names, values).compactMap { name, value in
      before[name] == value ? nil : (name, value)
    }
  }

  /// The checksum of what is not null, with the names: a column that is added later changes none.
  ///
  /// `parts` go in with it: of a payment the checksums of its operations in their order, of an operation the text of
  /// its preparation, of a line of the history the link of the one before.
  package func sum(_ parts: [String?] = []) -> String {
    var sum = Checksum(room: 1024)
    for column in columns.summed {
      if case .null = values[column.place] { continue }
      sum.add(taken: column.name)
      sum.add(values[column.place])
    }
    for part in parts { sum.add(Database.Value(part)) }
    return sum.text()
  }
}

extension [String] {
  /// The names of columns as a list, each after the alias of its table where that is given.
  func list(_ alias: String? = nil) -> String {
    map { name in alias.map { "\($0)." + name } ?? name }.joined(separator: ", ")
  }
}

extension Database.Value {
  /// A time in milliseconds since 1970; 0 where there is none.
  var time: Int { Timestamp.clamped(integer ?? 0) }

  var object: JSONObject? { text.flatMap { JSONReader.read($0)?.object } }

  /// The value in JSON.
  package var json: JSON {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let text): .string(text)
    }
  }

  /// The value that JSON writes: text stays text, also where it is all digits.
  package init(json: JSON) {
    switch json {
    case .string(let text): self = .text(text)
    case .integer, .number: self = Database.Value(json.wholeNumber)
    case .null, .bool, .array, .object: self = .null
    }
  }
}

extension Fault {
  /// A row that a newer version wrote, or another program.
  static let unreadableRow = Fault(
    .state,
    code: "state_unusable",
    "the journal holds a row that this version cannot read",
    hint: "use the version that wrote it, or another --state-dir"
  )

  /// A row that is not what was written.
  static func damagedRow(_ reference: String) -> Fault {
    Fault(
      .state,
      code: "journal_damaged",
      "the journal's row of \(reference.quotedForMessage) does not match its checksum",
      hint: "see: tender journal verify; put the newest copy of the journal back"
    )
  }
}
