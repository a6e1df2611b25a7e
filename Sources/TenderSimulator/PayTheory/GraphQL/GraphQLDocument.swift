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

/// One operation of a GraphQL document: its variables, fields and arguments (specification, section 2).
///
/// Fragments are replaced by their fields. Length, depth and the number of fields are limited.
struct GraphQLDocument {
  struct Directive {
    var name: String
    var arguments: [GraphQLValue.Member]
  }

  struct Field {
    var name: String
    var alias: String
    var arguments: [GraphQLValue.Member]
    /// Its own directives, and those of the fragments around it.
    var directives: [Directive] = []
    /// The types of the fragments around it.
    var types: [String] = []
    /// Nil without a selection.
    var selection: [Field]?
  }

  /// A field, or a fragment: a named one, or one in place.
  fileprivate indirect enum Selection {
    case field(Field, [Selection]?)
    case spread(String, [Directive])
    case inline(String?, [Directive], [Selection])
  }

  fileprivate struct Operation {
    var name: String?
    var isMutation = false
    var variables: [Variable] = []
    var selections: [Selection] = []
  }

  struct Variable {
    var name: String
    var type: GraphQLTypeReference
    var initial: GraphQLValue?
  }

  let isMutation: Bool
  let variables: [Variable]
  private(set) var fields: [Field] = []
  /// Problems of operations and fragments (specification, sections 5.2 and 5.5).
  private(set) var problems: [String] = []
  private var fragments: [String: (type: String, selections: [Selection])] = [:]
  private var used: Set<String> = []
  private var count = 0

  private static let mostFields = 10_000

  /// Reads a document, and takes the operation of this name from it, or the only one; nil if its kind is not
  /// supported.
  init?(_ text: String, operation wanted: String? = nil) {
    guard text.utf8.count <= 100_000 else { return nil }
    var reader = GraphQLReader(text)
    var operations: [Operation] = []
    while reader.peek != nil {
      if reader.peek == "fragment" {
        guard let (name, type, selections) = reader.fragment() else { return nil }
        if fragments[name] != nil { problems.append("There can be only one fragment \"\(name)\".") }
        fragments[name] = (type, selections)
      } else {
        guard let operation = reader.operation() else { return nil }
        operations.append(operation)
      }
    }
    let names = operations.map(\.name)
    if Set(names).count < names.count || names.count > 1 && names.contains(nil) {
      problems.append("Several operations must have different names.")
    }
    guard let first = operations.first else { return nil }
    let chosen = operations.first { $0.name == wanted }
    if wanted == nil ? operations.count > 1 : chosen == nil {
      problems.append(wanted.map { "Unknown operation \"\($0)\"." } ?? "Must name an operation.")
    }
    let operation = chosen ?? first
    isMutation = operation.isMutation
    variables = operation.variables
    fields = expanded(operation.selections, [], [], within: [])
    for other in operations where other.name != operation.name {
      _ = expanded(other.selections, [], [], within: [])
    }
    for name in fragments.keys.sorted() where !used.contains(name) {
      problems.append("Fragment \"\(name)\" is never used.")
    }
  }

  /// Returns the fields of selections, with those of their fragments.
  private mutating func expanded(
    _ selections: [Selection],
    _ directives: [Directive],
    _ types: [String],
    within names: [String]
  ) -> [Field] {
    var fields: [Field] = []
    for selection in selections {
      count += 1
      guard count <= Self.mostFields else {
        if count == Self.mostFields + 1 { problems.append("There are too many fields.") }
        return fields
      }
      switch selection {
      case .field(var field, let inner):
        field.directives += directives
        field.types = types
        field.selection = inner.map { expanded($0, [], [], within: names) }
        fields.append(field)
      case .inline(let type, let more, let inner):
        fields += expanded(
          inner,
          directives + more,
          types + (type.map { [$0] } ?? []),
          within: names
        )
      case .spread(let name, let more):
        used.insert(name)
        guard let (type, inner) = fragments[name], !names.contains(name) else {
          let isKnown = fragments[name] != nil
          problems.append(
            isKnown
              ? "Cannot spread fragment \"\(name)\" within itself."
              : "Unknown fragment \"\(name)\"."
          )
          continue
        }
        fields += expanded(inner, directives + more, types + [type], within: names + [name])
      }
    }
    return fields
  }

  /// Returns a field's arguments with the values of variables. Null and absent are the same.
  func arguments(of field: Field, _ given: JSONObject) -> JSONObject {
    resolve(.object(field.arguments), given).object ?? [:]
  }

  /// Returns the fields that their directives include. Those of one alias are one field (specification, section
  /// 6.3.2).
  func included(_ fields: [Field], _ given: JSONObject) -> [Field] {
    var merged: [Field] = []
    for field in fields where field.directives.allSatisfy({ includes($0, given) }) {
      if let place = merged.firstIndex(where: { $0.alias == field.alias }) {
        merged[place].selection? += field.selection ?? []
      } else {
        merged.append(field)
      }
    }
    return merged
  }

  private func includes(_ directive: Directive, _ given: JSONObject) -> Bool {
    let isTrue = resolve(.object(directive.arguments), given)["if"]?.truth == true
    return isTrue == (directive.name == "include")
  }

