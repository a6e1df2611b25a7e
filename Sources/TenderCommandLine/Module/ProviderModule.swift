package import TenderEngine
package import TenderModel

/// The declaration of one provider, and the factory of its adapter.
///
/// Command line, help, manual, completions, configuration, doctor, explain, batch and capabilities read the
/// list of modules. No other code names a provider.
package protocol ProviderModule: Sendable {
  associatedtype Adapter: Provider
  /// What its adapter needs from options, files and profile.
  associatedtype Setup
  var name: ProviderName { get }
  /// The options that it defines. Several modules may share one.
  var options: [any OptionKey] { get }
  /// The options and texts that it adds to each command.
  ///
  /// Any other option is refused for this provider.
  var uses: [CommandUse] { get }
  /// Its part of a profile, and the variables of its members.
  var section: ConfigurationSection { get }
  var capabilities: [Capability] { get }
  /// The options that its new payments send and the journal does not record: a replay has no effect of them.
  var unrecorded: [any OptionKey] { get }
  /// Its texts in the shared pages, and its pages.
  var help: ModuleHelp { get }
  /// The default currency, as help shows it.
  var currency: String { get }
  /// The meanings of the terms in its documents, and of the error codes that tender has for it.
  var explanations: [Explanation] { get }

  /// The most useful members of its result, as paths with dots, in the order of a table.
  var facts: [String] { get }

  var results: [ResultShape] { get }
  /// Returns its result with the members in the order of its documents.
  func inKeyOrder(_ result: JSONObject) -> JSONObject
  /// Reads options, files and profile. Throws `usage`, `auth` or `state`.
  func setup(_ session: any Session, _ env: Env) throws(Fault) -> Setup
  /// Whether other addresses than the provider's are set.
  func isRedirected(_ setup: Setup) -> Bool
  /// Creates the adapter. Throws `usage` or `state`.
  func make(_ setup: Setup, _ wires: Wires) throws(Fault) -> Adapter
  /// Returns the order of the session's command, from its options.
  ///
  /// Throws `usage` or `refused`, and `unsupported` if the provider cannot undo the payment so.
  func order(_ intent: Intent, _ session: any Session, _ env: Env) throws(Fault) -> Order
  /// Returns the receipts of a payment as text, one copy for each side; nil without any.
  /// `handle` can be the reference of a refund with the card, which has receipts of its own.
  func receipt(of payment: Payment, _ handle: String, _ settings: Settings) -> String?
  func checks(_ session: any Session, _ env: Env) -> [Check]
  /// The commands that `conformance` runs on simulator and sandbox, in order; `REF` begins each reference.
  var cases: [[String]] { get }
  /// Texts of its section that `config show` shows. Each has the option that comes before it, and its
  /// default.
  var shown: [(key: String, option: any OptionKey, otherwise: String)] { get }
  /// Returns the resources that a command may use besides the ports of its variables. All others are blocked.
  func resources(_ settings: Settings) -> [MachineResource]
}

extension ProviderModule {
  /// Creates the adapter with its ways to the provider. What it reads comes first, so that a missing file leaves no
  /// simulated world behind.
  package func connected(
    _ session: any Session,
    _ env: Env
  ) throws(Fault) -> (adapter: Adapter, wires: Wires) {
    let setup = try setup(session, env)
    let wires = try session.wires(outside: env != .simulator || isRedirected(setup))
    return (try make(setup, wires), wires)
  }

  /// The provider's abilities, as data.
  package var traits: Traits { Adapter.traits }

  /// The documented answer to a capture where nothing is held.
  package var nothingHeld: JSONObject { Adapter.nothingHeld }

  /// Whether the provider supports a command.
  package func takes(_ command: Command) -> Bool { uses.contains { $0.command == command.name } }

  package var help: ModuleHelp { ModuleHelp() }

  package var capabilities: [Capability] { help.capabilities }

  package var cases: [[String]] { [] }

  package var facts: [String] { [] }

  package var unrecorded: [any OptionKey] { [] }

