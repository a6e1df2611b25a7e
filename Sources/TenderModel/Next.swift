/// A step that can follow: what it does to the payer's money, and the command for it.
///
/// `Payment.next` writes both, and computes the steps of a payment.
package struct Next: Sendable, Hashable {
  /// The kinds of step.
  package enum Step: Sendable, Hashable {
    /// Show what the journal has.
    case show
    /// Ask the provider once, or until the payment is final.
    case look, wait
    case confirm, void
    /// Refund an amount in minor units under a name. Without an amount, it is all that is left.
    case refund(Int?, name: String?)
    /// Send a lost request again, or undo it.
    case finish, undo
    /// Run the command again that made the payment, in the second case with `--new-attempt`.
    case again, newAttempt
    /// Record how a lost request ended. The text has the options that say how.
    case resolve(String)
    /// Record a payment that only the provider has, by its id there.
    case adopt(String)
    /// Read or repair the journal as a whole.
    case verify, accept
  }

  /// The place of a payment, in texts.
  package struct Place: Sendable, Hashable {
    package let provider: String
    package let env: String
    package let reference: String

    package init(provider: String, env: String, reference: String) {
      (self.provider, self.env, self.reference) = (provider, env, reference)
    }
  }

  package let step: Step
  /// The payment that it is about; nil for the journal as a whole.
  package let place: Place?
  /// The effect behind `to`, such as `refund the remaining 95.00 USD`.
  package let effect: String
  /// The words behind `tender`. Words in capitals stand for what only a person knows.
  package let command: String

  package init(_ step: Step, of place: Place?, to effect: String, _ command: String) {
    (self.step, self.place, self.effect, self.command) = (step, place, effect, command)
  }

  /// Whether the step runs an earlier command again, which only its caller knows.
  package var isSameCommand: Bool { step == .again || step == .newAttempt }

  /// Whether a read-only profile refuses it.
  package var isWrite: Bool {
    ![.show, .look, .wait, .verify].contains(step)
  }

  /// The same step, which a person has confirmed.
  package var confirmed: Next { Next(step, of: place, to: effect, command + " --yes") }

  /// The step as a person reads it. `options` are those by which the command finds journal and payment.
  package func text(_ options: [String] = []) -> String {
    let words = (["tender", command] + options).joined(separator: " ")
    return "to \(effect): " + (isSameCommand ? command : words)
  }

  /// Returns a hint and the steps behind it as one text; nil without both.
  package static func text(
    _ hint: String?,
    _ steps: [Next],
    _ options: (Next) -> [String] = { _ in [] }
  ) -> String? {
    let parts = [hint].compactMap(\.self) + steps.map { $0.text(options($0)) }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// The step that shows what a journal lacks.
  package static let verify = Next(.verify, of: nil, to: "see what is wrong", "journal verify")

  /// Accepts a journal that lacks entries, once the missing ones were looked up.
  package static let accept = Next(
    .accept,
    of: nil,
    to: "go on with this journal",
    "journal accept --reason TEXT"
  )
}
