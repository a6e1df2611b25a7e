internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel

/// Completes the commands in hints, so that each finds the journal and the payment of this command.
extension Composition {
  /// Completes the suggested commands in a text.
  ///
  /// It replaces `REF` in a provider's hint by the reference. It adds the typed `--state-dir`, `--config` and
  /// `--profile` to a command that uses files. If several payments have the reference, it adds `--provider`
  /// and `--env` to one about a payment.
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
      let words = part.split { " ;,.)".contains($0) }.prefix(2).map(String.init)
      let isWhole = before.last.map { $0 == " " || $0 == "(" } ?? true
      completed += "tender "
      if isWhole, let command = catalogue.command(words.dropLast()) ?? catalogue.command(words),
        command.work != .local(.nothing)
      {
        let isWrite = isReadOnly && Self.isWrite(command, part)
        isRefused = isRefused || isWrite
        completed += places + (isWrite ? "" : profile)
        let isAboutOne = command.operands.first?.orID == true
        if isAboutOne, !part.contains("--provider") { completed += choice }
      }
      completed += part
    }
    return isRefused ? completed + "; this needs a profile that is not read-only" : completed
  }

  /// Whether a read-only profile refuses a suggested command with this text.
  private static func isWrite(_ command: Command, _ text: Substring) -> Bool {
    switch command.work {
    case .makes, .changes: !text.contains("--dry-run")
    // Without --finish, a resume only looks.
    case .local(.changes): command.words.last != "resume" || text.contains("--finish")
    case .looksUp, .local: false
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
