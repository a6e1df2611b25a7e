import TenderModel

/// The order of a payment or mandate: the body of its creation, in the published shape.
struct BankOrder: Equatable, BookedValue {
  enum Kind: String {
    case payment, mandate

    var table: String { "bank-\(rawValue)" }
    var parameter: String { "\(rawValue)_id" }
  }

  struct Payee {
    fileprivate let given: JSONObject

    var isMerchantAccount: Bool { account != nil }

    var account: String? { given.text("merchant_account_id") }

    /// The type of its identifier: `iban`, `sort_code_account_number`, ….
    var accountType: String? { given["account_identifier"]?["type"]?.text }

    /// Its holder, or the merchant account's id.
    var name: String {
      given.text("account_holder_name") ?? account ?? "the merchant"
    }

    /// Its number in full, with the sort code before it.
    var number: String? {
      given["account_identifier"]?.object.map { account in
        let number = account.text("account_number") ?? account.text("iban")
        return [account.text("sort_code"), number].compactMap(\.self).joined(separator: " ")
      }
    }

    var reference: String? { given.text("reference") }
  }

  private let body: JSONObject

  /// Reads a body; nil if it makes neither a payment nor a mandate.
  init?(_ body: JSONObject) {
    self.body = body
    if body["payment_method"]?.object == nil, body["mandate"]?.object == nil { return nil }
  }

  static func read(booked: JSON) -> BankOrder? { booked.object.flatMap(BankOrder.init) }

  init() { body = [:] }

  private var terms: JSONObject {
    body["payment_method"]?.object ?? body["mandate"]?.object ?? [:]
  }

  var kind: Kind { body["payment_method"]?.object == nil ? .mandate : .payment }
  var currency: String { body.text("currency") ?? "GBP" }

  /// The amount in minor units; only a payment has one.
  var amount: Int { body["amount_in_minor"]?.boundedNumber ?? 0 }

  var mandateID: String? { terms.text("type") == "mandate" ? terms.text("mandate_id") : nil }

  var payee: Payee? { terms["beneficiary"]?.object.map(Payee.init(given:)) }

  /// Whether another authorization may follow a failed one.
  var retries: Bool { terms["retry"] != nil }

  var constraints: BankConstraints? { body["constraints"].flatMap(BankConstraints.init) }

  /// The way to choose a bank.
  private var choice: JSONObject { terms["provider_selection"]?.object ?? [:] }

  /// The choices in the creation.
  var selection: BankSelection {
    BankSelection(
      bank: choice.text("provider_id"),
      scheme: choice["scheme_selection"]?["scheme_id"]?.text,
      branch: choice["branch_selection"]?["branch_id"]?.text
    )
  }

  var choosesScheme: Bool { choice["scheme_selection"]?["type"]?.text == "user_selected" }

  /// Whether the creation allows a bank.
  func allows(_ candidate: BankCatalog.Bank) -> Bool {
    func names(_ list: JSON?) -> [String] { list?.array?.compactMap(\.text) ?? [] }
    let filter = choice["filter"]
    let countries = names(filter?["countries"])
    let wanted = names(filter?["provider_ids"])
    return (countries.isEmpty || countries.contains(candidate.country))
      && (wanted.isEmpty || wanted.contains(candidate.id))
      && !names(filter?["excludes"]?["provider_ids"]).contains(candidate.id)
  }

  /// Returns the payment method as events name it, with the choices that were made.
  func method(_ selection: BankSelection) -> JSONObject {
    if let mandateID {
      return ["type": "mandate", "mandate_id": mandateID.json, "reference": terms["reference"]]
    }
    return [
      "type": "bank_transfer", "provider_id": selection.bank?.json,
      "branch_id": selection.branch?.json, "scheme_id": selection.scheme?.json,
    ]
  }

  var userID: String? { body["user"]?["id"]?.text }
  var metadata: JSONObject? { body["metadata"]?.object }
  /// The address to which a hosted page returns the payer; nil without such a page.
  var hostedReturn: String? { body["hosted_page"]?["return_uri"]?.text }
  var hasSignup: Bool { body["related_products"]?["signup_plus"] != nil }

