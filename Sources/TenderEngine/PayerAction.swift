package import TenderModel

/// An action that the payer has to do: `next_action` of a record (man/tender-jsonl.5).
package struct PayerAction: Sendable, Hashable {
  package let type: String
  /// The data of the action: an address, choices, questions.
  package let members: JSONObject
  /// Whether its members are requested again each time. Then the journal stores only its type.
  package let isAskedAnew: Bool

  /// Creates an action of a type, such as `redirect` with its `url`.
  package init(_ type: String, _ members: JSONObject = [:], isAskedAnew: Bool = false) {
    self.type = type
    self.members = members
    self.isAskedAnew = isAskedAnew
  }

  /// The form that the journal stores.
  package var kept: PayerAction { isAskedAnew ? PayerAction(type) : self }

  /// Reads an action from a record or the journal; nil without a type.
  package init?(_ json: JSON) {
    guard var members = json.object, let type = members.text("type") else { return nil }
    members["type"] = nil
    self.init(type, members)
  }

  package subscript(_ name: String) -> JSON? { members[name] }

  package var json: JSON {
    .object(JSONObject([.init(key: "type", value: .string(type))] + members.members))
  }
}
