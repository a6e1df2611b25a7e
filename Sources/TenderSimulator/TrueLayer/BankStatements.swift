private import CLibraries
import TenderEngine
import TenderModel

/// Merchant accounts, payouts and Signup+ of the simulated TrueLayer: their requests and answers
/// (TrueLayer/README, 10.6).
struct BankStatements {
  let screens: BankScreens

  private var bank: BankWorld { screens.bank }

  /// Answers a look-up; nil for a payment or mandate.
  func read(
    _ endpoint: BankRoute.Endpoint,
    _ parts: [String],
    _ query: String
  ) throws(BankProblem) -> JSONObject? {
    let parameters = QueryText.parameters(query)
    switch endpoint {
    case .accounts:
      var items: [JSON] = []
      for account in try bank.accounts() { items.append(try .object(shown(account))) }
      return ["items": .array(items)]
    case .account: return try shown(bank.account(parts[2]).found())
    case .transactions: return try transactions(bank.account(parts[2]).found(), parameters)
    case .sources: return try sources(bank.account(parts[2]).found(), parameters["user_id"])
    case .sweeping: return try bank.account(parts[2]).found().sweeping.found()
    case .payout: return try bank.payout(parts[2]).found().shown
    case .signup: return try identity(parameters["payment_id"])
    default: return nil
    }
  }

  /// Answers a write; nil for a payment or mandate.
  func write(
    _ endpoint: BankRoute.Endpoint,
    _ method: String,
    _ parts: [String],
    _ body: JSONObject
  ) throws(BankProblem) -> (status: Int, body: JSONObject?)? {
    switch endpoint {
    case .sweeping:
      var account = try bank.account(parts[2]).found()
      account.sweeping = method == "DELETE" ? nil : terms(body, account)
      try bank.save(account)
      return (method == "DELETE" ? 204 : 200, account.sweeping)
    case .payout: return (202, try pay(body))
    case .signupAddress:
      _ = try signup(body.text("payment_id"))
      return (200, ["auth_uri": .string("\(screens.pages)/signup-plus/\(bank.uuid())")])
    default: return nil
    }
  }

  private func shown(_ account: BankAccount) throws(BankProblem) -> JSONObject {
    let balance = try bank.balance(of: account)
    return [
      "id": account.id.json, "currency": account.currency.json,
      "account_identifiers": account.identifiers.json,
      "available_balance_in_minor": balance.available.json,
      "current_balance_in_minor": balance.current.json,
      "account_holder_name": BankAccount.holder.json,
    ]
  }

  private func terms(_ body: JSONObject, _ account: BankAccount) -> JSONObject {
    [
      "currency": account.currency.json, "max_amount_in_minor": body["max_amount_in_minor"],
      "frequency": body["frequency"], "destination": BankCatalog.businessAccount,
    ]
  }

  // MARK: Transactions

  /// The payments, refunds and payouts in a time, newest first. Those that moved no money are omitted.
  private func transactions(
    _ account: BankAccount,
    _ parameters: [String: String]
  ) throws(BankProblem) -> JSONObject {
    var bounds: [Int] = []
    for name in ["from", "to"] {
      guard let time = parameters[name].flatMap(Timestamp.read) else {
        throw .invalid(name, "A time is required.")
      }
      bounds.append(time)
    }
    let type = parameters["type"] ?? ""
    guard ["", "payment", "payout"].contains(type) else { throw .invalid("type", "Unknown value.") }
    var found: [(time: Int, shown: JSONObject)] = []
    if type != "payout" {
      for payment in try bank.payments(into: account) {
        if let time = payment.times[.settled] { found.append((time, transaction(payment, time))) }
      }
    }
    if type != "payment" {
      for transfer in try bank.transfers(from: account.id) {
        if let shown = transaction(transfer) { found.append((transfer.created, shown)) }
      }
    }
    let items = found.filter { bounds[0] <= $0.time && $0.time <= bounds[1] }
      .sorted { $0.time > $1.time }
    return ["items": .array(items.map { .object($0.shown) }), "pagination": [:]]
  }

  private func transaction(_ payment: BankResource, _ time: Int) -> JSONObject {
    var source = BankScreens.source
    source["id"] = .string(payment.userID)
    source["user_id"] = .string(payment.userID)
    return [
      "type": "merchant_account_payment", "id": Self.transactionID(payment.id).json,
      "currency": payment.order.currency.json, "amount_in_minor": payment.order.amount.json,
      "status": "settled", "settled_at": Timestamp.microseconds(time).json,
      "payment_source": source.json, "payment_id": payment.id.json,
      "metadata": payment.order.metadata?.json,
    ]
  }

