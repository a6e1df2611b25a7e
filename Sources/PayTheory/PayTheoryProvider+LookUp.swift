package import TenderEngine
package import TenderModel

/// Looking payments up (README, 6.4): transactions, authorizations and cash barcodes.
extension PayTheoryProvider {
  package func lookUp(_ query: LookUp) throws(Fault) -> Outcome? {
    let graphQL = try GraphQL(context, for: "a look-up")
    if let id = query.id, Barcodes.isID(id) { return try lookUp(barcode: id, query, graphQL) }
    if let found = try transaction(query, graphQL) {
      return try lookedUp(found, query, graphQL)
    }
    return try authorization(query, graphQL)
  }

  /// A hold by a stored method; what was captured of it is the transaction of the capture.
  private func authorization(_ query: LookUp, _ graphQL: GraphQL) throws(Fault) -> Outcome? {
    let key = query.id == nil ? "reference" : "authorization_id"
    guard let value = query.id ?? query.reference?.text else { return nil }
    let found: [JSONObject]
    do throws(Fault) {
      found = try graphQL.authorizations(key, value)
    } catch {
      // Only certain processors have them.
      guard error.cause == .refused else { throw error }
      return nil
    }
    guard let authorization = found.first(where: { $0.text(key) == value }) else { return nil }
    if let made = authorization.text("transaction_id"), !made.isEmpty,
      let transaction = try graphQL.transaction(made)
    {
      return try lookedUp(transaction, query, graphQL)
    }
    return Authorizations.lookedUp(authorization, at: context.clock.now)
  }

  private func lookUp(
    barcode id: String,
    _ query: LookUp,
    _ graphQL: GraphQL
  ) throws(Fault) -> Outcome? {
    guard let barcode = try graphQL.barcode(id) else { return nil }
    guard let paid = try paid(barcode, graphQL) else {
      return Barcodes.lookedUp(barcode, at: context.clock.now)
    }
    return try lookedUp(paid, query, graphQL)
  }

  /// The payment of a transaction, under the id that the journal has of it.
  private func lookedUp(
    _ transaction: JSONObject,
    _ query: LookUp,
    _ graphQL: GraphQL
  ) throws(Fault) -> Outcome {
    var outcome = try chain(of: transaction, graphQL).lookedUp
    if query.isKnown { outcome.id = query.id ?? outcome.id }
    return outcome
  }

  /// The transaction that paid a barcode; nil where none has.
  private func paid(_ barcode: JSONObject, _ graphQL: GraphQL) throws(Fault) -> JSONObject? {
    guard let id = barcode.text("barcode_id"), let reference = barcode.text("reference"),
      !reference.isEmpty
    else { return nil }
    return try graphQL.transactions("reference", reference, limit: 50).first { found in
      found["payment_method"]?["barcode_id"]?.text == id && Transactions.isPayment(found)
        && found.text("parent_id")?.isEmpty ?? true
    }
  }

  /// The transaction that a payment was captured as, by the id that the journal has of it.
  func captured(_ id: String, _ graphQL: GraphQL) throws(Fault) -> JSONObject? {
    guard Barcodes.isID(id) else { return try graphQL.transaction(id) }
    return try graphQL.barcode(id).flatMap { found throws(Fault) in try paid(found, graphQL) }
  }

  /// The transaction that a look-up finds: by receipt number, else the newest of the reference that is a payment and
  /// that no other operation has.
  func transaction(
    _ query: LookUp,
    _ graphQL: GraphQL,
    where isOne: (JSONObject) throws(Fault) -> Bool = { _ throws(Fault) in true }
  ) throws(Fault) -> JSONObject? {
    if let id = query.id { return try graphQL.transaction(id) }
    guard let reference = query.reference else { return nil }
    var declined: JSONObject?
    for item in try graphQL.transactions("reference", reference.text, limit: 50) {
      guard Transactions.isPayment(item), !query.others.contains(Transactions.id(item)),
        item.text("reference").map({ $0 == reference.text }) ?? true, try isOne(item)
      else { continue }
      // One that took money counts before one that did not.
      guard Transactions.status(item) == .declined else { return item }
      declined = declined ?? item
    }
    return declined
  }

  /// More parts than are ever voided of one payment, one after the other.
  private static let mostParts = 20

  /// A transaction with what it took the place of, and what took its place.
  func chain(of asked: JSONObject, _ graphQL: GraphQL) throws(Fault) -> FoundPayment {
    var found = FoundPayment(asked)
    guard Transactions.isPayment(asked) else { return found }
    for _ in 0..<Self.mostParts {
      guard let parent = found.first.text("parent_id"), !parent.isEmpty,
        let earlier = try graphQL.transaction(parent)
      else { break }
      found.first = earlier
    }
    for _ in 0..<Self.mostParts where Transactions.status(found.now) == .cancelled {
      guard let next = try replacement(of: Transactions.id(found.now), graphQL) else { break }
      found.now = next
    }
    return found
  }

  /// The transaction that took the place of one that was voided in part; nil where there is none.
  func replacement(of receipt: String, _ graphQL: GraphQL) throws(Fault) -> JSONObject? {
    try graphQL.transactions("parent_id", receipt, limit: 50).first {
      Transactions.isPayment($0) && $0.text("parent_id") == receipt
    }
  }
}

extension GraphQL {
  /// A transaction by its receipt number; nil where there is none.
  func transaction(_ receipt: String) throws(Fault) -> JSONObject? {
    try transactions("transaction_id", receipt, limit: 1).first { Transactions.id($0) == receipt }
  }
}
