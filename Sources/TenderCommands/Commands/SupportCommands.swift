internal import TenderCommandLine
internal import TenderEngine
internal import TenderJournal
internal import TenderModel
internal import TenderSimulator
internal import TenderSystem

extension Action {
  static let providers = Action(
    .local(.nothing),
    """
    providers: list providers and what they can do
    Lists each provider with the commands and methods it has.
    $ tender providers # the capability table
    """,
    run: SupportCommands.providers
  )

  static let simulatorServe = Action(
    .local(.writes),
    """
    simulator serve: serve the simulated providers on loopback
    Offers the simulated providers over real HTTP and WebSocket on 127.0.0.1, with a card reader
    on a TCP port beside. It prints all that a client needs: addresses, credentials and a signing
    key. The key is made at the first start and kept in the state folder. The names are the
    variables of tender and, where they are public, of the providers' own programs. With them
    tender --env sandbox pays here. Other credentials are refused as the provider refuses them.
    Ctrl-C or SIGTERM stops the server.
    $ tender simulator serve --port 8085 # serve on port 8085
    $ tender simulator serve --env-file simulator.env # then, in another shell: . ./simulator.env
    """,
    options: [Keys.port, Keys.envFile, Keys.trustKey] + Catalogue.simulation,
    exits: [.state],
    bounds: .servedWorld,
    run: SupportCommands.serve
  )

  static let simulatorReset = Action(
    .local(.writes),
    """
    simulator reset: forget the simulated world
    Forgets every simulated payment. The journal stays as it is.
    $ tender simulator reset # start the simulated world afresh
    """,
    exits: [.state],
    bounds: .world,
    run: SupportCommands.reset
  )

  static let simulatorScenarios = Action(
    .local(.nothing),
    """
    simulator scenarios: list scenarios and faults
    Lists what --sim-scenario and --sim-fault take, scenarios first; WORD finds those that have it
    in name or meaning.
    $ tender simulator scenarios # every scenario and fault
    $ tender simulator scenarios decline # how a payment is declined
    """,
    operands: [.init("WORD", optional: true)],
    run: SupportCommands.scenarios
  )

  static let configShow = Action(
    .local(.nothing),
    """
    config show: show each setting and where it comes from
    Shows the settings that a command would run with, and whether each came from an option, the
    environment, the profile or a default. Secrets are shown as set or not set.
    $ tender config show # the settings in force
    """,
    run: SupportCommands.showConfig
  )

  static let configCheck = Action(
    .local(.nothing),
    """
    config check: check the configuration file
    Reads the configuration file and says what is wrong with it, if anything.
    $ tender config check # check the file
    """,
    run: SupportCommands.checkConfig
  )

  static let schema = Action(
    .local(.nothing),
    """
    schema: print the JSON Schema of a record
    Prints the JSON Schema of one kind of record, or of all of them.
    $ tender schema payment # what a payment record looks like
    """,
    operands: [.init("RECORD", optional: true, choices: Record.Kind.allCases.map(\.rawValue))],
    run: SupportCommands.schema
  )

  static let completion = Action(
    .local(.nothing),
    """
    completion: print a shell's completion script
    Prints the completion script of a shell on standard output.
    $ tender completion bash > tender.bash # source this file in ~/.bashrc
    """,
    operands: [.init("SHELL", choices: ["bash", "zsh", "fish"])],
    run: SupportCommands.completion
  )
}

/// The commands that ask no provider.
struct SupportCommands: CommandWork {
  let composition: Composition

  func providers() -> Int32 {
    output.show(
      composition.catalogue.modules.flatMap { module in
        module.capabilities.map { (module.name.text, $0) }
      }.map { provider, capability in
        var fields: JSONObject = [
          "provider": .string(provider), "capability": .string(capability.name),
          "supported": .bool(capability.isSupported),
        ]
        fields["note"] = .string(capability.note)
        return records.record(.capability, fields)
      },
      columns: ["provider", "capability", "supported", "note"]
    )
    return output.exit(0)
  }

