import TenderEngine
import TenderModel

/// Checks an order before the reader is opened: message limits, gratuity, refunds, signature.
extension ToroProvider {
  func check(_ order: SaleOrder) throws(Fault) {
    // `SaleRefId` is Max35Text, and `saleReferenceId` has the same limit.
    guard order.reference.text.count <= 35 else {
      throw .usage(
        "bad_reference",
        "reference \(order.reference.text.quotedForMessage) has more than 35 characters",
        "Toro's saleReferenceId takes 35 at most"
      )
    }
    guard order.amount.minorUnits > 0 else {
      throw .usage("bad_amount", "nothing to pay", "raise --amount")
    }
    // EMV's amount (9F02) has twelve digits.
    guard order.amount.minorUnits < 1_000_000_000_000 else {
      throw .usage("bad_amount", "the amount is more than a card reader takes", "12 digits at most")
    }
    try checkGratuity(order)
    if order.isRefund {
      try checkRefund(order)
    } else if order.original != nil {
      throw .usage("bad_options", "--original is for --type refund", "add --type refund")
    }
    for member in order.additional.members {
      let size = (member.value.text ?? JSONWriter.text(member.value)).utf8.count
      guard !member.key.isEmpty, member.key.count <= 1025, size <= 75_000 else {
        throw .usage(
          "bad_value",
          "--additional \(member.key.quotedForMessage) is too long",
          "names of 1,025 characters, values of 75,000 bytes"
        )
      }
    }
    try checkSignature(order)
  }

  private func checkGratuity(_ order: SaleOrder) throws(Fault) {
    guard order.gratuity == nil || order.gratuityMenu.isEmpty else {
      throw .usage(
        "bad_options",
        "--gratuity cannot be used with a gratuity menu on the reader",
        "leave one of them out (toro.gratuity_enabled in the profile counts as --gratuity-menu)"
      )
    }
    guard order.gratuityMenu.count <= 4,
      order.gratuityMenu.allSatisfy({ (0...100).contains($0) })
    else {
      throw .usage(
        "bad_value",
        "a gratuity menu of \(order.gratuityMenu.map(String.init).joined(separator: ","))",
        "one to four percentages from 0 to 100, such as 10,15,20"
      )
    }
  }

  private func checkRefund(_ order: SaleOrder) throws(Fault) {
    guard order.gratuity == nil, order.gratuityMenu.isEmpty else {
      throw .usage("bad_options", "a refund has no gratuity", "leave it out")
    }
    guard order.captures else {
      throw .usage("bad_options", "--no-capture cannot be used with --type refund", "leave it out")
    }
    guard let receipt = order.original else {
      throw .usage(
        "missing_option",
        "--type refund needs --original or --original-file",
        "name the sale that is refunded"
      )
    }
    guard let original = SaleIdentity(receipt: receipt), !original.isRefund else {
      throw .usage(
        "bad_file",
        "the original is no receipt of a purchase",
        "it needs saleReferenceId, transactionReference, dateTime, amount and currency"
      )
    }
    guard original.currency == order.amount.currency else {
      throw .usage(
        "bad_currency",
        "the original is in \(original.currency.code)",
        "refund in the same currency"
      )
    }
    guard order.amount.minorUnits <= original.amount else {
      throw .usage(
        "bad_amount",
        "the original is of \(original.money.decimalText) \(original.currency.code), less than "
          + order.amount.decimalText,
        "refund at most that"
      )
    }
  }

  /// If no person can compare the signature, the sale is refused before money moves.
  private func checkSignature(_ order: SaleOrder) throws(Fault) {
    guard !order.isRefund else { return }
    let options = context.options
    guard options.signatureMatches == nil, !context.attendant.canCompare else { return }
    throw Fault(
      .refused,
      code: "signature_not_asked",
      "a signature may have to be compared, and there is no terminal to ask on",
      hint: "add --signature-matches yes or no"
    )
  }
}
