import TenderModel

/// What a command found out before it sends, besides the operations of its payment.
struct Evidence {
  /// A question whose answer can forbid a request.
  enum Question {
    /// Whether another record has an id of the payment.
    case ids
    /// How the provider has the payment now.
    case payment
    /// Whether the provider has a payment under the reference of a first charge.
    case reference
  }

  enum IDs {
    case own
    case shared(String, with: Payment)
  }

  /// What the look at a payment showed.
  enum Sight {
    /// The answer was folded in.
    case folded
    /// The payment was voided, and an unknown refund or void is not all of that.
    case voided
    /// The provider does not show a payment that took money.
    case absent
    /// The provider has another id, amount, currency or reference.
    case differs(Difference)
  }

  let key: ReferenceKey
  /// The payment as it was when the command began; nil for a new one.
  let start: Payment?
  /// Each answer is nil before its question.
  var ids: IDs?
  var sight: Sight?
  /// `isPruned`: the reference is that of a payment that was deleted here.
  var reference: (found: Outcome?, isPruned: Bool)?

  init(_ key: ReferenceKey, _ start: Payment?) { (self.key, self.start) = (key, start) }

  /// Returns the reason why the answers forbid a request on a payment; nil if they allow it.
  func refusal(of payment: Payment, _ traits: Traits) -> Fault? {
    if case .shared(let id, let holder)? = ids { return payment.sharesID(id, with: holder) }
    return switch sight {
    case .voided?: payment.voidedBeside
    case .absent?: payment.whileUnknown(.notShown(payment), traits)
    case .differs(let difference)?: payment.whileUnknown(payment.differs(difference), traits)
    case .folded?, nil: nil
    }
  }

  /// Returns the refusal of a refund beside an earlier one whose result this command found out, and that it does not
  /// ask for; nil without one.
  func refusal(of checked: CheckedOrder, _ payment: Payment) -> Fault? {
    guard let request = checked.order.reversal else { return nil }
    let earlier = payment.operations.first { refund in
      guard refund.isReversal, !request.isSame(as: refund) else { return false }
      return switch start?[refund.sequence]?.state.name {
      case .failed: refund.isAlive
      // A cancel is about the whole payment, whatever became of the refund.
      case .sent: !checked.undoes && !refund.isUnknown
      default: false
      }
    }
    return earlier.map { payment.earlierRefundResolved($0, request) }
  }
}

/// A value by which the provider's payment is not the one that was asked for.
struct Difference {
  let what: String
  let here: String
  let there: String

  var warning: String {
    "the answer has \(what) \(there), where this journal has \(here): it was not recorded"
  }
}

/// The requests that are allowed for an unknown operation.
enum Policy {
  /// Nothing that can move money is sent.
  case look
  /// The same request under the same key, or a request that undoes it.
  case finish
  /// Like `finish`, and also a request without a key. It may act twice, and a person agreed to that.
  case resend
}

/// What is known about an operation whose answer was lost, and that a look did not find.
struct Lost {
  let recovery: Recovery
  /// Why the look decided nothing.
  let why: String
  /// The milliseconds since the operation was recorded, and since it was sent.
  let age: Int
  let sinceSent: Int
  /// The milliseconds in which it can still appear at the provider.
  let late: Int
  /// Whether a look at its payment shows what became of it.
  let isListed: Bool
  let policy: Policy
  /// The refund of the command that finishes it.
  let request: RefundRequest
}
