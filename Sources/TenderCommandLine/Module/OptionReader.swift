package import TenderEngine
package import TenderModel
internal import TenderSystem

/// Reads options as values: amounts, fields, pairs. Each is checked, and named in its fault.
package struct OptionReader {
  package let invocation: Invocation
  package let currency: String

  package init(_ invocation: Invocation, currency: String) {
    self.invocation = invocation
    self.currency = currency
  }

  /// Returns the named currency, else the provider's default.
  ///
  /// Throws `usage`.
  package func currencyValue() throws(Fault) -> Currency {
    let code = invocation[Keys.currency] ?? currency
    guard let currency = Currency(code: code) else {
      throw .usage(
        "bad_currency",
        "--currency \(code.quotedForMessage) is no ISO 4217 code",
        Synonyms.currency(for: code).map { "did you mean \($0)?" }
          ?? Suggestion.hint(for: code.uppercased(), among: Currency.codes, else: "such as USD")
      )
    }
    return currency
  }

  /// Returns the amount of one of two options; nil without either.
  package func money(_ key: MoneyKey) throws(Fault) -> Money? {
    let currency = try currencyValue()
    let name = key.decimal.option.name
    switch (invocation[key.decimal], invocation[key.minor]) {
    case (let decimal?, nil):
      return try Money(decimal: decimal, currency: currency, named: "--" + name)
    case (nil, let minor?):
      return try Money(minorUnits: minor, currency: currency, named: "--\(name)-minor")
    case (nil, nil): return nil
    default: throw .exclusive("--\(name) and --\(name)-minor")
    }
  }

  /// Returns the amount of `--amount` or `--amount-minor`.
  ///
  /// Throws `usage` without one.
  package func amount() throws(Fault) -> Money {
    guard let amount = try money(Keys.amount) else {
      throw .missingOption(
        "\(invocation.command.name) needs --amount",
        hint: "such as --amount 10.50"
      )
    }
    return amount
  }

  /// Returns the part of a payment to capture or refund; nil for all that is left.
  ///
  /// It must be in the payment's currency, since the same digits in another currency are another amount.
  /// Throws `usage`.
  package func part(of payment: Payment?) throws(Fault) -> Money? {
    let amount = try money(Keys.amount)
    let isRest = invocation.has(Keys.rest)
    if amount != nil, isRest {
      throw .exclusive("--amount and --rest")
    }
    if let paid = payment?.currency, invocation.has(Keys.currency), try currencyValue() != paid {
      throw .usage(
        "bad_currency",
        "the payment is in \(paid.code), not in \(try currencyValue().code)",
        "leave --currency out"
      )
    }
    guard amount != nil || !invocation.has(Keys.currency) else {
      throw .badOptions(
        "--currency needs --amount",
        hint: "leave --currency out for the whole payment"
      )
    }
    guard amount?.minorUnits != 0 else {
      throw .usage("bad_amount", "the amount is 0", "raise --amount")
    }
    return amount
  }

  /// Returns the `FIELD=VALUE` pairs of an option. Each field must be known, given once, and valid.
  package func fields(_ key: Key<String>, among known: [String]) throws(Fault) -> JSONObject {
    let option = key.option.name
    var fields: JSONObject = [:]
    for pair in invocation.all(key) {
      let (name, value) = try Self.split(pair, option: "--" + option)
      guard known.contains(name) else {
        let all = "fields: \(known.joined(separator: ", "))"
        throw .usage(
          "bad_value",
          "--\(option) has no field \(name.quotedForMessage)",
          Suggestion.hint(for: name, among: known, else: all)
        )
      }
      guard fields[name] == nil else {
        throw .usage("bad_value", "--\(option) \(name) was given twice", "give it once")
      }
      try Self.check(option, name, value)
      fields[name] = .string(value)
    }
    return fields
  }

  private static func check(_ option: String, _ name: String, _ value: String) throws(Fault) {
    let fits =
      switch name {
      case "email": Contact.isEmail(value)
      case "phone": Contact.isPhone(value)
      default: !value.isBlank
      }
    guard !fits else { return }
    throw .usage(
      "bad_value",
      "--\(option) \(name)=\(value.quotedForMessage) has the wrong shape",
      name == "email" ? "such as email=ada@example.com" : "such as phone=+15135550100"
    )
  }

  /// Returns the merchant's metadata of a payment.
  ///
  /// Throws `usage` for a card number in it.
  package func metadata() throws(Fault) -> JSONObject {
    try pairs(Keys.metadata, file: Keys.metadataFile)
  }

  /// Returns the merchant's data: a JSON object in a file, with `KEY=VALUE` pairs over it.
  package func pairs(_ key: Key<String>, file fileKey: Key<String>) throws(Fault) -> JSONObject {
    let (option, fileOption) = (key.option.name, fileKey.option.name)
    var pairs: JSONObject = [:]
    if let path = invocation[fileKey] {
      let bytes = try Environment.read(path, named: "--\(fileOption)", limit: 262_144)
      guard let object = JSONReader.read(bytes, duplicates: .refusedStrictly)?.object else {
        throw .badFile(
          "--\(fileOption) \(path.quotedForMessage) \(JSONReader.flaw(bytes))",
          hint: "such as {\"order\":\"1042\"}"
        )
      }
      try refuseCards(.object(object))
      pairs = object
    }
    var given = Set<String>()
    for pair in invocation.all(key) {
      let (name, value) = try Self.split(pair, option: "--\(option)")
      guard !given.contains(name) else {
        throw .usage(
          "bad_value",
          "--\(option) \(name.quotedForMessage) was given twice",
          "give it once"
        )
      }
      given.insert(name)
      pairs[name] = .string(value)
    }
    return pairs
  }

  /// Metadata is stored and shown, so it may not contain a card number.
  private func refuseCards(_ value: JSON) throws(Fault) {
    switch value {
    case .object(let object):
      for member in object.members {
        try refuseCards(.string(member.key))
        try refuseCards(member.value)
      }
    case .array(let elements): for element in elements { try refuseCards(element) }
    case .string, .integer, .number, .bool, .null:
      guard let text = value.plainText, Redactor.holdsCardNumber(text),
        !invocation.exemptIDs.contains(text)
      else { return }
      throw .usage(
        "card_number_in_metadata",
        "the metadata holds something that looks like a card number",
        "leave it out: metadata is stored and shown; for an id that only looks like one, add "
          + "--id with the same value"
      )
    }
  }

  /// The two sides of `NAME=VALUE`.
  ///
  /// Throws `usage`.
  package static func split(_ pair: String, option: String) throws(Fault) -> (String, String) {
    guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
      throw .usage(
        "bad_value",
        "\(option) \(pair.quotedForMessage) is not NAME=VALUE",
        "such as \(option) first_name=Ada"
      )
    }
    return (String(pair[..<equals]), String(pair[pair.index(after: equals)...]))
  }
}

extension Fault {
  /// A value that an option does not accept.
  package static func badValue(_ option: String, _ text: String, hint: String) -> Fault {
    .usage("bad_value", "\(option) cannot be \(text.quotedForMessage)", hint)
  }
}