  func completion() -> Int32 {
    output.put(Completions.scripts[invocation.operands[0]] ?? "")
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
      var fields: JSONObject = ["name": .string(kind.rawValue), "json_schema": .object(schema)]
      if isPayment { fields["vocabulary"] = .object(records.vocabulary) }
      output.show(records.record(.schema, fields))
    }
    return output.exit(0)
  }

  func scenarios() -> Int32 {
    let simulated = composition.providers.simulated
    let all =
      simulated.flatMap(\.scenarios).map { ($0.name, "--sim-scenario", $0.meaning) }
      + simulated.flatMap(\.faults).map { ($0.name, "--sim-fault", $0.meaning) }
    let word = (invocation.operands.first ?? "").lowercased()
    let found = all.filter { name, _, meaning in
      word.isEmpty || name.lowercased().contains(word) || meaning.lowercased().contains(word)
    }
    guard !output.isTable else {
      // Every word of a meaning is there, and whole where the terminal is narrow.
      let text = found.map { name, option, meaning in
        let lines = HelpText.wrapped(meaning, indent: 4, width: output.width)
        return "\(option) \(name)\n" + lines.joined(separator: "\n") + "\n"
      }
      .joined()
      if !Pager.show(text, composition.settings.environment) { output.put(text) }
      if found.isEmpty { output.note("no scenario or fault has \(word.quotedForMessage)") }
      return output.exit(0)
    }
    for (name, option, meaning) in found {
      let fields: JSONObject = [
        "name": .string(name), "option": .string(option), "meaning": .string(meaning),
      ]
      output.show(records.record(.scenario, fields))
    }
    return output.exit(0)
  }

  func reset() throws(Fault) -> Int32 {
    try composition.refuseReadOnly()
    let world = try composition.servedWorld()
    try Ledger(path: world.ledgerPath).reset()
    output.note("the simulated world is empty; the journal is as it was")
    return output.exit(0)
  }

  func serve() throws(Fault) -> Int32 {
    try listen()
    output.note("stopped")
    return 0
  }

  /// Serves until a signal comes.
  private func listen() throws(Fault) {
    let port = try invocation.value(Keys.port) ?? 0
    var world = try composition.servedWorld()
    world.trustedKeys = try trustedKeys()
    // Fail now, not at the first request, where the ledger cannot be used.
    _ = try Ledger(path: world.ledgerPath)
    composition.signals.hold()
    let nextCustomer = NextCustomer()
    let server = SimulatorServer(world, nextCustomer)
    let chosen = try server.start(port: port)
    defer { server.stop() }
    let reader = DeviceServer(world, nextCustomer)
    // A port that was named has the reader's right behind it.
    let readerPort = try reader.start(port: port == 0 || port == .max ? 0 : port + 1)
    defer { reader.stop() }
    let served = ServedPorts(composition.settings)
    for port in [chosen, readerPort] { try served.announce(port) }
    func text(_ address: ServedAddress) -> String {
      address.text(port: chosen, devicePort: readerPort)
    }
    let variables = try variables(world, text)
    let exports = variables.map { "export \($0)=\(Self.quoted($1))\n" }.joined()
    var fields: JSONObject = [
      "address": .string(text(.http)), "device": .string(text(.device)),
      "variables": .object(
        JSONObject(variables.map { JSONObject.Member(key: $0, value: .string($1)) })
      ),
    ]
    if let path = invocation[Keys.envFile] {
      try Environment.write(exports, to: path, named: "--env-file")
      fields["env_file"] = .string(path)
    }
    if output.isTable { output.put(exports) } else { output.show(records.record(.server, fields)) }
    output.note("the simulated providers listen on 127.0.0.1:\(chosen); Ctrl-C stops them")
    output.note("with these variables set, tender goes there, with --env simulator or sandbox")
    while composition.signals.kind == nil {
      try? SystemClock(interruption: composition.signals).pause(milliseconds: 3_600_000)
    }
  }

  /// What a client of the served simulator needs, as variables: those that `tender` reads, then those of the
  /// providers' own programs.
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
        // A reader has an address, which comes before.
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

  /// Clients' own public keys, by their ids.
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
    var rows: [Record] = []
    func add(_ name: String, _ value: String, _ origin: Settings.Origin) {
      let fields: JSONObject = [
        "name": .string(name), "value": .string(value), "origin": .string(origin.rawValue),
      ]
      rows.append(records.record(.setting, fields))
    }
    func add(_ name: String, _ value: Settings.Value?, otherwise: String) {
      add(name, value?.text ?? otherwise, value?.origin ?? .default)
    }
    /// One that option, environment or profile may set under its own name.
    func add(_ name: String, _ option: any OptionKey, inProfile: Bool = true, otherwise: String) {
      let variable = "TENDER_" + name.uppercased()
      let key = inProfile ? name : nil
      let value = settings.value(option: option, variable: variable, key: key)
      add(name, value, otherwise: otherwise)
    }
    add("config", settings.config.path, invocation.has(Keys.config) ? .option : .default)
    add("profile", Keys.profile, inProfile: false, otherwise: settings.profileName ?? "")
    add("provider", try settings.provider(), otherwise: settings.modules[0].name.text)
    add("env", try settings.env(), otherwise: "simulator")
    add("output", Keys.output, otherwise: "auto")
    let journal = settings.journal().map { journal in
      let shown = PostgresAddress(journal.text)?.masked ?? journal.text
      return Settings.Value(text: shown, origin: journal.origin)
    }
    add("journal", journal, otherwise: "")
    add("state_dir", try settings.stateFolder(), otherwise: "")
    add("timeout", Keys.timeout, otherwise: "30s")
    let mode = settings.profile.text("mode") ?? "read-write"
    add("mode", mode, settings.isReadOnly ? .profile : .default)
    for module in settings.modules {
      for key in module.section.credentials {
        let name = "\(module.name.text).\(key)"
        let variable = "TENDER_\(module.name.text)_\(key)".uppercased()
        let value = try settings.credential(variable, section: module.name.text, key: key)
        add(name, value == nil ? "not set" : "set", value?.origin ?? .default)
      }
    }
    for module in settings.modules {
      for (name, value) in module.settings(settings) { add(name, value.text, value.origin) }
    }
    output.show(rows, columns: ["name", "value", "origin"])
    return output.exit(0)
  }

  /// Reading the settings was the check: a fault of theirs ended the run before this.
  func checkConfig() -> Int32 {
    let config = composition.settings.config
    let detail =
      Environment.exists(config.path)
      ? "\(config.path): \(config.profiles.count) profiles" : "there is no \(config.path)"
    let fields: JSONObject = ["name": "config", "outcome": "ok", "detail": .string(detail)]
    output.show(records.record(.check, fields))
    return output.exit(0)
  }
}
