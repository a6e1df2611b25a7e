import TenderModel
import TenderSimulator

/// A GraphQL schema, read from its definition language (specification, section 3): scalars,
/// enumerations, inputs and object types.
struct GraphQLSchema: Sendable {
  /// A field of an object type, with its arguments.
  struct Field: Sendable {
    var type: GraphQLTypeReference
    var arguments: [String: GraphQLTypeReference]
  }

  enum Definition: Sendable {
    case scalar
    case enumeration(Set<String>)
    case input([String: GraphQLTypeReference])
    case object([String: Field])
  }

  private var definitions: [String: Definition] = [
    "Int": .scalar, "Float": .scalar, "String": .scalar, "Boolean": .scalar, "ID": .scalar,
  ]

  subscript(_ name: String) -> Definition? { definitions[name] }

  /// Reads a schema's text; nil where it is not of the supported kind.
  init?(_ text: String) {
    var reader = GraphQLReader(text)
    while let keyword = reader.name() {
      guard let name = reader.name() else { return nil }
      switch keyword {
      case "scalar": definitions[name] = .scalar
      case "enum":
        guard let values = Self.values(&reader) else { return nil }
        definitions[name] = .enumeration(values)
      case "input":
        guard let fields = Self.inputs(&reader, "{", "}") else { return nil }
        definitions[name] = .input(fields)
      case "type":
        guard let fields = Self.fields(&reader) else { return nil }
        definitions[name] = .object(fields)
      default: return nil
      }
    }
    guard reader.peek == nil else { return nil }
  }

  private static func values(_ reader: inout GraphQLReader) -> Set<String>? {
    guard reader.take("{") else { return nil }
    var values: Set<String> = []
    while !reader.take("}") {
      guard let value = reader.name() else { return nil }
      values.insert(value)
    }
    return values
  }

  private static func inputs(
    _ reader: inout GraphQLReader,
    _ open: String,
    _ close: String
  ) -> [String: GraphQLTypeReference]? {
    guard reader.take(open) else { return nil }
    var fields: [String: GraphQLTypeReference] = [:]
    while !reader.take(close) {
      guard let name = reader.name(), reader.take(":"), let type = reader.type() else { return nil }
      fields[name] = type
    }
    return fields
  }

  private static func fields(_ reader: inout GraphQLReader) -> [String: Field]? {
    guard reader.take("{") else { return nil }
    var fields: [String: Field] = [:]
    while !reader.take("}") {
      guard let name = reader.name() else { return nil }
      var arguments: [String: GraphQLTypeReference] = [:]
      if reader.peek == "(" {
        guard let given = inputs(&reader, "(", ")") else { return nil }
        arguments = given
      }
      guard reader.take(":"), let type = reader.type() else { return nil }
      fields[name] = Field(type: type, arguments: arguments)
    }
    return fields
  }
}
