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

  /// Whether its provider is the one that is meant where none is named.
  private let isUsual: Bool
  /// Whether no further try is wanted: a later attempt was made, or none can help.
  private let isOver: Bool

  /// `now` in milliseconds since 1970.
  init(_ attempt: Attempt, reason: String?, at now: Int, isUsual: Bool, isOver: Bool) {
    self.attempt = attempt
    self.isUsual = isUsual
    self.isOver = isOver
    self.reason = reason
    age = max(0, now - attempt.createdAt) / 1000
  }

  /// Such as `10.50 USD declined: insufficient funds`.
  var words: String {
    let what = attempt.isToken ? "payment method" : attempt.kind == .mandate ? "mandate" : nil
    var subject = attempt.facts.money?.text ?? what ?? "payment"
    // Less than what was asked for: the rest has still to be paid.
    if let asked = attempt.requestedAmount, let amount = attempt.amount, asked > amount,
      attempt.shownStatus == .succeeded
    {
      subject += " of \(attempt.facts.text(ofMinorUnits: asked))"
    }
    var why = (reason ?? attempt.fault?.message).map { ": \($0)" } ?? ""
    if why.hasSuffix(".") { why.removeLast() }
    return "\(subject) \(state)\(why)"
  }

  /// Whether this gives money back by itself, such as a refund with the card.
  private var isRefund: Bool {
    [attempt.content["type"]?.text, attempt.result["receipt"]?["type"]?.text].contains("refund")
  }

  /// Who paid, as far as the order says.
  private var customer: String? {
    let people = ["payor", "payer", "user"].compactMap { attempt.content[$0]?.object }
    return ["email", "name", "phone"].lazy.compactMap { name in
      people.lazy.compactMap { $0.text(name) }.first
    }.first
  }

  private var state: String {
    switch attempt.shownStatus {
    case .requiresConfirmation: "held, not captured"
    case .requiresAction: "waiting for the payer"
    case .pending: attempt.phase == .prepared ? "under way, nothing sent" : "pending"
    case .authorized: "authorized"
    case .succeeded: attempt.isToken ? "stored" : isRefund ? "given back" : "paid"
    case .declined: "declined"
    case .cancelled: attempt.reversal == nil ? "cancelled" : "cancelled and undone"
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
    let reference = attempt.reference.text
    let name =
      reference.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
      ? reference : "'\(reference.replacing("'", with: "'\\''"))'"
    // What was not made here cannot be gone on with here: it can be looked at.
    if attempt.row == 0 {
      return attempt.shownStatus.isFinal ? nil : "\(look)\(provider) \(name) --wait"
    }
    return switch attempt.shownStatus {
    case .unknown: "tender journal resume \(name)"
    case .requiresConfirmation: "tender confirm \(name)"
    // A barcode is paid in a shop: nothing here goes on with it.
    case .requiresAction where attempt.nextAction?.type == "barcode": "\(look) \(name) --wait"
    case .requiresAction: "tender confirm \(name)"
    case .pending: "\(look) \(name) --wait"
    case .authorized where attempt.kind == .payment: "\(look) \(name) --wait"
    // Somebody undid it, it is over by a later attempt, or it cannot work.
    case .cancelled where attempt.reversal != nil: nil
    case .declined, .cancelled, .expired:
      isOver
        ? nil
        : "tender \(attempt.isToken ? "tokenize" : "transact")\(provider) … --reference \(name) "
          + "--new-attempt"
    case .failed: attempt.isFreed && !isOver ? "the same command again" : nil
    case .authorized, .succeeded, .refunded, .partiallyRefunded, .returned, .revoked: nil
    }
  }

  /// The option without which another provider would be paid.
  private var provider: String { isUsual ? "" : " --provider \(attempt.provider.text)" }

  private var look: String {
    attempt.kind == .mandate ? "tender mandate-status" : "tender payment-status"
  }

  /// Three or four lines for people.
  var lines: [String] {
    let utc = Timestamp.text(attempt.createdAt)
    let time = Environment.localText(attempt.createdAt).map { "\($0) (\(utc))" } ?? utc
    let name = Printable.text(attempt.reference.text)
    var place = [attempt.provider.text, attempt.env.rawValue]
    if let lastFour = attempt.lastFour { place.append("…\(Printable.text(lastFour))") }
    if let customer { place.append(Printable.text(customer)) }
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
