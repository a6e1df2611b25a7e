import TenderCommandLine
import TenderCommands
import TenderModel
import TenderTestSupport
import Testing

/// No typed option is ignored: tests every option with every command and provider.
@Suite struct OptionUseTests {
  static let catalogue = Providers().catalogue

  /// A command with a provider, and the options that it does not use there.
  struct Case: CustomTestStringConvertible {
    let command: Command
    let provider: String
    let unused: [Option]

    var testDescription: String { "\(command.name) --provider \(provider)" }
  }

  static let cases: [Case] = catalogue.commands.flatMap { command in
    catalogue.modules.map { module in
      Case(
        command: command,
        provider: module.name.text,
        unused: command.options.filter { option in
          command.users(of: option.name)?.contains(module.name.text) == false
        }
      )
    }
  }.filter { !$0.unused.isEmpty && !(missing + mixed).contains($0.command.name) }

  /// Commands that some providers do not have at all. That error comes first.
  static let missing = ["tokenize", "mandate-status"]
  /// Its options are defaults of its lines, and each line may name a different provider.
  static let mixed = ["batch"]

  static let lacking: [(command: String, provider: String)] = missing.flatMap { command in
    catalogue.modules.filter { module in !module.uses.contains { $0.command == command } }
      .map { (command, $0.name.text) }
  }

  @Test(arguments: lacking)
  func `says that a provider has nothing of the kind`(
    _ command: String,
    _ provider: String
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let operands = command == "tokenize" ? ["--test-card=visa"] : ["M1"]
    let result = try binary.run([command] + operands + ["--provider", provider, "--json"])
    #expect(result.status == 15)
  }

  private static func words(_ option: Option) -> String {
    switch option.value {
    case .flag, .optional: "--\(option.name)"
    case .required: "--\(option.name)=\(option.choices.first ?? "1")"
    }
  }

  @Test(arguments: cases)
  func `refuses what it would not use`(_ tried: Case) throws {
    let binary = try Binary()
    defer { binary.remove() }
    #expect(tried.unused.count > 0)
    for option in tried.unused {
      let operands = tried.command.operands.isEmpty ? [] : ["A1"]
      let amount = tried.command.name == "transact" ? ["--amount-minor=500"] : []
      let result = try binary.run(
        tried.command.words + operands + amount
          + ["--provider", tried.provider, "--no-input", "--json", Self.words(option)]
      )
      #expect(result.status == 2, "--\(option.name): \(result.errors)")
      #expect(result.errorRecord["error"]?["code"] == "bad_options", "--\(option.name)")
      let message = result.errorRecord["error"]?["message"]?.text ?? ""
      #expect(message.contains("--\(option.name)"), "\(message)")
    }
    #expect(try binary.run("journal", "list", "--json").records.isEmpty)
  }

  private static let bank =
    ["--amount=5", "--bank=mock-payments-gb-redirect"] + BankStory.payee + BankStory.payer

  /// Commands that do something, as a user types them, and their payment.
  static let deeds: [(provider: String, words: [String], made: [String]?)] = [
    ("paytheory", ["transact", "--amount=5", "--test-card=visa"], nil),
    ("paytheory", ["confirm", "A1"], ["--amount=5", "--test-card=visa", "--confirmation"]),
    ("paytheory", ["cancel", "A1"], ["--amount=5", "--test-card=visa"]),
    ("paytheory", ["refund", "A1"], ["--amount=5", "--test-card=visa"]),
    ("paytheory", ["tokenize", "--test-card=visa"], nil),
    ("toro", ["transact", "--amount=5", "--signature-matches=yes"], nil),
    ("toro", ["confirm", "A1"], ["--amount=5", "--no-capture", "--signature-matches=yes"]),
    ("toro", ["cancel", "A1"], ["--amount=5", "--signature-matches=yes"]),
    ("toro", ["refund", "A1"], ["--amount=5", "--signature-matches=yes"]),
    ("truelayer", ["transact"] + bank, nil),
    ("truelayer", ["confirm", "A1"], bank),
    ("truelayer", ["cancel", "A1"], bank),
    ("truelayer", ["refund", "A1"], bank),
  ]

  /// An unread option is refused. So each accepted option must be read.
  @Test(arguments: deeds)
  func `reads what it takes`(
    _ provider: String,
    _ words: [String],
    _ made: [String]?
  ) throws {
    let binary = try Binary()
    defer { binary.remove() }
    let own = ["--provider", provider, "--no-input", "--json"]
    if let made {
      let paid = try binary.run(["transact", "--reference=A1"] + made + own)
      #expect(paid.status == 0, "\(paid.errors)")
    }
    let command = try #require(Self.catalogue.commands.first { $0.name == words[0] })
    var tried = 0
    for option in command.options
    where command.users(of: option.name)?.contains(provider) ?? true && !option.readsStandardInput {
      let value = option.choices.first ?? "1"
      let text = option.value == .flag ? "--\(option.name)" : "--\(option.name)=\(value)"
      let result = try binary.run(words + own + ["--dry-run", text])
      #expect(!result.errors.contains("changes nothing here"), "\(text): \(result.errors)")
      tried += 1
    }
    #expect(tried > 20)
  }

