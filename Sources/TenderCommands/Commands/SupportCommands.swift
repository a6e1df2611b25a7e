internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

extension Action {
  static let providers = Command(
    .local(.nothing),
    """
    providers: list providers and what they can do
    Lists each provider with the commands and methods it has.
    $ tender providers # the capability table
    """
  ).performed(by: SupportCommands.providers)

  static let simulatorScenarios = Command(
    .local(.nothing),
    """
    simulator scenarios: list scenarios and faults
    Lists what --sim-scenario and --sim-fault take, scenarios first. A fault names the command whose
    request it strikes, and the exit status of that command. WORD finds those that have every word in name or meaning.
    $ tender simulator scenarios # every scenario and fault
    $ tender simulator scenarios answer lost --exit 9 # lost answers that leave a payment unknown
    """,
    operands: [.init("WORD", optional: true, repeats: true)],
    options: [Keys.provider, Keys.exit]
  ).performed(by: SupportCommands.scenarios)

  static let simulatorAdvance = Command(
    .local(.writes),
    """
    simulator advance: move the simulated clock forward
    Moves the clock of the simulated providers forward. Every change that is due by then happens in
    order, at the time when it is due: captures, settlements, returns, ends of disputes, refunds and
    expiries. The periods of mandates turn, and idempotency keys are forgotten. It moves the world of
    this state folder, also while simulator serve has it. With the in-process simulator, tender uses
    the same clock.
    $ tender simulator advance 26h # a day and two hours later
    """,
    operands: [.init("TIME")],
    exits: [.state],
    bounds: .world
  ).performed(by: SupportCommands.advance)

  static let configShow = Command(
    .local(.nothing),
    """
    config show: show each setting and where it comes from
    Shows the settings for a command, and the source of each: option, environment, profile or
    default. The detail names the source in use, and those that are
    ignored. Secrets are shown as set or not set; their programs are not run.
    $ tender config show # the settings in force
    """
  ).performed(by: SupportCommands.showConfig)

  static let configCheck = Command(
    .local(.nothing),
    """
    config check: check the configuration file
    Reads the configuration file and says what is wrong with it, if anything. Every profile is
    checked, and its files and programs are looked for. No program is run.
    $ tender config check # check the file
    """
  ).performed(by: SupportCommands.checkConfig)

  static let schema = Command(
    .local(.nothing),
    """
    schema: print the JSON Schema of a record
    Prints the JSON Schema of one kind of record, or of all of them.
    $ tender schema payment # the members of a payment record
    """,
    operands: [.init("RECORD", optional: true, choices: Record.Kind.allCases.map(\.rawValue))]
  ).performed(by: SupportCommands.schema)

  static let completion = Command(
    .local(.nothing),
    """
    completion: print a shell's completion script
    Prints the completion script of a shell on standard output.
    $ tender completion bash > tender.bash # source this file in ~/.bashrc
    """,
    operands: [.init("SHELL", choices: ["bash", "zsh", "fish"])]
  ).performed(by: SupportCommands.completion)
}

/// The commands that ask no provider.
struct SupportCommands: CommandWork {
  let composition: Composition

  func providers() -> Int32 {
    output.show(
      composition.catalogue.modules.flatMap { module in
        module.capabilities.map { capability in
          let fields: JSONObject = [
            "provider": .string(module.name.text), "capability": .string(capability.name),
            "supported": .bool(capability.isSupported), "note": .string(capability.note),
          ]
          return records.record(.capability, fields)
        }
      },
      columns: ["provider", "capability", "supported", "note"]
    )
    return output.exit(0)
  }

  func completion() -> Int32 {
    output.put(Completions.script(for: invocation.operands[0]) ?? "")
    return output.exit(0)
  }

  func schema() -> Int32 {
    let kinds = invocation.operands.compactMap(Record.Kind.init(rawValue:))
    for kind in kinds.isEmpty ? Record.Kind.allCases : kinds {
      let isPayment = [.payment, .mandate, .token, .journalEntry].contains(kind)
      let results = composition.catalogue.modules.filter { !$0.results.isEmpty }.map {
        (provider: $0.name.text, schema: ResultShape.schema($0.results))
      }
      let schema = RecordSchema.document(kind, results: isPayment ? results : [])
      let fields: JSONObject = [
        "name": .string(kind.rawValue), "json_schema": .object(schema),
        "vocabulary": isPayment ? .object(records.vocabulary) : nil,
      ]
      output.show(records.record(.schema, fields))
    }
    return output.exit(0)
  }

  func scenarios() throws(Fault) -> Int32 {
    let exit = try invocation.value(Keys.exit)
    let words = invocation.operands.map { $0.lowercased() }
    var isFound = false
    var text = ""
    let provider = invocation[Keys.provider]
    for isFault in [false, true] {
      for simulated in composition.providers.simulated {
        let name = simulated.name.text
        let list = isFault ? simulated.faults.words : simulated.scenarios
        for word in list where exit == nil || word.exit == exit.map(Int32.init) {
          let searched = "\(name) \(word.name) \(word.meaning)".lowercased()
          guard provider ?? name == name, words.allSatisfy(searched.contains) else { continue }
          isFound = true
          show(word, isFault ? "--sim-fault" : "--sim-scenario", name, &text)
        }
      }
    }
    if !isFound { output.tell("no scenario or fault has all of that") }
    if !Pager.show(text, composition.settings.environment) { output.put(text) }
    return output.exit(0)
  }

