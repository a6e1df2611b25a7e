import TenderModel

/// The life of an authorization: what to do next, from how the resource stands and nothing else.
///
/// Driven by `actions.next`, whatever its order (README, 4.3).
struct AuthorizationFlow {
  /// What to do.
  enum Step: Equatable {
    case start
    case answer(NextAction)
    /// Show the address; the payer is awaited.
    case redirect(String)
    /// Look again after a while.
    case look
    case end
  }

  /// Whether the payer comes back to this process.
  private let listens: Bool
  private let retries: Bool
  private var starts = 0
  private var answers = 0
  private var shown: String?
  /// Whether a form was answered since the last look: a bank that takes forms may need nobody else.
  private var hasAnsweredForm = false

  /// More steps than any bank has; what goes on longer goes in a circle.
  private static let limit = 40

  init(listens: Bool, retries: Bool) {
    self.listens = listens
    self.retries = retries
  }

  /// Takes in how the resource stands.
  ///
  /// Throws `provider_error` for what makes no sense.
  mutating func receive(_ resource: Resource) throws(Fault) -> Step {
    switch resource.status {
    case "authorization_required":
      guard starts == 0 else {
        throw .unexpectedBehaviour("the flow was started and has not begun")
      }
      starts += 1
      return .start
    case "attempt_failed":
      // How a further attempt begins is not documented: the flow is started anew, once.
      guard retries, starts < 2 else { return .end }
      starts += 1
      shown = nil
      return .start
    case "authorizing": return try receive(resource.next)
    case "authorized", "executed", "settled", "failed", "revoked": return .end
    default:
      throw .unexpectedBehaviour(
        "the \(resource.kind.noun) has the unknown status \(resource.status.quotedForMessage)"
      )
    }
  }

  private mutating func receive(_ next: NextAction?) throws(Fault) -> Step {
    switch next {
    case nil: return .look
    case .wait:
      guard hasAnsweredForm else { return .end }
      hasAnsweredForm = false
      return .look
    case .redirect(let address):
      guard listens else { return .end }
      if shown == address { return .look }
      shown = address
      return .redirect(address)
    case .providerSelection(let banks):
      guard !banks.isEmpty else { throw .unexpectedBehaviour("there is no bank to choose") }
      guard Set(banks.map(\.id)).count == banks.count else {
        throw .unexpectedBehaviour("two banks have the same id")
      }
    case .other(let type):
      throw .unexpectedBehaviour("the flow wants \(type.quotedForMessage), which is not known")
    case .retry: return .end
    case .form(let inputs) where inputs.isEmpty:
      throw .unexpectedBehaviour("a form without fields")
    case .choice, .consent, .form: break
    }
    if case .form = next { hasAnsweredForm = true }
    answers += 1
    guard answers <= Self.limit else { throw .unexpectedBehaviour("the flow goes in a circle") }
    return next.map(Step.answer) ?? .look
  }
}
