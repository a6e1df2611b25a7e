/// The one error type of this program: its kind, its effect on the money, and what to do next.
package struct Fault: Error, Sendable, Hashable {
  /// The kinds of fault, one for each exit status.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case `internal`, usage, declined, auth
    case notFound = "not_found"
    case conflict, rejected, pending, unknown
    case notSent = "not_sent"
    case providerError = "provider_error"
    case cancelled, expired, partial, unsupported, state, refused, unexpected, device
    case partPaid = "part_paid"
    case interrupted, terminated
    case hungUp = "hung_up"
  }

  /// The known effect on money.
  package enum Effect: String, Sendable, Hashable, CaseIterable {
    /// The money provably did not move.
    case none
    /// A request that can move money was sent, and its result is unknown.
    case unknown
    /// The provider accepted the request. An error has this only in the record of a payment that stands.
    case done
  }

  /// The next step for a program that repeats failed commands.
  package enum Retry: String, Sendable, Hashable, CaseIterable {
    /// Run the same command again now. It continues where the last one stopped.
    case sameCommand = "same_command"
    case look
    /// Run the same command again later.
    case later
    /// Do nothing. The same command always ends like this.
    case never
    /// Tell a person, because something has to be changed first.
    case `operator`
  }

  package var kind: Kind
  package var effect: Effect
  /// The stable error code, in snake case. `tender explain` has a page for it.
  package var code: String
  /// The cause, if the program decides something by it.
  package var cause: Cause?
  /// The message. It names the typed value, begins with a lower-case letter and has no full stop.
  package var message: String
  /// Advice without a command about a payment.
  package var hint: String?
  /// The steps that can follow. The journal does not store them.
  package var next: [Next] = []
  /// The provider's answer, in its documented names.
  package var result: JSONObject?
  /// Whether it is proven that a sent request had no effect.
  package var isProven = false
  /// The seconds to wait before a retry, if the provider named them.
  package var after: Int?
  /// The next step for a program in this case; nil if the kind and the cause decide.
  package var again: Retry?

  package init(
    _ kind: Kind,
    effect: Effect = .none,
    code: String,
    cause: Cause? = nil,
    _ message: String,
    hint: String? = nil,
    next: [Next] = [],
    result: JSONObject? = nil
  ) {
    self.kind = kind
    self.effect = effect
    self.code = code
    self.cause = cause
    self.message = message
    self.hint = hint
    self.next = next
    self.result = result
  }

  /// The exit status of the kind. An unknown effect comes first.
  package var exitStatus: Int32 { effect == .unknown ? Kind.unknown.exitStatus : kind.exitStatus }

  /// The next step for a program that repeats failed commands. An unknown effect comes first.
  package var retry: Retry {
    if effect == .unknown { return .look }
    if let again { return again }
    return switch cause {
    case .inProgress, .journalUnreachable, .journalUnconfirmed: .later
    case .changedMeanwhile, .leaseLost: .sameCommand
    default: kind.retry
    }
  }

  /// The same fault for an operation that was not sent, so that the same command starts again.
  ///
  /// After a cancellation, a person decides whether to repeat the command.
  package var beforeSending: Fault {
    var fault = self
    switch kind {
    case .cancelled: fault.again = .operator
    case .expired: fault.again = .sameCommand
    default: break
    }
    return fault
  }

  /// Whether this is an outcome, which is printed as a record, and not a fault.
  package var isOutcome: Bool {
    guard effect == .none else { return false }
    return switch kind {
    case .declined, .pending, .cancelled, .expired, .unexpected, .partPaid: true
    default: false
    }
  }
}

/// Faults of the most frequent kinds, and of codes that several places throw.
extension Fault {
  /// A typed value, or a file or setting that it names, cannot be used.
  package static func usage(_ code: String, _ message: String, _ hint: String? = nil) -> Fault {
    Fault(.usage, code: code, message, hint: hint)
  }

  /// The journal, its files or the disk cannot be used.
  package static func state(_ code: String, _ message: String, _ hint: String? = nil) -> Fault {
    Fault(.state, code: code, message, hint: hint)
  }

  /// The journal's record forbids it, or the reference has other content.
  package static func conflict(_ code: String, _ message: String, _ hint: String? = nil) -> Fault {
    Fault(.conflict, code: code, message, hint: hint)
  }

  /// Returns the fault with other members.
  package func with(_ change: (inout Fault) -> Void) -> Fault {
    var fault = self
    change(&fault)
    return fault
  }

  /// Returns the fault with the steps that can follow.
  package func then(_ next: [Next]) -> Fault { with { $0.next = next } }

  /// A system library that a request needs cannot be opened.
  package static func libraryMissing(_ problem: String) -> Fault {
    Fault(.internal, code: "library_missing", problem, hint: "nothing was sent")
  }

  /// Options contradict each other, or have no effect together.
  package static func badOptions(_ message: String, hint: String? = nil) -> Fault {
    Fault(.usage, code: "bad_options", message, hint: hint)
  }

