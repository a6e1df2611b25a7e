import TenderModel

/// One field of a form that the bank wants filled in (README, 4.4).
package struct FormInput: Sendable, Hashable {
  package let id: String
  /// What kind of field it is: text, an image's text, a choice, or something newer.
  package let type: String
  package let label: String
  package let help: String?
  package let isMandatory: Bool
  /// Whether its value is a secret of the payer's: a password, a one-time code.
  package let isSensitive: Bool
  /// What its value is made of: any, numerical, iban and so on.
  package let format: String
  package let lengths: ClosedRange<Int>
  package let options: [Choice]
  /// Where the image is that the text is about: an address, or a media type alone.
  package let image: String?
  let patterns: [Pattern]

  struct Pattern: Sendable, Hashable {
    let text: String
    let message: String?
  }

  init?(_ object: JSONObject) {
    guard let id = object.text("id") else { return nil }
    self.id = id
    type = object.text("type") ?? "text"
    label = object["display_text"]?["default"]?.text ?? id
    help = object["description"]?["default"]?.text
    isMandatory = object["mandatory"]?.truth ?? false
    // Whatever is not plainly no is taken for yes.
    isSensitive = ![nil, .bool(false), .null].contains(object["sensitive"])
    format = object.text("format") ?? "any"
    let least = max(0, object["min_length"]?.boundedNumber ?? 0)
    lengths = least...max(least, object["max_length"]?.boundedNumber ?? 4096)
    options = (object["options"]?.array ?? []).compactMap { option in
      guard let id = option["id"]?.text else { return nil }
      return Choice(
        id: id,
        name: option["display_text"]?["default"]?.text ?? id,
        isRecommended: false
      )
    }
    image = object["image"]?["uri"]?.text ?? object["image"]?["media_type"]?.text
    patterns = (object["regexes"]?.array ?? []).compactMap { item in
      item["regex"]?.text.map { text in
        Pattern(text: text, message: item["message"]?["default"]?.text)
      }
    }
  }

  /// The field as `next_action.inputs` shows it.
  var shown: JSON {
    var object: JSONObject = [
      "id": .string(id), "type": .string(type), "display_text": .string(label),
      "mandatory": .bool(isMandatory), "sensitive": .bool(isSensitive),
    ]
    if type != "select" { object["format"] = .string(format) }
    if !options.isEmpty {
      object["options"] = .array(
        options.map { ["id": .string($0.id), "display_text": .string($0.name)] }
      )
    }
    object["image"] = image.map(JSON.string)
    return .object(object)
  }

  /// What is wrong with a value, in a few words that do not repeat it; nil where nothing is.
  package func problem(with value: String) -> String? {
    if value.isEmpty { return isMandatory ? "a value is required" : nil }
    if type == "select" {
      let names = options.map(\.id).joined(separator: ", ")
      return options.contains { $0.id == value } ? nil : "it is one of \(names)"
    }
    guard lengths.contains(value.count) else {
      return lengths.lowerBound == lengths.upperBound
        ? "it has \(lengths.lowerBound) characters"
        : "it has \(lengths.lowerBound) to \(lengths.upperBound) characters"
    }
    if let problem = formatProblem(value) { return problem }
    for pattern in patterns where !pattern.accepts(value) {
      return pattern.message ?? "it does not have the form that the bank wants"
    }
    return nil
  }

  private func formatProblem(_ value: String) -> String? {
    let isASCII = value.utf8.allSatisfy { $0 < 0x80 }
    let digits = value.filter { $0 != " " && $0 != "-" }
    switch format {
    case "numerical":
      return value.allSatisfy { $0.isASCII && $0.isNumber } ? nil : "it is digits alone"
    case "alphabetical": return value.allSatisfy(\.isLetter) ? nil : "it is letters alone"
    case "alphanumerical":
      return value.allSatisfy { $0.isLetter || $0.isNumber } ? nil : "it is letters and digits"
    case "email": return Contact.isEmail(value) ? nil : "it is an e-mail address"
    case "sort_code":
      return digits.count == 6 && digits.allSatisfy { $0.isASCII && $0.isNumber }
        ? nil : "it is a sort code, six digits"
    case "account_number":
      return isASCII && digits.allSatisfy { $0.isLetter || $0.isNumber }
        ? nil : "it is an account number"
    case "iban":
      return AccountNumbers.isIBAN(value.filter { $0 != " " }.uppercased()) ? nil : "it is an IBAN"
    default: return nil
    }
  }
}

extension FormInput.Pattern {
  /// Whether a value fits; what cannot be judged in bounded time is left to the provider.
  fileprivate func accepts(_ value: String) -> Bool {
    // The rules are written for tests of the whole value, with anchors or without.
    TextPattern(text)?.fits(value) ?? true
  }
}
