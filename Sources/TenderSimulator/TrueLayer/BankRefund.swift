import TenderModel

/// A refund in the simulated TrueLayer's books.
struct BankRefund {
  static let table = "bank-refund"

  /// How it ends.
  enum Course: String {
    case executed, failed
    /// It is executed, and comes back two seconds later.
    case returned
  }

  /// In TrueLayer's words (TrueLayer/README, 8.4).
  enum Status: String { case pending, executed, failed }

  let id: String
  /// The payment's id.
  let payment: String
  /// In minor units.
  let amount: Int
  let currency: String
  let reference: String
  let metadata: JSONObject?
  /// Milliseconds since 1970.
  let created: Int
  let course: Course

  init(
    id: String,
    of payment: String,
    amount: Int,
    currency: String,
    reference: String,
    metadata: JSONObject?,
    course: Course,
    at time: Int
  ) {
    self.id = id
    self.payment = payment
    self.amount = amount
    self.currency = currency
    self.reference = reference
    self.metadata = metadata
    self.course = course
    created = time
  }

  /// How long it takes, in milliseconds.
  private static let duration = 2000

  private var ended: Int { created + Self.duration }

  /// When it comes back.
  private var returned: Int { ended + Self.duration }

  /// Its status at a time: two seconds after it was asked for it is executed, or has failed.
  func status(at now: Int) -> Status {
    switch course {
    case _ where now < ended: .pending
    case .executed: .executed
    case .failed: .failed
    case .returned: now < returned ? .executed : .failed
    }
  }

  /// The refund as a look-up shows it.
  func shown(at now: Int) -> JSONObject {
    let status = status(at: now)
    var shown: JSONObject = [
      "id": .string(id), "amount_in_minor": .integer(amount), "currency": .string(currency),
      "reference": .string(reference), "status": .string(status.rawValue),
      "created_at": .string(Timestamp.microseconds(created)),
    ]
    shown["metadata"] = metadata.map(JSON.object)
    if status == .executed || status == .failed && course == .returned {
      shown["executed_at"] = .string(Timestamp.microseconds(ended))
    }
    if status == .failed {
      shown["failed_at"] = .string(Timestamp.microseconds(course == .returned ? returned : ended))
      shown["failure_reason"] = course == .returned ? "returned" : "insufficient_funds"
    }
    return shown
  }
}

extension BankRefund {
  /// Reads what the ledger has; nil for what is not a refund.
  init?(_ stored: JSONObject) {
    guard let id = stored.text("id"), let payment = stored.text("payment"),
      let amount = stored["amount"]?.boundedNumber, let currency = stored.text("currency"),
      let reference = stored.text("reference"), let created = stored["created"]?.boundedNumber,
      let course = stored.text("course").flatMap(Course.init)
    else { return nil }
    self.id = id
    self.payment = payment
    self.amount = amount
    self.currency = currency
    self.reference = reference
    self.created = created
    self.course = course
    metadata = stored["metadata"]?.object
  }

  /// What the ledger keeps.
  var stored: JSONObject {
    var stored: JSONObject = [
      "id": .string(id), "payment": .string(payment), "amount": .integer(amount),
      "currency": .string(currency), "reference": .string(reference),
      "created": .integer(created), "course": .string(course.rawValue),
    ]
    stored["metadata"] = metadata.map(JSON.object)
    return stored
  }
}
