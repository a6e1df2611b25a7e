import TenderModel

/// A merchant account in the simulated TrueLayer's books (TrueLayer/README, 10.6).
struct BankAccount: Booked {
  static let kind = "bank-account"
  static let holder = "Test Merchant"

  private(set) var id = ""
  private(set) var currency = ""
  /// The terms of sweeping; nil while it is off.
  var sweeping: JSONObject?

  var key: String { id }

  init() {}

  init(id: String, currency: String) {
    self.id = id
    self.currency = currency
  }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("currency", &currency)
    book.member("sweeping", &sweeping)
  }

  /// The account's numbers, which follow from its id.
  var identifiers: [JSON] {
    let digits = (Int(id.suffix(7), radix: 16) ?? 0) % 100_000_000 + 100_000_000
    let number = String(String(digits).dropFirst())
    let (country, bank) =
      switch currency {
      case "GBP": ("GB", "CLRB040668")
      case "PLN": ("PL", "1090101400000000")
      default: ("IE", "CLRB040668")
      }
    let iban = Self.iban(country, bank + number)
    switch currency {
    case "GBP":
      let sortCode: JSON = [
        "type": "sort_code_account_number", "sort_code": "040668", "account_number": number.json,
      ]
      return [sortCode, ["type": "iban", "iban": iban.json]]
    case "PLN": return [["type": "nrb", "nrb": .string(String(iban.dropFirst(2)))]]
    default: return [["type": "iban", "iban": .string(iban)]]
    }
  }

  /// An IBAN with its check digits (ISO 13616).
  private static func iban(_ country: String, _ account: String) -> String {
    var rest = 0
    for byte in (account + country + "00").utf8 {
      let value = Int(byte) - (byte > 57 ? 55 : 48)
      rest = (rest * (value > 9 ? 100 : 10) + value) % 97
    }
    return country + String(198 - rest).dropFirst() + account
  }
}

/// The money in a merchant account, in minor units: payments in less transfers out.
struct BankBalance {
  let current: Int
  /// The balance without pending transfers out.
  let available: Int

  init(_ payments: [BankResource], _ transfers: [BankTransfer]) {
    func sum(_ status: BankTransfer.Status) -> Int {
      transfers.filter { $0.course != .failed && $0.status == status }
        .reduce(0) { $0 + $1.amount }
    }
    let settled = payments.filter { $0.status == .settled }.reduce(0) { $0 + $1.order.amount }
    current = settled - sum(.executed)
    available = current - sum(.pending)
  }
}

extension BankResource {
  private static let openingPrefix = "0be00000"

  /// Whether it is the opening payment of an account, which no client made.
  var isOpening: Bool { id.hasPrefix(Self.openingPrefix) }

  /// Creates the opening payment of an initial account; nil for another account.
  init?(opening account: BankAccount) {
    guard BankCatalog.accounts.contains(where: { $0.id == account.id }) else { return nil }
    let payee: JSON = [
      "type": "merchant_account", "merchant_account_id": account.id.json, "reference": "opening",
    ]
    let method: JSON = [
      "type": "bank_transfer", "provider_selection": ["type": "user_selected"],
      "beneficiary": payee,
    ]
    let body: JSONObject = [
      "amount_in_minor": BankCatalog.openingAmount.json, "currency": account.currency.json,
      "payment_method": method,
    ]
    guard let order = BankOrder(body) else { return nil }
    let tail = account.id.dropFirst(8)
    let time = BankCatalog.openingTime
    self.init(order, id: Self.openingPrefix + tail, userID: "0ce00000" + tail, at: time)
    for status in [Status.authorized, .executed, .settled] { enter(status, at: time) }
    _ = takeNews()
  }
}