  private func transaction(_ transfer: BankTransfer) -> JSONObject? {
    guard transfer.course != .failed, [.pending, .executed].contains(transfer.status) else {
      return nil
    }
    var shown = transfer.shown
    let kind = transfer.isPayout ? "payout" : "refund"
    shown["type"] = .string(kind)
    shown["\(kind)_id"] = .string(transfer.id)
    if transfer.isPayout {
      for name in ["merchant_account_id", "sub_merchants"] { shown[name] = nil }
    } else {
      var payee = BankScreens.source
      payee["type"] = "payment_source"
      payee["reference"] = .string(transfer.reference)
      shown["id"] = .string(Self.transactionID(transfer.id))
      shown["payment_id"] = .string(transfer.payment)
      shown["beneficiary"] = .object(payee)
      shown["reference"] = nil
      shown["scheme_id"] = BankCatalog.schemes(transfer.currency).last?.json
    }
    let isInternal = shown["beneficiary"]?["type"] == "business_account"
    shown["context_code"] = isInternal ? "internal" : "withdrawal"
    return shown
  }

  /// The id of a transaction. It differs from that of its payment or refund.
  private static func transactionID(_ id: String) -> String {
    var digest = [UInt8](repeating: 0, count: 16)
    let bytes = Array(id.utf8)
    _ = unsafe crypto_generichash(&digest, 16, bytes, UInt64(bytes.count), nil, 0)
    return BankPages.withDashes(Hex.encode(digest).lowercased())
  }

  /// The account from which a user paid.
  private func sources(_ account: BankAccount, _ user: String?) throws(BankProblem) -> JSONObject {
    guard let user else { throw .invalid("user_id", "Value is required.") }
    guard try hasPaid(user, into: account) else { return ["items": []] }
    var source = BankScreens.source
    source["id"] = .string(user)
    return ["items": [.object(source)]]
  }

  private func hasPaid(_ user: String?, into account: BankAccount) throws(BankProblem) -> Bool {
    try bank.payments(into: account).contains { $0.userID == user && $0.status == .settled }
  }

  // MARK: Payouts

  /// Makes a payout, which ends two seconds later.
  private func pay(_ body: JSONObject) throws(BankProblem) -> JSONObject {
    guard let account = try body.text("merchant_account_id").flatMap(bank.account) else {
      throw .invalid("merchant_account_id", "Unknown merchant account.")
    }
    guard body.text("currency") == account.currency else {
      throw .invalid("currency", "The merchant account is in \(account.currency).")
    }
    let schemes = BankCatalog.schemes(account.currency)
    guard let scheme = body["scheme_selection"]?["scheme_id"]?.text ?? schemes.last,
      schemes.contains(scheme)
    else { throw .invalid("scheme_selection.scheme_id", "Unknown scheme.") }
    var payee = body["beneficiary"]?.object ?? [:]
    let user = payee["user"]?.object
    let userID = user?.text("id") ?? bank.uuid()
    switch payee.text("type") {
    case "external_account":
      payee["account_identifiers"] = payee["account_identifier"].map { [$0] }
      for name in ["account_identifier", "date_of_birth", "address"] { payee[name] = nil }
    case "payment_source":
      let source = payee.text("payment_source_id")
      guard source == payee.text("user_id"), try hasPaid(source, into: account) else {
        throw .invalid("beneficiary.payment_source_id", "Unknown payment source.")
      }
      for member in BankScreens.source.members { payee[member.key] = member.value }
    case "business_account":
      payee["account_holder_name"] = .string(BankAccount.holder)
      payee["account_identifiers"] = [BankCatalog.businessAccount]
    default:
      payee["user"] = ["id": .string(userID)]
      payee["provider_selection"] = nil
    }
    let shownUser: JSON = ["id": userID.json]
    let shown: JSONObject = [
      "merchant_account_id": account.id.json, "beneficiary": payee.json, "scheme_id": scheme.json,
      "sub_merchants": body["sub_merchants"], "user": user == nil ? nil : shownUser,
    ]
    let amount = body["amount_in_minor"]?.boundedNumber ?? 0
    var payout = BankTransfer(
      id: bank.uuid(),
      payment: account.id,
      account: account.id,
      amount: amount,
      currency: account.currency,
      reference: payee.text("reference") ?? "",
      metadata: body["metadata"]?.object,
      payout: shown,
      course: user != nil ? .waiting : try bank.course(amount, from: account, isPayout: true),
      created: bank.now
    )
    try bank.begin(&payout)
    guard user != nil else { return ["id": .string(payout.id)] }
    return ["id": payout.id.json, "status": "authorization_required", "user": shownUser]
  }

  // MARK: Signup+

  /// Returns a payment with Signup+, once its payer has authorized it.
  private func signup(_ id: String?) throws(BankProblem) -> BankResource {
    guard let payment = try id.flatMap({ id throws(BankProblem) in try bank.find(.payment, id) }),
      payment.order.hasSignup, payment.times[.authorized] != nil
    else { throw .notFound }
    return payment
  }

  private func identity(_ id: String?) throws(BankProblem) -> JSONObject {
    let payment = try signup(id)
    let bank = payment.selection.bank.flatMap(BankCatalog.bank)
    return [
      "first_name": "Remi", "last_name": "Terr", "date_of_birth": "1990-01-31",
      "address": [
        "address_line1": "1 Test Street", "city": "London", "zip": "EC1A 1AA",
        "country": .string(bank?.country ?? "GB"),
      ],
      "account_details": [
        "account_number": "12345601", "sort_code": "50-00-00",
        "provider_id": .string(bank?.id ?? ""),
      ],
    ]
  }
}
