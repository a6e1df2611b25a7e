import TenderModel

/// What a transaction or dispute adds to the merchant's next settlement.
struct BookedLine: Booked {
  enum Kind: String, BookedValue, CaseIterable {
    case debit, reversal, achReturn, withdrawal, deposit
  }

  static let kind = "line"

  var type = Kind.debit
  /// The id of the transaction or dispute, and the receipt of its payment.
  var id = ""
  var payment = ""
  /// In cents.
  var amount = 0
  var fees = 0
  /// The time from which it can be settled, in milliseconds since 1970.
  var from = 0
  /// Whether a batch was prepared with it.
  var isPrepared = false

  var key: String { "\(type.rawValue) \(id)" }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("type", &type)
    book.needed("id", &id)
    book.needed("payment", &payment)
    book.needed("amount", &amount)
    book.member("fees", &fees)
    book.member("from", &from)
    book.member("prepared", &isPrepared)
  }
}

/// A batch of transactions that is paid to the merchant (`Settlement` of the published schema).
struct BookedSettlement: Booked {
  static let kind = "settlement"

  var batch = 0
  /// In cents: the debits and their fees, and what else was given to the merchant and taken.
  var gross = 0
  var fees = 0
  var given = 0
  var taken = 0
  var counts: JSONObject = [:]
  /// The time of the batch and of its transfer, in milliseconds since 1970.
  var at = 0
  var transferredAt: Int?

  var key: String { Ledger.sorted(batch) }
  var adjustments: Int { given - taken }
  var net: Int { gross - fees + adjustments }

  init() {}

  init(_ lines: [BookedLine], batch: Int, at time: Int) {
    self.batch = batch
    at = time
    for line in lines {
      switch line.type {
      case .debit: (gross, fees) = (gross + line.amount, fees + line.fees)
      case .deposit: given += line.amount
      case .reversal, .achReturn, .withdrawal: taken += line.amount
      }
    }
    for type in BookedLine.Kind.allCases {
      counts[type.rawValue] = lines.count { $0.type == type }.json
    }
  }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("batch", &batch)
    book.needed("gross", &gross)
    book.needed("fees", &fees)
    book.needed("given", &given)
    book.needed("taken", &taken)
    book.needed("at", &at)
    book.member("counts", &counts)
    book.member("transferred_at", &transferredAt)
  }

  private func count(_ types: BookedLine.Kind...) -> JSON {
    types.reduce(0) { $0 + (counts[$1.rawValue]?.wholeNumber ?? 0) }.json
  }

  var graphQL: JSONObject {
    [
      "settlement_batch": batch.json, "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "currency": "USD", "status": transferredAt == nil ? "PENDING" : "SUCCEEDED",
      "gross_amount": gross.json, "gross_amount_64bit": String(gross).json,
      "net_amount": net.json, "net_amount_64bit": String(net).json, "total_fees": fees.json,
      "total_fees_64bit": String(fees).json, "total_adjustments": adjustments.json,
      "total_adjustments_64bit": String(adjustments).json,
      "transaction_debit_count": count(.debit),
      "transaction_reversal_count": count(.reversal),
      "transaction_dispute_count": count(.withdrawal, .deposit),
      "settlement_date": Timestamp.preciseText(at).json,
      "transfer_date": transferredAt.map { Timestamp.preciseText($0).json },
      "updated_row_at": Timestamp.preciseText(transferredAt ?? at).json,
    ]
  }
}

/// A transfer between a batch and the merchant (`FundingTransfer` of the published schema).
struct BookedFunding: Booked {
  static let kind = "funding"

  var id = ""
  var batch = 0
  /// In cents, to the merchant or from it.
  var amount = 0
  var isFromMerchant = false
  /// Milliseconds since 1970.
  var at = 0

  var key: String { id }
  var parent: String? { String(batch) }

  mutating func exchange(_ book: inout BookedMembers) {
    book.needed("id", &id)
    book.needed("batch", &batch)
    book.needed("amount", &amount)
    book.member("from_merchant", &isFromMerchant)
    book.needed("at", &at)
  }

  var graphQL: JSONObject {
    let time = Timestamp.preciseText(at).json
    return [
      "id": id.json, "merchant_uid": PayTheoryCatalog.merchantUID.json,
      "amount": String(amount).json, "origin": isFromMerchant ? "MERCHANT" : "SETTLEMENT_BATCH",
      "destination": isFromMerchant ? "SETTLEMENT_BATCH" : "MERCHANT", "status": "SUCCEEDED",
      "reason": "NET", "transfer_date": time, "funds_received_date": time,
      "payment_method_id": PayTheoryCatalog.merchantMethod.json, "settlement_batch": batch.json,
      "created_at": time, "updated_at": time,
    ]
  }
}
