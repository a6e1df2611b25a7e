import TenderModel

/// What a payment was ordered as.
struct BookedTerms: Hashable {
  /// What the payer pays, a service fee within it, in cents.
  var amount: Int
  /// The fee, whoever pays it, in cents.
  var fee: Int
  var isServiceFee: Bool
  var reference = ""
  var accountCode = ""
  var metadata: JSONObject = [:]

  /// The fee within a part of the amount, in cents.
  func fee(of part: Int, isACH: Bool) -> Int {
    guard part < amount else { return fee }
    // A service fee was agreed with the payer: a part of the payment has its share of it.
    return isServiceFee
      ? (fee * part + amount / 2) / max(amount, 1)
      : PayTheoryCatalog.fee(amount: part, isACH: isACH)
  }
}