  /// Two options exclude each other.
  package static func exclusive(_ names: String) -> Fault {
    badOptions("\(names) exclude each other", hint: "give one of them")
  }

  /// A required option is missing.
  package static func missingOption(_ message: String, hint: String? = nil) -> Fault {
    Fault(.usage, code: "missing_option", message, hint: hint)
  }

  /// An operand is missing, extra or unusable.
  package static func badOperand(_ message: String, hint: String? = nil) -> Fault {
    Fault(.usage, code: "bad_operand", message, hint: hint)
  }

  /// A file cannot be read or written, or has the wrong content.
  package static func badFile(_ message: String, hint: String? = nil) -> Fault {
    Fault(.usage, code: "bad_file", message, hint: hint)
  }

  /// An address cannot be used.
  package static func badAddress(_ message: String, hint: String? = nil) -> Fault {
    Fault(.usage, code: "bad_address", message, hint: hint)
  }
}

extension Fault.Kind {
  package var isStop: Bool { self == .interrupted || self == .terminated || self == .hungUp }

  /// The exit status (man/tender-exit-codes.7). A number is never reused.
  package var exitStatus: Int32 {
    switch self {
    case .internal: 1
    case .usage: 2
    case .declined: 3
    case .auth: 4
    case .notFound: 5
    case .conflict: 6
    case .rejected: 7
    case .pending: 8
    case .unknown: 9
    case .notSent: 10
    case .providerError: 11
    case .cancelled: 12
    case .expired: 13
    case .partial: 14
    case .unsupported: 15
    case .state: 16
    case .refused: 17
    case .unexpected: 18
    case .device: 19
    case .partPaid: 20
    case .interrupted: 130
    case .hungUp: 129
    case .terminated: 143
    }
  }

  /// The next step for a program after a fault of this kind, unless its cause decides.
  package var retry: Fault.Retry {
    switch self {
    case .notSent, .partial, .interrupted, .hungUp, .terminated: .sameCommand
    case .unknown, .pending, .unexpected: .look
    case .providerError: .later
    case .declined, .notFound, .conflict, .rejected, .cancelled, .expired, .unsupported: .never
    case .internal, .usage, .auth, .state, .refused, .device, .partPaid: .operator
    }
  }

  /// The meaning of the exit status, in one line for help and manual.
  package var meaning: String {
    switch self {
    case .internal: "a bug in tender; please report it"
    case .usage: "a bad option, value, input file or configuration; nothing was sent"
    case .declined: "declined by the issuer, bank, processor or payer; no money moved"
    case .auth: "a credential is missing or refused, or the app is not attested"
    case .notFound: "no such payment, mandate, token or reference"
    case .conflict: "the state forbids it, or the reference has other content"
    case .rejected: "the provider refused the request; nothing was created"
    case .pending: "--wait or --deadline ran out, or an input of the payer is missing"
    case .unknown: "a request that can move money was sent; its result is unknown"
    case .notSent: "nothing was sent; it is safe to retry"
    case .providerError: "429, 5xx, no answer or an unreadable one; no money moved"
    case .cancelled: "cancelled by customer, payer or operator"
    case .expired: "a payment, hold, mandate, session or card prompt timed out"
    case .partial: "several ids: some failed, none is unknown"
    case .unsupported: "this provider cannot do it"
    case .state: "the journal or the disk is unusable; nothing was sent"
    case .refused: "not confirmed, no terminal to ask on, or a read-only profile"
    case .unexpected: "the status is not the one of --expect"
    case .device: "the reader or the card could not be used"
    case .partPaid: "less than the requested amount was approved, and charged"
    case .interrupted: "stopped by Ctrl-C; the journal is consistent"
    case .hungUp: "stopped by SIGHUP, terminal closed; the journal is consistent"
    case .terminated: "stopped by SIGTERM or SIGQUIT; the journal is consistent"
    }
  }
}

extension Fault.Retry {
  /// The meaning of the retry class, in one line for help and manual.
  package var meaning: String {
    switch self {
    case .sameCommand: "run the same command again: it continues"
    case .look: "look up the payment: tender payment-status REF"
    case .later: "run the same command again in after seconds, or a while"
    case .never: "do not retry: the same command always fails"
    case .operator: "a person has to change something first"
    }
  }

  /// The exit statuses with this retry class, such as `3, 5`. Single errors may differ.
  package var exits: String {
    let kinds = Fault.Kind.allCases.filter { $0.retry == self }.map(\.exitStatus).sorted()
    return kinds.map(String.init).joined(separator: ", ")
  }
}

extension StringProtocol {
  /// The text in quotes for a message. It is cut if long, and control characters are replaced.
  package var quotedForMessage: String {
    // Nearly every text is short and plain.
    if utf8.count <= 60, utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return "'\(self)'" }
    let shown = prefix(60).unicodeScalars.map { scalar in
      scalar.value < 0x20 || scalar.value == 0x7f ? "?" : String(scalar)
    }
    return "'" + shown.joined() + (count > 60 ? "…" : "") + "'"
  }
}
