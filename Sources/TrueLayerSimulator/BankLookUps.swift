import TenderEngine
import TenderModel
import TenderSimulator
import TenderWire

/// What the simulated TrueLayer shows of mandates and banks besides the resources themselves
/// (protocol note, sections 2.9 and 2b).
struct BankLookUps {
  let bank: BankWorld
  /// Where the bank's pages are.
  let pages: String

  /// Every mandate, newest first, a hundred at most.
  func mandates() throws(Fault) -> JSONObject {
    var items: [JSON] = []
    for stored in try bank.ledger.list(BankWorld.Kind.mandate.table).reversed().prefix(100) {
      guard let id = stored.text("id"), let mandate = try bank.find(.mandate, id) else { continue }
      items.append(.object(bank.shown(mandate, toClient: true)))
    }
    return ["items": .array(items), "pagination": [:]]
  }

  /// Whether an amount can be taken by a mandate: within the most that one payment may take.
  func funds(_ mandate: JSONObject, _ query: String) throws(BankProblem) -> JSONObject {
    let parameters = QueryText.parameters(query)
    guard let amount = parameters["amount_in_minor"].flatMap({ Int($0) }), amount > 0 else {
      throw .invalid("amount_in_minor", "Must be at least 1.")
    }
    guard parameters["currency"] == mandate.text("currency") else {
      throw .invalid("currency", "Must be the mandate's.")
    }
    guard mandate.text("status") == "authorized" else { throw .state }
    let most = mandate["constraints"]?["maximum_individual_amount"]?.boundedNumber ?? 0
    return ["confirmed": .bool(amount <= most), "confirmed_at": .string(bank.time)]
  }

  /// How much of a mandate's limits is used.
  func constraints(_ mandate: JSONObject) throws(Fault) -> JSONObject {
    let given = mandate["constraints"]?.object ?? [:]
    let payments = try bank.ledger.list(BankWorld.Kind.payment.table).filter { payment in
      payment["payment_method"]?["mandate_id"]?.text == mandate.text("id")
        && payment.text("status") != "failed"
    }
    var periods: JSONObject = [:]
    for member in given["periodic_limits"]?.object?.members ?? [] {
      let isCalendar = member.value["period_alignment"] == "calendar"
      let (start, end) = BankPeriod(member.key)
        .around(bank.now, since: mandate["_created"]?.boundedNumber ?? bank.now, isCalendar)
      let used = payments.filter { (start..<end).contains($0["_created"]?.boundedNumber ?? 0) }
        .reduce(0) { $0 + ($1["amount_in_minor"]?.boundedNumber ?? 0) }
      periods[member.key] = [
        "period_alignment": member.value["period_alignment"] ?? "consent",
        "maximum_available_amount": member.value["maximum_amount"] ?? 0,
        "current_amount": .integer(used), "start_date": .string(Self.day(start)),
        "end_date": .string(Self.day(end - 1)),
      ]
    }
    var shown: JSONObject = [:]
    for name in ["valid_from", "valid_to", "maximum_individual_amount"] {
      shown[name] = given[name]
    }
    shown["periodic_limits"] = .object(periods)
    return shown
  }

  private static func day(_ milliseconds: Int) -> String {
    String(Timestamp.text(milliseconds).prefix(10))
  }

  /// The banks that fit a search.
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

  /// A bank by itself, or as a search shows it, with what each scheme requires.
  func provider(_ candidate: BankCatalog.Bank, inSearch: Bool = false) -> JSONObject {
    let availability: JSON = [
      "recommended_status": candidate.isHealthy ? "healthy" : "unhealthy",
      "updated_at": .string(bank.time),
    ]
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
    return [
      "id": .string(candidate.id), "display_name": .string(candidate.name),
      "icon_uri": .string(pages + "/icon.svg"), "logo_uri": .string(pages + "/logo.svg"),
      "bg_color": "#FFFFFF", "country_code": .string(candidate.country),
      "capabilities": .object(capabilities),
    ]
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

  /// The period that a time is in, in milliseconds since 1970: counted from the consent, or of the
  /// calendar.
  ///
  /// Months and years are the simulator's own, of 30 and 365 days.
  func around(_ now: Int, since consent: Int, _ isCalendar: Bool) -> (start: Int, end: Int) {
    let origin = isCalendar ? 0 : consent
    let elapsed = max(0, now - origin)
    let start = origin + elapsed / length * length
    return (start, start + length)
  }
}
