import TenderModel

/// The entries of the books, in the shapes of the published schema.
extension BookedRow {
  var graphQL: JSONObject {
    var json: JSONObject = [
      "transaction_id": .string(id), "status": .string(status.rawValue),
      "transaction_type": .string(type.rawValue),
      "transaction_date": .string(Timestamp.preciseText(at)),
      "gross_amount": .integer(gross), "net_amount": .integer(gross - fees),
      "fees": .integer(fees),
      "fee_mode": payment.terms.isServiceFee ? "SERVICE_FEE" : "MERCHANT_FEE", "currency": "USD",
      "reference": .string(payment.terms.reference),
      "account_code": .string(payment.terms.accountCode), "refunded_amount": .integer(refunded),
      "merchant_uid": .string(PayTheoryCatalog.merchantUID), "is_settled": false,
      "metadata": .string(JSONWriter.text(.object(payment.terms.metadata))),
      "failure_reasons": payment.failure.map { [.string($0)] } ?? [],
      "payment_method": .object(payment.method.graphQL),
      "updated_row_at": .string(Timestamp.preciseText(at)),
    ]
    json["parent_id"] = parent.map(JSON.string)
    json["authorization_id"] = payment.authorization.map(JSON.string)
    if payment.isDisputed { json["dispute_status"] = "INQUIRY" }
    if status == .returned {
      json["ach_return_details"] = [
        "return_code": "R01", "return_details": "Insufficient funds", "transfer_type": "DEBIT",
      ]
    }
    return json
  }
}

extension BookedMethod {
  /// The payor is a member of it (PayTheory/README, 6.4).
  var graphQL: JSONObject {
    [
      "payment_method_id": .string(id), "payment_type": .string(type.rawValue),
      "card_brand": type == .card ? .string(brand) : .null, "last_four": .string(lastFour),
      "exp_date": .string(expiration), "barcode_id": barcode.map(JSON.string) ?? .null,
      "is_active": .bool(isActive), "merchant_uid": .string(PayTheoryCatalog.merchantUID),
      "payor": [
        "payor_id": .string(payor), "full_name": payorName.map(JSON.string) ?? .null,
        "email": email.map(JSON.string) ?? .null, "phone": phone.map(JSON.string) ?? .null,
      ],
    ]
  }
}

extension BookedAuthorization {
  var graphQL: JSONObject {
    var json: JSONObject = [
      "authorization_id": .string(id), "status": .string(state.rawValue),
      "authorization_date": .string(Timestamp.preciseText(at)),
      "expiration_date": .string(Timestamp.preciseText(expiresAt)),
      "amount": .integer(terms.amount), "fees": .integer(terms.fee),
      "fee_mode": terms.isServiceFee ? "SERVICE_FEE" : "MERCHANT_FEE", "currency": "USD",
      "reference": .string(terms.reference), "account_code": .string(terms.accountCode),
      "merchant_uid": .string(PayTheoryCatalog.merchantUID),
      "metadata": .string(JSONWriter.text(.object(terms.metadata))),
      "payment_method": .object(method.graphQL),
    ]
    json["failure_reasons"] = failure.map { [.string($0)] }
    json["captured_amount"] = captured.map(JSON.integer)
    json["transaction_id"] = capture.map(JSON.string)
    return json
  }
}

extension BookedBarcode {
  var graphQL: JSONObject {
    [
      "barcode_id": .string(id), "amount": .integer(amount),
      "fees": .integer(PayTheoryCatalog.barcodeFee), "barcode_url": .string(url),
      "expiration_date": .string(String(Timestamp.text(lastDay).prefix(10))),
      "reference": .string(reference), "full_name": .string(name),
      "email_or_phone": .string(contact),
      "merchant_uid": .string(PayTheoryCatalog.merchantUID),
    ]
  }
}