  /// Whether a line of a batch may have an instrument for it. Then an option can have one as well.
  package var takesInstruments: Bool {
    options.flatMap(\.options).contains { $0.name == Keys.instrumentDescriptor.option.name }
  }

  package var results: [ResultShape] { [] }

  package func inKeyOrder(_ result: JSONObject) -> JSONObject { result }

  package func receipt(of payment: Payment, _ handle: String, _ settings: Settings) -> String? {
    nil
  }

  package func checks(_ session: any Session, _ env: Env) -> [Check] {
    [.credentials(of: self, session, env) { "credentials are set" }]
  }

  package var shown: [(key: String, option: any OptionKey, otherwise: String)] { [] }

  package func resources(_ settings: Settings) -> [MachineResource] { [] }
}

/// The purpose of an order.
package enum Intent: Sendable {
  /// A new payment, mandate or stored method, with its reference.
  case makes(Payment.Kind, Reference)
  /// A change of a payment; nil if the journal does not have it.
  case changes(Command.Change, Payment?)
}

/// A resource of this machine or its network that a provider's commands use.
package enum MachineResource: Sendable, Hashable {
  /// A TCP port to connect to, and a port to listen at.
  case port(UInt16)
  case listener(UInt16)
  /// The node of a device.
  case device(String)
  case bluetooth
}

/// The options and texts that a provider adds to a command.
package struct CommandUse: Sendable {
  package let command: String
  package let options: [any OptionKey]
  let page: HelpPage

  /// Creates a use of a command. The page's first line is the command's name.
  package init(_ page: String, options: [any OptionKey] = []) {
    self.page = HelpPage(page)
    command = String(self.page.head)
    self.options = options
  }
}

/// A part of a page of help: a first line, paragraphs with an empty line between two, and examples, each as
/// `$ LINE # MEANING`.
struct HelpPage: Sendable {
  private let text: String

  init(_ text: String) { self.text = text }

  var head: Substring { Substring(text.utf8.prefix { $0 != UInt8(ascii: "\n") }) }

  var paragraphs: [String] { parts.filter { !$0.isEmpty && !$0.hasPrefix("$ ") } }

  var examples: [Command.Example] {
    parts.filter { $0.hasPrefix("$ ") }.map { example in
      let halves = example.dropFirst(2).split(separator: " # ").map(String.init)
      return Command.Example(line: halves[0], meaning: halves[1])
    }
  }

  /// The paragraphs and examples, each on one line.
  private var parts: [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
    return lines.reduce(into: [""]) { parts, line in
      if line.isEmpty || line.hasPrefix("$ ") {
        parts.append(String(line))
      } else {
        parts[parts.count - 1] += (parts.last == "" ? "" : " ") + line
      }
    }
  }
}

/// A line about an ability of a provider.
package struct Capability: Sendable {
  package let name: String
  package let isSupported: Bool
  package let note: String

  package init(_ name: String, _ isSupported: Bool, _ note: String) {
    self.name = name
    self.isSupported = isSupported
    self.note = note
  }
}

/// One check of `doctor`, which returns its result as text.
package struct Check {
  package let name: String
  package let run: () throws(Fault) -> String

  /// Advice about a problem that stops no payment; nil if there is none.
  package let advice: () -> String?

  /// Creates a check. It fails by a throw, and warns by its advice.
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
  /// Checks that the credentials of a module's provider are set. `found` names those in use, and never shows
  /// their values.
  package static func credentials(
    of module: any ProviderModule,
    _ session: any Session,
    _ env: Env,
    found: @escaping () throws(Fault) -> String
  ) -> Check {
    Check("\(module.name.text) credentials") { () throws(Fault) in
      try module.connected(session, env).adapter.checkReady(for: nil, of: nil)
      return env == .simulator ? "the simulator needs none of yours" : try found()
    }
  }

  /// Looks up a payment that cannot exist. The answer shows that the provider can be reached, and accepts the
  /// credentials.
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
