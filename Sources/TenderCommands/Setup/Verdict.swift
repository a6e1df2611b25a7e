internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// A payment in one sentence, and the next command.
struct Verdict {
  let report: Report
  let reason: String?
  /// Whether and how a further attempt can help; nil if that is unknown.
  let retry: Explanation.Retry?
  /// The time of the sentence, in milliseconds since 1970.
  let now: Int
  /// The abilities of its provider.
  let traits: Traits

  /// Whether each part of the sentence has its age.
  var isAged = false

  /// The sentence, hint and steps of the payment, if the report is about one of its operations.
  var whole: (words: String, hint: String?, steps: [Next])?

  /// The age of what the sentence says, in seconds.
  var age: Int { age(since: last?.createdAt ?? report.createdAt) }

  private func age(since time: Int?) -> Int { max(0, now - (time ?? now)) / 1000 }

  /// The operation that made the payment what the sentence says; nil for the attempt.
  private var last: Operation? {
    guard report.named == nil, let payment, let state else { return nil }
    let done = payment.followers.filter { !payment.isAboutRefund($0) && $0.hasEffect }
    if state.status == .cancelled { return done.last { $0.kind == .void } }
    if state.status == .refunded { return done.last(where: \.isReversal) }
    return state.isCaptured ? done.last { $0.kind == .capture } : nil
  }

  /// The age of a part of the sentence, if the sentence is shown with ages; empty otherwise.
  private func ago(_ time: Int?) -> String {
    isAged ? " \(Self.text(ofSeconds: age(since: time))) ago" : ""
  }

  /// Whether the sentence has parts of several ages.
  private var hasAges: Bool {
    let isPart = [.pending, .succeeded, .partiallyRefunded].contains(report.status)
    return isPart && whole == nil && report.named == nil && !refundWords.isEmpty
  }

  private var payment: Payment? { report.payment }
  private var state: PaymentState? { payment?.state }

  private func text(_ amount: Int) -> String { report.text(ofMinorUnits: amount) }

  /// The sentence, such as `10.50 USD declined: insufficient funds`.
  var words: String {
    guard let whole, let payment else { return ownWords }
    let operation = report.named ?? payment.attempt
    let kind = operation?.isAttempt == true ? "attempt" : operation?.kind.noun ?? ""
    let source = operation?.source == nil ? "" : ", found at the provider"
    return "\(ownWords), \(kind) \(operation?.number ?? 1) of \(payment.reference)\(source); "
      + "\(payment.isEarlier ? "the newest attempt" : "the payment"): \(whole.words)"
  }

  private var ownWords: String {
    if let named = report.named { return words(of: named) }
    if let replay = replayedReversal { return replay }
    let isReplay = report.replayed == true && report.kind == .payment
    let what =
      switch report.kind {
      case .payment: "payment"
      case .storedMethod: "payment method"
      case .mandate: "mandate"
      }
    var subject = report.money?.text ?? what
    if let state, let amount = state.amount, state.isCaptured, state.captured < amount {
      // Only a part of a hold was captured.
      subject = "\(text(state.captured)) of \(subject)"
    } else if let asked = report.requestedAmount, let amount = report.amount, asked > amount,
      report.status == .succeeded
    {
      // Less than the requested amount was paid. The rest is still open.
      subject += " of \(text(asked))"
    }
    // The reason of an unknown result is shown only on request.
    let isUndone = report.status == .cancelled && payment?.isFollowed == true
    let cause = report.status == .unknown || isUndone ? nil : reason ?? shownFault?.message
    var why = cause.map { ": \($0)" } ?? ""
    if why.hasSuffix(".") { why.removeLast() }
    let isPaid = [.succeeded, .partiallyRefunded].contains(report.status) && !isRefund
    let state =
      isReplay && isPaid
      ? "already paid \(subject) on \(Self.day(last?.createdAt ?? report.createdAt ?? now))\(refundWords)"
      : "\(subject) \(isRefund ? refundStateWords : stateWords)"
    return state + why + failedRefundWords + disputeWords + surplusWords
      + (isReplay ? "; nothing was sent" : "")
  }