  /// Shows a scenario or fault as a record. In a table, it adds it to a text.
  private func show(
    _ word: SimulatorWord,
    _ option: String,
    _ provider: String,
    _ text: inout String
  ) {
    guard !output.isTable else {
      let exit =
        (word.command.map { ", \($0)" } ?? "")
        + (word.effect.map { ", effect \($0.rawValue)" } ?? "")
        + (word.exit.map { ", exit \($0)" } ?? "")
      // The whole meaning is shown, without broken words, also on a narrow terminal.
      let lines = HelpText.wrapped(word.meaning, indent: 4, width: output.width)
      text +=
        "\(option) \(word.name)  (\(provider)\(exit))\n" + lines.joined(separator: "\n") + "\n"
      return
    }
    let fields: JSONObject = [
      "name": .string(word.name), "option": .string(option), "meaning": .string(word.meaning),
      "provider": .string(provider), "exit": word.exit.map { .integer(Int($0)) },
      "effect": word.effect.map { .string($0.rawValue) }, "strikes": word.command?.json,
    ]
    output.show(records.record(.scenario, fields))
  }

  func advance() throws(Fault) -> Int32 {
    try composition.refuseReadOnly()
    let time = try TimeText.milliseconds(
      invocation.operands[0],
      option: "TIME",
      most: SimulatedTime.mostAhead
    )
    let world = try composition.servedWorld()
    let ledger = try Ledger(path: world.ledgerPath)
    _ = try ledger.advance(by: time)
    try InProcessSimulator(world, ledger).catchUp()
    output.show(records.check("clock", Timestamp.text(world.now)))
    return output.exit(0)
  }

  func showConfig() throws(Fault) -> Int32 {
    let settings = composition.settings
    let profile = settings.profileName.map { "profile \($0.quotedForMessage)" }
    var rows: [Record] = []
    /// Adds a row. `sources` are all that have the setting, the used one first. `reason` explains why the
    /// others are ignored.
    func add(
      _ name: String,
      _ value: String,
      _ sources: [(name: String, origin: Settings.Origin)],
      _ reason: String? = nil
    ) {
      let names = sources.map { source in
        source.origin == .profile ? "\(source.name) of \(profile ?? "")" : source.name
      }
      let ignored = names.dropFirst().map { "\($0) is ignored" + (reason.map { ": \($0)" } ?? "") }
      let detail = (names.prefix(1) + ignored).filter { !$0.isEmpty }.joined(separator: "; ")
      let fields: JSONObject = [
        "name": .string(name), "value": .string(value),
        "origin": .string((sources.first?.origin ?? .default).rawValue),
        "detail": detail.isEmpty ? nil : .string(detail),
      ]
      rows.append(records.record(.setting, fields))
    }
    func add(_ name: String, _ values: [Settings.Value], otherwise: String) {
      add(name, values.first?.text ?? otherwise, values.map { ($0.source, $0.origin) })
    }
    /// Adds a setting that option, environment or profile may set under this name.
    func add(_ name: String, _ option: (any OptionKey)?, inProfile: Bool = true, otherwise: String)
    {
      let variable = "TENDER_" + name.uppercased()
      let key = inProfile ? name : nil
      add(name, settings.values(option: option, variable: variable, key: key), otherwise: otherwise)
    }
    // Invalid values are refused.
    _ = (try settings.provider(), try settings.env())
    add("config", Keys.config, inProfile: false, otherwise: settings.config.path)
    add("profile", Keys.profile, inProfile: false, otherwise: settings.profileName ?? "")
    add("provider", Keys.provider, otherwise: settings.modules[0].name.text)
    add("env", Keys.env, otherwise: "simulator")
    add("output", Keys.output, otherwise: "auto")
    let journals = settings.values(option: nil, variable: "TENDER_JOURNAL", key: "journal")
    let masked = composition.redactor.redact(address: settings.journal()?.text ?? "")
    add("journal", masked, journals.map { ($0.source, $0.origin) })
    add("state_dir", Keys.stateDir, inProfile: false, otherwise: try settings.stateFolder().text)
    add("timeout", Keys.timeout, otherwise: "30s")
    let mode = settings.profile.text("mode")
    add("mode", mode ?? "read-write", mode == nil ? [] : [("mode", .profile)])
    let most = try settings.maxAmounts().map { Money(minorUnits: $1, currency: $0).text }.sorted()
    add("max_amount", most.joined(separator: ", "), most.isEmpty ? [] : [("max_amount", .profile)])
    for module in settings.modules {
      for key in module.section.credentials {
        let sources = try settings.sources(module.name.text, key)
        add(
          "\(module.name.text).\(key)",
          sources.first.map(settings.isSet) ?? false ? "set" : "not set",
          sources.map { ($0.name, $0.origin) },
          "the profile sets another value"
        )
      }
    }
    for module in settings.modules {
      for (key, option, otherwise) in module.shown {
        let values = settings.values(option: option, section: module.name.text, key: key)
        add("\(module.name.text).\(key)", values, otherwise: otherwise)
      }
    }
    output.show(rows, columns: ["name", "value", "origin", "detail"])
    return output.exit(0)
  }

  /// The settings were checked while they were read. A fault in them ended the run before this.
  func checkConfig() throws(Fault) -> Int32 {
    let config = composition.settings.config
    for name in config.profiles.keys.sorted() {
      try config.checkWhole(name, composition.settings.modules, composition.environment)
    }
    let detail =
      Environment.exists(config.path)
      ? "\(config.path): \(config.profiles.count) profiles" : "there is no \(config.path)"
    output.show(records.check("config", detail))
    return output.exit(0)
  }
}