  private func resolve(_ value: GraphQLValue, _ given: JSONObject) -> JSON {
    switch value {
    case .variable(let name):
      if let given = given[name] { return given }
      let initial = variables.first { $0.name == name }?.initial
      return initial.map { resolve($0, [:]) } ?? .null
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

  fileprivate mutating func variable() -> GraphQLDocument.Variable? {
    guard take("$"), let name = name(), take(":"), let type = type() else { return nil }
    var variable = GraphQLDocument.Variable(name: name, type: type)
    if take("=") {
      guard let value = value(depth: 0) else { return nil }
      variable.initial = value
    }
    return variable
  }

  fileprivate mutating func operation() -> GraphQLDocument.Operation? {
    var operation = GraphQLDocument.Operation()
    if let word = peek, word == "query" || word == "mutation" {
      operation.isMutation = word == "mutation"
      advance()
      operation.name = name()
      if peek == "(" {
        guard let declared = list("(", ")", { $0.variable() }), !declared.isEmpty else {
          return nil
        }
        operation.variables = declared
      }
    }
    guard let selections = selection(depth: 0) else { return nil }
    operation.selections = selections
    return operation
  }

  fileprivate mutating func fragment() -> (String, String, [GraphQLDocument.Selection])? {
    guard take("fragment"), let name = name(), name != "on", take("on"), let type = self.name(),
      let selections = selection(depth: 0)
    else { return nil }
    return (name, type, selections)
  }

  private mutating func directives() -> [GraphQLDocument.Directive]? {
    var directives: [GraphQLDocument.Directive] = []
    while take("@") {
      guard let name = name() else { return nil }
      let arguments = peek == "(" ? list("(", ")") { $0.member(depth: 0) } : []
      guard let arguments else { return nil }
      directives.append(.init(name: name, arguments: arguments))
    }
    return directives
  }

  private mutating func selection(depth: Int) -> [GraphQLDocument.Selection]? {
    guard depth < 16, let fields = list("{", "}", { $0.part(depth: depth) }), !fields.isEmpty
    else { return nil }
    return fields
  }

  /// Reads a field or a fragment.
  private mutating func part(depth: Int) -> GraphQLDocument.Selection? {
    guard take("...") else { return field(depth: depth) }
    if let name = peek, name != "on", self.name() != nil {
      return directives().map { .spread(name, $0) }
    }
    var type: String?
    if take("on") {
      guard let name = name() else { return nil }
      type = name
    }
    guard let directives = directives(), let inner = selection(depth: depth + 1) else { return nil }
    return .inline(type, directives, inner)
  }

  private mutating func field(depth: Int) -> GraphQLDocument.Selection? {
    guard let alias = name() else { return nil }
    var field = GraphQLDocument.Field(name: alias, alias: alias, arguments: [])
    if take(":") {
      guard let name = name() else { return nil }
      field.name = name
    }
    if peek == "(" {
      guard let arguments = list("(", ")", { $0.member(depth: 0) }), !arguments.isEmpty else {
        return nil
      }
      field.arguments = arguments
    }
    guard let directives = directives() else { return nil }
    field.directives = directives
    guard peek == "{" else { return .field(field, nil) }
    return selection(depth: depth + 1).map { .field(field, $0) }
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
  private enum Kind {
    case ignored
    case punctuator
    case other
  }

  static func read(_ text: String) -> [String] {
    let bytes = Array(text.utf8)
    var tokens: [String] = []
    var index = 0
    while index < bytes.count {
      let first = index
      index += 1
      switch kind(bytes[first]) {
      case .ignored: continue
      case .punctuator: break
      case .other where bytes[first] == 0x23:
        while index < bytes.count, bytes[index] != 0x0a { index += 1 }
        continue
      case .other where bytes[first] == 0x22:
        while index < bytes.count, bytes[index] != 0x22 {
          index = min(index + (bytes[index] == UInt8(ascii: "\\") ? 2 : 1), bytes.count)
        }
        index = min(index + 1, bytes.count)
      case .other where bytes[first...].starts(with: [0x2e, 0x2e, 0x2e]):
        index = first + 3
      case .other where bytes[first...].starts(with: byteOrderMark):
        index = first + byteOrderMark.count
        continue
      case .other: while index < bytes.count, isWord(bytes[index]) { index += 1 }
      }
      tokens.append(String(decoding: bytes[first..<index], as: UTF8.self))
    }
    return tokens
  }

  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

  private static func kind(_ byte: UInt8) -> Kind {
    // The characters are numbers, because an initializer for each would be the slowest part of the reading.
    switch byte {
    // Space, line ends, tab, comma.
    case 0x20, 0x0a, 0x0d, 0x09, 0x2c: .ignored
    // { } ( ) [ ] : = ! $ @ | &
    case 0x7b, 0x7d, 0x28, 0x29, 0x5b, 0x5d, 0x3a, 0x3d, 0x21, 0x24, 0x40, 0x7c, 0x26: .punctuator
    default: .other
    }
  }

  /// Whether a byte continues a name or a number: it is not a mark, quote or comment.
  private static func isWord(_ byte: UInt8) -> Bool {
    if case .other = kind(byte) { return byte != 0x22 && byte != 0x23 }
    return false
  }
}
