import TenderModel

/// A value as a GraphQL document writes it (specification, section 2.9).
indirect enum GraphQLValue: Equatable, Sendable {
  case variable(String)
  case integer(String)
  case float(String)
  case string(String)
  case boolean(Bool)
  case null
  case enumeration(String)
  case list([GraphQLValue])
  case object([Member])

  struct Member: Equatable, Sendable {
    var name: String
    var value: GraphQLValue
  }
}

/// A type as a schema or a variable names it: `String`, `[QueryPair]`, `Int!`.
indirect enum GraphQLTypeReference: Equatable, Sendable, CustomStringConvertible {
  case named(String)
  case list(GraphQLTypeReference)
  case nonNull(GraphQLTypeReference)

  /// The name at its heart.
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

/// As much of a GraphQL document as a provider's queries need: one operation, its variables, fields
/// and arguments (specification, section 2); fragments and directives are refused.
///
/// Bounded in length and depth.
struct GraphQLDocument {
  /// One field: its name, its arguments, what is selected of it.
  struct Field {
    var name: String
    var alias: String
    var arguments: [GraphQLValue.Member]
    /// Nil where no selection is written.
    var selection: [Field]?
  }

  /// A variable that the operation declares.
  struct Variable {
    var name: String
    var type: GraphQLTypeReference
    var initial: GraphQLValue?
  }

  var isMutation: Bool
  var variables: [Variable]
  var fields: [Field]

  /// Reads a document; nil where it is not one of the supported kind.
  init?(_ text: String) {
    guard text.utf8.count <= 100_000 else { return nil }
    var reader = GraphQLReader(text)
    var isMutation = false
    var variables: [Variable] = []
    if let word = reader.peek, word == "query" || word == "mutation" {
      isMutation = word == "mutation"
      reader.advance()
      if let name = reader.peek, name != "{", name != "(" {
        guard reader.name() != nil else { return nil }
      }
      if reader.peek == "(" {
        guard let declared = reader.variables() else { return nil }
        variables = declared
      }
    }
    guard let fields = reader.selection(depth: 0), reader.peek == nil, !fields.isEmpty else {
      return nil
    }
    self.isMutation = isMutation
    self.variables = variables
    self.fields = fields
  }
}

/// Reads tokens one after the other; every part is nil where the text is not one.
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

  mutating func name() -> String? {
    guard let token = peek, let first = token.unicodeScalars.first,
      first == "_" || ("a"..."z").contains(first) || ("A"..."Z").contains(first)
    else { return nil }
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

  mutating func variables() -> [GraphQLDocument.Variable]? {
    guard take("(") else { return nil }
    var variables: [GraphQLDocument.Variable] = []
    while !take(")") {
      guard take("$"), let name = name(), take(":"), let type = type() else { return nil }
      var initial: GraphQLValue?
      if take("=") {
        guard let value = value(depth: 0) else { return nil }
        initial = value
      }
      variables.append(GraphQLDocument.Variable(name: name, type: type, initial: initial))
    }
    return variables.isEmpty ? nil : variables
  }

  mutating func selection(depth: Int) -> [GraphQLDocument.Field]? {
    guard depth < 16, take("{") else { return nil }
    var fields: [GraphQLDocument.Field] = []
    while !take("}") {
      guard var name = name() else { return nil }
      let alias = name
      if take(":") {
        guard let real = self.name() else { return nil }
        name = real
      }
      var arguments: [GraphQLValue.Member] = []
      if take("(") {
        while !take(")") {
          guard let argument = member(depth: 0) else { return nil }
          arguments.append(argument)
        }
        guard !arguments.isEmpty else { return nil }
      }
      var inner: [GraphQLDocument.Field]?
      if peek == "{" {
        guard let selected = selection(depth: depth + 1) else { return nil }
        inner = selected
      }
      fields.append(
        GraphQLDocument.Field(name: name, alias: alias, arguments: arguments, selection: inner)
      )
    }
    return fields.isEmpty ? nil : fields
  }

  private mutating func member(depth: Int) -> GraphQLValue.Member? {
    guard let name = name(), take(":"), let value = value(depth: depth) else { return nil }
    return GraphQLValue.Member(name: name, value: value)
  }

  mutating func value(depth: Int) -> GraphQLValue? {
    guard depth < 32, let token = peek else { return nil }
    advance()
    switch token {
    case "$": return name().map(GraphQLValue.variable)
    case "[":
      var elements: [GraphQLValue] = []
      while !take("]") {
        guard let element = value(depth: depth + 1) else { return nil }
        elements.append(element)
      }
      return .list(elements)
    case "{":
      var members: [GraphQLValue.Member] = []
      while !take("}") {
        guard let member = member(depth: depth + 1) else { return nil }
        members.append(member)
      }
      return .object(members)
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "null": return .null
    default: return Self.scalar(token)
    }
  }

  private static func scalar(_ token: String) -> GraphQLValue? {
    guard let first = token.unicodeScalars.first else { return nil }
    switch first {
    case "\"": return .string(String(token.dropFirst()))
    case "-", "0"..."9":
      // Numbers are JSON's (specification, sections 2.9.1 and 2.9.2).
      guard let number = JSONNumber(token) else { return nil }
      return number.isInteger ? .integer(token) : .float(token)
    case "_", "a"..."z", "A"..."Z": return .enumeration(token)
    default: return nil
    }
  }
}

/// The grammar of a JSON number, which GraphQL shares.
private struct JSONNumber {
  let isInteger: Bool

  init?(_ text: String) {
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let digits = rest.prefix { (0x30...0x39).contains($0) }
    guard let first = digits.first, first != 0x30 || digits.count == 1 else { return nil }
    rest = rest.dropFirst(digits.count)
    isInteger = rest.isEmpty
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
      guard !fraction.isEmpty else { return nil }
      rest = rest.dropFirst(1 + fraction.count)
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
        rest = rest.dropFirst()
      }
      let power = rest.prefix { (0x30...0x39).contains($0) }
      guard !power.isEmpty else { return nil }
      rest = rest.dropFirst(power.count)
    }
    guard rest.isEmpty else { return nil }
  }
}

