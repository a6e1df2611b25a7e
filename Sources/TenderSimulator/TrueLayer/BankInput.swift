import TenderModel

struct BankInput {
  private let label: String
  private var format = "any"
  private var lengths = 1...40
  private var isSensitive = false
  private var hasImage = false
  /// The choices: id, label, and other names.
  private var options: [(id: String, label: String, aliases: [JSON])] = []

  private static let known = [
    "remitter-iban": BankInput(label: "Your IBAN", format: "iban", lengths: 15...34),
    "remitter-name": BankInput(label: "Your name"),
    "remitter-nrb": BankInput(
      label: "Your account number (NRB)",
      format: "numerical",
      lengths: 26...26
    ),
    "psu-id": BankInput(label: "Your user name"),
    "psu-password": BankInput(label: "Your password", isSensitive: true),
    "psu-branch-code": BankInput(label: "Your branch code", format: "numerical"),
    "psu-account-number": BankInput(label: "Your account number", format: "numerical"),
    "psu-sub-account": BankInput(label: "Your sub-account", format: "numerical"),
    "embedded-auth-flow-sca-select": BankInput(
      label: "How to confirm",
      options: [("Sms", "SMS", ["text"]), ("PhotoTan", "PhotoTAN", [])]
    ),
    "embedded-auth-flow-sms-input": BankInput(label: "The code of the message", isSensitive: true),
    "otp_authorization": BankInput(
      label: "The code that you were shown",
      format: "numerical",
      lengths: 4...8,
      isSensitive: true,
      hasImage: true
    ),
  ]

  /// Throws `invalid-parameters` for a value that does not fit a field.
  static func check(_ value: String, id: String) throws(BankProblem) {
    let input = known[id] ?? BankInput(label: id)
    guard !value.isEmpty else { throw .invalid("inputs.\(id)", "Value is required.") }
    guard input.options.isEmpty else {
      guard input.options.contains(where: { $0.id == value }) else {
        throw .invalid("inputs.\(id)", "Unknown option.")
      }
      return
    }
    guard input.lengths.contains(value.count),
      input.format != "numerical" || value.allSatisfy({ $0.isASCII && $0.isNumber })
    else { throw .invalid("inputs.\(id)", "Value has the wrong format.") }
  }

  /// Returns a field in the form of the flow.
  static func shown(_ id: String) -> JSON {
    let input = known[id] ?? BankInput(label: id)
    guard input.options.isEmpty else {
      let options: [JSON] = input.options.map { option in
        [
          "id": option.id.json, "display_text": ["default": option.label.json],
          "search_aliases": option.aliases.json,
        ]
      }
      return [
        "type": "select", "id": id.json, "mandatory": true,
        "display_text": ["default": input.label.json], "options": options.json,
      ]
    }
    return [
      "type": input.hasImage ? "text_with_image" : "text", "id": id.json, "mandatory": true,
      "display_text": ["key": (id + ".label").json, "default": input.label.json],
      "format": input.format.json, "sensitive": input.isSensitive.json,
      "min_length": input.lengths.lowerBound.json, "max_length": input.lengths.upperBound.json,
      "regexes": input.format == "iban" ? [lettersAndDigits] : [],
      "image": input.hasImage ? image : nil,
    ]
  }

  private static let lettersAndDigits: JSON = [
    "regex": "^[A-Z0-9]+$", "message": ["default": "Letters and digits"],
  ]
  private static let image: JSON = [
    "type": "base64", "media_type": "image/gif",
    "data": "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==",
  ]
}
