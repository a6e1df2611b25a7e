internal import TenderCommandLine
internal import TenderEngine
internal import TenderModel
internal import TenderSystem

/// Answers the questions of a bank's flow from options and files, or at the terminal.
final class BankGuide: FlowGuide, @unchecked Sendable {
  // Unchecked: the thread that asks also waits for the answer.
  private unowned let session: any Session
  private let env: Env
  /// Whether a real payer opens the address. Otherwise the simulator plays the payer.
  var hasPayer = false
  private var terminal: Terminal?
  /// The values for a form that the bank may show: of a file, and typed.
  private let filed: [String: String]
  private let typed: [String: String]

  /// Reads the values for forms.
  ///
  /// Throws `usage` if they cannot be read.
  init(_ session: any Session, _ env: Env) throws(Fault) {
    self.session = session
    self.env = env
    filed = try Self.filed(session.invocation)
    var typed: [String: String] = [:]
    for pair in session.invocation.all(Keys.form) {
      let (name, value) = try OptionReader.split(pair, option: "--form")
      typed[name] = value
    }
    self.typed = typed
  }

  private var invocation: Invocation { session.invocation }

  func note(_ text: String) { session.tell(text) }

  private func someone() -> Terminal? {
    if terminal == nil { terminal = session.terminal() }
    return terminal
  }

  /// Asks a question. The end of the input means that the person gives up.
  private func ask(
    _ terminal: Terminal,
    _ text: String,
    hidden: Bool = false
  ) throws(Fault) -> String {
    do throws(Fault) {
      return try terminal.ask(text, hidden: hidden, interruption: session.signals)
    } catch {
      guard error.kind == .refused else { throw error }
      throw .givenUp
    }
  }

  func choose(_ subject: String, among choices: [Choice]) throws(Fault) -> String? {
    guard let terminal = someone() else { return nil }
    var shown = choices
    while true {
      let limit = 20
      for (index, choice) in shown.prefix(limit).enumerated() {
        let mark = choice.isRecommended ? " (recommended)" : ""
        terminal.say("  \(index + 1)  \(Self.plain(choice.name))\(mark)")
      }
      if shown.count > limit { terminal.say("  … and \(shown.count - limit) more") }
      let answer = try ask(
        terminal,
        "Which \(subject)? A number, or part of its name (empty: stop): "
      )
      if answer.isBlank { throw .givenUp }
      if let number = Int(answer), shown.indices.contains(number - 1) {
        return shown[number - 1].id
      }
      let word = answer.lowercased()
      let found = choices.filter { choice in
        let names = [choice.name, choice.id] + choice.aliases
        return names.contains { $0.lowercased().contains(word) }
      }
      if found.count == 1 { return found[0].id }
      if found.isEmpty { terminal.say("  none has '\(Self.plain(answer))' in its name") }
      shown = found.isEmpty ? choices : found
    }
  }

  func given(_ inputs: [FormInput]) throws(Fault) -> [String: String] {
    if let secret = inputs.first(where: { $0.isSensitive && typed[$0.id] != nil }) {
      throw .badForm(
        "\(secret.id.quotedForMessage) is a secret: not on a command line",
        hint: "give it by --form-file, or at the prompt"
      )
    }
    return filed.merging(typed) { $1 }
      .filter { member in inputs.contains { $0.id == member.key } }
  }

  /// Returns the members of the file that `--form-file` names; none without it.
  private static func filed(_ invocation: Invocation) throws(Fault) -> [String: String] {
    guard let path = invocation[Keys.formFile] else { return [:] }
    var bytes = try invocation.readOwn(path, "--form-file")
    defer { bytes.wipe() }
    guard let object = JSONReader.read(bytes, duplicates: .refusedStrictly)?.object else {
      throw .badFile(
        "--form-file \(path.quotedForMessage) \(JSONReader.flaw(bytes))",
        hint: "such as {\"psu-id\":\"…\"}"
      )
    }
    var filed: [String: String] = [:]
    for member in object.members {
      guard let text = member.value.text else {
        throw .usage(
          "bad_form",
          "--form-file: \(member.key.quotedForMessage) is not text",
          "put it in quotes"
        )
      }
      filed[member.key] = text
    }
    return filed
  }

  func waits(left: Int) { session.waits(for: "waiting for the payer at the bank", left: left) }

  func ask(_ input: FormInput) throws(Fault) -> String? {
    guard let terminal = someone() else { return nil }
    if let help = input.help { terminal.say("  \(Self.plain(help))") }
    if let image = input.image { terminal.say("  (see the image: \(Self.plain(image)))") }
    if input.type == "select" {
      return try choose(input.label, among: input.options)
    }
    let optional = input.isMandatory ? "" : " (optional)"
    for turn in 1...3 {
      let answer = try ask(
        terminal,
        Self.plain(input.label) + optional + ": ",
        hidden: input.isSensitive
      )
      guard let problem = input.problem(with: answer) else { return answer }
      terminal.say("  \(Self.plain(problem))")
      if turn == 3 {
        throw .badForm(
          "the value for \(input.id.quotedForMessage) cannot be used: \(problem)",
          hint: "run the same command again"
        )
      }
    }
    return nil
  }

  func show(_ address: String, isAwaited: Bool) throws(Fault) {
    session.announce(
      "redirect",
      TrueLayerProvider.name.text,
      env,
      next: PayerAction("redirect", ["url": .string(address)]),
      isAtTill: false
    )
    guard hasPayer else {
      return session.note("the simulated payer is at the bank; --sim-scenario says what they do")
    }
    session.tell("the payer authorizes at this address:")
    session.show(address: address)
    if isAwaited { session.tell("waiting for the payer to come back; Ctrl-C cancels") }
  }

  /// Returns a provider's text, shortened and safe for a terminal.
  private static func plain(_ text: String) -> String { Printable.text(String(text.prefix(200))) }
}

extension Fault {
  fileprivate static var givenUp: Fault {
    Fault(.cancelled, code: "user_canceled", "stopped at a question")
  }
}
