import TenderEngine
import TenderModel

/// The simulated TrueLayer's answers about mandates and banks, besides the resources themselves
/// (TrueLayer/README, 10.1).
struct BankLookUps {
  let screens: BankScreens

  private var bank: BankWorld { screens.bank }

  /// Every mandate, newest first, a hundred at most.
  func mandates() throws(BankProblem) -> JSONObject {
    var items: [JSON] = []
    for known in try bank.all(.mandate).reversed().prefix(100) {
      guard let mandate = try bank.find(.mandate, known.id) else { continue }
      items.append(.object(screens.shown(mandate, toClient: true)))
    }
    return ["items": .array(items), "pagination": [:]]
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
    return [
      "confirmed": .bool(constraints.allows(amount, at: bank.now)),
      "confirmed_at": .string(bank.time),
    ]
  }

  /// Returns the used part of a mandate's limits.
  func constraints(_ mandate: BankResource) throws(BankProblem) -> JSONObject {
    guard let constraints = mandate.order.constraints else { return [:] }
    var shown = constraints.shown
    var periods: JSONObject = [:]
    for limit in constraints.limits {
      let (start, end, used) = try bank.used(limit, of: mandate)
      periods[limit.period] = [
        "period_alignment": .string(limit.isCalendar ? "calendar" : "consent"),
        "maximum_available_amount": .integer(limit.amount), "current_amount": .integer(used),
        "start_date": .string(Self.day(start)), "end_date": .string(Self.day(end - 1)),
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
    let availability = screens.availability(of: candidate)
    var capabilities: JSONObject = [
      "payments": [
        "bank_transfer": [
          "release_channel": "general_availability", "availability": availability,
          "schemes": .array(
            candidate.schemes.map { scheme in
              var shown: JSONObject = ["id": .string(scheme)]
              if inSearch { shown["requirements"] = [requirement(of: candidate)] }
              return .object(shown)
            }
          ),
        ]
      ]
    ]
    if candidate.allowsMandates {
      capabilities["mandates"] = [
        "vrp_sweeping": [
          "release_channel": "general_availability", "availability": availability,
        ]
      ]
    }
    var shown = screens.face(of: candidate)
    shown["capabilities"] = .object(capabilities)
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

  private let length: Int
  private let name: String

  init(_ name: String) {
    self.name = name
    length =
      switch name {
      case "day": Self.day
      case "week": 7 * Self.day
      case "fortnight": 14 * Self.day
      case "half_year": 182 * Self.day
      case "year": 365 * Self.day
      default: 30 * Self.day
      }
  }

  /// The period around a time, in milliseconds since 1970. It counts from the consent, or follows the
  /// calendar.
  ///
  /// Months and years have 30 and 365 days here.
  func around(_ now: Int, since consent: Int, _ isCalendar: Bool) -> (start: Int, end: Int) {
    let origin = isCalendar ? 0 : consent
    let elapsed = max(0, now - origin)
    let start = origin + elapsed / length * length
    return (start, start + length)
  }
}
