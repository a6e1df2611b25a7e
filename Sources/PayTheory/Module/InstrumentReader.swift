internal import TenderCommandLine
internal import TenderEngine
package import TenderModel
internal import TenderSystem

/// Reads the instrument of a command from test data, JSON, or prompts on the terminal.
struct InstrumentReader {
  let session: any Session
  let env: Env

  private var invocation: Invocation { session.invocation }
  private var redactor: Redactor { session.redactor }

  private var today: YearMonth {
    let date = Timestamp.yearAndMonth(session.ownClock.now)
    return YearMonth(year: date.year, month: date.month)
  }

  static let sources: [any OptionKey] = [
    Keys.instrumentStdin, Keys.instrumentFile, Keys.instrumentDescriptor, Keys.testCard,
    Keys.testAccount, Keys.token,
  ]

  /// Reads the instrument; nil if a stored method pays.
  ///
  /// Throws `usage` for an invalid one, `refused` if there is none and no terminal. The redactor learns every
  /// secret first.
  func read() throws(Fault) -> Instrument? {
    let named = invocation.given(among: Self.sources)
    guard named.count + (session.instrument == nil ? 0 : 1) <= 1 else {
      let names = named.map { "--\($0.name)" } + (session.instrument == nil ? [] : ["instrument"])
      throw .exclusive(names.joined(separator: " and "))
    }
    if var given = session.instrument { return try parse(Secret(consuming: &given)) }
    let method = try invocation.value(Keys.method)
    if invocation.has(Keys.token) {
      if let method { throw .methodMismatch(method, "--token") }
      return nil
    }
    if let brand = try invocation.value(Keys.testCard) {
      if let method, method != .card { throw .methodMismatch(method, "--test-card") }
      try refuseOnLive("--test-card")
      let card = try TestInstruments.card(brand, today: today)
      learn("number", card.number)
      learn("security_code", card.securityCode)
      return .card(card)
    }
    if let outcome = try invocation.value(Keys.testAccount) {
      if let method, method != .ach { throw .methodMismatch(method, "--test-account") }
      try refuseOnLive("--test-account")
      let account = try TestInstruments.account(outcome)
      learn("account_number", account.number)
      return .bankAccount(account)
    }
    if invocation.has(Keys.instrumentStdin) { return try parse(bytes(0, "--instrument-stdin")) }
    if let descriptor = try invocation.value(Keys.instrumentDescriptor) {
      return try parse(bytes(descriptor, "--instrument-fd"))
    }
    if let path = invocation[Keys.instrumentFile] {
      return try parse(Environment.readSecret(path, named: "--instrument-file", limit: 65_536))
    }
    return try ask(method ?? .card)
  }

  private func refuseOnLive(_ option: String) throws(Fault) {
    guard env == .live else { return }
    throw .usage(
      "test_data_on_live",
      "\(option) cannot be used with --env live",
      "use --instrument-stdin"
    )
  }

  private func bytes(_ descriptor: Int32, _ option: String) throws(Fault) -> Secret {
    guard let bytes = Console.readSecret(descriptor, limit: 65_536) else {
      throw .badFile(
        "\(option): nothing can be read there, or more than 64 KiB",
        hint: "see: tender help instruments"
      )
    }
    return bytes
  }

  private func parse(_ input: borrowing Secret) throws(Fault) -> Instrument {
    guard let read = SecretJSON(input, open: Self.openMembers) else {
      throw .badInstrument("is not a JSON object")
    }
    let object = read.object
    for (name, secret) in read.secrets { learn(name, secret) }
    let given = try invocation.value(Keys.method)
    let type = object.text("type") ?? (given ?? .card).rawValue
    if let method = given, method.rawValue != type {
      throw .methodMismatch(method, "an instrument of type \(type.quotedForMessage)")
    }
    guard let method = Instrument.Method(rawValue: type) else {
      let types = Instrument.Method.allCases.map(\.rawValue).sorted()
      let nearest = Suggestion.nearest(to: type, among: types)
      throw .badInstrument(
        "has the unknown type \(redactor.redact(type).quotedForMessage)"
          + (nearest.map { "; did you mean \($0)?" } ?? "")
      )
    }
    try Self.check(object, Self.keys(method), place: "")
    return try instrument(method, object, read.secrets)
  }

  /// The members of an instrument that are not secret. Any other text in it is treated as secret.
  private static let openMembers = Set(Instrument.Method.allCases.flatMap(keys) + addressKeys)
    .subtracting(["number", "security_code", "account_number"])

  private static func keys(_ method: Instrument.Method) -> [String] {
    switch method {
    case .card: ["type", "number", "security_code", "expiration", "name", "address"]
    case .ach: ["type", "name", "account_number", "account_type", "routing_number"]
    case .cash: ["type", "name", "contact"]
    }
  }

  /// The members by the names that other programs have for them, without case and punctuation.
  private static let otherNames = """
    security_code: cvc cvc2 cvv cvv2 csc cid cvn code securitycode cardcode
    expiration: exp expiry expires expirydate expdate expirationdate expmonth expyear expirymonth \
    expiryyear expirationmonth expirationyear validuntil month year date
    number: pan card cardnumber cardno ccnumber primaryaccountnumber
    name: cardholder holder cardholdername holdername nameoncard accountholder accountname payer
    account_number: account accountno iban number bankaccount
    account_type: accounttype kind
    routing_number: routing routingno aba abanumber sortcode
    contact: email phone
    postal_code: zip zipcode postcode postalcode
    line1: street address1 addressline1
    line2: address2 addressline2
    region: state province county
    address: billingaddress billing
    """

