import TenderModel

/// A stored payment method, and what a request says of one: never a whole number.
struct BookedMethod: Hashable {
  enum Kind: String {
    case card = "CARD"
    case ach = "ACH"
    case cash = "CASH"
  }

  var id = ""
  var type = Kind.card
  var payor = ""
  var lastFour = ""
  var firstSix = ""
  var brand = ""
  /// MMYY; empty for what does not expire.
  var expiration = ""
  var payorName: String?
  var email: String?
  var phone: String?
  /// The barcode that cash was paid by.
  var barcode: String?
  var isActive = true
  /// Whether every payment by it fails.
  var fails = false
}

/// A transfer that was prepared and waits for its second part.
struct BookedIntent {
  enum State: String { case pending, cancelled, transferred }

  var id: String
  var receipt: String
  /// Whose intent it is, and the session that it was made in.
  var merchant: String
  var session: String
  var state = State.pending
  var terms: BookedTerms
  var method: BookedMethod
  /// Milliseconds since 1970.
  var expiresAt: Int
}

/// An authorization of a stored method (`Authorization` of the published schema).
struct BookedAuthorization {
  enum State: String {
    case succeeded = "SUCCEEDED"
    case failed = "FAILED"
    case canceled = "CANCELED"
  }

  var id: String
  var state: State
  var terms: BookedTerms
  var method: BookedMethod
  /// Milliseconds since 1970.
  var at: Int
  var expiresAt: Int
  var failure: String?
  /// The receipt of its capture, and how much that took, in cents.
  var capture: String?
  var captured: Int?
}

/// A cash barcode (`Barcode` of the published schema).
struct BookedBarcode {
  var id: String
  /// In cents.
  var amount: Int
  var url: String
  var reference: String
  var name: String
  var contact: String
  /// The last day on which it can be paid, as a time of that day in milliseconds since 1970.
  var lastDay: Int
  /// The receipt of its payment.
  var payment: String?
}
