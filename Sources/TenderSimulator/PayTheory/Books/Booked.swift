import TenderModel

/// Something in the books, by a kind and an id: the only place where it is JSON.
protocol Booked {
  static var kind: String { get }
  var key: String { get }
  /// What it is listed by.
  var listing: String? { get }
  init?(_ json: JSONObject)
  var json: JSONObject { get }
}

extension Ledger {
  func find<Thing: Booked>(_ type: Thing.Type, _ id: String) throws(Fault) -> Thing? {
    try find(Thing.kind, id).flatMap(Thing.init)
  }

  /// All of a kind, or those of a reference, oldest first.
  func list<Thing: Booked>(
    _ type: Thing.Type,
    reference: String? = nil
  ) throws(Fault) -> [Thing] {
    try list(Thing.kind, column: reference == nil ? nil : "reference", value: reference ?? "")
      .compactMap(Thing.init)
  }

  func put<Thing: Booked>(_ thing: Thing) throws(Fault) {
    try put(Thing.kind, thing.key, thing.json, reference: thing.listing)
  }
}

extension BookedPayment: Booked {
  static var kind: String { "payment" }
  var key: String { receipt }
  var listing: String? { terms.reference }

  init?(_ json: JSONObject) {
    guard let receipt = json.text("receipt"),
      let terms = json["terms"]?.object.flatMap(BookedTerms.init),
      let method = json["method"]?.object.flatMap(BookedMethod.init),
      let at = json["at"]?.boundedNumber
    else { return nil }
    self.init(receipt: receipt, terms: terms, method: method, at: at)
    failure = json.text("failure")
    settling = json["settles_at"]?.boundedNumber.map {
      Settling(at: $0, isReturned: json["returned"]?.truth ?? false)
    }
    isDisputed = json["disputed"]?.truth ?? false
    authorization = json.text("authorization")
    operations = json["operations"]?.array?.compactMap { $0.object.flatMap(Self.operation) } ?? []
  }

  private static func operation(_ json: JSONObject) -> Operation? {
    guard let amount = json["amount"]?.boundedNumber else { return nil }
    guard let id = json.text("refund"), let at = json["at"]?.boundedNumber else {
      return .void(amount: amount, replacement: json.text("replacement"))
    }
    return .refund(id: id, amount: amount, at: at)
  }

  var json: JSONObject {
    var json: JSONObject = [
      "receipt": .string(receipt), "terms": .object(terms.json), "method": .object(method.json),
      "at": .integer(at), "disputed": .bool(isDisputed),
      "operations": .array(
        operations.map { operation in
          switch operation {
          case .void(let amount, let replacement):
            var json: JSONObject = ["amount": .integer(amount)]
            json["replacement"] = replacement.map(JSON.string)
            return .object(json)
          case .refund(let id, let amount, let at):
            return ["refund": .string(id), "amount": .integer(amount), "at": .integer(at)]
          }
        }
      ),
    ]
    json["failure"] = failure.map(JSON.string)
    json["settles_at"] = settling.map { .integer($0.at) }
    json["returned"] = settling.map { .bool($0.isReturned) }
    json["authorization"] = authorization.map(JSON.string)
    return json
  }
}

extension BookedTerms {
  init?(_ json: JSONObject) {
    guard let amount = json["amount"]?.boundedNumber, let fee = json["fee"]?.boundedNumber else {
      return nil
    }
    self.init(
      amount: amount,
      fee: fee,
      isServiceFee: json["service"]?.truth ?? false,
      reference: json.text("reference") ?? "",
      accountCode: json.text("account") ?? "",
      metadata: json["metadata"]?.object ?? [:]
    )
  }

  var json: JSONObject {
    [
      "amount": .integer(amount), "fee": .integer(fee), "service": .bool(isServiceFee),
      "reference": .string(reference), "account": .string(accountCode),
      "metadata": .object(metadata),
    ]
  }
}

extension BookedMethod: Booked {
  static var kind: String { "method" }
  var key: String { id }
  var listing: String? { nil }

