package import TenderCommandLine
internal import TenderModel

extension ToroModule {
  package var section: ConfigurationSection {
    let texts = [
      "device", "acquirer_id", "acquirer_parameters", "merchant_id", "merchant_name",
      "merchant_category_code", "poi_id", "recipient_id", "api_key_header", "key_id", "key_version",
      "card_key_id", "card_key_version",
    ]
    return ConfigurationSection(
      [.init("api_key", .secret), .init("passphrase", .secret)] + texts.map { .init($0) } + [
        .init("currency") { value in
          guard let code = value.text, Currency(code: code) == nil else { return nil }
          return .init("\(code.quotedForMessage) is no ISO 4217 code")
        },
        .init("location", .value, problem: Self.problem(withLocation:)),
        .init("kdf", .value, problem: Self.problem(withDerivation:)),
        .init("gratuity_enabled", .value) { value in
          value.truth == nil ? .init("is neither true nor false") : nil
        },
        .init("gratuity_percentages", .value, problem: Self.problem(withMenu:)),
        .init("signature_mode") { value in
          ["device", "app"].contains(value.text) ? nil : .init("is neither device nor app")
        },
        // No longer used, but still accepted: see `warning`.
        .init("touch_area_tag"),
        .init("card_timeout") { value in
          do throws(Fault) {
            _ = try TimeText.milliseconds(value.text ?? "", option: "card_timeout")
            return nil
          } catch {
            return .init("is not a length of time", hint: error.hint)
          }
        },
        .init("authorisation_path") { value in
          let path = value.text ?? ""
          let isPath = path.hasPrefix("/") && path.utf8.allSatisfy { (0x21...0x7e).contains($0) }
          return isPath ? nil : .init("is no path", hint: "such as /v1/caaa/…")
        },
      ]
    )
  }

  /// Returns the unknown members of an object; nil if all are known.
  private static func unknown(
    _ object: JSONObject,
    among known: [String]
  ) -> ConfigurationSection.Problem? {
    guard let member = object.members.first(where: { !known.contains($0.key) }) else { return nil }
    return .init("has the unknown key \(member.key.quotedForMessage)")
  }

  private static func problem(withLocation value: JSON) -> ConfigurationSection.Problem? {
    guard let object = value.object, object.text("latitude") != nil,
      object.text("longitude") != nil
    else { return .init("needs latitude and longitude as text") }
    return unknown(object, among: ["latitude", "longitude"])
  }

  private static func problem(withDerivation value: JSON) -> ConfigurationSection.Problem? {
    guard let object = value.object else { return .init("is no object") }
    if let problem = unknown(object, among: ["prf", "salt", "iterations", "length"]) {
      return problem
    }
    let known = ["hmac-sha1", "hmac-sha256", "hmac-sha512"]
    guard let prf = object.text("prf"), known.contains(prf), object.text("salt") != nil,
      let iterations = object["iterations"]?.wholeNumber, (1...10_000_000).contains(iterations),
      let length = object["length"]?.wholeNumber, [16, 24, 32].contains(length)
    else {
      return .init(
        "needs prf, salt, iterations and length",
        hint: "prf is one of \(known.joined(separator: ", ")); length is 16, 24 or 32"
      )
    }
    return nil
  }

  private static func problem(withMenu value: JSON) -> ConfigurationSection.Problem? {
    let numbers = value.array?.compactMap(\.wholeNumber) ?? []
    guard numbers.count == value.array?.count, (1...4).contains(numbers.count),
      numbers.allSatisfy({ (0...100).contains($0) })
    else {
      return .init("is no list of one to four percentages", hint: "such as [10,15,20]")
    }
    return nil
  }

  package var results: [ResultShape] { Self.shapes }

  private static let shapes = ResultShape.table(
    """
    state .: state
    state=failed .: error
    state=completed .: receipt{}
    receipt receipt: saleReferenceId amount# authorisedAmount#? type gratuityAmount# currency authCode? \
    responseCode responseReason? authenticationMethod? additionalResponseInformation? actionCode? aid? \
    applicationLabel? paymentInterface? panStart? panLastFour? recipientTransactionId? \
    initiatorTransactionId transactionReference dateTime terminalSerialNumber? signatureBase64? \
    signatureVerificationFailed! captured! longitude? latitude? additionalInformation{}?
    """
  )
}
