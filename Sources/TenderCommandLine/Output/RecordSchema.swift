package import TenderModel

/// What each kind of record looks like, and its JSON Schema.
package enum RecordSchema {
  /// The version of the records.
  package static let version = 2

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
    Field("provider", "string", always: true, "the provider"),
    Field("env", "string", always: true, "simulator, sandbox or live"),
    Field("reference", "string", "the merchant's own name for the payment"),
    Field("attempt", "integer", "the number of the attempt"),
    Field("replayed", "boolean", "whether this is an earlier result"),
    Field("id", "string", "the provider's id"),
    Field(
      "status",
      "string",
      always: true,
      "the state of the payment, the same words for all providers"
    ),
    Field("provider_status", "string", "the provider's own word for the state"),
    Field("final", "boolean", always: true, "whether no further step is expected"),
    Field("amount", "integer", "what the payer pays, minor units"),
    Field("requested_amount", "integer", "what was ordered, where it differs"),
    Field("captured_amount", "integer", "what was captured, minor units"),
    Field("released_amount", "integer", "what was held and then released, where anything was"),
    Field("voided_amount", "integer", "what was captured and then voided, where all of it was"),
    Field("refunded_amount", "integer", "what was refunded, where anything was"),
    Field("refunding_amount", "integer", "what is being refunded, where anything is"),
    Field("returned_amount", "integer", "what the bank took back, where it did"),
    Field("currency", "string", "ISO 4217"),
    Field("next_action", "object", "what the payer has to do"),
    Field("source", "string", "journal, where the provider was not asked or does not know it"),
    Field("result", "object", always: true, "the provider's answer in its own names"),
    Field("error", "object", "code, exit, message, hint, effect"),
    Field("explanation", "string", "the meaning of the provider's reason for a failure"),
    Field("details", "object", "what else the provider says: bank, payee, payer, times, refunds"),
    Field("idempotency_key", "string", "the key of the operation"),
    Field(
      "operations",
      "array",
      "the requests to the provider that could change the payment, oldest first"
    ),
    Field("created_at", "string", "when the payment was made, RFC 3339 UTC"),
    Field("line", "integer", "the number of the line of a batch, or of the id, that this answers"),
    Field("says", "string", "find --online: the payment in plain words"),
    Field("next", "string", "find --online: the next command"),
    Field("age", "integer", "find --online: how many seconds ago it was made"),
  ]

  /// An entry of `operations`.
  private static let operation = [
    Field("kind", "string", always: true, "authorize, charge, capture, void, refund and others"),
    Field(
      "number",
      "integer",
      always: true,
      "its number: attempts, refunds and the others each count from 1"
    ),
    Field("name", "string", "the operator's name for it (--refund-reference)"),
    Field("amount", "integer", "what it moves, minor units"),
    Field("status", "string", always: true, "its state; unknown where its answer was lost"),
    Field("id", "string", "the provider's id of it"),
    Field("key", "string", "the idempotency key that it was sent with"),
    Field("at", "string", always: true, "when it was recorded, RFC 3339 UTC"),
  ]

  /// An entry of `history`.
  private static let history = [
    Field("at", "string", always: true, "when, RFC 3339 UTC"),
    Field("operation", "string", "the kind and number of the operation that changed"),
    Field("state", "string", "the operation's state after it"),
    Field("amount", "integer", "the operation's amount, minor units"),
    Field("status", "string", always: true, "the payment's status after it"),
    Field("note", "string", always: true, "what happened"),
    Field("by", "string", "the user and machine that wrote it"),
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
          Field(
            "line",
            "integer",
            "the number of the line of a batch, or of the id, that this answers"
          ),
        ]
      case .event:
        [
          Field("provider", "string", "who was asked"), Field("env", "string", "where"),
          Field("reference", "string", "the merchant's own name"),
          Field("state", "string", always: true, "the state that began, in the provider's words"),
          Field("next_action", "object", "what the payer has to do"),
        ]
      case .journalEntry:
        payment.filter {
          !["replayed", "source", "line", "created_at", "says", "next", "age"].contains($0.name)
        } + [
          Field("brand", "string", "the card's brand, or ACH"),
          Field("last_four", "string", "the last four digits"),
          Field("created_at", "string", always: true, "when the payment was recorded first"),
          Field("updated_at", "string", always: true, "when it changed last"),
          Field("history", "array", "everything that happened to it, oldest first"),
          Field(
            "stored",
            "object",
            "journal export: the payment as tender journal import reads it"
          ),
          Field("says", "string", "the payment in plain words"),
          Field("next", "string", "the next command, or what has to be done first"),
          Field("age", "integer", "how many seconds ago it was recorded"),
        ]
      case .check:
        [
          Field("name", "string", always: true, "what was checked"),
          Field("outcome", "string", always: true, "ok or fail"),
          Field("detail", "string", "what was found"),
          Field("remedy", "string", "what to do where it failed"),
          Field("result", "object", "the provider's answer in its own names"),
          Field("error", "object", "code, exit, message, hint, effect"),
          Field("line", "integer", "batch --check: the number of the line"),
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
            "minor units by currency: charged, refunded and net, of each payment as its last line shows it"
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
          Field("idempotency_key", "string", "the key that will be sent; absent where none is"),
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

  /// The names of a kind's members, in their order.
  static func names(_ kind: Record.Kind) -> [String] {
    // Those that come by the thousand.
    switch kind {
    case .payment: paymentNames
    case .journalEntry: entryNames
    default: fields(kind).map(\.name)
    }
  }

  private static let paymentNames = fields(.payment).map(\.name)
  private static let entryNames = fields(.journalEntry).map(\.name)

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

  private static let statusSchema: JSON = [
    "enum": .array(Status.allCases.map { .string($0.rawValue) })
  ]

  private static func object(_ fields: [Field]) -> JSONObject {
    var properties: JSONObject = [:]
    for field in fields {
      properties[field.name] = [
        "type": .string(field.type), "description": .string(field.meaning),
      ]
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
    for field in fields {
      switch field.name {
      case "status": properties["status"] = statusSchema
      case "error": properties["error"] = errorSchema
      case "operations": properties["operations"] = list(operation, field.meaning)
      case "history": properties["history"] = list(history, field.meaning)
      default: break
      }
    }
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
