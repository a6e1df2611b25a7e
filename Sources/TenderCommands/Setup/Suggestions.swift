internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// Completes the commands in hints, so that each finds the journal and the payment of this command.
extension Composition {
  /// Commands about one payment, which `--provider` and `--env` select.
  private static let aboutOne: Set<Substring> = [
    "confirm", "cancel", "refund", "payment-status", "mandate-status", "journal show",
    "journal resume", "journal resolve",
  ]

  /// Commands that use the journal.
  private static let ofPayments: Set<Substring> = [
    "transact", "tokenize", "confirm", "cancel", "refund", "payment-status", "mandate-status",
    "find", "journal", "batch",
  ]

  /// Completes the suggested commands in a text.
  ///
  /// It replaces `REF` in a provider's hint by the reference. It adds the typed `--state-dir`, `--config` and
  /// `--profile`. If several payments have the reference, it adds `--provider` and `--env`.
  func completed(_ text: String, for subject: RecordSubject) -> String {
    guard text.contains("tender ") else { return text }
    let text =
      subject.reference.map { text.replacing(" REF ", with: " \($0.shellOperand) ") } ?? text
    func typed(_ keys: [Key<String>]) -> String {
      keys.map { key in
        invocation.text(key).map { "--\(key.option.name)=\($0.shellQuoted) " } ?? ""
      }.joined()
    }
    let places = typed([Keys.stateDir, Keys.config])
    let profile = typed([Keys.profile])
    let choice = choice(subject)
    let isReadOnly = settings.readOnlyProfile != nil
    guard isReadOnly || !(places + profile + choice).isEmpty else { return text }
    var isRefused = false
    let parts = text.split(separator: "tender ", omittingEmptySubsequences: false)
    var completed = String(parts[0])
    for (before, part) in zip(parts, parts.dropFirst()) {
      let words = part.split(separator: " ").prefix(2)
      let isWhole = before.last.map { $0 == " " || $0 == "(" } ?? true
      let isOfPayments = words.first.map { Self.ofPayments.contains($0) } ?? false
      completed += "tender "
      if isWhole, isOfPayments {
        let isWrite = isReadOnly && Self.isWrite(words, part)
        isRefused = isRefused || isWrite
        completed += places + (isWrite ? "" : profile)
        let name = words.first == "journal" ? Substring(words.joined(separator: " ")) : words[0]
        if Self.aboutOne.contains(name), !part.contains("--provider") { completed += choice }
      }
      completed += part
    }
    return isRefused ? completed + "; this needs a profile that is not read-only" : completed
  }

  /// Whether a read-only profile refuses a suggested command, whose first words and text these are.
  private static func isWrite(_ words: ArraySlice<Substring>, _ text: Substring) -> Bool {
    switch words.first {
    case "transact", "tokenize", "confirm", "cancel", "refund": !text.contains("--dry-run")
    case "journal":
      words.last == "resolve" || words.last == "accept"
        || words.last == "resume" && text.contains("--finish")
    default: false
    }
  }

  /// The options that select one of several payments with this reference; empty if there is only one.
  private func choice(_ subject: RecordSubject) -> String {
    guard let provider = subject.provider, let env = subject.env, let reference = subject.reference
    else { return "" }
    if !subject.isListed { learnPlaces(of: reference) }
    guard isShared[reference] == true else { return "" }
    return "--provider \(provider.text) --env \(env.rawValue) "
  }

  /// Records whether several payments have a reference. It looks once.
  func learnPlaces(of reference: String) {
    guard hasJournal, isShared[reference] == nil,
      let found = try? journal().payments(matching: reference, filter: PaymentFilter())
    else { return }
    isShared[reference] = Set(found.map { "\($0.provider.text) \($0.env.rawValue)" }).count > 1
  }
}
