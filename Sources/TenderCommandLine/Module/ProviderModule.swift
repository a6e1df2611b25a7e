package import TenderEngine
package import TenderModel

/// All that one provider is to this program: what it declares, and how it is made.
///
/// Command line, help, manual, completions, configuration, doctor, explain, batch and capabilities are
/// made from the list of these; nothing else names a provider.
package protocol ProviderModule: Sendable {
  var name: ProviderName { get }
  /// The options that it defines; several modules may use one of them.
  var options: [any OptionKey] { get }
  /// What each command takes for its sake.
  ///
  /// An option that is not among them is refused where this provider is asked.
  var uses: [CommandUse] { get }
  /// Its part of a profile, and the variables that go with it.
  var section: ConfigurationSection { get }
  var capabilities: [Capability] { get }
  /// What it says in the pages that all share, and pages of its own.
  var help: ModuleHelp { get }
  /// The currency where none is named, as help says it.
  var currency: String { get }
  /// What its own words mean; those of its documents, and error codes that tender gives for it.
  var explanations: [Explanation] { get }

  /// Members of its result that people ask for, as paths with dots, in the order of a table.
  var facts: [String] { get }

  /// The shapes that its result can have.
  var results: [ResultShape] { get }
  /// Its result, members in the order of its documents.
  func inKeyOrder(_ result: JSONObject) -> JSONObject
  /// The adapter, ready for what a command needs. Throws `usage`, `auth` or `state`.
  func make(_ session: any Session, _ env: Env, for need: Need) throws(Fault) -> any Provider
  /// What `transact` is to do, as far as options say. Throws `usage`.
  func plan(_ session: any Session, _ env: Env) throws(Fault) -> OrderPlan
  /// What `tokenize` is to do: its order is `Order.token`. Throws `usage`; nil where nothing is stored.
  func tokenPlan(_ session: any Session, _ env: Env) throws(Fault) -> OrderPlan?
  /// What `confirm`, `cancel` or `refund` is to do with a payment; nil for one that the journal does not know.
  ///
  /// Throws `usage`, or `unsupported` for what the provider cannot undo so.
  func laterPlan(
    _ session: any Session,
    _ payment: Payment?,
    _ change: Command.Change
  ) throws(Fault) -> LaterPlan
  /// The receipts of a payment as text, a copy for each side; nil where it has none.
  func receipt(of payment: Payment, _ settings: Settings) -> String?
  /// What `doctor` tries.
  func checks(_ session: any Session, _ env: Env) -> [Check]
  /// Settings that are no credentials, for `config show`.
  func settings(_ settings: Settings) -> [(name: String, value: Settings.Value)]
  /// TCP ports that a command may use besides those of its variables.
  func ports(_ settings: Settings) -> [UInt16]
}

extension ProviderModule {
  /// Whether it has anything of the kind that a command is about.
  package func takes(_ command: Command) -> Bool { uses.contains { $0.command == command.name } }

  package var help: ModuleHelp { ModuleHelp() }

  package var facts: [String] { [] }

  /// Whether a line of a batch may bring an instrument for it: then an option can as well.
  package var takesInstruments: Bool {
    options.flatMap(\.options).contains { $0.name == Keys.instrumentDescriptor.option.name }
  }

  package var results: [ResultShape] { [] }

  package func inKeyOrder(_ result: JSONObject) -> JSONObject { result }

  package func tokenPlan(_ session: any Session, _ env: Env) throws(Fault) -> OrderPlan? { nil }

  package func receipt(of payment: Payment, _ settings: Settings) -> String? { nil }

  package func checks(_ session: any Session, _ env: Env) -> [Check] {
    [.credentials(of: self, session, env, "credentials are set")]
  }

  package func settings(_ settings: Settings) -> [(name: String, value: Settings.Value)] { [] }

  package func ports(_ settings: Settings) -> [UInt16] { [] }
}

