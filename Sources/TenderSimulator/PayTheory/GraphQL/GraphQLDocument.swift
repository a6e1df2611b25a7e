import TenderModel

/// A value in a GraphQL document (specification, section 2.9).
indirect enum GraphQLValue: Equatable, Sendable {
  case variable(String)
  /// A value of an enumeration.
  case word(String)
  /// A number, text, Boolean or null.
  case scalar(JSON)
  case list([GraphQLValue])
  case object([Member])

  struct Member: Equatable, Sendable {
    var name: String
    var value: GraphQLValue
  }

  /// Creates the value of a variable.
  init(_ json: JSON) {
    switch json {
    case .array(let elements): self = .list(elements.map { GraphQLValue($0) })
    case .object(let object):
      self = .object(object.members.map { Member(name: $0.key, value: GraphQLValue($0.value)) })
    default: self = .scalar(json)
    }
  }
}

/// A type in a schema or at a variable: `String`, `[QueryPair]`, `Int!`.
indirect enum GraphQLTypeReference: Equatable, Sendable, CustomStringConvertible {
  case named(String)
  case list(GraphQLTypeReference)
  case nonNull(GraphQLTypeReference)

  var name: String {
    switch self {
    case .named(let name): name
    case .list(let inner), .nonNull(let inner): inner.name
    }
  }

  var description: String {
    switch self {
    case .named(let name): name
    case .list(let inner): "[\(inner)]"
    case .nonNull(let inner): "\(inner)!"
    }
  }
}

/// A GraphQL document of one operation: its variables, fields and arguments (specification, section 2). Fragments,
/// directives and default values are not read.
///
/// Length and depth are limited.
struct GraphQLDocument {
  struct Field {
    var name: String
    var alias: String
    var arguments: [GraphQLValue.Member]
    /// Nil without a selection.
    var selection: [Field]?
  }

  struct Variable {
    var name: String
    var type: GraphQLTypeReference
  }

  let isMutation: Bool
  let variables: [Variable]
  let fields: [Field]

  /// Reads a document; nil if it has anything else.
  init?(_ text: String) {
    guard text.utf8.count <= 100_000 else { return nil }
    var reader = GraphQLReader(text)
    isMutation = reader.peek == "mutation"
    var variables: [Variable] = []
    if isMutation || reader.peek == "query" {
      reader.advance()
      _ = reader.name()
      if reader.peek == "(" {
        guard let declared = reader.list("(", ")", { $0.variable() }) else { return nil }
        variables = declared
      }
    }
    guard let fields = reader.selection(depth: 0), reader.peek == nil else { return nil }
    (self.variables, self.fields) = (variables, fields)
  }

  /// Returns a field's arguments with the values of variables. Null and absent are the same.
  static func arguments(of field: Field, _ given: JSONObject) -> JSONObject {
    resolve(.object(field.arguments), given).object ?? [:]
  }

  private static func resolve(_ value: GraphQLValue, _ given: JSONObject) -> JSON {
    switch value {
    case .variable(let name): return given[name] ?? .null
    case .word(let word): return .string(word)
    case .scalar(let json): return json
    case .list(let elements): return .array(elements.map { resolve($0, given) })
    case .object(let members):
      var object: JSONObject = [:]
      for member in members {
        let value = resolve(member.value, given)
        if value != .null { object[member.name] = value }
      }
      return .object(object)
    }
  }
}

/// Reads tokens one after the other. Each function returns nil for unexpected text.
struct GraphQLReader {
  private let tokens: [String]
  private var index = 0

  init(_ text: String) { tokens = GraphQLTokens.read(text) }

  var peek: String? { index < tokens.count ? tokens[index] : nil }

  mutating func advance() { index += 1 }

  mutating func take(_ token: String) -> Bool {
    guard peek == token else { return false }
    index += 1
    return true
  }

