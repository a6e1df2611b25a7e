/// One answer of the program: ordered fields, printed as a table or as a JSON line.
package struct Record: Sendable, Hashable {
  /// The kinds of record, as `man 5 tender-jsonl` lists them.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case payment, mandate, token, event, error
    case journalEntry = "journal_entry"
    case batchSummary = "batch_summary"
    case total, check, capability, explanation, setting, scenario, request, server, book, exchange,
      version, schema, note, command, topic
  }

  package let kind: Kind
  package var fields: JSONObject

  package init(_ kind: Kind, _ fields: JSONObject) {
    self.kind = kind
    self.fields = fields
  }
}

extension Fault {
  /// The `error` member of a record: code, exit, message, hint, effect, retry.
  package var record: JSONObject {
    var fields: JSONObject = [
      "code": .string(code), "exit": .integer(Int(exitStatus)), "message": .string(message),
    ]
    fields["hint"] = hint?.json
    fields["effect"] = .string(effect.rawValue)
    var again: JSONObject = ["class": .string(retry.rawValue)]
    again["after"] = after?.json
    fields["retry"] = .object(again)
    return fields
  }
}
