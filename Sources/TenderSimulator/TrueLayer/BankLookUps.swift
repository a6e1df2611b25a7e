import TenderEngine
import TenderModel

/// The simulated TrueLayer's answers about mandates and banks, besides the resources themselves
/// (TrueLayer/README, 10.1).
struct BankLookUps {
  let screens: BankScreens

  private var bank: BankWorld { screens.bank }

  /// A page of mandates, newest first: all, or those of a user. The cursor is the last id of a page.
  func mandates(_ query: String) throws(BankProblem) -> JSONObject {
    let parameters = QueryText.parameters(query)
    guard let limit = Int(parameters["limit"] ?? "25"), (1...50).contains(limit) else {
      throw .invalid("limit", "Must be from 1 to 50.")
    }
    var rest = try bank.all(.mandate).reversed().filter { mandate in
      parameters["user_id"].map { $0 == mandate.userID } ?? true
    }[...]
    if let cursor = parameters["cursor"] {
      guard let last = rest.firstIndex(where: { $0.id == cursor }) else {
        throw .invalid("cursor", "Unknown value.")
      }
      rest = rest[(last + 1)...]
    }
    var items: [JSON] = []
    for known in rest.prefix(limit) {
      guard let mandate = try bank.find(.mandate, known.id) else { continue }
      items.append(.object(screens.shown(mandate, toClient: true)))
    }
    let last = rest.count > limit ? rest.prefix(limit).last?.id : nil
    return ["items": items.json, "pagination": ["next_cursor": last?.json]]
  }

  /// Returns whether a mandate allows an amount now: at most the limit of one payment.
  func funds(_ mandate: BankResource, _ query: String) throws(BankProblem) -> JSONObject {
    let parameters = QueryText.parameters(query)
    guard let amount = parameters["amount_in_minor"].flatMap({ Int($0) }), amount > 0 else {
      throw .invalid("amount_in_minor", "Must be at least 1.")
    }
    guard parameters["currency"] == mandate.order.currency else {
      throw .invalid("currency", "Must be the mandate's.")
    }
    guard mandate.status == .authorized, let constraints = mandate.order.constraints else {
      throw .state
    }
    let isAllowed = constraints.allows(amount, at: bank.now)
    return ["confirmed": isAllowed.json, "confirmed_at": bank.time.json]
  }

  /// Returns the used part of a mandate's limits.
  func constraints(_ mandate: BankResource) throws(BankProblem) -> JSONObject {
    guard let constraints = mandate.order.constraints else { return [:] }
    var shown = constraints.shown
    var periods: JSONObject = [:]
    for limit in constraints.limits {
      let (start, end, used) = try bank.used(limit, of: mandate)
      periods[limit.period] = [
        "period_alignment": limit.alignment.json, "maximum_available_amount": limit.amount.json,
        "current_amount": used.json, "start_date": Self.day(start).json,
        "end_date": Self.day(end - 1).json,
      ]
    }
    shown["periodic_limits"] = .object(periods)
    return shown
  }

  private static func day(_ milliseconds: Int) -> String {
    String(Timestamp.text(milliseconds).prefix(10))
  }

  func search(_ body: JSONObject) -> JSONObject {
    let countries = body["countries"]?.array?.compactMap(\.text)
    let currencies = body["currencies"]?.array?.compactMap(\.text)
    let mandates = body["capabilities"]?["mandates"] != nil
    let payments = body["capabilities"]?["payments"] != nil
    let found = BankCatalog.banks.filter { candidate in
      (countries?.contains(candidate.country) ?? true)
        && (currencies?.contains(BankCatalog.currency(of: candidate)) ?? true)
        && (!mandates || payments || candidate.allowsMandates)
    }
    return ["items": .array(found.map { .object(provider($0, inSearch: true)) })]
  }

  /// Returns a bank alone, or as in a search, with the requirements of each scheme.
  func provider(_ candidate: BankCatalog.Bank, inSearch: Bool = false) -> JSONObject {
    let schemes: [JSON] = candidate.schemes.map { scheme in
      ["id": scheme.json, "requirements": inSearch ? [requirement(of: candidate)] : nil]
    }
    var sweeping: JSONObject = ["release_channel": "general_availability"]
    sweeping["availability"] = screens.availability(of: candidate)
    var transfer = sweeping
    transfer["schemes"] = schemes.json
    var shown = screens.face(of: candidate)
    shown["capabilities"] = [
      "payments": ["bank_transfer": transfer.json],
      "mandates": candidate.allowsMandates ? ["vrp_sweeping": sweeping.json] : nil,
    ]
    return shown
  }

  private func requirement(of candidate: BankCatalog.Bank) -> JSON {
    let currency = BankCatalog.currency(of: candidate)
    let kind =
      switch currency {
      case "GBP": "sort_code_account_number"
      case "PLN": "nrb"
      default: "iban"
      }
    return ["currencies": [.string(currency)], "account_identifier_types": [.string(kind)]]
  }
}

/// A period of a mandate's limit.
struct BankPeriod {
  private static let day = 86_400_000
  /// 1970-01-05, a Monday.
  private static let monday = 4 * day

  /// Its length in days, or in months.
  private let days: Int?
  private let months: Int

  init(_ name: String) {
    days = ["day": 1, "week": 7, "fortnight": 14][name]
    months = ["half_year": 6, "year": 12][name] ?? 1
  }

  /// The period around a time, in milliseconds since 1970. It counts from the consent, or follows the
  /// calendar: it then begins with the day in UTC, on Monday, or with the first of a month.
  func around(_ now: Int, since consent: Int, _ isCalendar: Bool) -> (start: Int, end: Int) {
    if let days {
      let length = days * Self.day
      let origin = isCalendar ? Self.monday : consent
      let start = origin + max(0, now - origin) / length * length
      return (start, start + length)
    }
    // Calendar periods count from January of the consent's year.
    let (year, month) = Timestamp.yearAndMonth(consent)
    let first = Self.first(year, isCalendar ? 1 : month)
    let offset = isCalendar ? 0 : consent - first
    func start(_ number: Int) -> Int {
      let count = (isCalendar ? 0 : month - 1) + number * months
      let begin = Self.first(year, count + 1)
      let end = Self.first(year, count + 2)
      // A month that is too short has the last day.
      return begin + min(offset, end - begin - Self.day + offset % Self.day)
    }
    var number = 0
    while start(number + 1) <= now { number += 1 }
    return (start(number), start(number + 1))
  }

  /// The beginning of a month of a year or, for a number above 12, of a later year.
  private static func first(_ year: Int, _ month: Int) -> Int {
    let month = month - 1
    let text = "\(year + month / 12)-\(String(month % 12 + 101).suffix(2))-01"
    return Timestamp.read(text) ?? 0
  }
}
