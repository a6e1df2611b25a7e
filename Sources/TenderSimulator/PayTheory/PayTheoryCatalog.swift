import TenderModel

/// The constants of the simulated Pay Theory (PayTheory/README, 8.3, 11 and 12.2).
package enum PayTheoryCatalog {
  /// An API key that works without any setup. It is public, like every key of its kind.
  package static let apiKey = "tender-paytheorylab-00112233445566778899aabbccddeeff"
  /// The simulated merchant.
  package static let merchantUID = "7b0d7d5e-5c6b-4f2a-9a3e-0d6c1b2a3f40"
  static let merchantName = "Simulated Merchant"
  /// The account of the merchant that gets its settlements.
  static let merchantMethod = "pt_pmt_simulatedmerchant"
  /// A key that is valid only in the simulator.
  package static let secretKey = "simulator-opens-nothing-else"

  /// Amounts in cents that decide a card payment's outcome if the merchant pays the fee.
  static let declines: [(amount: Int, code: String)] = [
    (102, "GENERIC_DECLINE"), (193, "INSUFFICIENT_FUNDS"),
    (194, "INVALID_ACCOUNT_NUMBER"), (889_986, "ADDRESS_VERIFICATION_FAILED_RISK_RULES"),
    (889_987, "CVV_FAILED_RISK_RULES"),
  ]
  static let disputedAmount = 888_888
  static let failingAccount = "0000000005"

  /// The documented codes, for scenarios.
  static let declineCodes = [
    "ADDRESS_VERIFICATION_FAILED_RISK_RULES", "CALL_ISSUER", "CVV_FAILED_RISK_RULES",
    "DO_NOT_HONOR", "EXCEEDS_APPROVAL_LIMIT", "EXPIRED_CARD", "FRAUD_DETECTED", "GENERIC_DECLINE",
    "INSUFFICIENT_FUNDS", "INVALID_ACCOUNT_NUMBER", "INVALID_BANK_ACCOUNT_NUMBER", "INVALID_CVV",
    "LOST_OR_STOLEN_CARD", "NO_BANK_ACCOUNT_FOUND", "PICK_UP_CARD", "SYSTEM_ERROR", "TIMEOUT",
  ]

  /// Sentences for a display. The codes are documented, the sentences are ours.
  static func sentence(_ code: String) -> String {
    let words = code.lowercased().split(separator: "_").joined(separator: " ")
    return words.prefix(1).uppercased() + words.dropFirst() + "."
  }

  /// The time in which a hold can be confirmed, in milliseconds. The simulator chose it.
  static let holdLife = 24 * 60 * 60 * 1000

  /// The time in which an authorization can be captured, in milliseconds. The simulator chose it.
  static let authorizationLife = 7 * 24 * 60 * 60 * 1000

  /// The time in which a cash barcode can be paid, in milliseconds. The simulator chose it.
  static let barcodeLife = 7 * 24 * 60 * 60 * 1000

  /// The time to answer a dispute, in milliseconds. The simulator chose it.
  static let disputeLife = 14 * 24 * 60 * 60 * 1000

  /// The time between the capture and the return of an ACH payment in its scenario, in milliseconds.
  static let returnDelay = 3 * 24 * 60 * 60 * 1000

  static let barcodeFee = 200

  /// The named rule sets of `payment_parameters`: smallest and largest amount in cents.
  static let paymentParameters: [String: ClosedRange<Int>] = ["default": 100...500_000]

  /// The simulated fee, for either payer: basis points and a fixed part, rounded half up.
  static func fee(amount: Int, isACH: Bool) -> Int {
    let (points, fixed) = isACH ? (100, 25) : (290, 30)
    return (amount * points + 5000) / 10_000 + fixed
  }
}
