import TenderModel

/// Validates a document against a schema before its execution, as a server does (specification, section 5).
/// One unknown field refuses the whole document.
struct GraphQLValidation {
  private let schema: GraphQLSchema
  private let given: JSONObject
  private var declared: [String: GraphQLDocument.Variable] = [:]
  private var used: Set<String> = []
  /// The problems in the order in which they were found.
  private(set) var problems: [String] = []

  init(_ document: GraphQLDocument, variables: JSONObject, schema: GraphQLSchema) {
    self.schema = schema
    given = variables
    problems = document.problems
    for variable in document.variables { declare(variable) }
    select(document.fields, of: document.isMutation ? "Mutation" : "Query")
    for variable in document.variables where !used.contains(variable.name) {
      problems.append("Variable \"$\(variable.name)\" is never used.")
    }
  }

  private mutating func declare(_ variable: GraphQLDocument.Variable) {
    guard declared[variable.name] == nil else {
      problems.append("There can be only one variable named \"$\(variable.name)\".")
      return
    }
    declared[variable.name] = variable
    switch schema[variable.type.name] {
    case nil: problems.append("Unknown type \"\(variable.type.name)\".")
    case .object:
      problems.append("Variable \"$\(variable.name)\" cannot be of type \"\(variable.type)\".")
    default:
      if let initial = variable.initial { check(initial, fits: variable.type) }
      guard let value = given[variable.name], value != .null else {
        if case .nonNull = variable.type, variable.initial == nil {
          problems.append("Variable \"$\(variable.name)\" of type \"\(variable.type)\" is missing.")
        }
        return
      }
      check(GraphQLValue(value), fits: variable.type, at: "$" + variable.name)
    }
  }

  private mutating func select(_ fields: [GraphQLDocument.Field], of type: String) {
    guard case .object(let known) = schema[type] else { return }
    for field in merged(fields) {
      for directive in field.directives { check(directive) }
      if let other = field.types.first(where: { $0 != type }) {
        problems.append("Fragment on \"\(other)\" cannot be spread on type \"\(type)\".")
        continue
      }
      if field.name == "__typename", field.selection == nil, field.arguments.isEmpty { continue }
      guard let definition = known[field.name] else {
        problems.append("Cannot query field \"\(field.name)\" on type \"\(type)\".")
        continue
      }
      checkArguments(of: field, definition, "\(type).\(field.name)")
      let isComposite = if case .object = schema[definition.type.name] { true } else { false }
      switch (isComposite, field.selection) {
      case (true, let selection?): select(selection, of: definition.type.name)
      case (true, nil):
        problems.append(
          "Field \"\(field.name)\" of type \"\(definition.type)\" must have a selection of subfields."
        )
      case (false, nil): break
      case (false, _?):
        problems.append(
          "Field \"\(field.name)\" must not have a selection since type \"\(definition.type)\" "
            + "has no subfields."
        )
      }
    }
  }

  /// Returns one field for each alias, with the selections of all. Fields of one alias must have the same name
  /// and arguments (specification, section 5.3.2).
  private mutating func merged(_ fields: [GraphQLDocument.Field]) -> [GraphQLDocument.Field] {
    var merged: [GraphQLDocument.Field] = []
    var places: [String: Int] = [:]
    for field in fields {
      guard let place = places[field.alias] else {
        places[field.alias] = merged.count
        merged.append(field)
        continue
      }
      let known = merged[place]
      func sorted(_ field: GraphQLDocument.Field) -> [GraphQLValue.Member] {
        field.arguments.sorted { $0.name < $1.name }
      }
      if known.name != field.name || sorted(known) != sorted(field)
        || (known.selection == nil) != (field.selection == nil)
      {
        problems.append("Fields \"\(field.alias)\" conflict: they are not the same.")
      }
      merged[place].directives += field.directives
      merged[place].types += field.types
      merged[place].selection? += field.selection ?? []
    }
    return merged
  }

  /// Checks a directive: `include` or `skip`, with its condition (specification, section 3.13).
  private mutating func check(_ directive: GraphQLDocument.Directive) {
    guard ["include", "skip"].contains(directive.name) else {
      return problems.append("Unknown directive \"@\(directive.name)\".")
    }
    guard directive.arguments.map(\.name) == ["if"] else {
      return problems.append("Directive \"@\(directive.name)\" needs the argument \"if\" alone.")
    }
    check(directive.arguments[0].value, fits: .nonNull(.named("Boolean")))
  }

