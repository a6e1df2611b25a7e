package import TenderModel

/// What each kind of record looks like, and its JSON Schema.
package enum RecordSchema {
  /// One member of a record.
  struct Field {
    let name: String
    let type: String
    let isAlways: Bool
    let meaning: String

    init(_ name: String, _ type: String, always: Bool = false, _ meaning: String) {
      self.name = name
      self.type = type
      isAlways = always
      self.meaning = meaning
    }
  }

  private static let common = [
    Field("schema", "integer", always: true, "the version of this schema"),
    Field("record", "string", always: true, "the kind of record"),
    Field("command", "string", always: true, "the command that printed it"),
  ]
  private static let time = Field("at", "string", always: true, "when it was printed, RFC 3339 UTC")

  private static let payment = [
    Field("provider", "string", always: true, "who was asked"),
    Field("env", "string", always: true, "simulator, sandbox or live"),
    Field("reference", "string", "the merchant's own name"),
    Field("attempt", "integer", "the number of the try"),
    Field("replayed", "boolean", "whether this is an earlier result"),
    Field("id", "string", "the provider's id"),
    Field("status", "string", always: true, "the state, in one vocabulary"),
    Field("final", "boolean", always: true, "whether nothing more is awaited"),
    Field("amount", "integer", "what the payer pays, minor units"),
    Field("requested_amount", "integer", "what was asked for, where it differs"),
    Field("currency", "string", "ISO 4217"),
    Field("next_action", "object", "what the payer has to do"),
    Field("source", "string", "journal, where the provider does not know it"),
    Field("result", "object", always: true, "the provider's answer in its own names"),
    Field("error", "object", "code, exit, message, hint, effect"),
    Field("explanation", "string", "what the provider's reason for a failure means"),
    Field("details", "object", "what else the provider says: bank, payee, payer, times, refunds"),
    Field("idempotency_key", "string", "the key of the attempt"),
    Field("line", "integer", "which line of a batch, or of several ids, this answers"),
    Field("says", "string", "find --online: what became of it, in plain words"),
    Field("next", "string", "find --online: what comes next"),
    Field("age", "integer", "find --online: how many seconds ago it was made"),
  ]

  /// The members of a kind, in the order in which they are printed.
  static func fields(_ kind: Record.Kind) -> [Field] {
    let own: [Field] =
      switch kind {
      case .payment, .mandate, .token: payment
      case .error:
        [
          Field("provider", "string", "who was asked"), Field("env", "string", "where"),
          Field("reference", "string", "the merchant's own name"),
          Field("id", "string", "what was asked for"),
          Field("result", "object", "the provider's answer in its own names"),
          Field("error", "object", always: true, "code, exit, message, hint, effect"),
          Field("line", "integer", "which of several ids this answers"),
        ]
      case .event:
        [
          Field("provider", "string", "who was asked"), Field("env", "string", "where"),
          Field("reference", "string", "the merchant's own name"),
          Field("state", "string", always: true, "the state that began, in the provider's words"),
          Field("next_action", "object", "what the payer has to do"),
        ]
      case .journalEntry:
        payment.filter { !["replayed", "source", "line"].contains($0.name) } + [
          Field("brand", "string", "the card's brand, or ACH"),
          Field("last_four", "string", "the last four digits"),
          Field("created_at", "string", always: true, "when the attempt was opened"),
          Field("updated_at", "string", always: true, "when it changed last"),
          Field("reversal", "object", "what undid it"),
          Field("history", "array", "everything that happened to it"),
          Field("says", "string", "what became of it, in plain words"),
          Field("next", "string", "what comes next: a command, or what has to be done first"),
          Field("age", "integer", "how many seconds ago it was opened"),
        ]
      case .check:
        [
          Field("name", "string", always: true, "what was checked"),
          Field("outcome", "string", always: true, "ok or fail"),
          Field("detail", "string", "what was found"),
          Field("remedy", "string", "what to do where it failed"),
          Field("result", "object", "the provider's answer in its own names"),
          Field("error", "object", "code, exit, message, hint, effect"),
        ]
      case .batchSummary:
        [
          Field("lines", "integer", always: true, "how many lines were run"),
          Field("ok", "integer", always: true, "how many of them ended with exit 0"),
          Field("failed", "integer", always: true, "how many ended otherwise, unknown ones too"),
          Field("unknown", "integer", always: true, "how many are unknown: exit 9"),
          Field("replayed", "integer", always: true, "how many answered with an earlier result"),
          Field("statuses", "object", always: true, "how many lines came to each status"),
          Field(
            "sums",
            "object",
            "minor units by currency and status, each payment as it stands at the end"
          ),
          Field("stopped", "boolean", always: true, "whether lines were left unread"),
          Field("left", "integer", "how many lines were not begun, where that is known"),
          Field("milliseconds", "integer", always: true, "how long it took"),
        ]
      case .note:
        [
          Field("level", "string", always: true, "note or warning"),
          Field("text", "string", always: true, "what a person would read"),
        ]
      case .capability:
        [
          Field("provider", "string", always: true, "who"),
          Field("capability", "string", always: true, "what"),
          Field("supported", "boolean", always: true, "whether this version can"),
          Field("note", "string", "how, or why not"),
        ]
      case .explanation:
        [
          Field("code", "string", always: true, "the word that is explained"),
          Field(
            "subject",
            "string",
            always: true,
            "error, processor code, failure reason, response code, exit status, rejection, status, state, type or member"
          ),
          Field("provider", "string", "whose word it is"),
          Field("exit", "integer", "the exit status of an error with effect none"),
          Field("provider_error", "string", "the provider's own name"),
          Field("meaning", "string", always: true, "what it means"),
          Field("advice", "string", "what to do"),
          Field("side", "string", "whose side a failure is on"),
          Field("retry", "string", "whether a further try can help"),
          Field("tell_payer", "string", "what to tell the payer"),
          Field("quote", "string", "what to tell the provider"),
          Field("source", "string", always: true, "the document that has the word"),
        ]
      case .setting:
        [
          Field("name", "string", always: true, "the setting"),
          Field("value", "string", "its value; secrets are never shown"),
          Field("origin", "string", always: true, "option, environment, profile or default"),
        ]
      case .scenario:
        [
          Field("name", "string", always: true, "what the option takes"),
          Field("option", "string", always: true, "--sim-scenario or --sim-fault"),
          Field("meaning", "string", always: true, "what happens"),
        ]
      case .request:
        [
          Field("provider", "string", always: true, "who would be asked"),
          Field("env", "string", always: true, "where"),
          Field("reference", "string", "the merchant's own name"),
          Field("idempotency_key", "string", "the key of the attempt"),
          Field("request", "object", always: true, "what would be sent, secrets masked"),
        ]
      case .server:
        [
          Field("name", "string", always: true, "a variable that tender reads"),
          Field("value", "string", always: true, "the address to set it to"),
        ]
      case .version:
        [
          Field("version", "string", always: true, "the version"),
          Field("swift", "string", "the language mode it was built in"),
        ]
      case .schema:
        [
          Field("name", "string", always: true, "the kind of record described"),
          Field("json_schema", "object", always: true, "its JSON Schema"),
          Field(
            "vocabulary",
            "object",
            "the words that it may hold, by provider and subject, with their meanings"
          ),
        ]
      }
    return common + own + [time]
  }

  /// Each kind of record with its members and what they mean, for the manual.
  package static var manual: [(record: String, members: [(name: String, meaning: String)])] {
    Record.Kind.allCases.map { kind in
      (
        kind.rawValue,
        fields(kind).map { field in
          (field.name, "\(field.meaning) (\(field.type)\(field.isAlways ? ", always" : ""))")
        }
      )
    }
  }

  /// Every first-level name that some record has.
  static let names: [String] = {
    var names: [String] = []
    for kind in Record.Kind.allCases {
      for field in fields(kind) where !names.contains(field.name) { names.append(field.name) }
    }
    return names
  }()

  private static let errorSchema: JSON = [
    "type": "object",
    "properties": [
      "code": ["type": "string", "description": "a stable word; see tender explain"],
      "exit": ["type": "integer", "description": "the exit status it stands for"],
      "message": ["type": "string"], "hint": ["type": "string"],
      "effect": ["enum": ["none", "unknown"], "description": "what is known about the money"],
      "explanation": ["type": "string", "description": "what the provider's reason means"],
    ],
    "required": ["code", "exit", "message", "effect"],
  ]

  /// The JSON Schema (2020-12) of a kind of record.
  package static func document(_ kind: Record.Kind) -> JSONObject {
    var properties: JSONObject = [:]
    for field in fields(kind) {
      properties[field.name] =
        field.name == "record"
        ? ["const": .string(kind.rawValue)]
        : field.name == "status"
          ? ["enum": .array(Status.allCases.map { .string($0.rawValue) })]
          : ["type": .string(field.type), "description": .string(field.meaning)]
    }
    if properties["error"] != nil { properties["error"] = errorSchema }
    return [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": .string(kind.rawValue), "type": "object", "properties": .object(properties),
      "required": .array(fields(kind).filter(\.isAlways).map { .string($0.name) }),
    ]
  }
}