  /// The stored form. The payer's name and addresses are left out, since they are not needed again.
  var json: JSON {
    var kept = body
    kept["user"] = userID.map { ["id": .string($0)] }
    kept["authorization_flow"] = nil
    return .object(kept)
  }

  private func shown(_ selection: BankSelection) -> JSON {
    var shown = choice
    shown["provider_id"] = selection.bank?.json
    shown["scheme_id"] = selection.scheme?.json
    if let branch = selection.branch, choice["branch_selection"]?["branch_id"] == nil {
      shown["branch_selection"] = ["type": "user_selected", "branch_id": .string(branch)]
    }
    return .object(shown)
  }

  /// Returns the members that a look-up repeats.
  func shown(_ id: String, _ selection: BankSelection) -> JSONObject {
    var shown: JSONObject = [:]
    switch kind {
    case .payment:
      shown["amount_in_minor"] = .integer(amount)
      shown["currency"] = .string(currency)
      var method = terms
      if mandateID == nil { method["provider_selection"] = self.shown(selection) }
      shown["payment_method"] = .object(method)
    case .mandate:
      shown = terms
      shown["provider_selection"] = self.shown(selection)
      shown["currency"] = .string(currency)
      shown["constraints"] = constraints.map { .object($0.shown) }
      if shown["reference"] == nil {
        // The default reference of a mandate.
        shown["reference"] = .string(String(id.filter { $0 != "-" }.prefix(18)).uppercased())
      }
    }
    shown["metadata"] = metadata?.json
    shown["sub_merchants"] = body["sub_merchants"]
    return shown
  }
}

/// The choices for a bank, from the creation and later.
struct BankSelection: Equatable, BookedPart {
  var bank: String?
  var scheme: String?
  var branch: String?

  mutating func exchange(_ book: inout BookedMembers) {
    book.member("bank", &bank)
    book.member("scheme", &scheme)
    book.member("branch", &branch)
  }
}

/// The limits of a mandate in amount and time.
struct BankConstraints {
  /// The largest sum in a period.
  struct Limit {
    let period: String
    /// In minor units.
    let amount: Int
    let isCalendar: Bool

    var alignment: String { isCalendar ? "calendar" : "consent" }
  }

  private let given: JSON
  /// The largest payment, in minor units.
  let most: Int

  fileprivate init?(_ given: JSON) {
    guard let most = given["maximum_individual_amount"]?.boundedNumber else { return nil }
    self.most = most
    self.given = given
  }

  /// A time in milliseconds since 1970; nil if the creation has none.
  private func time(_ name: String) -> Int? { given[name]?.text.flatMap(Timestamp.read) }

  var validFrom: Int? { time("valid_from") }
  var validTo: Int? { time("valid_to") }

  /// The names of times with invalid values.
  var unreadable: [String] {
    ["valid_from", "valid_to"].filter { given[$0] != nil && time($0) == nil }
  }

  var limits: [Limit] {
    (given["periodic_limits"]?.object?.members ?? []).map { member in
      Limit(
        period: member.key,
        amount: member.value["maximum_amount"]?.boundedNumber ?? 0,
        isCalendar: member.value["period_alignment"] == "calendar"
      )
    }
  }

  /// Whether a payment at a time is within the limits, without those of periods.
  func allows(_ amount: Int, at time: Int) -> Bool {
    amount <= most && validFrom ?? time <= time && validTo ?? .max > time
  }

  var shown: JSONObject {
    var periods: JSONObject = [:]
    for limit in limits {
      periods[limit.period] = [
        "maximum_amount": limit.amount.json, "period_alignment": limit.alignment.json,
      ]
    }
    return [
      "valid_from": validFrom.map { Timestamp.text($0).json },
      "valid_to": validTo.map { Timestamp.text($0).json }, "maximum_individual_amount": most.json,
      "periodic_limits": periods.json,
    ]
  }
}