/// Punctuators, names, numbers, and strings with a leading quote mark (specification, section 2.1).
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
      let next = bytes[index]
      switch kind(next) {
      case .ignored: index += 1
      case .punctuator:
        tokens.append(String(decoding: bytes[index...index], as: UTF8.self))
        index += 1
      case .other where next == 0x23:
        while index < bytes.count, bytes[index] != 0x0a { index += 1 }
      case .other where next == 0x22:
        index += 1
        tokens.append(string(bytes, &index))
      case .other where next == 0xef && bytes[index...].starts(with: byteOrderMark):
        index += byteOrderMark.count
      case .other:
        let first = index
        repeat { index += 1 } while index < bytes.count && isWord(bytes[index])
        tokens.append(String(decoding: bytes[first..<index], as: UTF8.self))
      }
    }
    return tokens
  }

  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

  private static func kind(_ byte: UInt8) -> Kind {
    // The numbers of the marks: an initializer for each costs most of the reading.
    switch byte {
    // Space, line ends, tab, comma.
    case 0x20, 0x0a, 0x0d, 0x09, 0x2c: .ignored
    // { } ( ) [ ] : = ! $ @ | &
    case 0x7b, 0x7d, 0x28, 0x29, 0x5b, 0x5d, 0x3a, 0x3d, 0x21, 0x24, 0x40, 0x7c, 0x26: .punctuator
    default: .other
    }
  }

  /// Whether a byte goes on with a name or a number: it is no mark, quote or comment.
  private static func isWord(_ byte: UInt8) -> Bool {
    if case .other = kind(byte) { return byte != 0x22 && byte != 0x23 }
    return false
  }

  /// What a string says from behind its first mark on, with the mark before it.
  private static func string(_ bytes: [UInt8], _ index: inout Int) -> String {
    var text = [UInt8(ascii: "\"")]
    while index < bytes.count {
      let next = bytes[index]
      index += 1
      if next == UInt8(ascii: "\"") { break }
      guard next == UInt8(ascii: "\\"), index < bytes.count else {
        if next != UInt8(ascii: "\\") { text.append(next) }
        continue
      }
      let escape = bytes[index]
      index += 1
      switch escape {
      case UInt8(ascii: "n"): text.append(0x0a)
      case UInt8(ascii: "r"): text.append(0x0d)
      case UInt8(ascii: "t"): text.append(0x09)
      case UInt8(ascii: "b"): text.append(0x08)
      case UInt8(ascii: "f"): text.append(0x0c)
      case UInt8(ascii: "u"):
        let digits = String(decoding: bytes[index...].prefix(4), as: UTF8.self)
        index += min(4, bytes.count - index)
        if let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) {
          text += Array(String(scalar).utf8)
        }
      default: text.append(escape)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
