import TenderModel

/// Checks a document against a schema before its execution: names, selections and values. One unknown field
/// refuses the whole document, as at a server (specification, section 5).
struct GraphQLValidation {
  private let schema: GraphQLSchema
  private let given: JSONObject
  private let declared: Set<String>
  private var used: Set<String> = []
  /// The problems in the order in which they were found.
  private(set) var problems: [String] = []

  init(_ document: GraphQLDocument, variables: JSONObject, schema: GraphQLSchema) {
    self.schema = schema
    given = variables
    declared = Set(document.variables.map(\.name))
    for variable in document.variables {
      // The type of a variable is not compared with that of its place: its value is checked there.
      if schema[variable.type.name] == nil {
        problems.append("Unknown type \"\(variable.type.name)\".")
      } else if case .nonNull = variable.type, given[variable.name] ?? .null == .null {
        problems.append("Variable \"$\(variable.name)\" of type \"\(variable.type)\" is missing.")
      }
    }
    select(document.fields, of: document.isMutation ? "Mutation" : "Query")
    for name in declared.subtracting(used).sorted() {
      problems.append("Variable \"$\(name)\" is never used.")
    }
  }

  private mutating func select(_ fields: [GraphQLDocument.Field], of type: String) {
    guard case .object(let known) = schema[type] else { return }
    for field in fields {
      if field.name == "__typename", field.selection == nil, field.arguments.isEmpty { continue }
      guard let definition = known[field.name] else {
        problems.append("Cannot query field \"\(field.name)\" on type \"\(type)\".")
        continue
      }
      checkMembers(field.arguments, definition.arguments, of: "\(type).\(field.name)")
      let isComposite = if case .object = schema[definition.type.name] { true } else { false }
      if let selection = field.selection, isComposite {
        select(selection, of: definition.type.name)
      } else if isComposite || field.selection != nil {
        problems.append(
          "Field \"\(field.name)\" of type \"\(definition.type)\" must \(isComposite ? "" : "not ")"
            + "have a selection of subfields."
        )
      }
    }
  }

  /// Checks the arguments of a field, or the members of an input: known names and values, and none missing.
  private mutating func checkMembers(
    _ members: [GraphQLValue.Member],
    _ known: [GraphQLSchema.Field],
    of place: String,
    areGiven: Bool = false
  ) {
    for member in members {
      guard let type = known[member.name]?.type else {
        problems.append("Unknown argument \"\(member.name)\" on \"\(place)\".")
        continue
      }
      check(member.value, fits: type, isGiven: areGiven)
    }
    for field in known {
      if case .nonNull = field.type, !members.contains(where: { $0.name == field.name }) {
        problems.append(
          "Argument \"\(field.name)\" of \"\(place)\" of type \"\(field.type)\" is required."
        )
      }
    }
  }

  /// Checks a literal, or the value of a variable, against the type of its place (specification, section 5.6).
  private mutating func check(
    _ value: GraphQLValue,
    fits type: GraphQLTypeReference,
    isGiven: Bool = false
  ) {
    switch (type, value) {
    case (_, .variable(let name)):
      used.insert(name)
      if !declared.contains(name) { problems.append("Variable \"$\(name)\" is not defined.") }
      check(GraphQLValue(given[name] ?? .null), fits: type, isGiven: true)
    case (.nonNull, .scalar(.null)):
      problems.append("Expected value of type \"\(type)\", found null.")
    case (.nonNull(let inner), _): check(value, fits: inner, isGiven: isGiven)
    case (_, .scalar(.null)): break
    case (.list(let inner), .list(let elements)):
      for element in elements { check(element, fits: inner, isGiven: isGiven) }
    case (.list(let inner), _): check(value, fits: inner, isGiven: isGiven)
    case (.named(let name), _):
      switch (schema[name], value) {
      case (.input(let fields), .object(let members)):
        checkMembers(members, fields, of: name, areGiven: isGiven)
      case (.enumeration(let values), .word(let word)) where values.contains(word): break
      // A variable has the value of an enumeration as text.
      case (.enumeration(let values), .scalar(.string(let word)))
      where isGiven && values.contains(word): break
      case (.scalar, .scalar(let json)) where Self.fits(json, scalar: name): break
      default: problems.append("Value cannot represent \"\(name)\".")
      }
    }
  }

  private static func fits(_ value: JSON, scalar: String) -> Bool {
    switch (scalar, value) {
    case ("Int", .integer(let number)): Int32(exactly: number) != nil
    case ("Float", .integer), ("Float", .number), ("String", .string), ("Boolean", .bool),
      ("ID", .string), ("ID", .integer):
      true
    case ("AWSJSON", .string(let text)): JSONReader.read(text) != nil
    case ("AWSDate", .string), ("AWSDateTime", .string): true
    default: false
    }
  }
}