  private mutating func checkArguments(
    of field: GraphQLDocument.Field,
    _ definition: GraphQLSchema.Field,
    _ place: String
  ) {
    var seen: Set<String> = []
    for argument in field.arguments {
      if !seen.insert(argument.name).inserted {
        problems.append("There can be only one argument named \"\(argument.name)\".")
      }
      guard let type = definition.arguments[argument.name]?.type else {
        problems.append("Unknown argument \"\(argument.name)\" on field \"\(place)\".")
        continue
      }
      check(argument.value, fits: type)
    }
    for argument in definition.arguments {
      if case .nonNull = argument.type, !seen.contains(argument.name) {
        problems.append(
          "Field \"\(field.name)\" argument \"\(argument.name)\" of type \"\(argument.type)\" is "
            + "required."
        )
      }
    }
  }

  /// Checks a literal against a type (specification, section 5.6). For a variable, its value is checked
  /// against its type (section 6.1.2).
  private mutating func check(
    _ value: GraphQLValue,
    fits type: GraphQLTypeReference,
    at place: String? = nil
  ) {
    switch (type, value) {
    case (_, .variable(let name)): checkUse(of: name, as: type)
    case (.nonNull, .scalar(.null)):
      problems.append(
        place.map { "Variable \"\($0)\" must not be null." }
          ?? "Expected value of type \"\(type)\", found null."
      )
    case (.nonNull(let inner), _): check(value, fits: inner, at: place)
    case (_, .scalar(.null)): break
    case (.list(let inner), .list(let elements)):
      for element in elements { check(element, fits: inner, at: place) }
    case (.list(let inner), _): check(value, fits: inner, at: place)
    case (.named(let name), _): checkNamed(value, name, at: place)
    }
  }

  private mutating func checkUse(of name: String, as type: GraphQLTypeReference) {
    used.insert(name)
    guard let variable = declared[name] else {
      problems.append("Variable \"$\(name)\" is not defined.")
      return
    }
    // A default value replaces null (specification, section 5.8.5).
    let isNeverNull = variable.initial != nil && variable.initial != .scalar(.null)
    guard
      !Self.allows(type, variable.type)
        && !(isNeverNull && Self.allows(type, .nonNull(variable.type)))
    else { return }
    problems.append(
      "Variable \"$\(name)\" of type \"\(variable.type)\" used in position expecting type "
        + "\"\(type)\"."
    )
  }

  private mutating func checkNamed(_ value: GraphQLValue, _ name: String, at place: String?) {
    switch (schema[name], value) {
    case (.input(let fields), .object(let members)):
      checkMembers(fields, members.map(\.name), of: name)
      for member in members {
        guard let type = fields[member.name]?.type else { continue }
        check(member.value, fits: type, at: place.map { "\($0).\(member.name)" })
      }
    case (.enumeration(let values), .word(let word)) where values.contains(word): break
    // A variable has the value of an enumeration as text.
    case (.enumeration(let values), .scalar(.string(let word)))
    where place != nil && values.contains(word): break
    case (.scalar, .scalar(let json)) where Self.fits(json, scalar: name): break
    default:
      problems.append(
        place.map { "Variable \"\($0)\" got an invalid value; expected type \"\(name)\"." }
          ?? "Value cannot represent \"\(name)\"."
      )
    }
  }

  private mutating func checkMembers(
    _ fields: [GraphQLSchema.Field],
    _ names: [String],
    of type: String
  ) {
    for name in names where fields[name] == nil {
      problems.append("Field \"\(name)\" is not defined by type \"\(type)\".")
    }
    if Set(names).count != names.count {
      problems.append("There can be only one input field of a name in \"\(type)\".")
    }
    for field in fields {
      if case .nonNull = field.type, !names.contains(field.name) {
        problems.append(
          "Field \"\(type).\(field.name)\" of required type \"\(field.type)\" was not provided."
        )
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

  /// Whether a variable's type is allowed at a place with another type (specification, section 5.8.5).
  private static func allows(_ place: GraphQLTypeReference, _ type: GraphQLTypeReference) -> Bool {
    switch (place, type) {
    case (.nonNull(let place), .nonNull(let type)): allows(place, type)
    case (.nonNull, _): false
    case (_, .nonNull(let type)): allows(place, type)
    case (.list(let place), .list(let type)): allows(place, type)
    case (.named(let place), .named(let type)): place == type
    default: false
    }
  }
}
