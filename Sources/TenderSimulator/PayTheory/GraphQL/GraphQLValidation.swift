import TenderModel

/// Holds a document against a schema, as a server does before it executes anything (specification,
/// section 5): one unknown field refuses the whole document.
struct GraphQLValidation {
  private var schema: GraphQLSchema
  private let given: JSONObject
  private var declared: [String: GraphQLDocument.Variable] = [:]
  private var used: Set<String> = []
  /// What is wrong, in the order in which it was found.
  private(set) var problems: [String] = []

  /// Validates a document and the variables that came with it.
  init(_ document: GraphQLDocument, variables: JSONObject, schema: GraphQLSchema) {
    self.schema = schema
    given = variables
    for variable in document.variables { declare(variable) }
    select(document.fields, of: document.isMutation ? "Mutation" : "Query")
    for variable in document.variables where !used.contains(variable.name) {
      problems.append("Variable \"$\(variable.name)\" is never used.")
    }
  }

  /// A field's arguments as values, variables put in; null and absent are the same.
  static func arguments(
    of field: GraphQLDocument.Field,
    in document: GraphQLDocument,
    variables: JSONObject
  ) -> JSONObject {
    var arguments: JSONObject = [:]
    for argument in field.arguments {
      let value = resolve(argument.value, document, variables)
      if value != .null { arguments[argument.name] = value }
    }
    return arguments
  }

  private static func resolve(
    _ value: GraphQLValue,
    _ document: GraphQLDocument,
    _ variables: JSONObject
  ) -> JSON {
    switch value {
    case .variable(let name):
      if let given = variables[name] { return given }
      let initial = document.variables.first { $0.name == name }?.initial
      return initial.map { resolve($0, document, [:]) } ?? .null
    case .integer(let text): return Int(text).map(JSON.integer) ?? .number(text)
    case .float(let text): return .number(text)
    case .string(let text), .enumeration(let text): return .string(text)
    case .boolean(let truth): return .bool(truth)
    case .null: return .null
    case .list(let elements): return .array(elements.map { resolve($0, document, variables) })
    case .object(let members):
      var object: JSONObject = [:]
      for member in members {
        let value = resolve(member.value, document, variables)
        if value != .null { object[member.name] = value }
      }
      return .object(object)
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
      check(value, fits: variable.type, at: "$" + variable.name)
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

  /// A literal against a type (specification, section 5.6).
  private mutating func check(_ value: GraphQLValue, fits type: GraphQLTypeReference) {
    if case .variable(let name) = value {
      used.insert(name)
      guard let variable = declared[name] else {
        problems.append("Variable \"$\(name)\" is not defined.")
        return
      }
      if !Self.allows(type, variable) {
        problems.append(
          "Variable \"$\(name)\" of type \"\(variable.type)\" used in position expecting type "
            + "\"\(type)\"."
        )
      }
      return
    }
    switch (type, value) {
    case (.nonNull, .null): problems.append("Expected value of type \"\(type)\", found null.")
    case (.nonNull(let inner), _): check(value, fits: inner)
    case (_, .null): break
    case (.list(let inner), .list(let elements)):
      for element in elements { check(element, fits: inner) }
    case (.list(let inner), _): check(value, fits: inner)
    case (.named(let name), _): checkNamed(value, name)
    }
  }

  private mutating func checkNamed(_ value: GraphQLValue, _ name: String) {
    let fits: Bool
    switch (schema[name], value) {
    case (.enumeration(let values), .enumeration(let word)): fits = values.contains(word)
    case (.input(let fields), .object(let members)):
      checkMembers(fields, members.map(\.name), of: name)
      for member in members {
        if let type = fields[member.name]?.type { check(member.value, fits: type) }
      }
      return
    case (.scalar, .object), (.scalar, .list), (.scalar, .enumeration): fits = false
    case (.scalar, _): fits = Self.fits(value, scalar: name)
    default: fits = false
    }
    if !fits { problems.append("Value cannot represent \"\(name)\".") }
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

  private static func fits(_ value: GraphQLValue, scalar: String) -> Bool {
    switch (scalar, value) {
    case ("Int", .integer(let text)): Int32(text) != nil
    case ("Float", .integer), ("Float", .float), ("String", .string), ("Boolean", .boolean),
      ("ID", .string), ("ID", .integer):
      true
    case ("AWSJSON", .string(let text)): JSONReader.read(text) != nil
    case ("AWSDate", .string), ("AWSDateTime", .string): true
    default: false
    }
  }

  /// A variable's value against its type (specification, section 6.1.2).
  private mutating func check(_ value: JSON, fits type: GraphQLTypeReference, at place: String) {
    switch (type, value) {
    case (.nonNull, .null): problems.append("Variable \"\(place)\" must not be null.")
    case (.nonNull(let inner), _): check(value, fits: inner, at: place)
    case (_, .null): break
    case (.list(let inner), .array(let elements)):
      for element in elements { check(element, fits: inner, at: place) }
    case (.list(let inner), _): check(value, fits: inner, at: place)
    case (.named(let name), _):
      switch (schema[name], value) {
      case (.input(let fields), .object(let object)):
        checkMembers(fields, object.members.map(\.key), of: name)
        for member in object.members {
          guard let type = fields[member.key]?.type else { continue }
          check(member.value, fits: type, at: place + "." + member.key)
        }
      case (.enumeration(let values), .string(let word)) where values.contains(word): break
      case (.scalar, _) where Self.fits(value, scalar: name): break
      default:
        problems.append("Variable \"\(place)\" got an invalid value; expected type \"\(name)\".")
      }
    }
  }

  private static func fits(_ value: JSON, scalar: String) -> Bool {
    let literal: GraphQLValue
    switch value {
    case .integer(let number): literal = .integer(String(number))
    case .number(let text): literal = .float(text)
    case .string(let text): literal = .string(text)
    case .bool(let truth): literal = .boolean(truth)
    default: return false
    }
    return fits(literal, scalar: scalar)
  }

  /// Whether a variable may stand where a type is expected (specification, section 5.8.5).
  private static func allows(
    _ place: GraphQLTypeReference,
    _ variable: GraphQLDocument.Variable
  ) -> Bool {
    if case .nonNull(let inner) = place {
      if case .nonNull(let own) = variable.type { return compatible(inner, own) }
      return variable.initial != nil && variable.initial != .null
        && compatible(inner, variable.type)
    }
    return compatible(place, variable.type)
  }

  private static func compatible(
    _ place: GraphQLTypeReference,
    _ type: GraphQLTypeReference
  ) -> Bool {
    switch (place, type) {
    case (.nonNull(let place), .nonNull(let type)): compatible(place, type)
    case (.nonNull, _): false
    case (_, .nonNull(let type)): compatible(place, type)
    case (.list(let place), .list(let type)): compatible(place, type)
    case (.named(let place), .named(let type)): place == type
    default: false
    }
  }
}
