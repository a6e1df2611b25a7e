import TenderModel

struct BookedTerms: BookedPart {
  /// The amount that the payer pays, with a service fee, in cents.
  var amount = 0
  /// The fee for either payer, in cents.
  var fee = 0
  var isServiceFee = false
  var reference = ""
  var accountCode = ""
  var metadata: JSONObject = [:]

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("amount", &amount)
    book.needed("fee", &fee)
    book.member("service", &isServiceFee)
    book.member("reference", &reference)
    book.member("account", &accountCode)
    book.member("metadata", &metadata)
  }

  var feeMode: String { isServiceFee ? "SERVICE_FEE" : "MERCHANT_FEE" }

  /// An entry of these terms for a person to read.
  func shown(_ kind: String, _ id: String, _ status: String) -> JSONObject {
    [
      "kind": kind.json, "id": id.json, "reference": reference.json, "status": status.json,
      "amount": amount.json, "currency": "USD",
    ]
  }

  /// The fee for a part of the amount, in cents.
  func fee(of part: Int, isACH: Bool) -> Int {
    guard part < amount else { return fee }
    // The payer agreed to a service fee, so a part of the payment has its share.
    return isServiceFee
      ? (fee * part + amount / 2) / max(amount, 1)
      : PayTheoryCatalog.fee(amount: part, isACH: isACH)
  }
}

/// A stored payment method, or the method in a request: never a whole number.
struct BookedMethod: Booked {
  enum Kind: String, BookedValue {
    case card = "CARD"
    case ach = "ACH"
    case cash = "CASH"
  }

  static let kind = "method"

  var id = ""
  var type = Kind.card
  var payor = ""
  var lastFour = ""
  var firstSix = ""
  var brand = ""
  /// MMYY; empty if the method does not expire.
  var expiration = ""
  var payorName: String?
  var email: String?
  var phone: String?
  var barcode: String?
  var isActive = true
  /// Whether every payment with it fails.
  var fails = false
  /// The receipt of the payment that it came with; nil if it was stored for itself.
  var receipt: String?

  var key: String { id }
  var parent: String? { receipt }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("type", &type)
    book.member("id", &id)
    book.member("payor", &payor)
    book.member("last_four", &lastFour)
    book.member("first_six", &firstSix)
    book.member("brand", &brand)
    book.member("expiration", &expiration)
    book.member("name", &payorName)
    book.member("email", &email)
    book.member("phone", &phone)
    book.member("barcode", &barcode)
    book.member("active", &isActive)
    book.member("fails", &fails)
    book.member("receipt", &receipt)
  }

  /// Its `PaymentMethodToken` of the published schema. The payor is a member (PayTheory/README, 6.4).
  var graphQL: JSONObject {
    [
      "payment_method_id": id.json, "payment_type": type.json,
      "card_brand": type == .card ? brand.json : nil, "last_four": lastFour.json,
      "exp_date": expiration.json, "barcode_id": barcode?.json, "is_active": isActive.json,
      "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "payor": [
        "payor_id": payor.json, "full_name": payorName?.json, "email": email?.json,
        "phone": phone?.json,
      ],
    ]
  }
}

extension BookedMethod {
  /// The method in an event. Its expiration has a slash there ([Docs 2026] webhook_sample_payloads).
  var published: JSONObject {
    var payload = graphQL
    payload["payor_id"] = payor.json
    if expiration.utf8.count == 4 {
      payload["exp_date"] = "\(expiration.prefix(2))/\(expiration.suffix(2))".json
    }
    return payload
  }
}

/// A prepared transfer that waits for its second part.
struct BookedIntent: Booked {
  enum State: String, BookedValue { case pending, cancelled, transferred, expired }

  static let kind = "intent"

  var id = ""
  var receipt = ""
  /// The merchant of the intent, and its session.
  var merchant = ""
  var session = ""
  var state = State.pending
  var terms = BookedTerms()
  var method = BookedMethod()

  var key: String { id }
  var listing: String? { session }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("receipt", &receipt)
    book.needed("state", &state)
    book.needed("terms", &terms)
    book.needed("method", &method)
    book.member("merchant", &merchant)
    book.member("session", &session)
  }
}

/// An authorization of a stored method (`Authorization` of the published schema).
struct BookedAuthorization: Booked {
  enum State: String, BookedValue {
    case succeeded = "SUCCEEDED"
    case failed = "FAILED"
    case canceled = "CANCELED"
  }

  static let kind = "authorization"

  var id = ""
  var state = State.succeeded
  var terms = BookedTerms()
  var method = BookedMethod()
  /// Milliseconds since 1970.
  var at = 0
  var expiresAt = 0
  var failure: String?
  /// The receipt of its capture, and the captured amount in cents.
  var capture: String?
  var captured: Int?

  var key: String { id }
  var listing: String? { terms.reference }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("state", &state)
    book.needed("terms", &terms)
    book.needed("method", &method)
    book.member("at", &at)
    book.member("expires_at", &expiresAt)
    book.member("failure", &failure)
    book.member("capture", &capture)
    book.member("captured", &captured)
  }

  var graphQL: JSONObject {
    [
      "authorization_id": id.json, "status": state.json,
      "authorization_date": Timestamp.preciseText(at).json,
      "expiration_date": Timestamp.preciseText(expiresAt).json, "amount": terms.amount.json,
      "fees": terms.fee.json, "fee_mode": terms.feeMode.json, "currency": "USD",
      "reference": terms.reference.json, "account_code": terms.accountCode.json,
      "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "metadata": JSONWriter.text(terms.metadata.json).json, "payment_method": method.graphQL.json,
      "failure_reasons": failure.map { [$0.json] }, "captured_amount": captured?.json,
      "transaction_id": capture?.json,
    ]
  }
}

/// A cash barcode (`Barcode` of the published schema).
struct BookedBarcode: Booked {
  static let kind = "barcode"

  var id = ""
  /// In cents.
  var amount = 0
  var url = ""
  var reference = ""
  var name = ""
  var contact = ""
  /// The last day for the payment, as a time of that day in milliseconds since 1970.
  var lastDay = 0
  var payment: String?

  var key: String { id }
  var listing: String? { reference }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("amount", &amount)
    book.member("url", &url)
    book.member("reference", &reference)
    book.member("name", &name)
    book.member("contact", &contact)
    book.member("last_day", &lastDay)
    book.member("payment", &payment)
  }

  var graphQL: JSONObject {
    [
      "barcode_id": id.json, "amount": amount.json, "fees": PayTheoryCatalog.barcodeFee.json,
      "barcode_url": url.json, "expiration_date": String(Timestamp.text(lastDay).prefix(10)).json,
      "reference": reference.json, "full_name": name.json, "email_or_phone": contact.json,
      "merchant_uid": PayTheoryCatalog.merchantUID.json,
    ]
  }
}
