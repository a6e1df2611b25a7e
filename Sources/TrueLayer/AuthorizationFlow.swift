import TenderEngine
import TenderModel

/// Decides the next step of an authorization from the current resource alone.
///
/// It follows `actions.next` in whatever order the actions come (README, 4.3).
struct AuthorizationFlow {
  enum Step: Equatable {
    case start
    case answer(NextAction)
    /// Show the address, and wait for the payer.
    case redirect(String)
    case look
    case end
  }

  /// Whether the payer returns to this process.
  let listens: Bool
  let retries: Bool
  /// The number of starts. It begins at 1 if the consent was sent, or an earlier look showed the flow as
  /// started. So a state before that is an older one.
  private(set) var starts: Int
  private(set) var answers = 0
  private(set) var shown: String?
  /// Whether a form was answered since the last look. After a form, the payer may not be needed any more.
  private(set) var hasAnsweredForm = false

  /// The maximum number of steps. No bank has so many; a longer flow is a loop.
  private static let limit = 40

  /// Receives the current resource and returns the next step.
  ///
  /// Throws `provider_error` if the resource is inconsistent.
  mutating func receive(_ resource: Resource) throws(Fault) -> Step {
    switch resource.status {
    case "authorization_required":
      guard starts == 0 else {
        throw .unexpectedBehaviour("the flow was started and has not begun")
      }
      starts += 1
      return .start
    case "attempt_failed":
      // The start of another attempt is not documented, so the flow is started again once.
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