  /// Reads the elements between two brackets.
  mutating func list<Element>(
    _ opening: String,
    _ closing: String,
    _ element: (inout GraphQLReader) -> Element?
  ) -> [Element]? {
    guard take(opening) else { return nil }
    var elements: [Element] = []
    while !take(closing) {
      guard let next = element(&self) else { return nil }
      elements.append(next)
    }
    return elements
  }

  private static func isName(_ token: String) -> Bool {
    guard let first = token.unicodeScalars.first else { return false }
    return first == "_" || ("a"..."z").contains(first) || ("A"..."Z").contains(first)
  }

  mutating func name() -> String? {
    guard let token = peek, Self.isName(token) else { return nil }
    advance()
    return token
  }

  mutating func type(depth: Int = 0) -> GraphQLTypeReference? {
    guard depth < 8 else { return nil }
    var type: GraphQLTypeReference
    if take("[") {
      guard let inner = self.type(depth: depth + 1), take("]") else { return nil }
      type = .list(inner)
    } else {
      guard let name = name() else { return nil }
      type = .named(name)
    }
    return take("!") ? .nonNull(type) : type
  }

  mutating func variable() -> GraphQLDocument.Variable? {
    guard take("$"), let name = name(), take(":"), let type = type() else { return nil }
    return GraphQLDocument.Variable(name: name, type: type)
  }

  mutating func selection(depth: Int) -> [GraphQLDocument.Field]? {
    guard depth < 16, let fields = list("{", "}", { $0.field(depth: depth) }), !fields.isEmpty
    else { return nil }
    return fields
  }

  private mutating func field(depth: Int) -> GraphQLDocument.Field? {
    guard let alias = name(), let name = take(":") ? name() : alias,
      let arguments = peek == "(" ? list("(", ")", { $0.member(depth: 0) }) : []
    else { return nil }
    var field = GraphQLDocument.Field(name: name, alias: alias, arguments: arguments)
    guard peek == "{" else { return field }
    field.selection = selection(depth: depth + 1)
    return field.selection == nil ? nil : field
  }

  private mutating func member(depth: Int) -> GraphQLValue.Member? {
    guard let name = name(), take(":"), let value = value(depth: depth) else { return nil }
    return GraphQLValue.Member(name: name, value: value)
  }

  private mutating func value(depth: Int) -> GraphQLValue? {
    guard depth < 32, let token = peek else { return nil }
    switch token {
    case "[": return list("[", "]") { $0.value(depth: depth + 1) }.map(GraphQLValue.list)
    case "{": return list("{", "}") { $0.member(depth: depth + 1) }.map(GraphQLValue.object)
    default: break
    }
    advance()
    if token == "$" { return name().map(GraphQLValue.variable) }
    // Numbers, texts, true, false and null are JSON's (specification, sections 2.9.1 to 2.9.5).
    if let scalar = JSONReader.read(token) { return .scalar(scalar) }
    return Self.isName(token) ? .word(token) : nil
  }
}

/// Punctuators, names, numbers, and strings with their quote marks (specification, section 2.1).
private enum GraphQLTokens {
  static func read(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    var tokens: [String] = []
    var index = 0
    while index < bytes.count {
      let first = index
      index += 1
      switch bytes[first] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), 9, UInt8(ascii: ","): continue
      case UInt8(ascii: "#"):
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
        continue
      case UInt8(ascii: "\""):
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
          index = min(index + (bytes[index] == UInt8(ascii: "\\") ? 2 : 1), bytes.count)
        }
        index = min(index + 1, bytes.count)
      case let byte where isWord(byte):
        while index < bytes.count, isWord(bytes[index]) { index += 1 }
      // A punctuator. What is none begins nothing.
      default: break
      }
      tokens.append(String(decoding: bytes[first..<index], as: UTF8.self))
    }
    return tokens
  }

  /// Whether a byte is of a name or a number.
  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
      UInt8(ascii: "+"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}
