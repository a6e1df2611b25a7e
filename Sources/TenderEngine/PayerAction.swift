package import TenderModel

/// What the payer has to do, as `next_action` of a record shows it (man/tender-jsonl.5).
package struct PayerAction: Sendable, Hashable {
  package let type: String
  /// What goes with it: an address, choices, questions.
  package let members: JSONObject
  /// Whether its members are asked for anew each time: the journal keeps its type alone.
  package let isAskedAnew: Bool

  /// An action of a type, such as `redirect` with its `url`.
  package init(_ type: String, _ members: JSONObject = [:], isAskedAnew: Bool = false) {
    self.type = type
    self.members = members
    self.isAskedAnew = isAskedAnew
  }

  /// What the journal keeps of it.
  package var kept: PayerAction { isAskedAnew ? PayerAction(type) : self }

  /// Reads what a record or the journal has; nil for what has no type.
  package init?(_ json: JSON) {
    guard var members = json.object, let type = members.text("type") else { return nil }
    members["type"] = nil
    self.init(type, members)
  }

  /// What goes with it under a name.
  package subscript(_ name: String) -> JSON? { members[name] }

  /// The action as a record shows it.
  package var json: JSON {
    .object(JSONObject([.init(key: "type", value: .string(type))] + members.members))
  }
}