  /// The sentence for one operation of a payment, such as `3.00 USD refund declined`.
  private func words(of operation: Operation) -> String {
    let amount = report.amount.map { text($0) + " " } ?? ""
    let kind = operation.kind.noun
    let state =
      switch operation.state.name {
      case .succeeded: operation.kind.done ?? "\(kind) done"
      case .prepared: "\(kind) recorded, nothing sent"
      case .sent: "\(kind) with an unknown result: money may have moved"
      case .waiting, .processing: "\(kind) not finished"
      case .declined, .cancelled, .expired, .failed: "\(kind) \(operation.state.name.rawValue)"
      case .returned: "\(kind) returned"
      }
    let cause = reason ?? (operation.effect == .none ? report.fault?.message : nil)
    var why = cause.map { ": \($0)" } ?? ""
    if why.hasSuffix(".") { why.removeLast() }
    return amount + state + why
  }

  /// The error that explains the status. The error of a refund does not, and neither does that of a payment
  /// that an operator undid.
  private var shownFault: Fault? {
    if let operation = report.operation, operation.isReversal { return nil }
    if payment?.isFollowed == true { return nil }
    return report.fault ?? (report.source == nil ? nil : payment?.attempt?.fault)
  }

  /// The sentence for a repeated command that refunded earlier; nil for any other report.
  private var replayedReversal: String? {
    guard report.replayed == true, let operation = report.operation, operation.isReversal,
      let amount = operation.amount
    else { return nil }
    let isVoid = operation.kind == .void
    let day = Self.day(operation.createdAt)
    let done =
      switch operation.state.name {
      case .succeeded:
        "already \(isVoid ? "voided" : "refunded") \(text(operation.effectiveAmount)) on \(day)"
      case .processing, .waiting: "already refunding \(text(amount)) since \(day)"
      case .prepared, .sent, .declined, .cancelled, .expired, .failed, .returned:
        "\(isVoid ? "void" : "refund") of \(text(amount)) on \(day) \(operation.state.name.rawValue)"
      }
    return done + "; nothing was sent"
  }

  /// A day, such as `22 Nov 2026`, in the local zone.
  private static func day(_ time: Int) -> String {
    let parts = (LocalTime.text(time) ?? Timestamp.text(time)).prefix(10).split(
      separator: "-"
    )
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    guard parts.count == 3, let month = Int(parts[1]), months.indices.contains(month - 1),
      let day = Int(parts[2])
    else { return Timestamp.text(time) }
    return "\(day) \(months[month - 1]) \(parts[0])"
  }

  private var stateWords: String {
    switch report.status {
    case .requiresConfirmation: "held, not captured"
    case .requiresAction: "waiting for the payer"
    case .pending:
      payment?.attempt?.state.name == .prepared
        ? "recorded, nothing sent" : "pending" + paidAgo + refundWords
    case .authorized: "authorized"
    case .succeeded:
      report.kind == .storedMethod
        ? "stored" : "paid" + paidAgo + refundWords
    case .declined: "declined"
    case .cancelled where state?.isCaptured == true:
      isProcessing ? "voided while it was pending" : "paid and voided"
    case .cancelled: "cancelled"
    case .refunded where state.map { $0.voidedParts == $0.refunded } == true:
      isProcessing ? "voided while it was pending" : "paid and voided"
    case .refunded: "paid and refunded"
    case .partiallyRefunded where state == nil: "paid, partly refunded"
    case .partiallyRefunded: (isProcessing ? "pending" : "paid") + paidAgo + refundWords
    case .returned: returnedWords
    case .expired: "expired"
    case .revoked: "revoked"
    case .failed: isWithoutEffect ? "failed, nothing was charged" : "failed"
    case .unknown: "with an unknown result: money may have moved"
    }
  }