/// What a command takes for a provider's sake.
package struct CommandUse: Sendable {
  package let command: String
  package let options: [any OptionKey]
  /// Paragraphs of its description.
  package let description: [String]
  package let examples: [Command.Example]

  /// The command by its words with a space between.
  package init(
    _ command: String,
    options: [any OptionKey] = [],
    description: [String] = [],
    examples: [Command.Example] = []
  ) {
    self.command = command
    self.options = options
    self.description = description
    self.examples = examples
  }
}

/// Something that a provider can do, or cannot.
package struct Capability: Sendable {
  package let name: String
  package let isSupported: Bool
  package let note: String

  /// Something that the provider can do.
  package init(_ name: String, _ note: String) { self.init(name, true, note) }

  /// A line of `tender providers`.
  package init(_ name: String, _ isSupported: Bool, _ note: String) {
    self.name = name
    self.isSupported = isSupported
    self.note = note
  }
}

/// One thing that `doctor` tries; gives what was found in words.
package struct Check {
  package let name: String
  package let run: () throws(Fault) -> String

  /// A check that fails by throwing.
  package init(_ name: String, run: @escaping () throws(Fault) -> String) {
    self.name = name
    self.run = run
  }
}

extension Check {
  /// Makes a module's provider, for which credentials must be set; `found` says so.
  package static func credentials(
    of module: any ProviderModule,
    _ session: any Session,
    _ env: Env,
    for need: Need = .lookUp,
    _ found: String
  ) -> Check {
    Check("\(module.name.text) credentials") { () throws(Fault) in
      try module.make(session, env, for: need).checkReady(for: need)
      return env == .simulator ? "the simulator needs none of yours" : found
    }
  }

  /// Asks a provider for a payment that cannot exist: what it answers shows that it can be reached, and
  /// takes the credentials.
  package static func lookUp(
    _ name: String,
    of provider: @escaping () throws(Fault) -> any Provider
  ) -> Check {
    Check(name) { () throws(Fault) in
      let answer = "it answers, and takes the credentials"
      do throws(Fault) {
        _ = try provider().lookUp(LookUp(id: "00000000-0000-4000-8000-000000000000"))
        return answer
      } catch {
        guard error.kind == .notFound else { throw error }
        return answer
      }
    }
  }
}

/// What `transact` or `tokenize` is to do, before anything is opened or asked.
package struct OrderPlan {
  package var need: Need
  /// The reference that an order for something existing has, where none is given.
  package var reference: String?
  /// Whether waiting answers in the words of the attempt, as `transact` does, or else of a look-up.
  package var inWordsOfAttempt = false
  /// Whether the payer may be asked for an instrument: then credentials are checked before.
  package var asksPayer = false
  /// Whether only one at a time may do it: there is one card reader.
  package var takesTurns = false
  /// Reads what is left to read (an instrument, a saved receipt).
  ///
  /// Throws `usage` or `refused`.
  package var order: (Reference) throws(Fault) -> Order

  /// A plan for one flow.
  package init(need: Need, order: @escaping (Reference) throws(Fault) -> Order) {
    self.need = need
    self.order = order
  }
}

/// What `confirm`, `cancel` or `refund` is to do.
package struct LaterPlan: Sendable {
  package var action: Later

  /// The refund that is asked for; nil for any other action.
  package var refund: RefundRequest? {
    if case .refund(let refund) = action { refund } else { nil }
  }

  package var need: Need
  /// Whether waiting answers in the words of the attempt, as `transact` does, or else of a look-up.
  package var inWordsOfAttempt: Bool
  /// How the provider undoes it, in the field's words: `void`, `refund`, `reversal`; nil for a confirm.
  package var way: String?

  /// A plan for what comes later.
  package init(
    _ action: Later,
    need: Need,
    inWordsOfAttempt: Bool = false,
    way: String? = nil
  ) {
    self.action = action
    self.need = need
    self.inWordsOfAttempt = inWordsOfAttempt
    self.way = way
  }
}
