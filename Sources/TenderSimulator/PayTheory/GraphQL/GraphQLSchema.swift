private import Synchronization
import TenderModel

/// A GraphQL schema, read from its definition language (specification, section 3): scalars,
/// enumerations, inputs and object types.
final class GraphQLSchema: Sendable {
  /// A field of an object type, with its arguments. An argument, or a field of an input, has none.
  struct Field: Sendable {
    var name: String
    var type: GraphQLTypeReference
    var arguments: [Field] = []
  }

  enum Definition: Sendable {
    case scalar
    case enumeration([String])
    case input([Field])
    case object([Field])
  }

  /// The part of Pay Theory's published schema of 2026 that the simulator answers.
  ///
  /// If a document does not match this schema, the whole document is refused, as by the real server
  /// (PayTheory/README, 6.3).
  static let published = GraphQLSchema(
    EmbeddedText.named("TenderSimulator/PayTheory/Schema.graphql")
  )

  private static let scalars = ["Int", "Float", "String", "Boolean", "ID"]

  /// The definitions by their names. Each is read on demand and once, since a look-up needs a third of them.
  private let texts: [(name: String, text: ArraySlice<UInt8>)]
  private let known = Mutex<[String: Definition]>([:])

  /// Reads a schema's text. Each definition begins a line. Its other lines are indented, or begin with its
  /// closing bracket.
  init(_ text: String) {
    let bytes = Array(text.utf8)
    let heads = bytes.indices.filter { place in
      bytes[place] >= UInt8(ascii: "a") && (place == 0 || bytes[place - 1] == UInt8(ascii: "\n"))
        && bytes[place] <= UInt8(ascii: "z")
    }
    texts = heads.indices.map { place in
      let text = bytes[heads[place]..<(place + 1 < heads.count ? heads[place + 1] : bytes.count)]
      let name = text.drop { $0 != UInt8(ascii: " ") }.dropFirst()
        .prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\n") }
      return (String(decoding: name, as: UTF8.self), text)
    }
  }

  /// Returns a definition; nil if it is missing, or its kind is not supported.
  subscript(_ name: String) -> Definition? {
    if Self.scalars.contains(name) { return .scalar }
    return known.withLock { known in
      if let found = known[name] { return found }
      let text = texts.first { $0.name == name }?.text
      known[name] = text.flatMap { Self.read(String(decoding: $0, as: UTF8.self)) }
      return known[name]
    }
  }

  private static func read(_ text: String) -> Definition? {
    var reader = GraphQLReader(text)
    guard let keyword = reader.name(), reader.name() != nil else { return nil }
    let definition: Definition? =
      switch keyword {
      case "scalar": .scalar
      case "enum": reader.list("{", "}") { $0.name() }.map(Definition.enumeration)
      case "input": reader.list("{", "}", field).map(Definition.input)
      case "type": reader.list("{", "}", field).map(Definition.object)
      default: nil
      }
    return reader.peek == nil ? definition : nil
  }

  private static func field(_ reader: inout GraphQLReader) -> Field? {
    guard let name = reader.name() else { return nil }
    let arguments = reader.peek == "(" ? reader.list("(", ")", field) : []
    guard let arguments, reader.take(":"), let type = reader.type() else { return nil }
    return Field(name: name, type: type, arguments: arguments)
  }
}

extension [GraphQLSchema.Field] {
  /// Returns the field with a name. A linear search suffices, because there are few.
  subscript(_ name: String) -> GraphQLSchema.Field? { first { $0.name == name } }
}