  /// Returns the member with the meaning of another program's key; nil for an unknown key.
  private static func meaning(of key: String, among known: [String]) -> String? {
    let plain = key.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    for line in otherNames.split(separator: "\n") {
      let words = line.unicodeScalars.split { $0 == " " || $0 == ":" }.map { String($0) }
      if known.contains(words[0]), words.dropFirst().contains(plain) { return words[0] }
    }
    return nil
  }

  private static let addressKeys = ["line1", "line2", "city", "region", "postal_code", "country"]

  private static func check(_ object: JSONObject, _ known: [String], place: String) throws(Fault) {
    for member in object.members {
      guard known.contains(member.key) else {
        // A typed key may be a card number in the wrong place. So only near misses of known keys are shown.
        let meant =
          meaning(of: member.key, among: known)
          ?? Suggestion.nearest(to: member.key, among: known)
        throw .badInstrument(
          "has an unknown key" + (place.isEmpty ? "" : " in \(place)")
            + (meant.map { "; did you mean \($0)?" } ?? "")
        )
      }
      if member.key != "address", member.value.text == nil {
        throw .badField(place + member.key, "must be text in quotes")
      }
    }
  }

  /// Teaches the redactor a secret before anything about the instrument is printed.
  private func learn(_ name: String, _ secret: SharedSecret) {
    if name == "security_code" { return redactor.learnShort(secret.secret) }
    redactor.learn(secret.secret)
    if let digits = Digits.only(in: secret.secret) { redactor.learn(digits) }
  }

  private func instrument(
    _ method: Instrument.Method,
    _ object: JSONObject,
    _ secrets: [String: SharedSecret]
  ) throws(Fault) -> Instrument {
    let nothing = SharedSecret("")
    let needed =
      switch method {
      case .card: ["number", "security_code", "expiration"]
      case .ach: ["account_number", "account_type", "routing_number"]
      case .cash: [String]()
      }
    for name in needed where object.text(name) == nil { throw .badField(name, "is missing") }
    switch method {
    case .card:
      return .card(
        try Card(
          number: secrets["number"] ?? nothing,
          securityCode: secrets["security_code"] ?? nothing,
          expiration: Expiration(object.text("expiration") ?? ""),
          name: object.text("name").flatMap { $0.isBlank ? nil : $0 },
          address: try address(object["address"]),
          today: today
        )
      )
    case .ach:
      return .bankAccount(
        try BankAccount(
          name: object.text("name") ?? "",
          number: secrets["account_number"] ?? nothing,
          kind: object.text("account_type") ?? "",
          routing: object.text("routing_number") ?? ""
        )
      )
    case .cash:
      return .cash(
        try CashPayer(name: object.text("name") ?? "", contact: object.text("contact") ?? "")
      )
    }
  }

  private func address(_ value: JSON?) throws(Fault) -> Address {
    guard let value, value != .null else { return Address() }
    guard let object = value.object else { throw .badField("address", "must be an object") }
    try Self.check(object, Self.addressKeys, place: "address.")
    return try Address(
      line1: object.text("line1"),
      line2: object.text("line2"),
      city: object.text("city"),
      region: object.text("region"),
      postalCode: object.text("postal_code"),
      country: object.text("country")
    ).checked()
  }

  private func ask(_ method: Instrument.Method) throws(Fault) -> Instrument {
    guard let terminal = session.terminal() else {
      throw Fault(
        .refused,
        code: "no_instrument",
        cause: .noInstrument,
        "there is no instrument, and no terminal to ask on",
        hint: "pass --instrument-stdin, or --test-card visa off live; see: tender help instruments"
      )
    }
    var prompt = InstrumentPrompt(
      terminal: terminal,
      interruption: session.signals,
      today: today,
      learn: learn
    )
    try prompt.ask(for: method)
    return try instrument(method, prompt.object, prompt.secrets)
  }
}

extension Fault {
  fileprivate static func badInstrument(_ problem: String) -> Fault {
    Fault(
      .usage,
      code: "no_fields",
      cause: .noFields,
      "the instrument \(problem)",
      hint: "see: tender help instruments"
    )
  }

  fileprivate static func methodMismatch(_ method: Instrument.Method, _ other: String) -> Fault {
    .badOptions(
      "--method \(method.rawValue) cannot be used with \(other)",
      hint: "leave --method out"
    )
  }
}

/// Pay Theory's documented test data (README, 11). It is refused on live.
package enum TestInstruments {
  /// The brands that have a test card.
  package enum Brand: String, Sendable, CaseIterable {
    case visa, mastercard, amex, discover

    fileprivate var number: String {
      switch self {
      case .visa: "4111111111111111"
      case .mastercard: "5454545454545454"
      case .amex: "343434343434343"
      case .discover: "6542154846623459"
      }
    }
  }

  /// The result of a payment from a test account.
  package enum Outcome: String, Sendable, CaseIterable { case success, failure }

  /// Returns the test card of a brand. It expires at the end of the next decade, so it stays the same for
  /// years.
  package static func card(_ brand: Brand, today: YearMonth) throws(Fault) -> Card {
    try Card(
      number: SharedSecret(brand.number),
      securityCode: SharedSecret(brand == .amex ? "1234" : "123"),
      expiration: Expiration("12/\((today.year / 10 + 1) * 10 + 9)"),
      // A payer for each card: `find --duplicates` takes one name for one payer.
      name: "Test Payer \(brand.rawValue)",
      address: Address(postalCode: "45209", country: "US"),
      today: today
    )
  }

  /// The test account of an outcome.
  package static func account(_ outcome: Outcome) throws(Fault) -> BankAccount {
    try BankAccount(
      name: "Test Payer account",
      number: SharedSecret(outcome == .success ? "0000000016" : "0000000005"),
      kind: "CHECKING",
      routing: "122105278"
    )
  }
}
