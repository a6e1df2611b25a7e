import TenderModel

/// A field of a bank's form.
struct BankInput {
  private struct Option {
    let id: String
    let label: String
    let aliases: [JSON]
  }

  private let id: String
  private let label: String
  private var format = "any"
  private var lengths = 1...40
  private var isSensitive = false
  private var hasImage = false
  private var options: [Option] = []

  init(_ id: String) {
    self.id = id
    switch id {
    case "remitter-iban":
      label = "Your IBAN"
      format = "iban"
      lengths = 15...34
    case "remitter-name": label = "Your name"
    case "remitter-nrb":
      label = "Your account number (NRB)"
      format = "numerical"
      lengths = 26...26
    case "psu-id": label = "Your user name"
    case "psu-password":
      label = "Your password"
      isSensitive = true
    case "psu-branch-code":
      label = "Your branch code"
      format = "numerical"
    case "psu-account-number":
      label = "Your account number"
      format = "numerical"
    case "psu-sub-account":
      label = "Your sub-account"
      format = "numerical"
    case "embedded-auth-flow-sca-select":
      label = "How to confirm"
      options = [
        Option(id: "Sms", label: "SMS", aliases: ["text"]),
        Option(id: "PhotoTan", label: "PhotoTAN", aliases: []),
      ]
    case "otp_authorization":
      label = "The code that you were shown"
      format = "numerical"
      lengths = 4...8
      isSensitive = true
      hasImage = true
    default: label = id
    }
  }

  /// Throws `invalid-parameters` for a value that does not fit.
  func check(_ value: String) throws(BankProblem) {
    guard !value.isEmpty else { throw .invalid("inputs.\(id)", "Value is required.") }
    guard options.isEmpty else {
      guard options.contains(where: { $0.id == value }) else {
        throw .invalid("inputs.\(id)", "Unknown option.")
      }
      return
    }
    guard lengths.contains(value.count),
      format != "numerical" || value.allSatisfy({ $0.isASCII && $0.isNumber })
    else { throw .invalid("inputs.\(id)", "Value has the wrong format.") }
  }

  /// The field as the flow shows it.
  var shown: JSON {
    guard options.isEmpty else {
      return [
        "type": "select", "id": .string(id), "mandatory": true,
        "display_text": ["default": .string(label)],
        "options": .array(
          options.map { option in
            [
              "id": .string(option.id), "display_text": ["default": .string(option.label)],
              "search_aliases": .array(option.aliases),
            ]
          }
        ),
      ]
    }
    var object: JSONObject = [
      "type": hasImage ? "text_with_image" : "text", "id": .string(id), "mandatory": true,
      "display_text": ["key": .string(id + ".label"), "default": .string(label)],
      "format": .string(format), "sensitive": .bool(isSensitive),
      "min_length": .integer(lengths.lowerBound), "max_length": .integer(lengths.upperBound),
      "regexes": [],
    ]
    if format == "iban" {
      object["regexes"] = [["regex": "^[A-Z0-9]+$", "message": ["default": "Letters and digits"]]]
    }
    if hasImage {
      object["image"] = [
        "type": "base64", "media_type": "image/gif",
        "data": "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==",
      ]
    }
    return .object(object)
  }
}
