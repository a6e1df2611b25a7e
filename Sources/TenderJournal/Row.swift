package import TenderModel
package import TenderSystem

/// The columns of a table or of a select list, by name.
package struct Columns: Sendable {
  /// What a column holds.
  package enum Kind: Sendable { case text, number, json }

  package let names: [String]
  fileprivate let kinds: [Kind]
  /// What a checksum takes, in the alphabetical order of the names.
  fileprivate let summed: [Summed]

  fileprivate struct Summed: Sendable {
    let place: Int
    let name: [UInt8]
  }

  package init(_ columns: [(name: String, kind: Kind)]) {
    let names = columns.map { $0.name }
    let order = names.indices.sorted { names[$0] < names[$1] }
    self.init(columns, order.map { Summed(place: $0, name: Checksum.taken(names[$0])) })
  }

  /// Columns of which a checksum takes some alone.
  private init(_ columns: [(name: String, kind: Kind)], _ summed: [Summed]) {
    names = columns.map { $0.name }
    kinds = columns.map { $0.kind }
    self.summed = summed
  }

  /// The place of a column; nil where it is none of these.
  ///
  /// They are few: a table of them costs more to make.
  fileprivate func place(of name: String) -> Int? {
    let length = name.utf8.count
    return names.firstIndex { $0.utf8.count == length && $0 == name }
  }

  /// Columns of three kinds, in the order numbers, texts, JSON.
  package init(numbers: [String], texts: [String], json: [String] = []) {
    self.init(
      numbers.map { ($0, .number) } + texts.map { ($0, .text) } + json.map { ($0, .json) }
    )
  }

  /// These columns between others, as a select list has them; a checksum takes these alone.
  package func with(first: [(String, Kind)] = [], last: [(String, Kind)] = []) -> Columns {
    Columns(
      first + names.indices.map { (names[$0], kinds[$0]) } + last,
      summed.map { Summed(place: $0.place + first.count, name: $0.name) }
    )
  }

  /// What a column holds; text where it is none of these.
  package func kind(_ name: String) -> Kind { place(of: name).map { kinds[$0] } ?? .text }
}

/// One row: values by the names of their columns.
package struct Row: Sendable {
  package let columns: Columns
  /// In the order of the columns.
  package private(set) var values: [Database.Value]

  /// A row that was read with these columns as its select list; nil where it has another number of them.
  package init?(_ columns: Columns, read values: [Database.Value]) {
    guard values.count == columns.names.count else { return nil }
    self.columns = columns
    self.values = values
  }

  /// A row with these values; what is not named is null.
  package init(_ columns: Columns, _ values: KeyValuePairs<String, Database.Value>) {
    self.columns = columns
    self.values = Array(repeating: .null, count: columns.names.count)
    var next = 0
    for (name, value) in values {
      // Most are in the columns' order.
      if next < columns.names.count, columns.names[next] == name {
        self.values[next] = value
      } else {
        self[name] = value
        next = columns.place(of: name) ?? next
      }
      next += 1
    }
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
    get { columns.place(of: name).map { values[$0] } ?? .null }
    set {
      guard let place = columns.place(of: name) else {
        preconditionFailure("there is no column \(name)")
      }
      values[place] = newValue
    }
  }

  /// The text of a column.
  package func text(_ name: String) -> String? { self[name].text }

  /// The number of a column.
  package func number(_ name: String) -> Int? { self[name].integer }

  /// Whether a column holds 1.
  package func flag(_ name: String) -> Bool { self[name].integer == 1 }

  /// The time in a column, in milliseconds since 1970; 0 where it has none.
  package func time(_ name: String) -> Int { Timestamp.clamped(number(name) ?? 0) }

  /// The object of a column: its members keep their order.
  package func object(_ name: String) -> JSONObject? {
    text(name).flatMap { JSONReader.read($0)?.object }
  }

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
            ?? values[place].text.flatMap { JSONReader.read($0)?.object })
            .map(JSON.object)
          : values[place].json
        return value.map { .init(key: columns.names[place], value: $0) }
      }
    )
  }

  /// Whether it has the checksum that it should have; one that was not read from a table has none.
  func isSummed(as sum: () -> String) -> Bool {
    columns.place(of: "sum") == nil || text("sum") == sum()
  }

  /// These columns alone.
  package func only(_ columns: Columns) -> Row {
    var row = Row(columns, [:])
    for name in columns.names { row[name] = self[name] }
    return row
  }

  /// The columns whose values differ from those of a row that was read.
  package func changes(from before: Row) -> [(column: String, value: Database.Value)] {
    zip(columns.names, values).compactMap { name, value in
      before[name] == value ? nil : (name, value)
    }
  }

  /// The checksum of what is not null, with the names: a column that is added later changes none.
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
  /// An object's text; null where it has no members.
  init(_ object: JSONObject) {
    self = object.members.isEmpty ? .null : .text(JSONWriter.text(.object(object)))
  }

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