  /// Whether the provider has not finished the charge.
  private var isProcessing: Bool { payment?.attempt?.state.name == .processing }

  /// The age of the charge, where the rest of the sentence is younger.
  private var paidAgo: String { hasAges ? ago(last?.createdAt ?? report.createdAt) : "" }

  /// The amounts of a payment that the bank took back. Parts that went back to the payer before are named.
  private var returnedWords: String {
    guard let state, state.returned < state.amount ?? 0 else { return "returned by the bank" }
    let before = state.refunded > 0 ? ", \(text(state.refunded)) refunded" : ""
    return "paid\(before), \(text(state.returned)) returned by the bank"
  }

  /// Whether it is a refund at the reader, with a reference of its own.
  private var isRefund: Bool { payment?.attempt?.kind == .refund }

  /// The state of a refund at the reader, in words that differ from those of a sale.
  private var refundStateWords: String {
    switch report.status {
    case .succeeded: "refunded"
    case .cancelled, .declined, .expired, .failed:
      payment?.isFollowed == true
        ? "refund voided, nothing was refunded"
        : "refund \(report.status.rawValue), nothing was refunded"
    case .requiresConfirmation, .requiresAction, .pending, .authorized, .refunded,
      .partiallyRefunded, .returned, .revoked, .unknown:
      stateWords
    }
  }

  /// What other charges of the reference took and still have. It is beside the payment's own amount.
  private var surplusWords: String {
    guard let state, state.surplus > 0, let charge = payment?.surplus else { return "" }
    return "; \(text(state.surplus)) more is paid under this reference (\(charge.handle))"
  }

  /// A dispute of a payment, as the provider shows it.
  private var disputeWords: String {
    let shown = report.result.members.lazy.compactMap { $0.value[Operation.dispute]?.text }.first
    let status = shown ?? payment?.dispute
    return status.map { ", disputed (\($0))" } ?? ""
  }

  /// The refunded, refunding and remaining amounts of a paid payment.
  private var refundWords: String {
    guard let state else { return "" }
    var words: [String] = []
    let latest = payment?.reversals.last(where: \.hasEffect)
    for (amount, done) in [
      (state.refunded - state.voidedParts, "refunded"), (state.voidedParts, "voided"),
    ] where amount > 0 { words.append("\(text(amount)) \(done)") }
    if let newest = words.popLast() { words.append(newest + ago(latest?.createdAt)) }
    if state.refunding > 0 {
      words.append(
        state.isUnknown
          ? "the result of a \(payment?.unknowns.last?.kind.rawValue ?? "refund") is unknown"
          : "\(text(state.refunding)) being refunded"
      )
    }
    guard !words.isEmpty else { return "" }
    // An unknown refund may be left to make.
    let left = state.isUnknown ? "" : " (\(text(state.leftToRefund)) left)"
    return ", " + words.joined(separator: ", ") + left
  }

  /// The last refund, if the provider refused or took it back after its command had ended.
  private var failedRefund: Operation? {
    guard let last = payment?.reversals.last, last.kind == .refund, last.source == nil,
      last.ownReference == nil,
      [.declined, .cancelled, .expired, .returned].contains(last.state.name)
    else { return nil }
    return last
  }

  private var failedRefundWords: String {
    failedRefund.map { refund in
      "; the refund\(refund.amount.map { " of \(text($0))" } ?? "") is \(refund.state.name.rawValue), not paid out"
    } ?? ""
  }

  /// Whether its attempt provably had no effect, so that the reference is free.
  private var isWithoutEffect: Bool { payment?.attempt?.state.name == .failed }

  /// The payer that the order names; nil without one.
  var customer: String? {
    guard let payment else { return nil }
    let people = payment.people
    return ["email", "name", "phone"].lazy.compactMap { name in
      people.lazy.compactMap { $0.text(name) ?? (name == "name" ? $0.fullName : nil) }.first
    }.first
  }

