import TenderModel

/// As much of a GraphQL document as a provider's queries need: one operation, fields, arguments
/// (GraphQL specification, section 2).
///
/// Bounded in length and depth.
struct GraphQLDocument {
  /// One field: its name, its arguments with variables put in, what is selected of it.
  struct Field {
    var name: String
    var alias: String
    var arguments: JSONObject
    var selection: [Field]
  }

  var isMutation: Bool
  var fields: [Field]

  /// Reads a document; nil where it is not one of the supported kind.
  init?(_ text: String, variables: JSONObject) {
    guard text.utf8.count <= 100_000 else { return nil }
    var reader = Reader(tokens: Self.tokens(text), variables: variables)
    var isMutation = false
    if let word = reader.peek, word == "query" || word == "mutation" {
      isMutation = word == "mutation"
      reader.advance()
      if let name = reader.peek, name != "{", name != "(" { reader.advance() }
      if reader.peek == "(" { reader.skipParentheses() }
    }
    guard let fields = reader.selection(depth: 0), reader.peek == nil, !fields.isEmpty else {
      return nil
    }
    self.isMutation = isMutation
    self.fields = fields
  }

  /// Punctuators, names, numbers, and strings with a leading quote mark.
  private static func tokens(_ text: String) -> [String] {
    var tokens: [String] = []
    var rest = text.unicodeScalars[...]
    while let next = rest.first {
      switch next {
      case " ", "\n", "\r", "\t", ",", "\u{feff}": rest.removeFirst()
      case "#": rest = rest.drop { $0 != "\n" }
      case "{", "}", "(", ")", "[", "]", ":", "=", "!", "$", "@":
        tokens.append(String(next))
        rest.removeFirst()
      case "\"":
        rest.removeFirst()
        tokens.append("\"" + string(&rest))
      default:
        let word = rest.prefix { !" \n\r\t,{}()[]:=!$@\"#".unicodeScalars.contains($0) }
        tokens.append(String(word))
        rest = rest[word.endIndex...]
      }
    }
    return tokens
  }

  private static func string(_ rest: inout Substring.UnicodeScalarView) -> String {
    var text = ""
    while let next = rest.popFirst(), next != "\"" {
      guard next == "\\" else {
        text.unicodeScalars.append(next)
        continue
      }
      switch rest.popFirst() {
      case "n": text += "\n"
      case "r": text += "\r"
      case "t": text += "\t"
      case "b": text += "\u{8}"
      case "f": text += "\u{c}"
      case "u":
        let digits = String(String.UnicodeScalarView(rest.prefix(4)))
        rest = rest.dropFirst(4)
        if let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) {
          text.unicodeScalars.append(scalar)
        }
      case let other?: text.unicodeScalars.append(other)
      case nil: break
      }
    }
    return text
  }

  private struct Reader {
    let tokens: [String]
    let variables: JSONObject
    var index = 0

    init(tokens: [String], variables: JSONObject) {
      self.tokens = tokens
      self.variables = variables
    }

    var peek: String? { index < tokens.count ? tokens[index] : nil }

    mutating func advance() { index += 1 }

    mutating func take(_ token: String) -> Bool {
      guard peek == token else { return false }
      index += 1
      return true
    }

    mutating func skipParentheses() {
      var depth = 0
      while let token = peek {
        if token == "(" { depth += 1 }
        if token == ")" { depth -= 1 }
        advance()
        if depth == 0 { return }
      }
    }

    mutating func selection(depth: Int) -> [Field]? {
      guard depth < 16, take("{") else { return nil }
      var fields: [Field] = []
      while !take("}") {
        guard var name = name() else { return nil }
        let alias = name
        if take(":") {
          guard let real = self.name() else { return nil }
          name = real
        }
        var arguments: JSONObject = [:]
        if take("(") {
          while !take(")") {
            guard let key = self.name(), take(":"), let value = value(depth: 0) else { return nil }
            arguments[key] = value
          }
        }
        var inner: [Field] = []
        if peek == "{" {
          guard let selected = selection(depth: depth + 1) else { return nil }
          inner = selected
        }
        fields.append(Field(name: name, alias: alias, arguments: arguments, selection: inner))
      }
      return fields
    }

    private mutating func name() -> String? {
      guard let token = peek, let first = token.unicodeScalars.first,
        first.properties.isAlphabetic || first == "_"
      else { return nil }
      advance()
      return token
    }

    private mutating func value(depth: Int) -> JSON? {
      guard depth < 32, let token = peek else { return nil }
      advance()
      switch token {
      case "$":
        guard let name = name() else { return nil }
        return variables[name] ?? .null
      case "[":
        var elements: [JSON] = []
        while !take("]") {
          guard let element = value(depth: depth + 1) else { return nil }
          elements.append(element)
        }
        return .array(elements)
      case "{":
        var object: JSONObject = [:]
        while !take("}") {
          guard let key = name(), take(":"), let member = value(depth: depth + 1) else {
            return nil
          }
          object[key] = member
        }
        return .object(object)
      case "true": return true
      case "false": return false
      case "null": return .null
      default:
        if token.hasPrefix("\"") { return .string(String(token.dropFirst())) }
        if let number = Int(token) { return .integer(number) }
        guard token.unicodeScalars.first?.properties.isAlphabetic ?? false else { return nil }
        return .string(token)
      }
    }
  }
}
