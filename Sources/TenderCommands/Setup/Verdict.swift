internal import TenderEngine
internal import TenderModel
internal import TenderSystem
internal import TenderWire

/// What became of a payment in one sentence, and what comes next.
struct Verdict {
  private let attempt: Attempt
  /// In seconds.
  let age: Int

  /// What the provider's reason means; nil where it gives none.
  private let reason: String?

  /// `now` in milliseconds since 1970.
  init(_ attempt: Attempt, reason: String?, at now: Int) {
    self.attempt = attempt
    self.reason = reason
    age = max(0, now - attempt.createdAt) / 1000
  }

  /// Such as `10.50 USD declined: insufficient funds`.
  var words: String {
    let what = attempt.isToken ? "payment method" : attempt.kind == .mandate ? "mandate" : nil
    let subject = attempt.facts.money?.text ?? what ?? "payment"
    var why = (reason ?? attempt.fault?.message).map { ": \($0)" } ?? ""
    if why.hasSuffix(".") { why.removeLast() }
    return "\(subject) \(state)\(why)"
  }

  private var state: String {
    switch attempt.shownStatus {
    case .requiresConfirmation: "held, not captured"
    case .requiresAction: "waiting for the payer"
    case .pending: attempt.phase == .prepared ? "under way, nothing sent" : "pending"
    case .authorized: "authorized"
    case .succeeded: attempt.isToken ? "stored" : "paid"
    case .declined: "declined"
    case .cancelled: "cancelled"
    case .refunded: "paid and given back"
    // What was given back elsewhere is not known here.
    case .partiallyRefunded where attempt.row == 0: "paid, partly given back"
    case .partiallyRefunded:
      "paid, partly given back (\(attempt.facts.text(ofMinorUnits: max(0, attempt.left))) are left)"
    case .returned: "returned by the bank"
    case .expired: "expired"
    case .revoked: "revoked"
    case .failed: attempt.isFreed ? "failed, nothing was charged" : "failed"
    case .unknown: "with an unknown outcome: money may have moved"
    }
  }

  /// The command that goes on with it, or what has to be done first; nil where nothing is left to do.
  var next: String? {
    let reference = attempt.reference
    let name =
      reference.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
      ? reference : "'\(reference.replacing("'", with: "'\\''"))'"
    return switch attempt.shownStatus {
    case .unknown: "tender journal resume \(name)"
    case .requiresConfirmation: "tender confirm \(name)"
    // A barcode is paid in a shop: nothing here goes on with it.
    case .requiresAction where attempt.nextAction?.type == "barcode": "\(look) \(name) --wait"
    case .requiresAction: "tender confirm \(name)"
    case .pending: "\(look) \(name) --wait"
    case .authorized where attempt.kind == .payment: "\(look) \(name) --wait"
    case .declined, .cancelled, .expired:
      "tender \(attempt.isToken ? "tokenize" : "transact") … --reference \(name) --new-attempt"
    case .failed: attempt.fault?.hint ?? (attempt.isFreed ? "the same command again" : nil)
    case .authorized, .succeeded, .refunded, .partiallyRefunded, .returned, .revoked: nil
    }
  }

  private var look: String {
    attempt.kind == .mandate ? "tender mandate-status" : "tender payment-status"
  }

  /// Three or four lines for people.
  var lines: [String] {
    let utc = Timestamp.text(attempt.createdAt)
    let time = Environment.localText(attempt.createdAt).map { "\($0) (\(utc))" } ?? utc
    let name = Printable.text(attempt.reference)
    var place = [attempt.provider.text, attempt.env.rawValue]
    if let lastFour = attempt.lastFour { place.append("…\(Printable.text(lastFour))") }
    if let id = attempt.facts.id { place.append(Printable.text(id)) }
    var lines = [
      "\(name)  \(Printable.text(words)) · \(Self.text(ofSeconds: age)) ago", "    \(time)",
      "    \(place.joined(separator: " · "))",
    ]
    if let next { lines.append("    next: \(Printable.text(next))") }
    return lines
  }

  /// A length of time in its largest unit, such as `3 min`.
  static func text(ofSeconds seconds: Int) -> String {
    switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) days"
    }
  }
}