  /// The options that limit or record a provider's requests, or choose a provider.
  private static let asking = [Keys.timeout.option, Keys.trace.option]
  private static let choosing = [Keys.provider.option, Keys.env.option]

  /// A shared option without effect on a command is refused. A command that cannot end with exit 10 sends no
  /// requests, and a command about the simulated world chooses no provider.
  @Test(arguments: catalogue.commands.map(\.name).filter { !["help", "version"].contains($0) })
  func `refuses shared options without effect`(_ name: String) throws {
    let command = try #require(Self.catalogue.commands.first { $0.name == name })
    let delegates = ["batch", "doctor", "conformance"].contains(name)
    let asks = command.exits.contains(.notSent) || delegates
    // These print facts about the program.
    let prints = ["providers", "schema", "completion", "journal grants", "simulator scenarios"]
    var refused = asks ? [] : [Keys.trace.option]
    if prints.contains(name) || name.hasPrefix("simulator ") {
      refused +=
        [Keys.timeout.option] + (name == "simulator scenarios" ? [] : [Keys.provider.option])
      refused.append(Keys.env.option)
    }
    for option in Self.asking + Self.choosing {
      let isOffered = command.options.contains { $0.name == option.name }
      #expect(isOffered == !refused.contains { $0 === option }, "--\(option.name)")
    }
    let binary = try Binary()
    defer { binary.remove() }
    for option in refused {
      let value = option.choices.first ?? "1s"
      let result = try binary.run(
        command.words + command.operands.map { _ in "A1" } + [
          "--\(option.name)=\(value)", "--json",
        ]
      )
      let error = result.errorRecord["error"]
      #expect(result.status == 2, "--\(option.name): \(result.output)")
      #expect(error?["message"]?.text?.contains("--\(option.name)") == true, "\(result.errors)")
    }
  }

  /// --interval has no effect without repeated look-ups.
  @Test func `refuses --interval without --wait, except where a payer is awaited anyway`() throws {
    let binary = try Binary()
    defer { binary.remove() }
    let pay = ["transact", "--amount", "5", "--test-card", "visa", "--reference"]
    #expect(try binary.run(pay + ["H", "--confirmation"]).status == 0)
    #expect(try binary.run(pay + ["P"]).status == 0)
    for words in [
      pay + ["A"], ["confirm", "H"], ["cancel", "H"], ["refund", "P", "--amount", "1"],
      ["payment-status", "P"],
    ] {
      let refused = try binary.run(words + ["--interval", "1s", "--json"])
      #expect(refused.status == 2, "\(words)")
      #expect(refused.errorRecord["error"]?["code"] == "bad_options", "\(words)")
      #expect(refused.errorRecord["error"]?["message"] == "--interval needs --wait")
    }
    let shown = try binary.run("journal", "list", "--json").records
    #expect(shown.map { $0.text("status") } == ["succeeded", "requires_confirmation"])
    #expect(try binary.run(["confirm", "H", "--interval", "1s", "--wait", "2s"]).status == 0)
    let bank = Works.words(Works.bank("B")) + ["--interval", "100ms"]
    #expect(try binary.run(bank).status == 0)
  }

  /// Each capability that `tender providers` lists is a command of the module, with options that it uses.
  @Test func `lists as capabilities what each module takes`() {
    var judged = 0
    for module in Self.catalogue.modules {
      for capability in module.capabilities {
        let words = capability.name.split(separator: " ").map(String.init)
        let name = words.prefix { !$0.hasPrefix("--") }.joined(separator: " ")
        guard let command = Self.catalogue.commands.first(where: { $0.name == name }) else {
          continue
        }
        let options = words.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
        let isTaken = command.work.isLocal || module.takes(command)
        let isUsed = options.allSatisfy { option in
          command.options.contains { $0.name == option }
            && command.users(of: option)?.contains(module.name.text) != false
        }
        let place = "\(module.name.text): \(capability.name)"
        #expect(isTaken == (capability.isSupported || !options.isEmpty), "\(place)")
        if capability.isSupported { #expect(isUsed, "\(place)") }
        judged += 1
      }
    }
    #expect(judged > 20)
  }

  /// Only options that every provider uses are shared. Each module's options are used somewhere.
  @Test func `knows for every option who uses it`() {
    for module in Self.catalogue.modules {
      let used = Set(module.uses.flatMap(\.options).flatMap(\.options).map(\.name))
      for option in module.options.flatMap(\.options) {
        #expect(used.contains(option.name), "\(module.name.text): --\(option.name)")
      }
      for use in module.uses {
        #expect(Self.catalogue.commands.contains { $0.name == use.command }, "\(use.command)")
        for name in use.options.flatMap(\.options).map(\.name) {
          #expect(Self.catalogue.option(name) != nil, "\(module.name.text): --\(name)")
        }
      }
    }
    for command in Self.catalogue.commands {
      #expect(command.options.count == Set(command.options.map(\.name)).count, "\(command.name)")
    }
    #expect(Self.cases.count >= 9)
    #expect(Self.cases.map(\.unused.count).reduce(0, +) > 150)
  }
}
