private import Synchronization
package import TenderModel

/// The members of each kind of record, and its JSON Schema.
package enum RecordSchema {
  /// The version of the records.
  package static let version = 2

  /// One member of a record.
  package struct Field: Sendable {
    package let name: String
    /// A type of JSON, or the name of one of the schemas below.
    fileprivate let kind: String
    package let isAlways: Bool
    package let meaning: String

    /// Its type in JSON.
    package var type: String {
      switch kind {
      case "status": "string"
      case "error": "object"
      case "operations", "history": "array"
      default: kind
      }
    }

    fileprivate var schema: JSON {
      switch kind {
      case "status": statusSchema
      case "error": errorSchema
      case "operations", "history": list(rows(kind), meaning)
      default: ["type": .string(kind), "description": .string(meaning)]
      }
    }
  }

  /// The kinds of records and of their entries. A kind is after `=`, and its members follow.
  ///
  /// A member is a line: name (with `!` if it is always present), type and meaning. `journal_entry` also has
  /// the members of `payment`. A member of a kind comes before a shared one of its name.
  private static let table = EmbeddedText.named("TenderCommandLine/Output/Records.txt")

  /// A page of `tender explain` for each member. The name of a member that only some kinds have follows its
  /// kind.
  package static var explanations: [Explanation] {
    let heads = table.split(separator: "\n").filter { $0.hasPrefix("= ") }
    let kinds = heads.map { String($0.split(separator: " ")[1]) }
    let shared = ["common", "last", "payment", "journal_entry"]
    let members = kinds.flatMap { kind in
      rows(kind).map { field in
        (shared.contains(kind) ? field.name : "\(kind).\(field.name)", field.meaning)
      }
    }
    let errors = errorSchema["properties"]?.object?.members.flatMap { member in
      [(member.key, member.value)]
        + (member.value["properties"]?.object?.members ?? []).map { ($0.key, $0.value) }
    }
    let all =
      members + (errors ?? []).map { ("error.\($0)", $1["description"]?.text ?? "") }
    return all.map { Explanation(.member, $0, $1, "the records of tender: tender schema") }
  }

  /// The members in the table below a name.
  private static func rows(_ kind: String) -> [Field] {
    lines(kind).map { line in
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      let isAlways = words[0].hasSuffix("!")
      return Field(name: name(line), kind: words[1], isAlways: isAlways, meaning: words[2])
    }
  }

  /// The members of a kind, in the order in which they are printed.
  package static func fields(_ kind: Record.Kind) -> [Field] {
    let rows = [rows("common"), rows("payment"), rows("last"), rows(kind.rawValue)].joined()
    let names = names(kind)
    return names.compactMap { name in rows.last { $0.name == name } }
  }

  /// The names of the members of a kind, in their order. They are read once, because each record needs them.
  static func names(_ kind: Record.Kind) -> [String] {
    known.withLock { known in
      if let found = known.first(where: { $0.kind == kind }) { return found.names }
      let names = readNames(kind)
      known.append((kind, names))
      return names
    }
  }

  private static let known = Mutex<[(kind: Record.Kind, names: [String])]>([])

  private static func readNames(_ kind: Record.Kind) -> [String] {
    let others = [
      "replayed", "source", "line", "created_at", "brand", "last_four", "says", "next", "age",
    ]
    func below(_ head: String) -> [String] { lines(head).map(name) }
    let shared = kind == .journalEntry ? below("payment").filter { !others.contains($0) } : []
    let own = below(kind.rawValue)
    return below("common") + shared + own + below("last").filter { !own.contains($0) }
  }

  private static func name(_ line: Substring) -> String {
    let end = line.utf8.firstIndex { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "!") }
    return String(line[..<(end ?? line.endIndex)])
  }

  /// Returns the lines of the table below a head.
  private static func lines(_ head: String) -> [Substring] {
    sections.flatMap { section in
      section.heads.contains { $0 == head } ? section.text.split(separator: "\n").dropFirst() : []
    }
  }

  private static let sections = table.split(separator: "\n= ").map { text in
    let line = text.utf8.prefix { $0 != UInt8(ascii: "\n") }
    return (heads: line.split(separator: UInt8(ascii: " ")).map(Substring.init), text: text)
  }

  /// Every first-level name that some record has, each once.
  static let names = Record.Kind.allCases.flatMap(names)
    .reduce(into: [String]()) { known, name in if !known.contains(name) { known.append(name) } }

  private static let errorSchema: JSON = [
    "type": "object",
    "properties": [
      "code": ["type": "string", "description": "a stable word; see tender explain"],
      "exit": ["type": "integer", "description": "the exit status of the error"],
      "message": ["type": "string", "description": "the failure in one sentence"],
      "hint": ["type": "string", "description": "the next step, such as a command"],
      "effect": [
        "enum": .array(Fault.Effect.allCases.map { .string($0.rawValue) }),
        "description": "whether the request moved money: none, unknown, or done",
      ],
      "retry": [
        "type": "object", "description": "whether and when to run the command again",
        "properties": [
          "class": [
            "enum": .array(Fault.Retry.allCases.map { .string($0.rawValue) }),
            "description":
              "the next step of a program that repeats failed commands; see tender help exit",
          ],
          "after": ["type": "integer", "description": "seconds, where the provider named them"],
        ],
        "required": ["class"],
      ],
      "explanation": ["type": "string", "description": "the meaning of the provider's reason"],
    ],
    "required": ["code", "exit", "message", "effect", "retry"],
  ]

  private static let statusSchema: JSON = [
    "enum": .array(Status.allCases.map { .string($0.rawValue) })
  ]

  private static func object(_ fields: [Field]) -> JSONObject {
    var properties: JSONObject = [:]
    for field in fields {
      properties[field.name] = field.schema
    }
    return [
      "type": "object", "properties": .object(properties),
      "required": .array(fields.filter(\.isAlways).map { .string($0.name) }),
    ]
  }

  private static func list(_ fields: [Field], _ meaning: String) -> JSON {
    ["type": "array", "description": .string(meaning), "items": .object(object(fields))]
  }

  /// The JSON Schema (2020-12) of a kind of record.
  ///
  /// `results` are the schemas of `result`, one for each provider.
  package static func document(
    _ kind: Record.Kind,
    results: [(provider: String, schema: JSON)] = []
  ) -> JSONObject {
    let fields = fields(kind)
    let whole = object(fields)
    var properties = whole["properties"]?.object ?? [:]
    properties["schema"] = ["const": .integer(version)]
    properties["record"] = ["const": .string(kind.rawValue)]
    var document: JSONObject = [
      "$schema": "https://json-schema.org/draft/2020-12/schema", "title": .string(kind.rawValue),
      "type": "object", "properties": .object(properties),
    ]
    document["required"] = whole["required"]
    if !results.isEmpty {
      document["allOf"] = .array(
        results.map { provider, schema in
          [
            "if": ["properties": ["provider": ["const": .string(provider)]]],
            "then": ["properties": ["result": schema]],
          ]
        }
      )
    }
    return document
  }
}
