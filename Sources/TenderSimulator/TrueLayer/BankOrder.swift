import TenderModel

/// What a payment or mandate was made for: the body of its creation, read once.
struct BankOrder: Equatable {
  enum Kind: String {
    case payment, mandate

    var table: String { "bank-\(rawValue)" }
    var parameter: String { "\(rawValue)_id" }
  }

  /// The creation's body, in the published shape.
  private let body: JSONObject
  let kind: Kind
  let currency: String
  /// In minor units; of a payment alone.
  let amount: Int
  /// The mandate that a payment is made on.
  let mandateID: String?
  let payee: Payee?
  /// Whether a failed authorization may be followed by another.
  let retries: Bool
  /// What a mandate allows.
  let constraints: BankConstraints?
  let selection: BankSelection
  let userID: String?
  let metadata: JSONObject?

  /// The account that is paid to.
  struct Payee: Equatable {
    let isMerchantAccount: Bool
    /// The type of its identifier: `iban`, `sort_code_account_number`, ….
    let accountType: String?
    /// Its holder, or the merchant account's id.
    let name: String
    /// Its number with the sort code before it, in full.
    let number: String?
    let reference: String?

    fileprivate init?(_ given: JSON?) {
      guard let given = given?.object else { return nil }
      let account = given["account_identifier"]?.object
      isMerchantAccount = given.text("type") == "merchant_account"
      accountType = account?.text("type")
      name =
        given.text("account_holder_name") ?? given.text("merchant_account_id") ?? "the merchant"
      let number = account?.text("account_number") ?? account?.text("iban")
      self.number = account.map { account in
        [account.text("sort_code"), number].compactMap(\.self).joined(separator: " ")
      }
      reference = given.text("reference")
    }
  }

  /// Reads a body in the published shape; nil for one that makes neither payment nor mandate.
  init?(_ body: JSONObject) {
    let method = body["payment_method"]?.object
    guard let terms = method ?? body["mandate"]?.object else { return nil }
    self.body = body
    kind = method == nil ? .mandate : .payment
    currency = body.text("currency") ?? "GBP"
    amount = body["amount_in_minor"]?.boundedNumber ?? 0
    mandateID = terms.text("type") == "mandate" ? terms.text("mandate_id") : nil
    payee = Payee(terms["beneficiary"])
    retries = terms["retry"] != nil
    constraints = body["constraints"].flatMap(BankConstraints.init)
    selection = BankSelection(terms["provider_selection"]?.object ?? [:])
    userID = body["user"]?["id"]?.text
    metadata = body["metadata"]?.object
  }

  /// What the ledger keeps: the payer's name and addresses are not needed again.
  var stored: JSONObject {
    var stored = body
    stored["user"] = userID.map { ["id": .string($0)] }
    stored["authorization_flow"] = nil
    return stored
  }

  /// The members that a look-up shows as they were given.
  func shown(_ id: String, _ selection: BankSelection) -> JSONObject {
    var shown: JSONObject = [:]
    switch kind {
    case .payment:
      shown["amount_in_minor"] = .integer(amount)
      shown["currency"] = .string(currency)
      var method = body["payment_method"]?.object ?? [:]
      if mandateID == nil { method["provider_selection"] = .object(selection.shown) }
      shown["payment_method"] = .object(method)
    case .mandate:
      shown = body["mandate"]?.object ?? [:]
      shown["provider_selection"] = .object(selection.shown)
      shown["currency"] = .string(currency)
      shown["constraints"] = constraints.map { .object($0.shown) }
      if shown["reference"] == nil {
        // What a mandate gets where none is given.
        shown["reference"] = .string(String(id.filter { $0 != "-" }.prefix(18)).uppercased())
      }
    }
    shown["metadata"] = metadata.map(JSON.object)
    return shown
  }
}

/// How a bank is chosen: as the creation says, and what was chosen since.
struct BankSelection: Equatable {
  private let given: JSONObject
  private let countries: [String]
  private let wanted: [String]
  private let excluded: [String]
  /// Whether the payer chooses the scheme.
  let choosesScheme: Bool
  var bank: String?
  var scheme: String?
  var branch: String?

  fileprivate init(_ given: JSONObject) {
    self.given = given
    let filter = given["filter"]
    countries = filter?["countries"]?.array?.compactMap(\.text) ?? []
    wanted = filter?["provider_ids"]?.array?.compactMap(\.text) ?? []
    excluded = filter?["excludes"]?["provider_ids"]?.array?.compactMap(\.text) ?? []
    choosesScheme = given["scheme_selection"]?["type"]?.text == "user_selected"
    bank = given.text("provider_id")
    scheme = given["scheme_selection"]?["scheme_id"]?.text
    branch = given["branch_selection"]?["branch_id"]?.text
  }

  /// Whether the creation lets a bank be chosen.
  func allows(_ candidate: BankCatalog.Bank) -> Bool {
    (countries.isEmpty || countries.contains(candidate.country))
      && (wanted.isEmpty || wanted.contains(candidate.id)) && !excluded.contains(candidate.id)
  }

  fileprivate var shown: JSONObject {
    var shown = given
    shown["provider_id"] = bank.map(JSON.string)
    shown["scheme_id"] = scheme.map(JSON.string)
    if let branch, given["branch_selection"]?["branch_id"] == nil {
      shown["branch_selection"] = ["type": "user_selected", "branch_id": .string(branch)]
    }
    return shown
  }
}

/// How much a mandate allows, and when.
struct BankConstraints: Equatable {
  /// The most that may be taken in a period.
  struct Limit: Equatable {
    let period: String
    /// In minor units.
    let amount: Int
    let isCalendar: Bool
  }

  /// Milliseconds since 1970; nil where the creation names none.
  let validFrom: Int?
  let validTo: Int?
  /// The most that one payment may take, in minor units.
  let most: Int
  let limits: [Limit]
  /// The names of times that are not times.
  let unreadable: [String]

  fileprivate init?(_ given: JSON) {
    guard let most = given["maximum_individual_amount"]?.boundedNumber else { return nil }
    func time(_ name: String) -> Int? { given[name]?.text.flatMap(Timestamp.read) }
    self.most = most
    validFrom = time("valid_from")
    validTo = time("valid_to")
    unreadable = ["valid_from", "valid_to"].filter { given[$0] != nil && time($0) == nil }
    limits = (given["periodic_limits"]?.object?.members ?? []).map { member in
      Limit(
        period: member.key,
        amount: member.value["maximum_amount"]?.boundedNumber ?? 0,
        isCalendar: member.value["period_alignment"] == "calendar"
      )
    }
  }

  /// Whether a payment at a time is within them, the periods' limits left out.
  func allows(_ amount: Int, at time: Int) -> Bool {
    amount <= most && validFrom ?? time <= time && validTo ?? .max > time
  }

  var shown: JSONObject {
    var periods: JSONObject = [:]
    for limit in limits {
      periods[limit.period] = [
        "maximum_amount": .integer(limit.amount),
        "period_alignment": .string(limit.isCalendar ? "calendar" : "consent"),
      ]
    }
    var shown: JSONObject = [:]
    shown["valid_from"] = validFrom.map { .string(Timestamp.text($0)) }
    shown["valid_to"] = validTo.map { .string(Timestamp.text($0)) }
    shown["maximum_individual_amount"] = .integer(most)
    shown["periodic_limits"] = .object(periods)
    return shown
  }
}