  /// Whether the note of the report has the hint and the steps.
  var isWarned: Bool { whole == nil && report.note != nil }

  /// Advice beside the steps; nil without it.
  var hint: String? {
    if let whole { return whole.hint }
    if replayedReversal != nil, report.operation?.kind == .refund, let state,
      state.leftToRefund > 0, !state.isUnknown
    {
      return "to refund another amount, add --refund-reference with a new name"
    }
    if report.status == .requiresConfirmation, payment?.isPaidBeside == false,
      payment.map(traits.capturesPart) == true
    {
      return "--amount captures a part"
    }
    if failedRefund != nil { return "to try the refund again: the same refund command" }
    guard steps.contains(where: \.isSameCommand) else {
      return payment?.warning ?? (isRefused ? payment?.attempt?.fault?.hint : nil)
    }
    return switch retry {
    case .other: "another card, account or bank may be accepted"
    case .corrected: "correct the order first"
    default: payment?.warning
    }
  }

  /// Advice beside the steps of an error.
  var errorHint: String? { payment?.warning ?? report.fault?.hint ?? hint }

  /// The steps that can follow; none if nothing is left to do.
  var steps: [Next] {
    if let whole { return whole.steps }
    let steps = report.next(traits)
    return isRefused || retry == .no && reason != nil ? steps.filter { !$0.isSameCommand } : steps
  }

  /// Whether the same command would be refused again.
  private var isRefused: Bool {
    report.status == .failed && (retry == .no || payment?.attempt?.fault?.retry == .never)
  }

  /// Three or more lines of text of at most a width. Words stay whole. A command stays on one line, so that it
  /// can be pasted.
  func lines(width: Int, next: String?) -> [String] {
    let name = Printable.text(report.reference?.text ?? report.id ?? "")
    var place = [report.provider.text, report.env.rawValue]
    if let lastFour = report.lastFour { place.append("…\(Printable.text(lastFour))") }
    if let customer { place.append(Printable.text(customer)) }
    if let id = report.id { place.append(Printable.text(id)) }
    // The age stays together.
    let ago = " · \(Self.text(ofSeconds: age)) ago"
    var aged = self
    aged.isAged = hasAges
    let hasAge = report.createdAt != nil && !hasAges
    var lines = HelpText.wrapped(
      "\(name)  \(Printable.text(aged.words))"
        + (hasAge ? ago.replacing(" ", with: "\u{a0}") : ""),
      indent: 0,
      hang: 4,
      width: width
    ).map { $0.replacing("\u{a0}", with: " ") }
    if let time = report.createdAt {
      let utc = Timestamp.text(time)
      lines.append("    " + (LocalTime.text(time).map { "\($0) (\(utc))" } ?? utc))
    }
    lines += HelpText.wrapped(place.joined(separator: " · "), indent: 4, width: width, at: " · ")
    if let next { lines.append("    next: \(Printable.text(next))") }
    return lines
  }

  /// A duration in its largest unit, such as `3 min`.
  static func text(ofSeconds seconds: Int) -> String {
    switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) days"
    }
  }
}

extension JSONObject {
  /// The name of a person with two names; nil without any.
  fileprivate var fullName: String? {
    let names = ["first_name", "last_name"].compactMap { text($0) }
    return names.isEmpty ? nil : names.joined(separator: " ")
  }
}

extension Report {
  /// The time of the payment in milliseconds since 1970; nil if unknown.
  var createdAt: Int? { named?.createdAt ?? payment?.createdAt ?? madeAt }
}

extension Operation.Kind {
  /// The word for its success; nil for none.
  fileprivate var done: String? {
    switch self {
    case .authorize: "held"
    case .charge: "charged"
    case .capture: "captured"
    case .void: "voided"
    case .refund: "refunded"
    case .revoke: "revoked"
    case .store, .createMandate, .payout: nil
    }
  }
}
