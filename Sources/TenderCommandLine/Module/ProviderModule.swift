package import TenderEngine
package import TenderModel

/// All that one provider is to this program: what it declares, and how it is made.
///
/// Command line, help, manual, completions, configuration, doctor, explain, batch and capabilities are
/// made from the list of these; nothing else names a provider.
package protocol ProviderModule: Sendable {
  associatedtype Adapter: Provider
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
  /// The adapter. Throws `usage`, `auth` or `state`.
  func make(_ session: any Session, _ env: Env) throws(Fault) -> Adapter
  /// What the command of a session asks for, as its options say: one of the commands in `uses` that make or change
  /// something.
  ///
  /// `payment` is what a `confirm`, `cancel` or `refund` is about; nil for one that the journal does not know. Throws
  /// `usage` or `refused`, and `unsupported` for what the provider cannot undo so.
  func order(_ session: any Session, _ env: Env, on payment: Payment?) throws(Fault) -> Order
  /// The receipts of a payment as text, a copy for each side; nil where it has none.
  func receipt(of payment: Payment, _ settings: Settings) -> String?
  /// What `doctor` tries.
  func checks(_ session: any Session, _ env: Env) -> [Check]
  /// Texts of its section that `config show` shows, each with the option that comes before it and its default.
  var shown: [(key: String, option: any OptionKey, otherwise: String)] { get }
  /// What a command may use besides the ports of its variables: it is bounded to that.
  func resources(_ settings: Settings) -> [MachineResource]
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

  package func receipt(of payment: Payment, _ settings: Settings) -> String? { nil }

  package func checks(_ session: any Session, _ env: Env) -> [Check] {
    [.credentials(of: self, session, env) { "credentials are set" }]
  }

  package var shown: [(key: String, option: any OptionKey, otherwise: String)] { [] }

  package func resources(_ settings: Settings) -> [MachineResource] { [] }
}

/// Something of this machine or its network that a provider's commands use.
package enum MachineResource: Sendable, Hashable {
  /// A TCP port that is connected to, and one that is listened at.
  case port(UInt16)
  case listener(UInt16)
  /// The node of a device.
  case device(String)
  case bluetooth
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

  /// What to do about something that no payment needs; nil where all is well.
  package let advice: () -> String?

  /// A check that fails by throwing, and warns by advice.
  package init(
    _ name: String,
    advice: @escaping () -> String? = { nil },
    run: @escaping () throws(Fault) -> String
  ) {
    self.name = name
    self.advice = advice
    self.run = run
  }
}

extension Check {
  /// Makes a module's provider, for which credentials must be set; `found` says which ones are in use, never what they are.
  package static func credentials(
    of module: any ProviderModule,
    _ session: any Session,
    _ env: Env,
    found: @escaping () throws(Fault) -> String
  ) -> Check {
    Check("\(module.name.text) credentials") { () throws(Fault) in
      try module.make(session, env).checkReady(for: nil, of: nil)
      return env == .simulator ? "the simulator needs none of yours" : try found()
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
