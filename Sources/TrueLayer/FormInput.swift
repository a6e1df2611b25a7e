import TenderModel

/// A field of a bank's form (README, 4.4).
package struct FormInput: Sendable, Hashable {
  package let id: String
  /// The type of field: text, a text about an image, a choice, or a newer type.
  package let type: String
  package let label: String
  package let help: String?
  package let isMandatory: Bool
  /// Whether its value is a secret of the payer, such as a password or one-time code.
  package let isSensitive: Bool
  /// The format of its value: any, numerical, iban and so on.
  package let format: String
  package let options: [Choice]
  /// The image that the text is about: its address, or only a media type.
  package let image: String?

  init?(_ object: JSONObject) {
    guard let id = object.text("id") else { return nil }
    self.id = id
    type = object.text("type") ?? "text"
    label = object["display_text"]?["default"]?.text ?? id
    help = object["description"]?["default"]?.text
    isMandatory = object["mandatory"]?.truth ?? false
    // Any value that is not clearly false counts as true.
    isSensitive = ![nil, .bool(false), .null].contains(object["sensitive"])
    format = object.text("format") ?? "any"
    options = (object["options"]?.array ?? []).compactMap { option in
      guard let id = option["id"]?.text else { return nil }
      return Choice(id: id, name: option["display_text"]?["default"]?.text ?? id)
    }
    image = object["image"]?["uri"]?.text ?? object["image"]?["media_type"]?.text
  }

  /// The field as `next_action.inputs` shows it.
  var shown: JSON {
    let choices = options.map { ["id": .string($0.id), "display_text": .string($0.name)] as JSON }
    return [
      "id": .string(id), "type": .string(type), "display_text": .string(label),
      "mandatory": .bool(isMandatory), "sensitive": .bool(isSensitive),
      "format": type == "select" ? nil : .string(format),
      "options": choices.isEmpty ? nil : .array(choices), "image": image?.json,
    ]
  }

  /// Returns the problem with a value, without repeating it; nil if there is none. The bank checks the form of a
  /// text itself.
  package func problem(with value: String) -> String? {
    if value.isEmpty { return isMandatory ? "a value is required" : nil }
    guard type == "select", !options.contains(where: { $0.id == value }) else { return nil }
    return "it is one of \(options.map(\.id).joined(separator: ", "))"
  }
}

/// A bank for an authorization.
package struct Bank: Sendable, Hashable {
  package let id: String
  package let name: String
  package let country: String?
  package let aliases: [String]
  /// Whether TrueLayer reports that the bank works: any value but `unhealthy`.
  package let isHealthy: Bool
}

/// One of several choices.
package struct Choice: Sendable, Hashable {
  package let id: String
  package let name: String
  package var isRecommended = false
  /// More names for searches.
  package var aliases: [String] = []
}

extension Bank {
  /// Reads a bank. Older answers name its id `provider_id`.
  init?(_ object: JSONObject) {
    guard let id = object.text("id") ?? object.text("provider_id") else { return nil }
    self.id = id
    name = object.text("display_name") ?? id
    country = object.text("country_code")
    aliases = object["search_aliases"]?.array?.compactMap(\.text) ?? []
    isHealthy = object["availability"]?["recommended_status"]?.text != "unhealthy"
  }
}
