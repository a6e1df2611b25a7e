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
    JSONObject(values: [
      "kind": kind, "id": id, "reference": reference, "status": status, "amount": amount,
      "currency": "USD",
    ])
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
    JSONObject(values: [
      "payment_method_id": id, "payment_type": type, "card_brand": type == .card ? brand : nil,
      "last_four": lastFour, "exp_date": expiration, "barcode_id": barcode,
      "is_active": isActive, "merchant_uid": PayTheoryCatalog.merchantUID,
      "payor": JSONObject(values: [
        "payor_id": payor, "full_name": payorName, "email": email, "phone": phone,
      ]),
    ])
  }
}

/// A prepared transfer that waits for its second part.
struct BookedIntent: Booked {
  enum State: String, BookedValue { case pending, cancelled, transferred }

  static let kind = "intent"

  var id = ""
  var receipt = ""
  /// The merchant of the intent, and its session.
  var merchant = ""
  var session = ""
  var state = State.pending
  var terms = BookedTerms()
  var method = BookedMethod()
  /// Milliseconds since 1970.
  var expiresAt = 0

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
    book.member("expires_at", &expiresAt)
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
    JSONObject(values: [
      "authorization_id": id, "status": state, "authorization_date": Timestamp.preciseText(at),
      "expiration_date": Timestamp.preciseText(expiresAt), "amount": terms.amount,
      "fees": terms.fee, "fee_mode": terms.feeMode, "currency": "USD",
      "reference": terms.reference, "account_code": terms.accountCode,
      "merchant_uid": PayTheoryCatalog.merchantUID,
      "metadata": JSONWriter.text(terms.metadata.json), "payment_method": method.graphQL,
      "failure_reasons": failure.map { [$0] }, "captured_amount": captured,
      "transaction_id": capture,
    ])
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
    JSONObject(values: [
      "barcode_id": id, "amount": amount, "fees": PayTheoryCatalog.barcodeFee, "barcode_url": url,
      "expiration_date": String(Timestamp.text(lastDay).prefix(10)), "reference": reference,
      "full_name": name, "email_or_phone": contact, "merchant_uid": PayTheoryCatalog.merchantUID,
    ])
  }
}
