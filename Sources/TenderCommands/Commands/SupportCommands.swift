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

  static let simulatorServe = Command(
    .local(.writes),
    """
    simulator serve: serve the simulated providers on loopback
    Offers the simulated providers over real HTTP and WebSocket on 127.0.0.1, with a card reader
    on a TCP port beside. It prints all that a client needs: addresses, credentials and a signing
    key. The key is made at the first start and stored in the state folder. The names are the
    variables of tender and, where they are public, of the providers' own programs. With them
    tender --env sandbox --provider NAME pays here. Other credentials are refused as the provider
    refuses them. Its first line comes when the server is ready and the --env-file is whole. With
    that file the record has no private key. Ctrl-C or SIGTERM stops the server.

    Scenario, faults and clock are for requests without a header X-Tender-Simulator. Below
    /_simulator/ are the other simulator commands over HTTP: see tender help simulator.
    $ tender simulator serve --port 8085 # serve on port 8085
    $ tender simulator serve --env-file simulator.env # then, in another shell: . ./simulator.env
    """,
    options: [Keys.port, Keys.envFile, Keys.trustKey, Keys.retain] + Catalogue.simulation,
    exits: [.state],
    bounds: .servedWorld
  ).performed(by: SupportCommands.serve)

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

  func serve() throws(Fault) -> Int32 {
    if let fault = composition.simulatorOptions.unreachable { throw .onlyInProcess(fault) }
    try listen()
    output.note("stopped")
    return 0
  }

  /// Serves until a signal comes.
  private func listen() throws(Fault) {
    let port = try invocation.value(Keys.port) ?? 0
    var world = try composition.servedWorld()
    world.trustedKeys = try trustedKeys()
    // An unusable ledger must fail now, not at the first request.
    _ = try Ledger(path: world.ledgerPath)
    composition.signals.hold()
    let nextCustomer = NextCustomer()
    let server = SimulatorServer(
      world,
      nextCustomer,
      retaining: try invocation.value(Keys.retain)
    )
    let chosen = try server.start(port: port)
    defer { server.stop() }
    let reader = DeviceServer(world, nextCustomer)
    // The reader's port is the one after a named port.
    let readerPort = try reader.start(port: port == 0 || port == .max ? 0 : port + 1)
    defer { reader.stop() }
    let served = ServedPorts(composition.settings)
    for port in [chosen, readerPort] { try served.announce(port) }
    func text(_ address: ServedAddress) -> String {
      address.text(port: chosen, devicePort: readerPort)
    }
    let variables = try variables(world, text)
    let exports = variables.map { "export \($0)=\(Self.quoted($1))\n" }.joined()
    let envFile = invocation[Keys.envFile]
    if let envFile { try Environment.write(exports, to: envFile, named: "--env-file") }
    // A file for the owner alone has the keys; a log that gets the record does not.
    let shown = variables.filter { envFile == nil || !$0.value.contains("PRIVATE KEY") }
    let fields: JSONObject = [
      "address": .string(text(.http)), "device": .string(text(.device)),
      "variables": .object(JSONObject(shown.map { .init(key: $0, value: .string($1)) })),
      "env_file": envFile?.json,
    ]
    if output.isTable { output.put(exports) } else { output.show(records.record(.server, fields)) }
    output.note("the simulated providers listen on 127.0.0.1:\(chosen); Ctrl-C stops them")
    output.note("with these variables set, tender goes there, with --env simulator or sandbox")
    while composition.signals.kind == nil {
      try? SystemClock(interruption: composition.signals).pause(milliseconds: 3_600_000)
    }
  }

  /// The variables of a client of the served simulator: those of `tender`, then those of the providers'
  /// programs.
  private func variables(
    _ world: SimulatorWorld,
    _ text: (ServedAddress) -> String
  ) throws(Fault) -> [(name: String, value: String)] {
    var variables = composition.providers.simulated.flatMap(\.variables).map {
      (name: $0.name, value: text($0.address))
    }
    var own: [(name: String, value: String)] = []
    for simulated in composition.providers.simulated {
      let section = try simulated.served(world)
      for key in try composition.module(simulated.name.text).section.keys {
        let name = "TENDER_\(simulated.name.text)_\(key.name)".uppercased()
        // A reader has an address, which comes first.
        guard let value = section[key.name], !variables.contains(where: { $0.name == name }) else {
          continue
        }
        variables.append((name, value.text ?? JSONWriter.text(value)))
      }
      own += simulated.ownVariables.compactMap { name, key in
        section.text(key).map { (name, $0) }
      }
    }
    return variables + own
  }

  /// A value in single quotes, as any shell reads it.
  private static func quoted(_ value: String) -> String {
    "'" + value.replacing("'", with: "'\\''") + "'"
  }

  /// The public keys of clients, by their ids.
  private func trustedKeys() throws(Fault) -> [String: String] {
    var keys: [String: String] = [:]
    for text in invocation.all(Keys.trustKey) {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, keys[parts[0]] == nil else {
        throw .badValue("--trust-key", text, hint: "an id and a file, KID=FILE, each id once")
      }
      let pem = try Environment.read(parts[1], named: "--trust-key", limit: 65_536)
      if let problem = TrustedKey.problem(pem) {
        throw .badFile(
          "--trust-key: \(parts[1].quotedForMessage) \(problem)",
          hint: "openssl ec -in KEY.pem -pubout writes the public half of a key"
        )
      }
      keys[parts[0]] = String(decoding: pem, as: UTF8.self)
    }
    return keys
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