  init?(_ json: JSONObject) {
    guard let type = json.text("type").flatMap(Kind.init) else { return nil }
    self.type = type
    id = json.text("id") ?? ""
    payor = json.text("payor") ?? ""
    lastFour = json.text("last_four") ?? ""
    firstSix = json.text("first_six") ?? ""
    brand = json.text("brand") ?? ""
    expiration = json.text("expiration") ?? ""
    payorName = json.text("name")
    email = json.text("email")
    phone = json.text("phone")
    barcode = json.text("barcode")
    isActive = json["active"]?.truth ?? true
    fails = json["fails"]?.truth ?? false
  }

  var json: JSONObject {
    var json: JSONObject = [
      "id": .string(id), "type": .string(type.rawValue), "payor": .string(payor),
      "last_four": .string(lastFour), "first_six": .string(firstSix), "brand": .string(brand),
      "expiration": .string(expiration), "active": .bool(isActive), "fails": .bool(fails),
    ]
    json["name"] = payorName.map(JSON.string)
    json["email"] = email.map(JSON.string)
    json["phone"] = phone.map(JSON.string)
    json["barcode"] = barcode.map(JSON.string)
    return json
  }
}

extension BookedIntent: Booked {
  static var kind: String { "intent" }
  var key: String { id }
  var listing: String? { session }

  init?(_ json: JSONObject) {
    guard let id = json.text("id"), let receipt = json.text("receipt"),
      let state = json.text("state").flatMap(State.init),
      let terms = json["terms"]?.object.flatMap(BookedTerms.init),
      let method = json["method"]?.object.flatMap(BookedMethod.init)
    else { return nil }
    self.init(
      id: id,
      receipt: receipt,
      merchant: json.text("merchant") ?? "",
      session: json.text("session") ?? "",
      state: state,
      terms: terms,
      method: method,
      expiresAt: json["expires_at"]?.boundedNumber ?? 0
    )
  }

  var json: JSONObject {
    [
      "id": .string(id), "receipt": .string(receipt), "merchant": .string(merchant),
      "session": .string(session), "state": .string(state.rawValue), "terms": .object(terms.json),
      "method": .object(method.json), "expires_at": .integer(expiresAt),
    ]
  }
}

extension BookedAuthorization: Booked {
  static var kind: String { "authorization" }
  var key: String { id }
  var listing: String? { terms.reference }

  init?(_ json: JSONObject) {
    guard let id = json.text("id"), let state = json.text("state").flatMap(State.init),
      let terms = json["terms"]?.object.flatMap(BookedTerms.init),
      let method = json["method"]?.object.flatMap(BookedMethod.init)
    else { return nil }
    self.init(
      id: id,
      state: state,
      terms: terms,
      method: method,
      at: json["at"]?.boundedNumber ?? 0,
      expiresAt: json["expires_at"]?.boundedNumber ?? 0,
      failure: json.text("failure"),
      capture: json.text("capture"),
      captured: json["captured"]?.boundedNumber
    )
  }

  var json: JSONObject {
    var json: JSONObject = [
      "id": .string(id), "state": .string(state.rawValue), "terms": .object(terms.json),
      "method": .object(method.json), "at": .integer(at), "expires_at": .integer(expiresAt),
    ]
    json["failure"] = failure.map(JSON.string)
    json["capture"] = capture.map(JSON.string)
    json["captured"] = captured.map(JSON.integer)
    return json
  }
}

extension BookedBarcode: Booked {
  static var kind: String { "barcode" }
  var key: String { id }
  var listing: String? { reference }

  init?(_ json: JSONObject) {
    guard let id = json.text("id"), let amount = json["amount"]?.boundedNumber else { return nil }
    self.init(
      id: id,
      amount: amount,
      url: json.text("url") ?? "",
      reference: json.text("reference") ?? "",
      name: json.text("name") ?? "",
      contact: json.text("contact") ?? "",
      lastDay: json["last_day"]?.boundedNumber ?? 0,
      payment: json.text("payment")
    )
  }

  var json: JSONObject {
    var json: JSONObject = [
      "id": .string(id), "amount": .integer(amount), "url": .string(url),
      "reference": .string(reference), "name": .string(name), "contact": .string(contact),
      "last_day": .integer(lastDay),
    ]
    json["payment"] = payment.map(JSON.string)
    return json
  }
}
