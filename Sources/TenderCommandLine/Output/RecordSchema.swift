package import TenderModel

/// The members of each kind of record, and its JSON Schema.
package enum RecordSchema {
  /// The version of the records.
  package static let version = 2

  /// One member of a record.
  package struct Field: Sendable {
    package let name: String
    package let type: String
    package let isAlways: Bool
    package let meaning: String
  }

  /// The kinds of records and of their entries. A kind is after `=`, and its members follow.
  ///
  /// A member is a line: name (with `!` if it is always present), type and meaning. `journal_entry` also has
  /// the members of `payment`.
  private static let table = """
    = common
    schema! integer the version of this schema
    record! string the kind of record
    command! string the command that printed it
    = last
    at! string when it was printed, RFC 3339 UTC
    = payment mandate token
    provider! string the provider
    env! string simulator, sandbox or live
    reference string the merchant's own name for the payment
    attempt integer the number of the attempt
    replayed boolean whether this is an earlier result
    id string the provider's id
    status! string the state of the payment, the same words for all providers
    provider_status string the provider's own word for the state
    final! boolean whether no further step is expected
    amount integer the amount that the payer pays, minor units
    requested_amount integer the ordered amount, where it differs
    captured_amount integer the captured amount, minor units
    released_amount integer the amount held and then released, where there is one
    voided_amount integer the amount captured and then voided, where all was
    refunded_amount integer the refunded amount, where there is one
    refunding_amount integer the amount of unfinished refunds, where there is one
    returned_amount integer the amount that the bank took back, where it did
    currency string ISO 4217
    next_action object the step that the payer has to take
    source string journal, where the provider was not asked or does not know it
    result! object the provider's answer, in the provider's names
    error object code, exit, message, hint, effect, retry
    explanation string the meaning of the provider's reason for a failure
    details object more from the provider: bank, payee, payer, times, refunds
    idempotency_key string the key of the operation
    operations array the requests to the provider that could change the payment, oldest first
    created_at string when the payment was made, RFC 3339 UTC
    line integer the number of the line of a batch, or of the id, that this answers
    says string find --online: the payment in plain words
    next string find --online: the next command
    age integer find --online: how many seconds ago it was made
    = operations
    kind! string authorize, charge, capture, void, refund and others
    number! integer its number: attempts, refunds and the others each count from 1
    name string the operator's name for it (--refund-reference)
    amount integer the amount, minor units
    status! string its state; unknown where its answer was lost
    id string the provider's id of the operation
    key string the idempotency key that it was sent with
    at! string when it was recorded, RFC 3339 UTC
    = history
    at! string when, RFC 3339 UTC
    operation string the kind and number of the operation that changed
    state string the operation's state after it
    amount integer the operation's amount, minor units
    status! string the payment's status after it
    note! string the event in words
    by string the user and machine that wrote it
    = error
    provider string the provider that was asked
    env string where
    reference string the merchant's own name
    id string the id that was asked for
    result object the provider's answer, in the provider's names
    error! object code, exit, message, hint, effect, retry
    line integer the number of the line of a batch, or of the id, that this answers
    = event
    provider string the provider that was asked
    env string where
    reference string the merchant's own name
    state! string the state that began, in the provider's words
    next_action object the step that the payer has to take
    = journal_entry
    brand string the card's brand, or ACH
    last_four string the last four digits
    created_at! string when the payment was recorded first
    updated_at! string when it changed last
    history array everything that happened to it, oldest first
    stored object journal export: the payment as tender journal import reads it
    says string the payment in plain words
    next string the next command, or what has to be done first
    age integer how many seconds ago it was recorded
    group integer find --duplicates: the number of its group, from 1
    = total
    env! string simulator, sandbox or live
    currency! string ISO 4217
    day string --by day: the day in the local time zone
    provider string --by provider: the provider
    status string --by status: the state of the payments
    payments! integer how many payments
    charged! integer the charged amount, minor units
    refunded! integer the amount returned to payers: refunded, voided after capture, or returned by the bank
    net! integer charged less refunded
    refunding integer refunds on their way or unknown, not yet in refunded, where there are any
    unknown integer how many payments have an unknown operation, where there are any
    = check
    name! string the subject of the check
    outcome! string ok or fail
    detail string the finding
    remedy string the next step where it failed
    result object the provider's answer, in the provider's names
    error object code, exit, message, hint, effect, retry
    line integer batch --check: the number of the line
    = batch_summary
    lines! integer how many lines were run
    ok! integer how many of them ended with exit 0
    failed! integer how many ended otherwise, unknown ones too
    unknown! integer how many are unknown: exit 9
    replayed! integer how many answered with an earlier result
    statuses! object how many lines have each status
    sums object minor units by currency: charged, refunded and net, of each payment as its last \
    line shows it
    stopped! boolean whether lines were left unread
    left integer how many lines were not begun, where that is known
    milliseconds! integer how long it took
    = note
    level! string note or warning
    text! string the text for a person
    = capability
    provider! string the provider
    capability! string the capability
    supported! boolean whether this version can
    note string how, or why not
    = explanation
    code! string the word that is explained
    subject! string error, processor code, failure reason, response code, exit status, rejection, \
    status, state, type or member
    provider string the provider that uses the word
    exit integer the exit status of an error with effect none
    provider_error string the provider's own name
    meaning! string the meaning of the word
    advice string the next step
    side string whose side a failure is on
    retry string whether a further try can help
    tell_payer string a sentence for the payer
    quote string the data that the provider's support asks for
    source! string the document that has the word
    = setting
    name! string the setting
    value string its value; secrets are never shown
    origin! string option, environment, profile or default
    detail string the source in use, and those that are ignored
    = scenario
    name! string the value of the option
    option! string --sim-scenario or --sim-fault
    meaning! string the effect
    provider! string the provider that has it
    exit integer the exit status of the command
    effect string done or none: whether the provider's books have changed
    = request
    provider! string the provider that would be asked
    env! string where
    reference string the merchant's own name
    idempotency_key string the key that will be sent; absent where none is
    request! object the request, secrets masked
    = server
    address! string where the providers are, over HTTP and WebSocket
    device! string where the card reader is
    variables! object the values for a client, by the variable that it reads
    env_file string the file that has them
    = version
    version! string the version
    swift string the language mode it was built in
    = schema
    name! string the kind of record described
    json_schema! object its JSON Schema
    vocabulary object the words that it may hold, by provider and subject, with their meanings
    """

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
    return all.map { .word(.member, $0, $1, "the records of tender: tender schema") }
  }

  /// The members in the table below a name.
  private static func rows(_ kind: String) -> [Field] {
    lines(kind).map { line in
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      let isAlways = words[0].hasSuffix("!")
      return Field(name: name(line), type: words[1], isAlways: isAlways, meaning: words[2])
    }
  }

  /// The members of a kind, in the order in which they are printed.
  package static func fields(_ kind: Record.Kind) -> [Field] {
    let rows = [rows("common"), rows("payment"), rows(kind.rawValue), rows("last")].joined()
    let names = names(kind)
    return names.compactMap { name in rows.last { $0.name == name } }
  }

  /// The names of the members of a kind, in their order.
  static func names(_ kind: Record.Kind) -> [String] {
    let others = ["replayed", "source", "line", "created_at", "says", "next", "age"]
    func below(_ head: String) -> [String] { lines(head).map(name) }
    let shared = kind == .journalEntry ? below("payment").filter { !others.contains($0) } : []
    return below("common") + shared + below(kind.rawValue) + below("last")
  }

  private static func name(_ line: Substring) -> String {
    let name = line.utf8.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "!") }
    return String(decoding: name, as: UTF8.self)
  }

  /// The lines of the table below a head.
  ///
  /// The search goes by bytes and stops early, because every run that prints a record needs them.
  private static func lines(_ head: String) -> [Substring] {
    let bytes = table.utf8
    var lines: [Substring] = []
    var isBelow = false
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      if bytes[start] == UInt8(ascii: "=") {
        if isBelow { break }
        isBelow = table[start..<end].split(separator: " ").contains { $0 == head }
      } else if isBelow {
        lines.append(table[start..<end])
      }
      start = end == bytes.endIndex ? end : bytes.index(after: end)
    }
    return lines
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
      "effect": ["enum": ["none", "unknown"], "description": "whether money may have moved"],
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
      case "operations": properties["operations"] = list(rows("operations"), field.meaning)
      case "history": properties["history"] = list(rows("history"), field.meaning)
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
